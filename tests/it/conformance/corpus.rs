//! The corpus of real manifests: everything is read as Kubernetes reads it, and every error is true.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use ownerlint::engine::{self, Check};
use ownerlint::finding::Severity;
use ownerlint::inventory::{Files, Inventory, Settings, walk};
use ownerlint::manifest::ParsedFile;
use ownerlint::text::{ColumnUnit, SourceFile, decode};
use ownerlint::yaml::{self, Document};
use rayon::prelude::*;
use walkdir::{DirEntry, WalkDir};

use crate::support::{corpus, root};

/// Extensions of files that are read document by document.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A row of `tests/corpus-errors.tsv` without the reason.
type ErrorLine = (String, String, usize);

fn expected_errors() -> BTreeMap<ErrorLine, String> {
    let text = std::fs::read_to_string(root().join("tests/corpus-errors.tsv"))
        .expect("the list of errors");
    let rows = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|row| {
        let [rule, file, line, why] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("four columns: {row}")
        };
        assert!(!why.trim().is_empty(), "every error has its reason: {row}");
        (
            (
                rule.to_owned(),
                file.to_owned(),
                line.parse().expect("a line number"),
            ),
            why.to_owned(),
        )
    })
    .collect()
}

/// Returns the files of the corpus, parsed once for all tests.
pub(crate) fn files(corpus: &Path) -> &'static [ParsedFile] {
    static FILES: OnceLock<Vec<ParsedFile>> = OnceLock::new();
    FILES.get_or_init(|| {
        let paths = [corpus.to_string_lossy().into_owned()];
        Files::default().read(&walk(&paths, &[]).expect("the corpus can be walked"))
    })
}

/// Returns the documents of every YAML file, by path below the corpus, read once for all tests.
pub(crate) fn documents(corpus: &Path) -> &'static BTreeMap<String, (SourceFile, Vec<Document>)> {
    static DOCUMENTS: OnceLock<BTreeMap<String, (SourceFile, Vec<Document>)>> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let entries: Vec<_> = WalkDir::new(corpus)
            .into_iter()
            .filter_map(Result::ok)
            .collect();
        let read = |entry: &DirEntry| {
            let extension = entry.path().extension()?.to_str()?;
            let text = decode(
                std::fs::read(entry.path())
                    .ok()
                    .filter(|_| EXTENSIONS.contains(&extension))?,
            )
            .ok()?;
            let name = entry
                .path()
                .strip_prefix(corpus)
                .ok()?
                .to_string_lossy()
                .into_owned();
            let file = SourceFile::new(name.as_str(), text);
            let documents = yaml::read(file.shared_text());
            Some((name, (file, documents)))
        };
        entries.par_iter().filter_map(read).collect()
    })
}

fn below<'a>(path: &'a str, folder: &str) -> &'a str {
    path.strip_prefix(folder).expect("a path below the corpus")
}

#[test]
fn corpus_errors_equal_the_reviewed_list() {
    let Some(corpus) = corpus() else { return };
    let mut projects: BTreeMap<&str, Vec<ParsedFile>> = BTreeMap::new();
    let folder = format!("{}/", corpus.display());
    for file in files(corpus) {
        let (project, _) = below(file.source().path(), &folder)
            .split_once('/')
            .expect("a file of a project");
        projects.entry(project).or_default().push(file.clone());
    }
    let mut found = Vec::new();
    for files in projects.into_values() {
        let report = engine::check(
            Inventory::new(files, Settings::default()),
            &Check::default(),
        );
        assert!(
            report
                .notes
                .iter()
                .all(|note| note.severity < Severity::Error),
            "no rule fails"
        );
        let errors = report.findings.iter().map(|reported| &reported.finding);
        for finding in errors.filter(|finding| finding.severity == Severity::Error) {
            let file = report.sources.file(finding.primary.file);
            let line = file
                .position(finding.primary.span.start, ColumnUnit::Utf8)
                .line;
            found.push((
                finding.rule.to_owned(),
                below(file.path(), &folder).to_owned(),
                line,
            ));
        }
    }
    let expected = expected_errors();
    let unexpected: Vec<_> = found
        .iter()
        .filter(|error| !expected.contains_key(error))
        .collect();
    let missing: Vec<_> = expected
        .keys()
        .filter(|error| !found.contains(error))
        .collect();
    assert!(
        unexpected.is_empty() && missing.is_empty(),
        "not listed: {unexpected:#?}\nlisted and not found: {missing:#?}"
    );
}

/// Runs a test that needs the corpus, with `OWNERLINT_CORPUS` set. Returns whether it passed, and its output.
fn with_corpus(corpus: &str) -> (bool, String) {
    let mut test = Command::new(std::env::current_exe().expect("this program"));
    test.args([
        "--exact",
        "conformance::corpus::corpus_errors_equal_the_reviewed_list",
    ]);
    let output = test
        .env("OWNERLINT_CORPUS", corpus)
        .output()
        .expect("it runs");
    (
        output.status.success(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn corpus_test_prints_skip_reason_without_corpus() {
    let (passed, said) = with_corpus("");
    assert!(
        passed && said.starts_with("skipped: ") && said.contains("no corpus of manifests"),
        "{said}"
    );
}

#[test]
fn corpus_test_fails_if_named_corpus_is_missing() {
    let (passed, _) = with_corpus("no/such/folder");
    assert!(!passed);
}
