//! Delivery objects that point at a folder of the tree: Flux Kustomizations and Argo CD Applications.

use std::sync::Arc;

use super::kustomization::KustomizationFile;
use super::path::resolve;
use crate::kube::{GroupKind, kinds};
use crate::manifest::Object;
use crate::yaml::Value;

/// The object that delivers what a folder builds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deliverer {
    /// What it is.
    pub tool: SourceTool,
    /// Its namespace as written; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A tool that builds sources by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceTool {
    /// A `Kustomization.kustomize.toolkit.fluxcd.io`.
    Flux,
    /// An `Application.argoproj.io`.
    ArgoCd,
}

impl SourceTool {
    /// The kind of the object that delivers.
    pub fn kind(self) -> GroupKind<&'static str> {
        match self {
            Self::Flux => kinds::FLUX_KUSTOMIZATION,
            Self::ArgoCd => kinds::APPLICATION,
        }
    }
}

/// Where an object says that manifests are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The object; `None` for a kustomization that nobody points at.
    pub by: Option<Arc<Deliverer>>,
    /// The folder, from the root of the repository.
    pub folder: String,
    /// Whether folders below are read too, where there is no kustomization.
    pub recursive: bool,
    /// What is done to what is built there.
    pub edits: Arc<KustomizationFile>,
}

/// The folders that an object points at. Which repository they are in is seldom known; a folder of this tree with the same
/// path is taken for it, except the root, which every repository has.
pub fn pointers(object: &Object) -> Vec<Pointer> {
    let Some(spec) = object.at(&["spec"]) else { return Vec::new() };
    let by = |tool: SourceTool| {
        let namespace = object.namespace().unwrap_or_default().to_owned();
        Some(Arc::new(Deliverer { tool, namespace, name: object.name()? }))
    };
    if object.is(SourceTool::Flux.kind()) {
        let edits = Arc::new(KustomizationFile::of_flux(spec));
        let folder = folder(spec.get("path"));
        let pointer = folder.map(|folder| Pointer { by: by(SourceTool::Flux), folder, recursive: true, edits });
        return pointer.into_iter().collect();
    }
    if object.is(SourceTool::ArgoCd.kind()) {
        let sources = spec.get("sources").into_iter().flat_map(Value::items).chain(spec.get("source"));
        let by = by(SourceTool::ArgoCd);
        return sources.filter_map(|value| Some(Pointer { by: by.clone(), ..source(value)? })).collect();
    }
    Vec::new()
}

fn source(source: Value<'_>) -> Option<Pointer> {
    let kustomize = source.get("kustomize");
    let edits = kustomize.map(|kustomize| {
        let read = KustomizationFile::read(kustomize, |_| None);
        KustomizationFile { resources: Vec::new(), components: Vec::new(), ..read }
    });
    let recursive = source.at(&["directory", "recurse"]).and_then(Value::as_bool).unwrap_or_default();
    let edits = Arc::new(edits.unwrap_or_default());
    Some(Pointer { by: None, folder: folder(source.get("path"))?, recursive, edits })
}

fn folder(path: Option<Value<'_>>) -> Option<String> {
    let path = path.and_then(Value::as_str)?;
    Some(resolve("", path.trim_start_matches('/'))).filter(|folder| !folder.is_empty() && !folder.starts_with(".."))
}
