//! The folders and files that match the patterns of git generators and templates.

use std::collections::BTreeSet;

use super::pattern::GitPattern;
use crate::graph::files::TreeFiles;
use crate::kustomize::{ancestors, folder_of};

/// Returns the folders that a git generator selects; an exclude always wins.
pub(super) fn selected(
    files: &TreeFiles<'_>,
    include: &[String],
    exclude: &[String],
) -> Vec<String> {
    let [include, exclude] = [include, exclude].map(|patterns| -> Vec<GitPattern> {
        patterns
            .iter()
            .map(|one| GitPattern::folders(one))
            .collect()
    });
    matching(files, &include, &exclude)
}

/// Returns the folders that match a path with unknown parts, which are parts of folder names.
pub(super) fn fitting(files: &TreeFiles<'_>, path: &str) -> Vec<String> {
    if GitPattern::is_wholly_unknown(path) {
        return Vec::new();
    }
    matching(files, &[GitPattern::partly_unknown(path)], &[])
}

fn matching(files: &TreeFiles<'_>, include: &[GitPattern], exclude: &[GitPattern]) -> Vec<String> {
    let below: BTreeSet<&str> = include.iter().map(GitPattern::start).collect();
    let mut found = BTreeSet::new();
    for start in below {
        let folders = files
            .below(start)
            .flat_map(|path| ancestors(folder_of(path)));
        let new = folders.filter(|folder| !found.contains(*folder));
        let new: BTreeSet<String> = new
            .filter(|folder| is_match(include, folder) && !is_match(exclude, folder))
            .map(str::to_owned)
            .collect();
        found.extend(new);
    }
    found.into_iter().collect()
}

fn is_match(patterns: &[GitPattern], path: &str) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(path))
}

/// Returns the files that a git generator selects; an exclude always wins.
pub(super) fn files(files: &TreeFiles<'_>, include: &[String], exclude: &[String]) -> Vec<String> {
    let [include, exclude] = [include, exclude].map(|patterns| -> Vec<GitPattern> {
        patterns.iter().map(|one| GitPattern::files(one)).collect()
    });
    let included = include.iter().flat_map(|pattern| {
        let below = files.below(pattern.start());
        below.filter(|path| pattern.is_match(path))
    });
    let mut selected: BTreeSet<&str> = included.collect();
    selected.retain(|path| !is_match(&exclude, path));
    selected.into_iter().map(str::to_owned).collect()
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
            "x{y}/z/a.yaml",
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
            let found = selected(&tree(), &words(include), &words(exclude));
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
        assert_eq!(
            fitting(&tree(), "apps/{{name}}"),
            ["apps/.hidden", "apps/old", "apps/web"]
        );
        assert_eq!(
            fitting(&tree(), "apps/{{a}}{{b}}"),
            ["apps/.hidden", "apps/old", "apps/web"]
        );
        assert_eq!(fitting(&tree(), "apps/w{{a}}/{{b}}"), ["apps/web/base"]);
        assert_eq!(fitting(&tree(), "x{y}/{{name}}"), ["x{y}/z"]);
        assert!(fitting(&tree(), "{{path}}").is_empty());
    }
}
