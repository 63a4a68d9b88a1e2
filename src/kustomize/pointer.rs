//! Delivery objects that point at a folder of the tree: Flux Kustomizations and Argo CD Applications.

use std::sync::Arc;

use globset::{Glob, GlobMatcher};

use super::ignored::DEFAULT;
use super::kustomization::KustomizationFile;
use super::path::resolve;
use crate::kube::{GroupKind, kinds};
use crate::manifest::Object;
use crate::yaml::Value;

/// The object that delivers what a folder builds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deliverer {
    /// The cluster that it delivers into, as the delivery graph names it; empty if that is not known.
    pub cluster: Arc<str>,
    /// The tool.
    pub tool: SourceTool,
    /// Its namespace as written; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The folder that it builds, if its name is partly unknown and several folders fit: each is a cluster of its own.
    pub folder: String,
}

impl Deliverer {
    /// Its key: `Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps`.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.tool.kind(), self.namespace, self.name)
    }

    /// Equal in two states for the same delivery: the cluster and the key, and the folder that it builds if a part of either is
    /// unknown.
    pub fn id(&self, folder: &str) -> String {
        let (cluster, key) = (&self.cluster, self.key());
        if cluster.contains("{{") || key.contains("{{") {
            format!("{cluster}|{key}|{folder}")
        } else {
            format!("{cluster}|{key}")
        }
    }

    /// The identity of the cluster; [`Self::cluster`] unless the folder is.
    pub fn place(&self) -> Arc<str> {
        match self.folder.as_str() {
            "" => Arc::clone(&self.cluster),
            folder => Arc::from(format!("{}|{folder}", self.cluster)),
        }
    }
}

impl std::fmt::Display for Deliverer {
    /// `namespace/name`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// A tool that builds sources by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceTool {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Flux,
    /// A `HelmRelease.helm.toolkit.fluxcd.io` of which the chart was rendered.
    FluxRelease,
    /// An `Application.argoproj.io`.
    ArgoCd,
    /// An `ApplicationSet.argoproj.io`, which delivers Applications.
    ArgoCdSet,
}

impl SourceTool {
    /// Whether it is one of Flux.
    pub fn is_flux(self) -> bool {
        matches!(self, Self::Flux | Self::FluxRelease)
    }

    /// The tool in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Flux | Self::FluxRelease => "flux",
            Self::ArgoCd | Self::ArgoCdSet => "argocd",
        }
    }

    /// The kind of the object that delivers.
    pub fn kind(self) -> GroupKind<&'static str> {
        match self {
            Self::Flux => kinds::FLUX_KUSTOMIZATION,
            Self::FluxRelease => kinds::HELM_RELEASE,
            Self::ArgoCd => kinds::APPLICATION,
            Self::ArgoCdSet => kinds::APPLICATION_SET,
        }
    }
}

/// Where an object says that manifests are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The object; `None` for a kustomization that no delivery object points at.
    pub by: Option<Arc<Deliverer>>,
    /// The folder, from the root of the repository; empty for the root itself.
    pub folder: String,
    /// Patterns of the files that the source leaves out, as in `.gitignore`.
    pub ignore: Option<Arc<str>>,
    /// Whether folders below are read too, where there is no kustomization.
    pub recursive: bool,
    /// Which of the files count, where there is no kustomization.
    pub files: FilePatterns,
    /// The edits to everything built there.
    pub edits: Arc<KustomizationFile>,
}

impl Pointer {
    /// The endings of the files that count in a folder without a kustomization; their case matters (fluxcd/pkg
    /// kustomize/kustomize_generator.go; argo-cd reposerver/repository/repository.go, `manifestFile`).
    pub(super) fn endings(&self) -> &'static [&'static str] {
        match &self.by {
            Some(by) if by.tool == SourceTool::Flux => &[".yaml", ".yml"],
            _ => &[".yaml", ".yml", ".json"],
        }
    }
}

