//! Proposes files to exclude: test fixtures, recognised by their paths, and the files that most errors have in common.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::text::glob;

/// Folders with fixtures, wherever they are. Go ignores `testdata` (`go help packages`), Jest writes `__snapshots__`,
/// and the others are common names.
const FIXTURE_FOLDERS: [&str; 12] = [
    "testdata",
    "test-data",
    "test_data",
    "fixture",
    "fixtures",
    "__fixtures__",
    "golden",
    "goldens",
    "__snapshots__",
    "fake",
    "fakes",
    "mocks",
];

/// Folders with fixtures, if they are inside a folder of tests.
const FIXTURE_FOLDERS_OF_TESTS: [&str; 3] = ["compare", "expected", "snapshots"];

/// The prefix of the names of fixtures that OpenShift's test helpers write.
const FIXTURE_PREFIX: &str = "zz_fixture_";

/// Suffixes of the names of fixtures, before the extension.
const FIXTURE_SUFFIXES: [&str; 3] = [".golden", "-golden", "_golden"];

/// The least number that can count as most of a whole.
const MIN_PART: usize = 2;

/// The least number of errors for which a pattern other than that of fixtures is proposed.
const MIN_ERRORS_OF_A_PATTERN: usize = 10;

/// A proposal to leave files out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exclusion {
    /// The glob for `--exclude`, or for `exclude` in the configuration.
    pub glob: String,
    /// The number of given paths that it matches.
    pub covers: usize,
}

/// Returns one exclusion for each kind of fixture among `paths`, sorted by glob. Paths have forward slashes.
pub fn fixtures<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<Exclusion> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for glob in paths.into_iter().filter_map(fixture_glob) {
        *counts.entry(glob).or_default() += 1;
    }
    counts
        .into_iter()
        .map(|(glob, covers)| Exclusion { glob, covers })
        .collect()
}

/// Whether `part` is more than half of `all`, and at least two.
pub fn is_most(part: usize, all: usize) -> bool {
    part >= MIN_PART && part * 2 > all
}

/// Returns an exclusion that covers more than half of `errors`: fixtures, or else a folder, prefix
/// or suffix that matches less than half of `files`. They have the path of each error and of each
/// file read.
pub fn dominant(errors: &[&str], files: &[&str]) -> Option<Exclusion> {
    let fixtures = fixtures(errors.iter().copied())
        .into_iter()
        .find(|fixtures| is_most(fixtures.covers, errors.len()));
    if fixtures.is_some() || errors.len() < MIN_ERRORS_OF_A_PATTERN {
        return fixtures;
    }
    let mut counts: BTreeMap<CommonPart<'_>, usize> = BTreeMap::new();
    for pattern in errors.iter().flat_map(|path| patterns(path)) {
        *counts.entry(pattern).or_default() += 1;
    }
    counts.retain(|_, covers| is_most(*covers, errors.len()));
    let mut shared: Vec<_> = counts.into_iter().collect();
    // A folder is more specific than a name, and a longer text than a shorter one.
    shared.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.rank()));
    shared.into_iter().find_map(|(pattern, covers)| {
        let glob = pattern.glob();
        let matcher = glob::glob(&glob).ok()?;
        let matched = files
            .par_iter()
            .filter(|path| matcher.is_match(path))
            .count();
        (matched * 2 < files.len()).then_some(Exclusion { glob, covers })
    })
}

/// Returns a glob for `path` and the fixtures like it; `None` if it is not a fixture.
pub fn fixture_glob(path: &str) -> Option<String> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut tests = None;
    for (folder, end) in components(folders) {
        if FIXTURE_FOLDERS.contains(&folder) {
            return Some(format!("**/{folder}/**"));
        }
        if let Some(tests) = tests.filter(|_| FIXTURE_FOLDERS_OF_TESTS.contains(&folder)) {
            return Some(format!("{}/**/{folder}/**", globset::escape(tests)));
        }
        if tests.is_none() && holds_tests(folder) {
            tests = Some(&folders[..end]);
        }
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if name.starts_with(FIXTURE_PREFIX) {
        return Some(format!("**/{FIXTURE_PREFIX}*"));
    }
    let mut suffixes = FIXTURE_SUFFIXES.iter();
    let suffix = suffixes.find(|suffix| stem.ends_with(**suffix))?;
    Some(format!("**/*{suffix}.{extension}"))
}

/// Splits a path into its components, each with the offset of its end.
fn components(folders: &str) -> impl Iterator<Item = (&str, usize)> {
    folders.split('/').scan(0, |start, part| {
        let end = *start + part.len();
        *start = end + 1;
        Some((part, end))
    })
}

fn holds_tests(folder: &str) -> bool {
    matches!(folder, "test" | "tests") || folder.split(['-', '_', '.']).any(|word| word == "e2e")
}

