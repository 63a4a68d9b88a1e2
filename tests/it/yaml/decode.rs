//! Compares the parser with recordings: of kubectl's reader on unusual input (`fixtures/conformance/decode.json`,
//! recorded on 1.36.2), and of its library on small documents (`go-yaml.jsonl`: `YAMLToJSON` of sigs.k8s.io/yaml 1.3.0
//! over go-yaml 2.4.0; tags × scalars, keys, and random documents).

use std::sync::Arc;

use ownerlint::text::decode;
use ownerlint::yaml::{Content, Document, ProblemKind, read};
use serde_json::Value;

use crate::yaml::support::{one, tree_json};

struct Case {
    name: String,
    accepted: bool,
    objects: Vec<Value>,
    input: Vec<u8>,
}

/// Cases that kubectl rejects for reasons other than YAML: there is no object, or its metadata does not decode. Here
/// they only have to be read.
const NOT_ABOUT_YAML: &[&str] = &[
    // No content.
    "empty",
    "null doc",
    "empty list",
    "list items null",
    "list with null item",
    // No apiVersion or kind.
    "list doc",
    "kind number",
    "capital Kind",
    // TypeMeta or ObjectMeta do not decode.
    "apiVersion number",
    "name float",
    "namespace number",
    "metadata list",
    "uid unquoted number",
    "uid looks like float",
];

/// Cases in which Kubernetes silently overrides or drops content.
const SILENT: &[(&str, &str)] = &[
    ("duplicate key spec", "duplicate"),
    ("duplicate key metadata", "duplicate"),
    ("duplicate kind", "duplicate"),
    ("duplicate in flow", "duplicate"),
    ("duplicate ownerReferences", "duplicate"),
    ("duplicate by type", "duplicate"),
    ("duplicate metadata block", "duplicate"),
    ("json dup key", "duplicate"),
    ("doc end without sep", "dropped"),
    ("nel", "non-standard"),
    ("ls", "non-standard"),
];

/// Reads the recording with the parser under test, as JSON, because serde_json does not nest as deeply.
fn cases() -> Vec<Case> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/conformance/decode.json"
    );
    let text = std::fs::read_to_string(path).expect("the recording is committed");
    let recording = one(&format!("{{\"cases\": {text}}}")).expect("the recording is JSON");
    let cases: Vec<Case> = recording["cases"]
        .as_array()
        .into_iter()
        .flatten()
        .map(case)
        .collect();
    assert!(cases.len() > 100, "the recording holds its cases");
    cases
}

/// Returns the recorded inputs with their names.
pub(crate) fn inputs() -> Vec<(String, Vec<u8>)> {
    cases()
        .into_iter()
        .map(|case| (case.name, case.input))
        .collect()
}

