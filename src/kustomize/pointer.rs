//! Folders that delivery objects point at: Flux Kustomizations and Argo CD Applications.

use super::deliverer::SourceTool;
use super::path::resolve;
use crate::manifest::Object;
use crate::yaml::Value;

/// A folder that an object points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointedFolder {
    /// The folder, from the root of the repository; empty for the root itself.
    pub folder: String,
    /// Whether folders below it are read, too, if it has no kustomization.
    pub recursive: bool,
}

/// Returns the folders that an object points at.
pub fn pointed_folders(object: &Object) -> Vec<PointedFolder> {
    let Some(spec) = object.at(&["spec"]) else {
        return Vec::new();
    };
    if object.is(SourceTool::Flux.kind()) {
        return pointed(spec, true).into_iter().collect();
    }
    if object.is(SourceTool::ArgoCd.kind()) {
        let several = spec.items_at("sources");
        let folders = several
            .chain(spec.get("source"))
            .filter_map(|source| pointed(source, source.is_true_at(&["directory", "recurse"])));
        return folders.collect();
    }
    Vec::new()
}

fn pointed(source: Value<'_>, recursive: bool) -> Option<PointedFolder> {
    let path = source
        .get("path")?
        .as_str()
        .filter(|path| !path.is_empty())?;
    let folder = resolve("", path.trim_start_matches('/'));
    (!folder.starts_with("..")).then_some(PointedFolder { folder, recursive })
}
