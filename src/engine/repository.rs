//! The repositories around the named paths. A delivery object, a CRD or an owner anywhere in a repository decides about
//! findings in all of its files, so a check of a folder reads the whole repository as context.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config;
use crate::inventory::{Origin, STDIN, Walk, locate};
use crate::text::plain;

/// The repositories of some paths.
#[derive(Clone, Debug)]
pub(super) struct Repositories {
    /// The path of each root as the named paths write it, by its absolute path with links resolved.
    roots: BTreeMap<PathBuf, String>,
}

impl Repositories {
    /// Finds the repositories of `paths`. Outside of Git, `configured`, the folder of the configuration, counts as one.
    /// Returns `None` if there is nothing to read besides the paths.
    pub(super) fn around(paths: &[String], configured: Option<&Path>) -> Option<Self> {
        let mut roots: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut is_larger = false;
        for path in paths.iter().filter(|path| *path != STDIN) {
            let place = locate(path);
            let folder = place.ancestors().find(|folder| folder.is_dir());
            let root = folder.and_then(|folder| {
                let configured = configured.filter(|configured| folder.starts_with(configured));
                repository_root(folder).or(configured)
            });
            let Some(root) = root else { continue };
            is_larger |= place != root;
            let written = written(path, &place, root);
            let known = roots.entry(root.to_owned()).or_insert(written.clone());
            if written < *known {
                *known = written;
            }
        }
        let all: Vec<PathBuf> = roots.keys().cloned().collect();
        roots.retain(|root, _| {
            let mut above = root.ancestors().skip(1);
            !above.any(|folder| all.iter().any(|other| other == folder))
        });
        is_larger.then_some(Self { roots })
    }

    /// Returns the paths of the roots.
    pub(super) fn paths(&self) -> Vec<String> {
        self.roots.values().cloned().collect()
    }

    /// Returns the union of `whole`, the walk of the roots, and `named`. All paths begin at a root, because folders are
    /// compared by their paths.
    pub(super) fn with(&self, whole: &Walk, named: &Walk) -> Walk {
        let (mut whole, mut new) = (whole.clone(), named.without(&[whole]));
        let found = whole.files.iter_mut();
        // The path of an unsaved text is the one that the editor gave it.
        let unsaved = found.filter(|file| matches!(file.origin, Origin::Unsaved(_)));
        for file in unsaved.chain(&mut new.files) {
            if let Some(path) = self.path_from_root(file.identity.path()) {
                file.path = path;
            }
        }
        whole.joined(&new)
    }

    fn path_from_root(&self, place: &Path) -> Option<String> {
        let (root, written) = self
            .roots
            .iter()
            .find(|(root, _)| place.starts_with(root))?;
        let below = plain::path(place.strip_prefix(root).ok()?);
        Some(match written.trim_end_matches('/') {
            "." => below,
            root => format!("{root}/{below}"),
        })
    }
}

/// Returns the path of `root` as `path`, which is `place`, writes it: `.` for `apps/web` in `apps/web`, and `..` for `.`.
fn written(path: &str, place: &Path, root: &Path) -> String {
    let path = Path::new(path);
    let below = place.strip_prefix(root).unwrap_or(place);
    if path.ends_with(below) {
        let above = path.components().count() - below.components().count();
        let above: PathBuf = path.components().take(above).collect();
        return match plain::path(&above).as_str() {
            "" => ".".to_owned(),
            above => above.to_owned(),
        };
    }
    if path.is_absolute() {
        return plain::path(root);
    }
    match config::relative(root, &locate(".")).as_str() {
        "" => ".".to_owned(),
        relative => relative.to_owned(),
    }
}

/// Returns the root of the git repository that contains `folder`.
pub fn repository_root(folder: &Path) -> Option<&Path> {
    folder
        .ancestors()
        .find(|folder| folder.join(".git").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_written_like_the_path_below_it() {
        let root = Path::new("/srv/shop");
        for (path, place, expected) in [
            ("apps/web", "/srv/shop/apps/web", "."),
            ("./apps/web", "/srv/shop/apps/web", "."),
            ("../shop/apps", "/srv/shop/apps", "../shop"),
            ("/srv/shop/apps", "/srv/shop/apps", "/srv/shop"),
            ("/link/apps", "/srv/shop/apps", "/link"),
            ("/link", "/srv/shop/apps", "/srv/shop"),
            (".", "/srv/shop", "."),
        ] {
            assert_eq!(written(path, Path::new(place), root), expected, "{path}");
        }
    }
}
