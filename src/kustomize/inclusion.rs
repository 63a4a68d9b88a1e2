//! The files and folders that one kustomization builds or patches with.

use super::path::{folder_of, resolve};
use crate::manifest::{ParsedFile, SkipReason, Use, is_kustomization};
use crate::yaml::Value;

/// Returns the files and folders that the kustomization at `path` builds or patches with, by their
/// paths from the root of the tree; none if the file is not a kustomization.
pub fn included_by(path: &str, file: &ParsedFile) -> Vec<String> {
    let facts = file
        .facts()
        .filter(|facts| is_kustomization(path) && facts.is_kustomization);
    let root = file.documents().iter().find_map(|document| document.tree());
    let (Some(facts), Some(root)) = (facts, root) else {
        return Vec::new();
    };
    let built = ["resources", "bases", "components"]
        .into_iter()
        .flat_map(|key| root.root().items_at(key))
        .filter_map(Value::as_str);
    let patches = facts
        .mentions
        .iter()
        .filter(|mention| matches!(mention.used, Use::NotApplied(SkipReason::Patch(_))))
        .map(|mention| mention.path.as_str());
    built
        .chain(patches)
        .map(|written| resolve(folder_of(path), written))
        .collect()
}