/// The files of a folder that an Application reads: `spec.source.directory`. Its patterns are compared with the path from the
/// folder, and `*` stands for slashes too (argo-cd reposerver/repository/repository.go, util/glob/glob.go).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FilePatterns {
    include: Option<String>,
    exclude: Option<String>,
}

impl FilePatterns {
    fn of(source: Value<'_>) -> Self {
        let pattern = |key| {
            let pattern = source.at(&["directory", key]).and_then(Value::as_str);
            pattern
                .filter(|pattern| !pattern.is_empty())
                .map(str::to_owned)
        };
        Self {
            include: pattern("include"),
            exclude: pattern("exclude"),
        }
    }

    /// Whether a path from the folder counts. A pattern that cannot be read matches nothing, as in Argo CD.
    pub(super) fn matcher(&self) -> impl Fn(&str) -> bool {
        let matcher = |pattern: &String| Glob::new(pattern).ok().map(|glob| glob.compile_matcher());
        let (include, exclude) = (
            self.include.as_ref().map(matcher),
            self.exclude.as_ref().map(matcher),
        );
        let matches = |matcher: &Option<GlobMatcher>, path: &str| {
            matcher.as_ref().is_some_and(|one| one.is_match(path))
        };
        move |path| {
            include
                .as_ref()
                .is_none_or(|include| matches(include, path))
                && !exclude
                    .as_ref()
                    .is_some_and(|exclude| matches(exclude, path))
        }
    }
}

/// The folders that an object points at.
pub fn pointers(object: &Object) -> Vec<Pointer> {
    let Some(spec) = object.at(&["spec"]) else {
        return Vec::new();
    };
    let by = |tool: SourceTool| {
        let namespace = object.namespace().unwrap_or_default().to_owned();
        Some(Arc::new(Deliverer {
            cluster: Arc::default(),
            tool,
            namespace,
            name: object.name()?.into_owned(),
            folder: String::new(),
        }))
    };
    if object.is(SourceTool::Flux.kind()) {
        let pointer = folder(spec.get("path")).map(|folder| Pointer {
            by: by(SourceTool::Flux),
            folder,
            ignore: Some(DEFAULT.into()),
            recursive: true,
            files: FilePatterns::default(),
            edits: Arc::new(KustomizationFile::of_flux(spec)),
        });
        return pointer.into_iter().collect();
    }
    if object.is(SourceTool::ArgoCd.kind()) {
        let sources = spec
            .get("sources")
            .into_iter()
            .flat_map(Value::items)
            .chain(spec.get("source"));
        let by = by(SourceTool::ArgoCd);
        let namespace = spec
            .at(&["destination", "namespace"])
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        return sources
            .filter_map(|value| {
                Some(Pointer {
                    by: by.clone(),
                    ..source(value, namespace)?
                })
            })
            .collect();
    }
    Vec::new()
}

fn source(source: Value<'_>, namespace: Option<&str>) -> Option<Pointer> {
    let read = source
        .get("kustomize")
        .map(|kustomize| KustomizationFile::read(kustomize, |_| None));
    let edits = KustomizationFile {
        resources: Vec::new(),
        components: Vec::new(),
        fallback_namespace: namespace.map(str::to_owned),
        ..read.unwrap_or_default()
    };
    Some(Pointer {
        by: None,
        folder: folder(source.get("path"))?,
        ignore: None,
        recursive: source
            .at(&["directory", "recurse"])
            .and_then(Value::as_bool)
            .unwrap_or_default(),
        files: FilePatterns::of(source),
        edits: Arc::new(edits),
    })
}

fn folder(path: Option<Value<'_>>) -> Option<String> {
    let path = path
        .and_then(Value::as_str)
        .filter(|path| !path.is_empty())?;
    Some(resolve("", path.trim_start_matches('/'))).filter(|folder| !folder.starts_with(".."))
}
