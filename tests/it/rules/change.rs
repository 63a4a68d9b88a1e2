//! Rules of change: fixtures are folders with `base/` and `head/`, and examples are diffs.

use std::collections::BTreeSet;
use std::path::Path;

use ownerlint::rules::Rule;
use ownerlint::text::{ColumnUnit, Side};
use ownerlint::{CompareRequest, Comparison, DiffReport, StateChoice};
use walkdir::WalkDir;

use crate::support::{assert_no_rule_failed, marked_lines, root};

/// Returns the report of `diff` on the folders `base` and `head` within `folder`.
pub(crate) fn compared(folder: &Path) -> DiffReport {
    let side = |name: &str| StateChoice::Path(folder.join(name).display().to_string());
    let request = CompareRequest::new(side("base"), side("head"));
    let comparison =
        Comparison::open(&request).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let report = comparison
        .report()
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    assert_no_rule_failed(&folder.display().to_string(), &report.findings);
    report
}

/// Returns places such as `base/crds/crd.yaml:4` for every line of base that is marked for a rule.
fn marked(folder: &Path, rule: &str) -> BTreeSet<String> {
    let files = WalkDir::new(folder.join("base"))
        .into_iter()
        .map(|entry| entry.expect("a fixture"));
    let files = files.filter(|entry| entry.file_type().is_file());
    let lines = files.flat_map(|file| {
        let text = std::fs::read_to_string(file.path()).expect("text");
        let path = file
            .path()
            .strip_prefix(folder)
            .expect("it is below")
            .display()
            .to_string();
        marked_lines(&text, rule)
            .into_iter()
            .map(move |line| format!("{path}:{line}"))
    });
    lines.collect()
}

/// Returns the places of base at which a rule points.
fn found(folder: &Path, report: &DiffReport, rule: &str) -> BTreeSet<String> {
    let report = &report.findings;
    let findings = report
        .findings
        .iter()
        .filter(|reported| reported.finding.rule == rule);
    let places = findings.map(|reported| {
        let primary = &reported.finding.primary;
        let file = report.sources.file(primary.file);
        assert_eq!(
            file.side(),
            Side::Base,
            "{}: a finding on a change is on base",
            folder.display()
        );
        let path = Path::new(file.path());
        let path = path
            .strip_prefix(folder)
            .unwrap_or(path)
            .display()
            .to_string();
        format!(
            "{path}:{}",
            file.position(primary.span.start, ColumnUnit::Utf8).line
        )
    });
    places.collect()
}

/// Asserts that a rule points at exactly the marked lines of base, and that there are some if it `fires`.
pub(crate) fn assert_marks_of_change(rule: &Rule, folder: &Path, fires: bool) {
    let expected = marked(folder, rule.id);
    assert_eq!(fires, !expected.is_empty(), "{}: marks", folder.display());
    let report = compared(folder);
    assert_eq!(
        found(folder, &report, rule.id),
        expected,
        "{}: lines on which {} points",
        folder.display(),
        rule.id
    );
}

/// Asserts that a rule points at exactly the marked lines of base in a page's `diff` example.
pub(crate) fn assert_marks_of_diff(rule: &Rule, place: &str, diff: &str) {
    let folder = written_change(diff);
    let expected = marked(folder.path(), rule.id);
    let found = found(folder.path(), &compared(folder.path()), rule.id);
    assert_eq!(
        found, expected,
        "{place}: lines on which {} points",
        rule.id
    );
}

/// Writes a page's `diff` example into a new folder, as `base/` and `head/`.
pub(crate) fn written_change(diff: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for side in ["base", "head"] {
        std::fs::create_dir(folder.path().join(side)).expect("a folder");
    }
    let files = format!("\n{diff}");
    for file in files.split("\n--- ").skip(1) {
        let (path, lines) = file.split_once('\n').unwrap_or((file, ""));
        for (side, other) in [("base", '+'), ("head", '-')] {
            let text: String = lines
                .lines()
                .filter(|line| !line.starts_with(other))
                .map(|line| format!("{}\n", line.get(1..).unwrap_or_default()))
                .collect();
            if text.is_empty() {
                continue;
            }
            let path = folder.path().join(side).join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
    }
    folder
}

#[test]
fn a_role_with_too_many_rules_may_still_allow_everything() {
    let fixture = root().join("fixtures/rules/permission-removed/bad/role-loses-verbs");
    let folder = tempfile::tempdir().expect("a folder");
    let files = WalkDir::new(&fixture)
        .into_iter()
        .map(|entry| entry.expect("a fixture"));
    for file in files.filter(|entry| entry.file_type().is_file()) {
        let path = file.path().strip_prefix(&fixture).expect("it is below");
        let mut text = std::fs::read_to_string(file.path()).expect("text");
        if path == Path::new("head/rook/role.yaml") {
            let rule = "{apiGroups: [example.com], resources: [things], verbs: [get]}, ";
            text = text.replace("rules: [", &format!("rules: [{}", rule.repeat(1_001)));
        }
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it is writable");
        std::fs::write(path, text).expect("it is writable");
    }
    let of = |folder: &Path| found(folder, &compared(folder), "permission-removed").len();
    assert_eq!([of(&fixture), of(folder.path())], [1, 0]);
}
