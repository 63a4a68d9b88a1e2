//! The file format `ownerlint.baseline/1`.

use std::collections::BTreeMap;

use miette::{Diagnostic, NamedSource, SourceSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::finding::Identity;
use crate::text::{SourceFile, Span, plain};
use crate::yaml::{self, Content};

/// The value of the field `schema`.
const SCHEMA: &str = "ownerlint.baseline/1";

/// The known findings, sorted by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The entries, one for each identity.
    pub entries: Vec<KnownFinding>,
}

/// A known finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFinding {
    /// The identity of the finding.
    pub identity: Identity,
    /// The number of known findings with this identity.
    pub count: usize,
    /// The span of the entry's rule in the file; empty for an entry that was never written.
    pub span: Span,
}

/// Known findings, by identity and count. Nothing here changes when files are reformatted, moved or reordered.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaselineDocument {
    #[schemars(extend("const" = "ownerlint.baseline/1"))]
    schema: String,
    findings: Vec<KnownFindingDocument>,
}

/// An identity, and how many findings have it.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "finding")]
struct KnownFindingDocument {
    /// The rule's id.
    rule: String,
    /// The object's key, Kind[.group]/namespace/name; null when the finding is not about an object.
    object: Option<String>,
    /// The field without list indices: metadata.ownerReferences[].uid.
    field: Option<String>,
    /// The value of the field; the message, for a finding that is not about an object.
    target: Option<String>,
    /// How many findings with this identity are known.
    #[schemars(range(min = 1))]
    count: usize,
}

/// The byte order mark.
const MARK: char = '\u{feff}';

/// A file that is not a baseline.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(help("`ownerlint baseline write` writes a new one"))]
pub struct BaselineError {
    message: String,
    #[source_code]
    source_code: NamedSource<String>,
    #[label("here")]
    span: SourceSpan,
}

impl BaselineError {
    /// Creates the error. `offset` does not count the byte order mark.
    fn new(file: &SourceFile, reason: &str, offset: usize) -> Self {
        let text = file.text().trim_start_matches(MARK);
        Self {
            message: format!("`{}` is not a baseline: {reason}", file.path()),
            source_code: NamedSource::new(
                plain::visible(file.path()),
                plain::visible_in_place(text),
            )
            .with_language("json"),
            span: SourceSpan::from(offset.min(text.len())),
        }
    }
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// The text does not follow the schema. The error contains the place.
    pub fn read(file: &SourceFile) -> Result<Self, BaselineError> {
        // As in manifests and configurations, a byte order mark is ignored.
        let text = file.text().trim_start_matches(MARK);
        let mark = file.text().len() - text.len();
        let document: BaselineDocument = serde_json::from_str(text).map_err(|error| {
            let line = file.line_span(error.line()).unwrap_or_default();
            let full = error.to_string();
            let reason = full.split(" at line ").next().unwrap_or(&full);
            let start = (line.start as usize).saturating_sub(mark);
            let offset = start + error.column().saturating_sub(1);
            BaselineError::new(file, reason, offset)
        })?;
        if document.schema != SCHEMA {
            let at = text.find(&document.schema).unwrap_or_default();
            let reason = format!("its schema is `{}`, not `{SCHEMA}`", document.schema);
            return Err(BaselineError::new(file, &reason, at));
        }
        let mut places = rule_places(file).into_iter();
        let mut entries: BTreeMap<Identity, KnownFinding> = BTreeMap::new();
        for known in document.findings {
            let identity = Identity {
                rule: known.rule,
                object: known.object,
                field: known.field,
                target: known.target,
            };
            let entry = KnownFinding {
                identity: identity.clone(),
                count: 0,
                span: places.next().unwrap_or_default(),
            };
            // Two merged branches may both have added an entry for an identity.
            entries.entry(identity).or_insert(entry).count += known.count;
        }
        Ok(Self {
            entries: entries.into_values().collect(),
        })
    }

    /// Returns the document as indented JSON with a final line break; see `inert` for its strings.
    pub fn to_json(&self) -> String {
        let findings = self.entries.iter().cloned();
        let findings = findings.map(
            |KnownFinding {
                 identity, count, ..
             }| KnownFindingDocument {
                rule: identity.rule,
                object: identity.object,
                field: identity.field,
                target: identity.target,
                count,
            },
        );
        let document = BaselineDocument {
            schema: SCHEMA.to_owned(),
            findings: findings.collect(),
        };
        // This fails only on maps with keys that are not strings, and there are none.
        let mut text = inert(&serde_json::to_string_pretty(&document).unwrap_or_default());
        text.push('\n');
        text
    }

    /// Returns the number of known findings.
    pub fn count(&self) -> usize {
        self.entries.iter().map(|entry| entry.count).sum()
    }
}

/// Escapes every character in JSON strings that a shell, a scripting language or a template engine might interpret
/// within quotes. Names of objects are untrusted, and the file may end up where it is interpreted.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut in_string = false;
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                in_string = !in_string;
                text.push(c);
            }
            // The start of a JSON escape sequence.
            '\\' => match chars.next() {
                Some(escaped @ ('"' | '\\')) => push_escaped(&mut text, escaped),
                escaped => text.extend([c].into_iter().chain(escaped)),
            },
            _ if in_string && !is_inert(c) => push_escaped(&mut text, c),
            _ => text.push(c),
        }
    }
    text
}

fn push_escaped(text: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Whether a character has no special meaning within quotes, in any interpreter.
fn is_inert(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || " -_./:,[]()*?+=~^".contains(c)
    } else {
        !plain::is_obeyed(c)
    }
}

/// Returns the span of the rule of each finding, in order.
fn rule_places(file: &SourceFile) -> Vec<Span> {
    let documents = yaml::read(file.shared_text());
    let Some(Content::Value(tree)) = documents.first().map(|document| &document.content) else {
        return Vec::new();
    };
    let findings = tree.root().items_at("findings");
    let rules = findings.map(|finding| finding.get("rule").unwrap_or(finding).span());
    rules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_of_an_error_does_not_count_a_byte_order_mark() {
        for text in ["{\"a\": 1}", "{\n\"a\": 1}"] {
            let [plain, marked] = [text.to_owned(), format!("{MARK}{text}")].map(|text| {
                let file = SourceFile::new("b.json", text);
                Baseline::read(&file).expect_err("there is no schema").span
            });
            assert_eq!(plain, marked, "{text}");
        }
    }

    #[test]
    fn hostile_names_are_escaped_and_read_back() {
        let name = "$(a) `b` ${c} #{d} @{e} {{f}} <?php g ?> %h% 'i' \"j\" \\k & ; | ! \n\u{1b}\u{202e}é😀 ok-1.x/y:z[0]";
        let identity = Identity {
            rule: "r".to_owned(),
            object: Some(name.to_owned()),
            field: None,
            target: Some(name.to_owned()),
        };
        let baseline = Baseline::of_counts([(identity, 1)]);
        let json = baseline.to_json();
        assert!(
            !json.contains([
                '$', '`', '#', '@', '%', '<', '>', '\'', '&', ';', '|', '!', '\u{1b}', '\u{202e}'
            ]),
            "{json}"
        );
        assert!(!json.contains("{{") && !json.contains("\\\""), "{json}");
        assert!(json.contains("é😀 ok-1.x/y:z[0]"), "{json}");
        let read = Baseline::read(&SourceFile::new("b.json", json)).expect("a baseline");
        assert_eq!(read.entries[0].identity, baseline.entries[0].identity);
    }
}
