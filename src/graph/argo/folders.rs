//! The folders and files that match the patterns of git generators and templates.

use std::collections::BTreeSet;

use globset::GlobSet;

use crate::graph::files::TreeFiles;
use crate::kustomize::{ancestors, folder_of};
use crate::text::glob::{compiled, glob, with_unknown_parts};

/// Returns the folders that a git generator takes: hidden ones never, an exclude always wins, patterns that are malformed
/// or too large are ignored (argo-cd applicationset/generators/git.go, filterApps; Go path.Match: `*` stays within a name,
/// `**` is `*`).
pub(super) fn taken(files: &TreeFiles<'_>, include: &[String], exclude: &[String]) -> Vec<String> {
    let [include_all, exclude] = [include, exclude].map(|patterns| -> Vec<GlobSet> {
        patterns
            .iter()
            .filter_map(|pattern| path_matcher(pattern))
            .collect()
    });
    let below: BTreeSet<&str> = include.iter().map(|one| fixed_folder(one)).collect();
    let mut found = BTreeSet::new();
    for start in below {
        let folders = files
            .below(start)
            .flat_map(|path| ancestors(folder_of(path)));
        let new = folders.filter(|folder| !folder.is_empty() && !found.contains(*folder));
        let new = new.filter(|folder| !folder.split('/').any(|name| name.starts_with('.')));
        let new: BTreeSet<String> = new
            .filter(|folder| is_match(&include_all, folder) && !is_match(&exclude, folder))
            .map(str::to_owned)
            .collect();
        found.extend(new);
    }
    found.into_iter().collect()
}

fn is_match(matchers: &[GlobSet], path: &str) -> bool {
    matchers.iter().any(|one| one.is_match(path))
}

/// Returns the files that a git generator takes, by pathspecs of `git ls-files`: `*` crosses folders, and a folder
/// stands for the files below it.
pub(super) fn files(files: &TreeFiles<'_>, include: &[String], exclude: &[String]) -> Vec<String> {
    let [included, excluded] = [include, exclude].map(|patterns| -> BTreeSet<&str> {
        patterns
            .iter()
            .flat_map(|pattern| listed(files, pattern))
            .collect()
    });
    let taken = included.difference(&excluded);
    taken.map(|path| (*path).to_owned()).collect()
}

/// Returns the files that match a pathspec.
fn listed<'f>(files: &'f TreeFiles<'_>, pattern: &str) -> impl Iterator<Item = &'f str> {
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let matcher = compiled(&escaped(pattern), false).ok();
    files.below(fixed_folder(pattern)).filter(move |path| {
        let is_below = path
            .strip_prefix(pattern)
            .is_some_and(|rest| rest.starts_with('/'));
        is_below
            || matcher
                .as_ref()
                .is_some_and(|matcher| matcher.is_match(path))
    })
}

/// Returns the folders that match a path with unknown parts, each of which is a part of one name.
pub(super) fn fitting(files: &TreeFiles<'_>, path: &str) -> Vec<String> {
    let pattern = with_unknown_parts(path, "*");
    let pattern = crate::kustomize::resolve("", &pattern);
    // A wholly unknown pattern names no folder.
    if !pattern.contains(|c: char| c != '*' && c != '/') {
        return Vec::new();
    }
    taken(files, &[pattern], &[])
}

fn path_matcher(pattern: &str) -> Option<GlobSet> {
    let mut single = escaped(pattern);
    while single.contains("**") {
        single = single.replace("**", "*");
    }
    glob(&single).ok()
}

/// Escapes braces, which are literal in these patterns.
fn escaped(pattern: &str) -> String {
    pattern.replace('{', "[{]").replace('}', "[}]")
}

/// Returns the folder that contains all paths that a pattern may match.
fn fixed_folder(pattern: &str) -> &str {
    let end = pattern
        .find(['*', '?', '[', '\\', '{'])
        .unwrap_or(pattern.len());
    folder_of(&pattern[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> TreeFiles<'static> {
        let paths = [
            "apps/web/a.yaml",
            "apps/web/base/a.yaml",
            "apps/old/a.yaml",
            "apps/.hidden/a.yaml",
            "envs/prod/config.json",
            "envs/prod/eu/config.json",
            "x{y}/a.yaml",
        ];
        TreeFiles::of_texts(paths.map(|path| (path.to_owned(), b"a: 1".as_slice().into())))
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn star_matches_within_one_folder_name_and_exclude_wins() {
        for (include, exclude, expected) in [
            ("apps/*", "", "apps/old apps/web"),
            ("apps/**", "apps/old", "apps/web"),
            ("*/w?b/* [", "", "apps/web/base"),
            ("apps", "", "apps"),
            ("x{y}", "", "x{y}"),
        ] {
            let found = taken(&tree(), &words(include), &words(exclude));
            assert_eq!(found, words(expected), "{include}");
        }
    }

    #[test]
    fn file_globs_match_like_git_ls_files() {
        for (include, exclude, expected) in [
            (
                "envs/*/config.json",
                "",
                "envs/prod/config.json envs/prod/eu/config.json",
            ),
            ("envs", "envs/*/eu/*", "envs/prod/config.json"),
        ] {
            let found = files(&tree(), &words(include), &words(exclude));
            assert_eq!(found, words(expected), "{include}");
        }
    }

    #[test]
    fn unknown_parameters_match_within_folder_names() {
        assert_eq!(fitting(&tree(), "apps/{{name}}"), ["apps/old", "apps/web"]);
        assert_eq!(fitting(&tree(), "apps/w{{a}}/{{b}}"), ["apps/web/base"]);
        assert!(fitting(&tree(), "{{path}}").is_empty());
    }
}
