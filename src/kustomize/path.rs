//! Paths as kustomizations write them.

use std::borrow::Cow;

/// Whether a path certainly has no `.`, `..` or empty parts to resolve: a fast path for most paths of an input.
fn is_plain(path: &str) -> bool {
    let below_root = path.strip_prefix('/').unwrap_or(path);
    let has_dots = below_root.starts_with('.') || below_root.contains("/.");
    let has_empty_parts = below_root.is_empty() || below_root.ends_with('/') || path.contains("//");
    !has_dots && !has_empty_parts
}

/// Resolves `path` from the folder where the input is read.
pub fn resolved(path: &str) -> Cow<'_, str> {
    if is_plain(path) {
        path.into()
    } else {
        resolve("", path).into()
    }
}

/// Resolves `path` from `folder`. Removes every `.` and, as far as possible, every `..`.
pub fn resolve(folder: &str, path: &str) -> String {
    if folder.is_empty() && is_plain(path) {
        return path.to_owned();
    }
    if is_plain(folder) && is_plain(path) && !path.starts_with('/') {
        return [folder, "/", path].concat();
    }
    let rooted = path.starts_with('/') || folder.starts_with('/');
    let folder = if path.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// Whether kustomize loads an entry of `resources` or `components` from outside of the tree (kustomize,
/// api/internal/git/repospec.go).
pub fn is_remote(entry: &str) -> bool {
    let host = entry.split('/').next().unwrap_or_default();
    let is_host = host.contains('.') && !host.starts_with('.') && entry.contains("//");
    entry.contains("://")
        || entry.contains("?ref=")
        || entry.starts_with("git@")
        || is_host
        || host == "github.com"
}

/// Returns a folder for display: `.` for the empty path.
pub fn shown(folder: &str) -> &str {
    match folder {
        "" => ".",
        folder => folder,
    }
}

/// Returns the folder of a path, without a slash at its end; empty for the folder where the input is read.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last part of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns a folder and those above it, the empty one last.
pub fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| {
        (!folder.is_empty()).then(|| folder_of(folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_from_the_folder_that_names_them() {
        assert_eq!(resolve("a/b", "../c/x.yaml"), "a/c/x.yaml");
        assert_eq!(resolve("", "./x.yaml"), "x.yaml");
        assert_eq!(resolve("a", "../../x.yaml"), "../x.yaml");
        assert_eq!(resolve("/srv/a", "../x.yaml"), "/srv/x.yaml");
        assert_eq!(resolve("a", "/x.yaml"), "/x.yaml");
        for path in [
            "x.yaml", "a/x.yaml", "/a", "./x", "a/../x", "a//x", "/", "", "a/", ".a/x", "a/.x",
            "//a",
        ] {
            assert_eq!(resolved(path), resolve("", path), "{path}");
            // The fast paths give the same result.
            assert_eq!(resolved(path), resolve(".", path), "{path}");
            for folder in ["a", "a/b", "a/../b", "../a"] {
                let slow = resolve(&format!("./{folder}"), path);
                assert_eq!(resolve(folder, path), slow, "{folder} {path}");
            }
        }
    }
}