/// A part that several paths may have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CommonPart<'p> {
    /// The end of a file name from one of `-_.` on, if it is longer than the extension.
    Suffix(&'p str),
    /// The beginning of a file's name, up to and including one of `-_.`.
    Prefix(&'p str),
    /// A folder above the file.
    Folder(&'p str),
}

impl CommonPart<'_> {
    fn rank(self) -> (bool, usize) {
        match self {
            Self::Folder(folder) => (true, folder.len()),
            Self::Prefix(part) | Self::Suffix(part) => (false, part.len()),
        }
    }

    fn glob(self) -> String {
        match self {
            Self::Folder(folder) => format!("{}/**", globset::escape(folder)),
            Self::Prefix(prefix) => format!("**/{}*", globset::escape(prefix)),
            Self::Suffix(suffix) => format!("**/*{}", globset::escape(suffix)),
        }
    }
}

fn patterns(path: &str) -> Vec<CommonPart<'_>> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folders = components(folders).map(|(_, end)| CommonPart::Folder(&path[..end]));
    let stem = name.rfind('.').unwrap_or(name.len());
    let joints = name[..stem]
        .match_indices(['-', '_', '.'])
        .map(|(at, _)| at)
        .filter(|&at| at > 0);
    let prefixes = joints.clone().map(|at| CommonPart::Prefix(&name[..=at]));
    let suffixes = joints.map(|at| CommonPart::Suffix(&name[at..]));
    folders
        .filter(|folder| *folder != CommonPart::Folder(""))
        .chain(prefixes)
        .chain(suffixes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(paths: &[&str]) -> Vec<String> {
        fixtures(paths.iter().copied())
            .into_iter()
            .map(|exclusion| exclusion.glob)
            .collect()
    }

    #[test]
    fn test_fixtures_are_recognised_by_path() {
        for (path, glob) in [
            ("pkg/lint/testdata/a/b.yaml", "**/testdata/**"),
            ("testdata/b.yaml", "**/testdata/**"),
            ("web/fake/data/pod.yaml", "**/fake/**"),
            ("a/zz_fixture_Test_x.yaml", "**/zz_fixture_*"),
            ("out/web.golden.yaml", "**/*.golden.yaml"),
            (
                "e2e-tests/backup/compare/service.yml",
                "e2e-tests/**/compare/**",
            ),
            ("x/tests/a[1]/compare/service.yml", "x/tests/**/compare/**"),
        ] {
            assert_eq!(globs(&[path]), [glob], "{path}");
            assert!(
                glob::glob(glob).is_ok_and(|glob| glob.is_match(path)),
                "{path}"
            );
        }
    }

    #[test]
    fn test_environments_and_similar_names_are_not_fixtures() {
        for path in [
            "clusters/test/app.yaml",
            "overlays/e2e/kustomization.yaml",
            "compare/service.yaml",
            "apps/golden-gate/x.yaml",
            "snapshots/volume.yaml",
            "testdata.yaml",
            "goldens.yaml",
        ] {
            assert_eq!(globs(&[path]), Vec::<String>::new(), "{path}");
        }
    }

    #[test]
    fn each_fixture_pattern_is_listed_once_with_its_count() {
        let found = fixtures([
            "a/testdata/x.yaml",
            "b/testdata/y.yaml",
            "zz_fixture_z.yaml",
            "web.yaml",
        ]);
        let found: Vec<_> = found
            .iter()
            .map(|exclusion| (exclusion.glob.as_str(), exclusion.covers))
            .collect();
        assert_eq!(found, [("**/testdata/**", 2), ("**/zz_fixture_*", 1)]);
    }

    fn dominating(errors: &[&str], files: &[&str]) -> Option<(String, usize)> {
        dominant(errors, files).map(|exclusion| (exclusion.glob, exclusion.covers))
    }

    #[test]
    fn fixtures_with_most_errors_are_proposed_for_exclusion() {
        let errors = ["a/testdata/x.yaml", "b/testdata/y.yaml", "web.yaml"];
        assert_eq!(
            dominating(&errors, &errors),
            Some(("**/testdata/**".to_owned(), 2))
        );
        assert_eq!(
            dominating(&errors[1..], &errors),
            None,
            "a half is not most"
        );
    }

    #[test]
    fn folder_with_most_errors_and_few_files_is_proposed() {
        let samples: Vec<String> = (0..12)
            .map(|n| format!("docs/samples [old]/{n}.yaml"))
            .collect();
        let manifests: Vec<String> = (0..30).map(|n| format!("deploy/{n}.yaml")).collect();
        let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
        let errors = [&samples[..], &["deploy/1.yaml"]].concat();
        let all: Vec<&str> = samples
            .iter()
            .copied()
            .chain(manifests.iter().map(String::as_str))
            .collect();
        let expected = ("docs/samples [[]old[]]/**".to_owned(), 12);
        assert_eq!(dominating(&errors, &all), Some(expected));
        assert_eq!(
            dominating(&errors, &errors),
            None,
            "a folder that is nearly everything is no exception"
        );
        assert_eq!(
            dominating(&errors[..9], &all),
            None,
            "nine errors are read one by one"
        );
    }

    #[test]
    fn file_name_pattern_is_proposed_if_no_folder_fits() {
        let copies: Vec<String> = (0..12)
            .map(|n| format!("app-{n}/redacted_{n}.yaml"))
            .collect();
        let others: Vec<String> = (0..12).map(|n| format!("app-{n}/web.yaml")).collect();
        let last: Vec<String> = (0..12)
            .map(|n| format!("app-{n}/{n}-before.yaml"))
            .collect();
        let all: Vec<&str> = [&copies, &others, &last]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        for (paths, glob) in [
            (&copies, Some("**/redacted_*")),
            (&last, Some("**/*-before.yaml")),
            (&others, None),
        ] {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let exclusion = dominant(&paths, &all);
            assert_eq!(exclusion.map(|exclusion| exclusion.glob).as_deref(), glob);
        }
    }

    #[test]
    fn no_exclusion_is_proposed_without_errors_or_for_stdin() {
        assert_eq!(dominating(&[], &[]), None);
        assert_eq!(dominating(&["-"; 20], &["-"]), None);
    }
}
