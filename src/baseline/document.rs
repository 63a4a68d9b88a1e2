//! The contract `ownerlint.baseline/1`.

use std::collections::BTreeMap;

use miette::{Diagnostic, NamedSource, SourceSpan};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::finding::Identity;
use crate::text::{SourceFile, Span, plain};
use crate::yaml::{self, Content};

/// The value of `schema`.
const SCHEMA: &str = "ownerlint.baseline/1";

/// The known findings, sorted by identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// One entry per identity.
    pub entries: Vec<KnownFinding>,
}

/// A known finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFinding {
    /// What is known.
    pub identity: Identity,
    /// How many findings of that identity are.
    pub count: usize,
    /// Where the entry names its rule in the file; empty for an entry that was never written.
    pub span: Span,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct BaselineDocument {
    schema: String,
    findings: Vec<KnownFindingDocument>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KnownFindingDocument {
    rule: String,
    object: Option<String>,
    field: Option<String>,
    target: Option<String>,
    count: usize,
}

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

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// A text that does not follow the contract, with the place.
    pub fn read(file: &SourceFile) -> Result<Self, BaselineError> {
        let wrong = |reason: String, offset: usize| BaselineError {
            message: format!("`{}` is not a baseline: {reason}", file.path()),
            source_code: NamedSource::new(plain::visible(file.path()), plain::visible_in_place(file.text()))
                .with_language("json"),
            span: SourceSpan::from(offset.min(file.text().len())),
        };
        // As in manifests and configurations, a byte order mark is no part of the text.
        let text = file.text().trim_start_matches('\u{feff}');
        let document: BaselineDocument = serde_json::from_str(text).map_err(|error| {
            let line = file.line_span(error.line()).unwrap_or_default();
            let full = error.to_string();
            let reason = full.split(" at line ").next().unwrap_or(&full).to_owned();
            wrong(reason, line.start as usize + error.column().saturating_sub(1))
        })?;
        if document.schema != SCHEMA {
            let at = file.text().find(&document.schema).unwrap_or_default();
            return Err(wrong(format!("its schema is `{}`, not `{SCHEMA}`", document.schema), at));
        }
        let mut places = rule_places(file).into_iter();
        let mut entries: BTreeMap<Identity, KnownFinding> = BTreeMap::new();
        for KnownFindingDocument { rule, object, field, target, count } in document.findings {
            let identity = Identity { rule, object, field, target };
            let entry = KnownFinding { identity: identity.clone(), count: 0, span: places.next().unwrap_or_default() };
            // Two branches that were merged may both have added an identity.
            entries.entry(identity).or_insert(entry).count += count;
        }
        Ok(Self { entries: entries.into_values().collect() })
    }

    /// The document, indented, ending in a line break: one that reviews well.
    pub fn to_json(&self) -> String {
        let finding = |entry: &KnownFinding| {
            let Identity { rule, object, field, target } = entry.identity.clone();
            KnownFindingDocument { rule, object, field, target, count: entry.count }
        };
        let document =
            BaselineDocument { schema: SCHEMA.to_owned(), findings: self.entries.iter().map(finding).collect() };
        // It fails only on maps with keys that are not strings; there are none.
        let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// How many findings are known.
    pub fn count(&self) -> usize {
        self.entries.iter().map(|entry| entry.count).sum()
    }
}

/// Where each finding names its rule, in order.
fn rule_places(file: &SourceFile) -> Vec<Span> {
    let documents = yaml::read(file);
    let Some(Content::Value(tree)) = documents.first().map(|document| &document.content) else { return Vec::new() };
    let findings = tree.root().get("findings").into_iter().flat_map(|findings| findings.items());
    findings.map(|finding| finding.get("rule").unwrap_or(finding).span()).collect()
}
