//! The repositories that are assumed to be this tree.
//!
//! The repository of a tree is unknown. A repository that Applications name is assumed to be this tree if most of
//! the folders that they name in it exist here.

use std::collections::BTreeSet;

use super::application::{Application, GROUP, sources_in};
use super::set::ApplicationSet;
use super::sources::folder_of_source;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::Resource;
use crate::graph::node::Node;
use crate::graph::reached::{Majorities, normalized};
use crate::kustomize::folder_of;

/// The repositories that Applications name and that are assumed to be this tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Repositories(BTreeSet<String>);

impl Repositories {
    pub(super) fn new(files: &TreeFiles<'_>, written: &[Resource]) -> Self {
        let mut named = Majorities::default();
        for resource in written {
            for source in sources_of(resource) {
                let [repository, path] = ["repoURL", "path"].map(|key| source.text_at(&[key]));
                let (Some(repository), Some(path)) = (repository, path) else {
                    continue;
                };
                let repository = normalized(&repository);
                for path in with_listed(resource, &path) {
                    if let Some(place) = place_of(&path) {
                        named.count(repository.clone(), files.has_folder(place));
                    }
                }
            }
            for (repository, paths) in repositories_of(resource) {
                let repository = normalized(&repository);
                for path in paths {
                    let end = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
                    let fixed = folder_of(&path[..end]);
                    if !fixed.is_empty() {
                        named.count(repository.clone(), files.has_folder(fixed));
                    }
                }
            }
        }
        Self(named.own())
    }

    /// Adds the repositories of another state of the tree.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Whether a repository is this tree. An empty name means this tree, too.
    pub(super) fn are_own(&self, repository: &str) -> bool {
        repository.is_empty() || self.0.contains(&normalized(repository))
    }
}

fn sources_of(resource: &Resource) -> Vec<Node> {
    if let Some(application) = Application::from_resource(resource) {
        return application.sources();
    }
    let Some(set) = ApplicationSet::from_resource(resource) else {
        return Vec::new();
    };
    let template = set.node.at(&["spec", "template"]);
    template.as_ref().map(sources_in).unwrap_or_default()
}

/// Returns the folder that a path names; for a path with parameters, the fixed folder before them. `None` for the root,
/// which every repository has.
fn place_of(path: &str) -> Option<&str> {
    let folder = match path.split_once("{{") {
        Some((fixed, _)) => fixed.rsplit_once('/')?.0,
        None => path,
    };
    Some(folder).filter(|folder| !folder.is_empty())
}

/// Returns the paths that a path may expand to: the path itself or, if it begins with a parameter,
/// one for each element of a list generator with this parameter.
fn with_listed(resource: &Resource, path: &str) -> Vec<String> {
    let parameter = path
        .strip_prefix("{{")
        .and_then(|rest| rest.split_once("}}"));
    let Some((parameter, rest)) = parameter else {
        return vec![folder_of_source(path)];
    };
    let keys: Vec<&str> = parameter
        .trim()
        .trim_start_matches('.')
        .split('.')
        .collect();
    let lists = generators_of(resource).into_iter();
    let elements = lists.filter_map(|generator| Some(generator.get("list")?.items_at("elements")));
    let values = elements
        .flatten()
        .filter_map(|element| element.text_at(&keys));
    values
        .map(|value| folder_of_source(&format!("{value}{rest}")))
        .collect()
}

/// Returns the repositories of git generators, with the paths of their patterns.
fn repositories_of(resource: &Resource) -> Vec<(String, Vec<String>)> {
    let generators = generators_of(resource).into_iter();
    let found = generators.filter_map(|generator| {
        let git = generator.get("git")?;
        let items = [git.items_at("directories"), git.items_at("files")].concat();
        let paths = items.iter().filter_map(|item| item.text_at(&["path"]));
        Some((git.text_at(&["repoURL"])?, paths.collect()))
    });
    found.collect()
}

/// Returns the generators of an ApplicationSet, nested ones included.
fn generators_of(resource: &Resource) -> Vec<Node> {
    let is_set = resource.is_of(GROUP, "ApplicationSet");
    let spec = resource.node.get("spec").filter(|_| is_set);
    let mut pending = spec
        .map(|spec| spec.items_at("generators"))
        .unwrap_or_default();
    let mut found = Vec::new();
    while let Some(generator) = pending.pop() {
        for both in ["matrix", "merge"] {
            let inner = generator
                .get(both)
                .map(|inner| inner.items_at("generators"));
            pending.extend(inner.unwrap_or_default());
        }
        found.push(generator);
    }
    found
}
