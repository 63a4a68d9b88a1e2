//! Builds of an Application's source (argo-cd reposerver/repository/repository.go, util/app/discovery/discovery.go).

use std::collections::BTreeSet;

use globset::{Glob, GlobMatcher};

use super::application::Application;
use super::environment::Environment;
use super::helm::HelmSource;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{
    BuildError, Builder, Built, Resource, kustomization, merged, objects_of,
};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{folder_of, name_of, resolve, shown};

/// The build of a source.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Built(Built),
    Unread(UnreadInput),
    Failed(BuildError),
    /// The folder does not exist, which is not an error if its cluster need not exist.
    Missing(BuildError),
}

/// The type of a source, which decides how it is read.
enum SourceType {
    Helm,
    Kustomize,
    Directory,
    Plugin,
}

/// A source in this tree.
pub(super) struct Source<'s> {
    pub(super) files: &'s TreeFiles<'s>,
    pub(super) builder: &'s Builder<'s>,
    /// The plugins that only run kustomize.
    pub(super) plugins: &'s BTreeSet<String>,
    pub(super) application: &'s Application,
    /// The folder, from the root of the tree.
    pub(super) folder: &'s str,
    /// Its settings as a chart.
    pub(super) chart: HelmSource<'s>,
}

impl Source<'_> {
    /// Builds it by the settings in `node`.
    pub(super) fn made(&self, node: &Node) -> Made {
        if self.files.has_file(self.folder) || !self.files.has_folder(self.folder) {
            let reason = format!("the path {} does not exist", shown(self.folder));
            return Made::Missing(self.application.origin.failed(reason));
        }
        let node = match self.overridden(node) {
            Ok(node) => node,
            Err(error) => return Made::Failed(error),
        };
        match self.type_of(&node) {
            Err(reason) => self.failed(reason),
            Ok(SourceType::Helm) => {
                let chart = HelmSource {
                    node: &node,
                    folder: Some(self.folder),
                    ..self.chart
                };
                Made::Built(chart.made())
            }
            Ok(SourceType::Plugin) => {
                let name = node.text_at(&["plugin", "name"]).unwrap_or_default();
                if self.plugins.contains(&name) {
                    return self.kustomized(&node);
                }
                let subject = format!("plugin {name}").trim_end().to_owned();
                self.unread(What::Plugin, subject, "plugins are not run")
            }
            Ok(SourceType::Kustomize) => self.kustomized(&node),
            Ok(SourceType::Directory) => self.directory(&node),
        }
    }

    fn failed(&self, reason: String) -> Made {
        Made::Failed(self.application.origin.failed(reason))
    }

    fn unread(&self, what: What, subject: String, reason: &str) -> Made {
        Made::Unread(self.application.origin.unread(what, subject, reason))
    }

    /// Returns the source with the overrides of `.argocd-source*.yaml` beside it, which cannot change where it is.
    fn overridden(&self, node: &Node) -> Result<Node, BuildError> {
        let own = format!(".argocd-source-{}.yaml", self.application.name);
        let mut node = node.clone();
        for name in [".argocd-source.yaml", &own] {
            let path = resolve(self.folder, name);
            if !self.files.has_file(&path) {
                continue;
            }
            let parsed = self.files.parsed(&path);
            if let Some((reason, line)) = &parsed.error {
                return Err(BuildError {
                    reason: format!("{path} cannot be read: {reason}"),
                    file: path.clone(),
                    line: *line,
                });
            }
            if let Some(patch) = parsed.documents.first() {
                let mut patch = patch.clone();
                for fixed in ["path", "chart", "repoURL", "targetRevision"] {
                    patch.remove(fixed);
                }
                node = merged(node, &patch).unwrap_or(Node::Null);
            }
        }
        Ok(node)
    }

    fn type_of(&self, node: &Node) -> Result<SourceType, String> {
        let kinds = ["helm", "kustomize", "directory", "plugin"];
        let mut said = kinds
            .into_iter()
            .filter(|kind| node.get(kind).is_some_and(|one| one.is_map()));
        match (said.next(), said.next()) {
            (Some(one), Some(other)) => Err(format!("its source is both {one} and {other}")),
            (Some("helm"), None) => Ok(SourceType::Helm),
            (Some("kustomize"), None) => Ok(SourceType::Kustomize),
            (Some("plugin"), None) => Ok(SourceType::Plugin),
            (Some(_), None) => Ok(SourceType::Directory),
            (None, _) if self.files.kustomization_of(self.folder).is_some() => {
                Ok(SourceType::Kustomize)
            }
            (None, _) => {
                let mut own = self.files.below(self.folder);
                Ok(
                    if own.any(|path| {
                        folder_of(path) == self.folder && name_of(path).ends_with("Chart.yaml")
                    }) {
                        SourceType::Helm
                    } else {
                        SourceType::Directory
                    },
                )
            }
        }
    }

    /// Builds a kustomization with the options of `spec.source.kustomize`.
    fn kustomized(&self, node: &Node) -> Made {
        let mut doc = match kustomization(self.files, self.folder) {
            Ok(doc) => doc,
            Err(error) => return Made::Failed(error),
        };
        if let Some(options) = node.get("kustomize") {
            let fields = ["namePrefix", "nameSuffix", "namespace"].map(|field| (field, field));
            doc.add(&options, &fields, &["patches"], self.files);
            let environment = Environment::new(self.application, node, self.chart.namespace);
            let expands = options.is_true_at(&["commonAnnotationsEnvsubst"]);
            for (marks, expands) in [("commonLabels", true), ("commonAnnotations", expands)] {
                for (key, mut value) in options.entries_at(&[marks]) {
                    if let Some(text) = value.scalar().filter(|_| expands) {
                        value = Node::text(environment.expand(&text));
                    }
                    doc.node.entry_mut(marks).set(&key, value);
                }
            }
        }
        match self.builder.build(&doc) {
            Ok(built) => Made::Built(built),
            Err(error) => Made::Failed(error),
        }
    }

    /// Builds all manifests of a folder.
    fn directory(&self, node: &Node) -> Made {
        let options = node.get("directory").unwrap_or(Node::Null);
        let recurse = options.is_true_at(&["recurse"]);
        let [include, exclude] = ["include", "exclude"].map(|key| {
            let pattern = options.text_at(&[key]);
            pattern.map(|pattern| matcher(&pattern))
        });
        let patterns = Patterns { include, exclude };
        let mut built = Built::default();
        built.reached.insert(self.folder.to_owned());
        let mut resources = Vec::new();
        for path in self.files.below(self.folder) {
            let below = path[self.folder.len()..].trim_start_matches('/');
            if !recurse && below.contains('/') || !is_taken(path) || !patterns.take(below) {
                continue;
            }
            if path.ends_with(".jsonnet") {
                let reason = "Jsonnet is not evaluated";
                let jsonnet = UnreadInput::new(What::Jsonnet, path, path, 1, reason);
                built.unread.push(jsonnet);
                continue;
            }
            match self.objects(path) {
                Ok(objects) => resources.extend(objects),
                Err(error) => return Made::Failed(error),
            }
            built.reached.insert(path.to_owned());
        }
        if let Err(error) = self
            .builder
            .take_copies(resources.len(), &self.application.origin.file)
        {
            return Made::Failed(error);
        }
        *built.resources_mut() = resources;
        Made::Built(built)
    }

    /// Returns the objects of a file. A file that is not a manifest is ignored, unless it looks like one.
    fn objects(&self, path: &str) -> Result<Vec<Resource>, BuildError> {
        if self.files.mentions(path, "+argocd:skip-file-rendering") {
            return Ok(Vec::new());
        }
        match objects_of(&self.files.parsed(path), path) {
            Err(_) if self.builder.tolerates() || !self.looks_like_manifest(path) => Ok(Vec::new()),
            found => found,
        }
    }

    fn looks_like_manifest(&self, path: &str) -> bool {
        ["apiVersion", "kind", "metadata"]
            .into_iter()
            .all(|word| self.files.mentions(path, word))
    }
}

