//! Files of other projects for which an earlier version reported false errors.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ownerlint::engine::{Check, check};
use ownerlint::finding::Severity;
use ownerlint::text::ColumnUnit;

use crate::support::{inventory_at, root};

/// A row of `labels.tsv`.
struct Labelled {
    file: String,
    line: usize,
    rule: String,
    label: String,
}

/// Returns the files, which are not part of the repository; `None`, with a note, if they are missing.
fn believable() -> Option<(PathBuf, Vec<Labelled>)> {
    let named = std::env::var_os("OWNERLINT_BELIEVABLE").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root().join("../shared/believable"));
    let Ok(labels) = std::fs::read_to_string(folder.join("labels.tsv")) else {
        println!(
            "skipped: no labelled files at {}; set OWNERLINT_BELIEVABLE",
            folder.display()
        );
        return None;
    };
    let row = |line: &str| {
        let [file, line, rule, label] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}")
        };
        let line = line.parse().expect("a line number");
        Labelled {
            file: file.to_owned(),
            line,
            rule: rule.to_owned(),
            label: label.to_owned(),
        }
    };
    Some((folder, labels.lines().skip(1).map(row).collect()))
}

/// Returns the errors in the project folders: file below `folder`, line, rule.
fn errors(
    folder: &std::path::Path,
    projects: &BTreeSet<&str>,
) -> BTreeSet<(String, usize, String)> {
    let mut errors = BTreeSet::new();
    for project in projects {
        let report = check(
            inventory_at(&[&folder.join(project).to_string_lossy()]),
            &Check::default(),
        );
        for finding in report.findings.iter().map(|reported| &reported.finding) {
            let file = report.sources.file(finding.primary.file);
            let line = file
                .position(finding.primary.span.start, ColumnUnit::Utf8)
                .line;
            let below = file
                .path()
                .strip_prefix(&*folder.to_string_lossy())
                .unwrap_or(file.path());
            if finding.severity == Severity::Error {
                errors.insert((
                    below.trim_start_matches('/').to_owned(),
                    line,
                    finding.rule.to_owned(),
                ));
            }
        }
    }
    errors
}

#[test]
fn places_labelled_false_get_no_errors() {
    let Some((folder, rows)) = believable() else {
        return;
    };
    let projects = rows
        .iter()
        .filter_map(|row| row.file.split('/').next())
        .collect();
    let errors = errors(&folder, &projects);
    let doubted: Vec<_> = rows
        .iter()
        .filter(|row| row.label == "false")
        .map(|row| (row.file.clone(), row.line, row.rule.clone()))
        .filter(|place| errors.contains(place))
        .collect();
    assert!(doubted.is_empty(), "{doubted:#?}");
}

// Not tested yet: rows labelled `fixture` are true errors in files that are never applied. After
// `init` in the project's folder, none of them may be reported.
