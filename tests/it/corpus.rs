//! The corpus of real manifests: everything is read as Kubernetes reads it, and every error is true.

use std::collections::BTreeMap;

use crate::support::{corpus, root};

/// A row of `tests/corpus-errors.tsv` without its reason.
type ErrorLine = (String, String, usize);

fn expected_errors() -> BTreeMap<ErrorLine, String> {
    let text = std::fs::read_to_string(root().join("tests/corpus-errors.tsv")).expect("the list of errors");
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| {
        let [rule, file, line, why] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("four columns: {row}") };
        assert!(!why.trim().is_empty(), "every error has its reason: {row}");
        ((rule.to_owned(), file.to_owned(), line.parse().expect("a line number")), why.to_owned())
    })
    .collect()
}

#[test]
fn every_error_on_the_corpus_is_listed_with_its_reason() {
    let Some(corpus) = corpus() else { return };
    let mut found = Vec::new();
    let mut projects: Vec<_> = std::fs::read_dir(&corpus).expect("the corpus").flatten().map(|e| e.path()).collect();
    projects.retain(|path| path.is_dir());
    projects.sort();
    for project in projects {
        let path = project.to_string_lossy().into_owned();
        let inventory = crate::support::inventory_at(&[&path]);
        let report = ownerlint::engine::check(inventory, &ownerlint::engine::Check::default());
        assert!(report.notes.iter().all(|note| note.severity < ownerlint::finding::Severity::Error), "no rule fails");
        for reported in &report.findings {
            let finding = &reported.finding;
            if finding.severity < ownerlint::finding::Severity::Error {
                continue;
            }
            let file = report.sources.file(finding.primary.file);
            let line = file.position(finding.primary.span.start, ownerlint::text::ColumnUnit::Utf8).line;
            let below = file.path().strip_prefix(&*corpus.to_string_lossy()).unwrap_or(file.path());
            found.push((finding.rule.to_owned(), below.trim_start_matches('/').to_owned(), line));
        }
    }
    let expected = expected_errors();
    let unexpected: Vec<_> = found.iter().filter(|error| !expected.contains_key(error)).collect();
    let missing: Vec<_> = expected.keys().filter(|error| !found.contains(error)).collect();
    assert!(
        unexpected.is_empty() && missing.is_empty(),
        "not listed: {unexpected:#?}\nlisted and not found: {missing:#?}"
    );
}
