//! Which of the folders that objects point at are in this tree.
//!
//! The name of the repository of a tree is unknown. A folder of the tree with the same path is taken for the one that
//! is meant. Every repository has a root, so one that points there has to name the repository that the tree is: the one
//! in which most others that name it find their folders, or the one into which `flux bootstrap` wrote the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::path::resolve;
use super::pointer::{Pointer, SourceTool, pointers};
use super::tree::SourceTree;
use crate::kube::kinds;
use crate::manifest::{Object, ParsedFile};
use crate::yaml::Value;

/// The names of the repository that a tree is, as far as something says so.
#[derive(Clone, Debug, Default)]
pub struct OwnRepositories(BTreeSet<Arc<str>>);

impl OwnRepositories {
    /// Reads a tree. The paths of its files are from the root of the repository.
    pub fn of<'f>(files: impl IntoIterator<Item = (&'f str, &'f ParsedFile)>) -> Self {
        let tree = SourceTree::of(files);
        Self(own_repositories(&tree, &Inward::all(&tree)))
    }

    /// Joins two states of one tree.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }
}

/// A pointer that leads into the tree.
pub(super) struct Inward<'t> {
    /// The path of its object's file.
    pub(super) path: &'t str,
    /// The place of that file.
    pub(super) file: usize,
    pub(super) pointer: Pointer,
}

impl<'t> Inward<'t> {
    /// The pointers of a tree that lead into it, in the order of their files.
    pub(super) fn of(tree: &'t SourceTree<'_>, own: &OwnRepositories) -> Vec<Self> {
        let mut all = Self::all(tree);
        let is_own = |pointer: &Pointer| {
            pointer
                .repository
                .as_ref()
                .is_some_and(|named| own.0.contains(named))
        };
        all.retain(|Inward { pointer, .. }| !pointer.folder.is_empty() || is_own(pointer));
        let ignored = if all.is_empty() {
            BTreeMap::new()
        } else {
            ignored(tree)
        };
        for Inward { pointer, .. } in &mut all {
            let patterns = pointer
                .repository
                .as_ref()
                .and_then(|repository| ignored.get(&**repository));
            pointer.ignore = patterns.map(Arc::clone).or(pointer.ignore.take());
        }
        all
    }

    /// All pointers of a tree, wherever they lead.
    fn all(tree: &'t SourceTree<'_>) -> Vec<Self> {
        let objects = |file| objects_of(file).flat_map(pointers);
        let all = tree.files().flat_map(|(path, file, parsed)| {
            objects(parsed)
                .map(move |pointer| Inward {
                    path,
                    file,
                    pointer,
                })
                .collect::<Vec<_>>()
        });
        all.collect()
    }
}

/// The names of the repository that the tree is, as far as its whole root is what objects build from.
fn own_repositories(tree: &SourceTree<'_>, all: &[Inward<'_>]) -> BTreeSet<Arc<str>> {
    let mut found: BTreeMap<&Arc<str>, (usize, usize)> = BTreeMap::new();
    let mut own: BTreeSet<Arc<str>> = BTreeSet::new();
    for Inward { path, pointer, .. } in all {
        let Some(repository) = &pointer.repository else {
            continue;
        };
        if !pointer.folder.is_empty() {
            let (here, elsewhere) = found.entry(repository).or_default();
            *(if tree.contains(&pointer.folder) {
                here
            } else {
                elsewhere
            }) += 1;
        } else if is_bootstrapped(path, pointer) {
            own.insert(Arc::clone(repository));
        }
    }
    own.extend(
        found
            .into_iter()
            .filter(|(_, (here, elsewhere))| here > elsewhere)
            .map(|(name, _)| Arc::clone(name)),
    );
    own
}

/// Whether `flux bootstrap` wrote the file, into the repository that it names (fluxcd/flux2 pkg/manifestgen/sync/options.go and
/// sync.go: `path.Join(options.TargetPath, options.Namespace, options.ManifestFile)`).
fn is_bootstrapped(path: &str, pointer: &Pointer) -> bool {
    let Some(by) = pointer.by.as_ref().filter(|by| by.tool == SourceTool::Flux) else {
        return false;
    };
    path == resolve(&pointer.folder, &format!("{}/gotk-sync.yaml", by.namespace))
}

/// Patterns that GitRepositories leave out, by their names: `spec.ignore`, instead of the defaults.
fn ignored(tree: &SourceTree<'_>) -> BTreeMap<String, Arc<str>> {
    let repositories = tree
        .files()
        .flat_map(|(.., file)| objects_of(file))
        .filter(|object| object.is(kinds::GIT_REPOSITORY));
    let ignored = repositories.filter_map(|object| {
        let patterns = object.at(&["spec", "ignore"]).and_then(Value::as_str)?;
        let namespace = object.namespace().unwrap_or_default();
        Some((
            format!(
                "{}/{namespace}/{}",
                kinds::GIT_REPOSITORY.kind,
                object.name()?
            ),
            Arc::from(patterns),
        ))
    });
    ignored.collect()
}

fn objects_of(file: &ParsedFile) -> impl Iterator<Item = &Object> {
    file.documents()
        .iter()
        .flat_map(|document| document.objects())
        .map(AsRef::as_ref)
}
