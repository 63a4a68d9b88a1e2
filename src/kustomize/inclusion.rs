//! The files and folders that one kustomization includes from elsewhere in its tree.

use super::kustomization::KustomizationFile;
use super::path::{folder_of, resolve};
use crate::manifest::{ParsedFile, SkipReason, Use, is_kustomization};

/// The files and folders, from the root of the tree, that the kustomization at `path` builds or patches with; none if
/// the file is no kustomization.
pub fn included_by(path: &str, file: &ParsedFile) -> Vec<String> {
    let facts = file
        .facts()
        .filter(|facts| is_kustomization(path) && facts.is_kustomization);
    let root = file.documents().iter().find_map(|document| document.tree());
    let (Some(facts), Some(root)) = (facts, root) else {
        return Vec::new();
    };
    let KustomizationFile {
        resources,
        components,
        ..
    } = KustomizationFile::read(root.root(), |_| None);
    let is_patch = |used: &Use| matches!(used, Use::Otherwise(SkipReason::Patch(_)));
    let patches = facts
        .mentions
        .iter()
        .filter(|mention| is_patch(&mention.used))
        .map(|mention| &mention.path);
    let written = resources.iter().chain(&components).chain(patches);
    written
        .map(|written| resolve(folder_of(path), written))
        .collect()
}
