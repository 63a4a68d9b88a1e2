//! Rules on reading, where a fixture cannot hold the input: folders, bytes that are no text, and the object of a finding.

use ownerlint::engine::Check;

use crate::support::{Repository, check_text};

/// Returns the findings of a rule in a folder.
fn findings(repository: &Repository, rule: &str) -> Vec<serde_json::Value> {
    let (_, printed, error) = repository.run(
        &["--select", rule, "--output", "json", "--fail-on", "never"],
        "",
    );
    let report: serde_json::Value = serde_json::from_str(&printed).expect(&error);
    report["findings"].as_array().expect("findings").clone()
}

/// Returns the severities and messages of the findings in a folder.
fn found(repository: &Repository, rule: &str) -> Vec<(String, String)> {
    let findings = findings(repository, rule).into_iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| (word(&finding["severity"]), word(&finding["message"])))
        .collect()
}

#[test]
fn kustomize_quotes_numbers_and_booleans_of_annotations_and_nothing_else() {
    let repository = Repository::new();
    repository.write("kustomization.yaml", "resources: [a.yaml]\n");
    for (metadata, severity) in [
        ("annotations: {a: 1}", "warning"),
        ("annotations: {a: true}", "warning"),
        ("annotations: {a: [1]}", "error"),
        ("labels: {a: 1}", "error"),
        ("annotations: {a: 1}, labels: {a: 1}", "error"),
    ] {
        repository.write(
            "a.yaml",
            &format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, {metadata}}}\n"),
        );
        let found = found(&repository, "unreadable-document");
        let severities: Vec<_> = found
            .iter()
            .map(|(severity, _)| severity.as_str())
            .collect();
        assert_eq!(severities, [severity], "{metadata}");
    }
}

#[test]
fn fields_with_a_rule_of_their_own_are_not_counted() {
    for (labels, more) in [("{a: 1}", ""), ("{a: 1, b: 2}", " (2 fields in total)")] {
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, finalizers: [1], labels: {labels}}}\n"
        );
        let report = check_text("a.yaml", &text, &Check::default());
        let mut findings = report.findings.iter().map(|reported| &reported.finding);
        let finding = findings
            .find(|finding| finding.rule == "unreadable-document")
            .expect("a finding");
        assert_eq!(
            finding.message,
            format!("`metadata.labels.a` of ConfigMap `a` is a number, not a string{more}")
        );
        assert_eq!(finding.related.len(), usize::from(!more.is_empty()));
    }
}

#[test]
fn a_key_is_repeated_in_the_item_of_a_list_that_contains_it() {
    let item = |name: &str, data: &str| {
        format!(
            "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {{name: {name}}}\n    data:\n{data}"
        )
    };
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n{}{}",
        item("first", "      a: '1'\n      a: '2'\n"),
        item("second", "      a: '1'\n"),
    );
    let report = check_text("list.yaml", &text, &Check::default());
    let finding = report
        .findings
        .iter()
        .find(|reported| reported.finding.rule == "duplicate-key")
        .expect("a finding");
    let object = finding.finding.object.as_ref().expect("an object");
    assert_eq!(object.name.as_str(), "first");
}

#[test]
fn one_byte_that_is_not_utf8_is_not_the_first_of_several() {
    for (bytes, label) in [
        (&b"\xFF"[..], "read as U+FFFD"),
        (&b"\xFF \xFF"[..], "the first one, read as U+FFFD"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n# ".to_vec();
        text.extend(bytes);
        text.push(b'\n');
        std::fs::write(folder.path().join("a.yaml"), text).expect("written");
        let output = crate::support::ownerlint()
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let shown = String::from_utf8(output.stdout).expect("text");
        assert!(shown.contains(&format!("^ {label}\n")), "{shown}");
    }
}

#[test]
fn every_document_with_bytes_that_are_not_utf8_is_reported() {
    let object = |name: &str, value: &[u8]| {
        let start = format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: '"
        );
        [start.as_bytes(), value, b"'}\n"].concat()
    };
    let repository = Repository::new();
    let values = b"a: \xFF\n".to_vec();
    let written = "\u{FFFD}".as_bytes();
    for (file, documents) in [
        ("values-first.yaml", vec![values, object("a", b"\xFF")]),
        (
            "objects.yaml",
            vec![
                object("a", b"\xFF\xFF"),
                object("b", written),
                object("c", b"\xFF"),
            ],
        ),
    ] {
        std::fs::write(repository.path().join(file), documents.concat()).expect("written");
    }
    let found = findings(&repository, "nonstandard-yaml").into_iter();
    let found = found.map(|finding| {
        let related = finding["related"].as_array().expect("a list").iter();
        let lines = related.map(|place| place["location"]["line"].to_string());
        let first = &finding["location"];
        format!(
            "{}:{} {} [{}]",
            first["file"].as_str().expect("a file"),
            first["line"],
            finding["message"].as_str().expect("a message"),
            lines.collect::<Vec<_>>().join(" ")
        )
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            "objects.yaml:5 bytes that are not UTF-8, in 2 places of this document (and 1 more) [15]",
            "values-first.yaml:6 a byte that is not UTF-8 []",
        ]
    );
}

#[test]
fn a_text_that_lost_bytes_is_not_edited() {
    let object = |comment: &[u8]| {
        let mut text = b"apiVersion: v1\nkind: ConfigMap\n".to_vec();
        text.extend(comment);
        text.extend(b"metadata: {name: a, finalizer: [example.com/a]}\n");
        text
    };
    let fixes = |text: Vec<u8>| {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.yaml"), text).expect("written");
        let output = crate::support::ownerlint()
            .current_dir(folder.path())
            .args(["--select", "metadata-unknown-field", "--output", "json"])
            .output()
            .expect("it runs");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        report["findings"][0]["fixes"].as_array().map(Vec::len)
    };
    assert_eq!(fixes(object(b"# caf\xC3\xA9\n")), Some(1));
    assert_eq!(fixes(object(b"# caf\xE9\n")), Some(0));
}

#[test]
fn a_single_document_beyond_the_limit_is_counted_in_words() {
    let text = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {\n".repeat(101);
    let report = check_text("a.yaml", &text, &Check::default());
    let counted = report
        .findings
        .iter()
        .map(|reported| reported.finding.message.as_str())
        .filter(|message| message.contains("more document"));
    assert_eq!(
        counted.collect::<Vec<_>>(),
        ["One more document of this file cannot be read"]
    );
}
