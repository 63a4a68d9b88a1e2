//! Which repositories are this tree.
//!
//! The name of the repository of a tree is unknown: it is the one of which most Applications that name it name folders
//! that exist here.

use std::collections::{BTreeMap, BTreeSet};

use super::application::{Application, GROUP};
use super::set::ApplicationSet;
use super::sources::folder_of_source;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::Resource;
use crate::graph::node::Node;

/// The repositories that Applications name and that are this tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Repositories(BTreeSet<String>);

impl Repositories {
    pub(super) fn of(files: &TreeFiles<'_>, written: &[Resource]) -> Self {
        let mut named: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for resource in written {
            for source in sources_of(resource) {
                let Some(repository) = source.text_at(&["repoURL"]) else {
                    continue;
                };
                let Some(path) = source.text_at(&["path"]) else {
                    continue;
                };
                let folder = folder_of_source(&path);
                let (here, elsewhere) = named.entry(normalized(&repository)).or_default();
                // Of a path with parameters, the folder in which what it means lies.
                let fixed = folder.split("{{").next().unwrap_or_default();
                let wanted = if fixed == folder {
                    Some(fixed).filter(|fixed| !fixed.is_empty())
                } else {
                    fixed.rsplit_once('/').map(|(above, _)| above)
                };
                let Some(is_here) = wanted.map(|wanted| files.has_folder(wanted)) else {
                    continue;
                };
                *(if is_here { here } else { elsewhere }) += 1;
            }
            for (repository, paths) in generators_of(resource) {
                let (here, elsewhere) = named.entry(normalized(&repository)).or_default();
                for path in paths {
                    let end = path.find(['*', '?', '[', '{']).unwrap_or(path.len());
                    let fixed = path[..end].rsplit_once('/').map_or("", |(above, _)| above);
                    if !fixed.is_empty() {
                        *(if files.has_folder(fixed) {
                            &mut *here
                        } else {
                            &mut *elsewhere
                        }) += 1;
                    }
                }
            }
        }
        let own = named
            .into_iter()
            .filter(|(_, (here, elsewhere))| here > elsewhere);
        Self(own.map(|(name, _)| name).collect())
    }

    /// With those that another state of the tree says.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }

    /// Whether a repository is this tree; one that is not named is.
    pub(super) fn are_own(&self, repository: &str) -> bool {
        repository.is_empty() || self.0.contains(&normalized(repository))
    }
}

fn sources_of(resource: &Resource) -> Vec<Node> {
    if let Some(application) = Application::of(resource) {
        return application.sources();
    }
    let Some(set) = ApplicationSet::of(resource) else {
        return Vec::new();
    };
    let template = set.node.at(&["spec", "template"]);
    let application = template.map(|node| Application {
        namespace: String::new(),
        name: String::new(),
        node,
        origin: set.origin.clone(),
    });
    application.map(|one| one.sources()).unwrap_or_default()
}

/// The repositories of git generators, with the paths that these look at.
fn generators_of(resource: &Resource) -> Vec<(String, Vec<String>)> {
    let is_set = resource.id().kind == "ApplicationSet" && resource.id().group == GROUP;
    let spec = resource.node.get("spec").filter(|_| is_set);
    let mut pending = spec
        .map(|spec| spec.items_at("generators"))
        .unwrap_or_default();
    let mut found = Vec::new();
    while let Some(generator) = pending.pop() {
        if let Some(git) = generator.get("git") {
            let items = [git.items_at("directories"), git.items_at("files")].concat();
            let paths = items.iter().filter_map(|item| item.text_at(&["path"]));
            let repository = git.text_at(&["repoURL"]);
            found.extend(repository.map(|repository| (repository, paths.collect())));
        }
        for both in ["matrix", "merge"] {
            let inner = generator
                .get(both)
                .map(|inner| inner.items_at("generators"));
            pending.extend(inner.unwrap_or_default());
        }
    }
    found
}

/// The name of a repository without scheme, user, port and `.git`.
fn normalized(repository: &str) -> String {
    let rest = repository
        .split_once("://")
        .map_or(repository, |(_, rest)| rest);
    let rest = match rest.split_once('@') {
        Some((user, rest)) if !user.contains('/') => rest,
        _ => rest,
    };
    let (host, path) = rest.split_once(['/', ':']).unwrap_or((rest, ""));
    // `host:22/path` has a port, `host:path` has none.
    let path = match path.split_once('/') {
        Some((port, path)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => path,
        _ => path,
    };
    let path = path.trim_matches('/').trim_end_matches(".git");
    format!("{}/{path}", host.to_lowercase()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn one_repository_has_many_names() {
        for name in [
            "https://github.com/Acme/apps.git",
            "https://token@github.com/acme/apps",
            "git@github.com:acme/apps.git",
            "ssh://git@github.com:22/acme/apps/",
        ] {
            assert_eq!(normalized(name), "github.com/acme/apps", "{name}");
        }
    }
}