/// Patterns for the files of a folder. `*` crosses folders, and an invalid pattern matches nothing (argo-cd
/// util/glob/glob.go).
struct Patterns {
    include: Option<Option<GlobMatcher>>,
    exclude: Option<Option<GlobMatcher>>,
}

impl Patterns {
    fn take(&self, path: &str) -> bool {
        let (include, exclude) = (&self.include, &self.exclude);
        !exclude.as_ref().is_some_and(|pattern| fits(pattern, path))
            && include.as_ref().is_none_or(|pattern| fits(pattern, path))
    }
}

fn matcher(pattern: &str) -> Option<GlobMatcher> {
    Some(Glob::new(pattern).ok()?.compile_matcher())
}

fn fits(pattern: &Option<GlobMatcher>, path: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(path))
}

/// Whether Argo CD reads files with such a name: the case of the ending matters.
fn is_taken(path: &str) -> bool {
    [".yaml", ".yml", ".json", ".jsonnet"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// Returns the places that a source leads to without a build: a folder with a kustomization, else the files in it.
pub(super) fn leads_to(files: &TreeFiles<'_>, folder: &str, node: &Node) -> Vec<String> {
    if files.kustomization_of(folder).is_some() && node.get("directory").is_none() {
        return vec![folder.to_owned()];
    }
    let recurse = node.is_true_at(&["directory", "recurse"]);
    let own = files
        .below(folder)
        .filter(|path| recurse || folder_of(path) == folder);
    let all: BTreeSet<String> = own
        .filter(|path| is_taken(path))
        .map(str::to_owned)
        .collect();
    all.into_iter().collect()
}
