//! Helpers of the YAML tests: texts as documents, and trees as JSON.

use ownerlint::text::SourceFile;
use ownerlint::yaml::{Content, Document, Kind, Value, read};
use serde_json::{Map, Number};

/// Creates a file, under a name that does not matter.
pub(crate) fn source(text: impl Into<String>) -> SourceFile {
    SourceFile::new("f.yaml", text.into())
}

/// Reads a text. Returns the file, for spans, with its documents.
pub(crate) fn read_text(text: &str) -> (SourceFile, Vec<Document>) {
    let file = source(text);
    let documents = read(file.shared_text());
    (file, documents)
}

/// Converts a value to JSON, with aliases expanded. Recursive, so only for documents of tests.
pub(crate) fn to_json(value: Value<'_>) -> serde_json::Value {
    match value.kind() {
        Kind::Null => serde_json::Value::Null,
        Kind::Bool(found) => found.into(),
        Kind::Int(found) => found.into(),
        // Kubernetes' own JSON reader converts integers over 63 bits to a float.
        Kind::Uint(found) => (found as f64).into(),
        Kind::Float(found) => Number::from_f64(found).map_or(serde_json::Value::Null, Into::into),
        Kind::String(found) => found.to_string().into(),
        Kind::Map => {
            let entries = value
                .entries()
                .map(|entry| (entry.key.to_owned(), to_json(entry.value)));
            serde_json::Value::Object(entries.collect::<Map<_, _>>())
        }
        Kind::Seq => value.items().map(to_json).collect(),
    }
}

/// Returns the JSON of every readable document that is not empty.
pub(crate) fn values(text: &str) -> Vec<serde_json::Value> {
    let (_, documents) = read_text(text);
    documents.iter().filter_map(tree_json).collect()
}

/// Returns the JSON of a document's value, if it has one.
pub(crate) fn tree_json(document: &Document) -> Option<serde_json::Value> {
    match &document.content {
        Content::Value(tree) => Some(to_json(tree.root())),
        _ => None,
    }
}

/// Returns the JSON of a text with one document, or the message of its error.
pub(crate) fn one(text: &str) -> Result<serde_json::Value, String> {
    let (_, documents) = read_text(text);
    assert_eq!(documents.len(), 1, "{text:?}");
    match &documents[0].content {
        Content::Value(tree) => Ok(to_json(tree.root())),
        Content::Empty => Ok(serde_json::Value::Null),
        Content::Unreadable(error) => Err(error.message.to_string()),
    }
}
