//! Every document of a large corpus of real manifests, compared with the answers of Kubernetes' own decoder.

use std::collections::BTreeMap;

use ownerlint::yaml::{Content, Document, Tree};

use crate::conformance::corpus::documents;
use crate::support::{corpus, fixture};

/// Files whose recording ends early, with our verdict on the rest: Kubernetes stops at its first error.
const READ_ON: &[(&str, &str)] = &[
    // Its first document is rejected.
    ("nasty/ingress-gce__cmd__echo__echo.yaml", "object"),
    // UTF-16: the recording passed the bytes to the decoder unchanged, so no line starts with `---`, and its second
    // document was dropped. kubectl decodes before it splits, and so do we (decode.json, "utf16le").
    (
        "nasty/argo-cd__reposerver__repository__testdata__utf-16__utf-16.yaml",
        "object",
    ),
];

/// Returns verdicts by file and document. Items of a List repeat its index; another test compares them.
fn recorded(table: &str) -> BTreeMap<String, BTreeMap<u32, String>> {
    let mut files: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let mut cells = line.split('\t');
        let (Some(file), Some(document), Some(verdict)) =
            (cells.next(), cells.next(), cells.next())
        else {
            continue;
        };
        let Ok(index) = document.parse() else {
            continue;
        };
        // YAML tests do not check whether metadata decodes.
        let verdict = if verdict == "metadata-does-not-decode" {
            "object"
        } else {
            verdict
        };
        files
            .entry(file.to_owned())
            .or_default()
            .entry(index)
            .or_insert_with(|| verdict.to_owned());
    }
    files
}

fn verdict(document: &Document) -> &'static str {
    match &document.content {
        Content::Empty => "empty",
        Content::Unreadable(_) => "refused",
        Content::Value(tree) => class(tree),
    }
}

fn class(tree: &Tree) -> &'static str {
    let root = tree.root();
    let text = |key| {
        root.get(key)
            .and_then(ownerlint::yaml::Value::as_str)
            .filter(|text| !text.is_empty())
    };
    match (text("apiVersion"), text("kind")) {
        _ if !root.is_map() => "not-an-object",
        (_, None) | (None, _) => "no-kind",
        (Some(_), Some(kind))
            if kind.ends_with("List")
                && root
                    .get("items")
                    .is_some_and(ownerlint::yaml::Value::is_seq) =>
        {
            "list"
        }
        _ => "object",
    }
}

#[test]
fn corpus_documents_decode_as_recorded_from_kubernetes() {
    let Some(corpus) = corpus() else { return };
    let documents = documents(corpus);
    let mut differences = Vec::new();
    for (name, expected) in recorded(&fixture("conformance/corpus-decode.tsv")) {
        let (_, documents) = documents.get(&name).unwrap_or_else(|| panic!("no {name}"));
        let last = expected.keys().next_back().copied().unwrap_or_default();
        let found: BTreeMap<u32, &str> = documents
            .iter()
            .map(|document| (document.index, verdict(document)))
            .collect();
        let read_on: Vec<&str> = found
            .range(last + 1..)
            .map(|(_, verdict)| *verdict)
            .collect();
        let listed = READ_ON
            .iter()
            .find(|(file, _)| *file == name)
            .map_or("", |(_, verdicts)| verdicts);
        if read_on.join(" ") != listed {
            differences.push(format!(
                "{name}: behind the recording: {}",
                read_on.join(" ")
            ));
        }
        for (index, expected) in &expected {
            let found = found.get(index).copied().unwrap_or("nothing");
            if found != expected {
                differences.push(format!(
                    "{name} document {index}: {found}, Kubernetes {expected}"
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences\n{}",
        differences.len(),
        differences.join("\n")
    );
}
