//! Delivery objects that point at a folder of the tree: Flux Kustomizations and Argo CD Applications.

use std::sync::Arc;

use super::kustomization::KustomizationFile;
use super::path::resolve;
use crate::manifest::Object;
use crate::yaml::Value;

/// Where an object says that manifests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
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
    match (object.group(), object.kind.value.as_str()) {
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => {
            let edits = Arc::new(KustomizationFile::of_flux(spec));
            folder(spec.get("path")).map(|folder| Pointer { folder, recursive: true, edits }).into_iter().collect()
        }
        ("argoproj.io", "Application") => {
            let sources = spec.get("sources").into_iter().flat_map(Value::items);
            sources.chain(spec.get("source")).filter_map(source).collect()
        }
        _ => Vec::new(),
    }
}

fn source(source: Value<'_>) -> Option<Pointer> {
    let kustomize = source.get("kustomize");
    let edits = kustomize.map(|kustomize| {
        let read = KustomizationFile::read(kustomize, |_| None);
        KustomizationFile { resources: Vec::new(), components: Vec::new(), ..read }
    });
    let recursive = source.at(&["directory", "recurse"]).and_then(Value::as_bool).unwrap_or_default();
    let edits = Arc::new(edits.unwrap_or_default());
    Some(Pointer { folder: folder(source.get("path"))?, recursive, edits })
}

fn folder(path: Option<Value<'_>>) -> Option<String> {
    let path = path.and_then(Value::as_str)?;
    Some(resolve("", path.trim_start_matches('/'))).filter(|folder| !folder.is_empty() && !folder.starts_with(".."))
}