fn case(recorded: &Value) -> Case {
    let text = |key: &str| recorded[key].as_str().map(str::to_owned);
    Case {
        name: text("name").expect("every case has a name"),
        accepted: recorded["accepted"]
            .as_bool()
            .expect("every case has a verdict"),
        objects: recorded["objects"].as_array().cloned().unwrap_or_default(),
        input: text("input").map_or_else(
            || decode_base64(&text("input_base64").expect("every case has an input")),
            String::into_bytes,
        ),
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |symbol: u8| {
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".find(symbol as char)
    };
    let bits: Vec<usize> = text.bytes().filter_map(value).collect();
    let joined = |part: &[usize]| {
        part.iter().fold(0, |sum: usize, six| sum << 6 | six) << (6 * (4 - part.len()))
    };
    bits.chunks(4)
        .flat_map(|part| joined(part).to_be_bytes()[5..5 + part.len() * 3 / 4].to_vec())
        .collect()
}

fn documents(case: &Case) -> Vec<Document> {
    decode(case.input.clone())
        .map(|text| read(&Arc::new(text)))
        .unwrap_or_default()
}

/// Returns the objects in the form of kubectl's list, up to the first error, where kubectl stops: items of a List one
/// by one, an item without a kind named after its list, and the namespace `default` (which kubectl adds only to
/// existing metadata).
fn objects(documents: &[Document]) -> Vec<Value> {
    let mut found = Vec::new();
    let readable = |document: &&Document| !matches!(document.content, Content::Unreadable(_));
    for value in documents.iter().take_while(readable).filter_map(tree_json) {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        match value["items"].as_array() {
            Some(items) if kind.ends_with("List") => {
                found.extend(items.iter().map(|item| typed(item, &kind, &value)));
            }
            _ => found.push(value),
        }
    }
    found.iter().map(without_default_namespace).collect()
}

fn typed(item: &Value, list_kind: &str, list: &Value) -> Value {
    let mut item = item.clone();
    if item["kind"].is_null() {
        item["kind"] = list_kind.trim_end_matches("List").into();
        item["apiVersion"] = list["apiVersion"].clone();
    }
    item
}

fn without_default_namespace(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object["metadata"].as_object_mut()
        && metadata
            .get("namespace")
            .is_some_and(|namespace| namespace == "default")
    {
        metadata.remove("namespace");
    }
    object
}

/// Compares numbers by value, because the recorded JSON writes 9.223372036854776e18 with all digits.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

#[test]
fn recorded_inputs_are_accepted_or_rejected_like_kubectl() {
    let mut wrong = Vec::new();
    for case in cases()
        .iter()
        .filter(|case| !NOT_ABOUT_YAML.contains(&case.name.as_str()))
    {
        let documents = documents(case);
        let refused = documents
            .iter()
            .any(|document| matches!(document.content, Content::Unreadable(_)));
        let accepted = !refused && !objects(&documents).is_empty();
        if accepted != case.accepted {
            wrong.push(format!(
                "{}: accepted {accepted}, kubectl {}",
                case.name, case.accepted
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn recorded_inputs_give_the_objects_kubectl_read() {
    let mut wrong = Vec::new();
    for case in cases()
        .iter()
        .filter(|case| !NOT_ABOUT_YAML.contains(&case.name.as_str()))
    {
        let found = objects(&documents(case));
        let expected: Vec<Value> = case.objects.iter().map(without_default_namespace).collect();
        if !same(
            &Value::Array(found.clone()),
            &Value::Array(expected.clone()),
        ) {
            wrong.push(format!(
                "{}:\n  read    {found:?}\n  kubectl {expected:?}",
                case.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn inputs_excluded_from_comparison_are_still_readable() {
    for case in cases()
        .iter()
        .filter(|case| NOT_ABOUT_YAML.contains(&case.name.as_str()))
    {
        let refused = documents(case)
            .iter()
            .any(|document| matches!(document.content, Content::Unreadable(_)));
        assert!(!refused, "{}", case.name);
        assert!(!case.accepted, "{}: belongs into the comparison", case.name);
    }
}

#[test]
fn only_silent_drops_and_overrides_are_problems() {
    for case in cases() {
        let documents = documents(&case);
        let problems = documents
            .iter()
            .flat_map(|document| &document.problems)
            .map(|problem| match problem.kind {
                ProblemKind::DuplicateKey { .. } => "duplicate",
                ProblemKind::MergeOverride { .. } => "merge",
                ProblemKind::DroppedContent { .. } => "dropped",
                ProblemKind::NotUtf8 { .. } => "not UTF-8",
            });
        let quirks = documents
            .iter()
            .flat_map(|document| &document.quirks)
            .map(|_| "non-standard");
        let kinds: Vec<&str> = problems.chain(quirks).collect();
        let expected: Vec<&str> = SILENT
            .iter()
            .filter(|(name, _)| *name == case.name)
            .map(|&(_, kind)| kind)
            .collect();
        assert_eq!(kinds, expected, "{}", case.name);
    }
}

#[test]
fn small_documents_parse_like_go_yaml() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/conformance/go-yaml.jsonl"
    );
    let recording = std::fs::read_to_string(path).expect("the recording is committed");
    let mut wrong = Vec::new();
    for line in recording.lines() {
        let recorded: Value = serde_json::from_str(line).expect("each line is JSON");
        let input = recorded["input"].as_str().expect("every case has an input");
        let expected = recorded["json"]
            .as_str()
            .map(|json| serde_json::from_str(json).expect("Go wrote JSON"));
        let found = one(input);
        let agree = match (&found, &expected) {
            (Ok(found), Some(expected)) => same(found, expected),
            (Err(_), None) => true,
            _ => false,
        };
        if !agree {
            wrong.push(format!("{input:?}:\n  read {found:?}\n  Go   {expected:?}"));
        }
    }
    assert!(
        recording.lines().count() > 2000,
        "the recording holds its cases"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
