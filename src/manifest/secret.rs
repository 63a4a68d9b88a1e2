//! The values of Secrets: no snippet shows them, whatever is wrong beside them.

use std::sync::Arc;

use super::Object;
use super::metadata::LAST_APPLIED;
use crate::kube::kinds;
use crate::text::{SourceFile, Span};
use crate::yaml::{Comment, Entry, Value};

/// What `kind` of a Secret says.
const SECRET: &str = "Secret";

/// The fields of a Secret that are shown with their values.
const SHOWN: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

/// The lines of a Secret that cannot be read, of which more than the key is shown.
const SHOWN_LINES: [&str; 7] = ["apiVersion", "kind", "metadata", "name", "namespace", "type", "immutable"];

/// A document, as far as it matters here.
pub(super) struct DocumentParts<'a> {
    pub(super) span: Span,
    pub(super) objects: &'a [Arc<Object>],
    pub(super) comments: &'a [Comment],
}

/// What of a text must not be shown, in order and without overlaps.
pub(super) fn hidden<'a>(source: &SourceFile, documents: impl Iterator<Item = DocumentParts<'a>>) -> Vec<Span> {
    // Most files have none.
    if !source.text().contains(SECRET) {
        return Vec::new();
    }
    let mut hidden = Vec::new();
    for document in documents {
        let secrets = || document.objects.iter().filter(|object| object.is(kinds::SECRET));
        match (secrets().count(), document.objects.len()) {
            (0, _) if mentions_secret(source.slice(document.span)) => hide_lines(source, document.span, &mut hidden),
            (0, _) => {}
            // Whatever else the document contains, a key that is lost to a second one say, belongs to the Secret.
            (_, 1) => secrets().for_each(|secret| hide_values(source, secret, &document, document.span, &mut hidden)),
            _ => {
                secrets().for_each(|secret| hide_values(source, secret, &document, secret.value().span(), &mut hidden))
            }
        }
    }
    disjoint(hidden)
}

/// Hides everything of a Secret but its keys and what is no secret.
fn hide_values(
    source: &SourceFile,
    secret: &Object,
    document: &DocumentParts<'_>,
    whole: Span,
    hidden: &mut Vec<Span>,
) {
    let mut shown: Vec<Span> = Vec::new();
    for entry in secret.value().entries() {
        shown.push(key(source, &entry));
        match entry.key {
            "metadata" => shown.extend(shown_metadata(source, entry.value)),
            known if SHOWN.contains(&known) => shown.push(entry.value.span()),
            _ => {
                let values = entry.value.entries();
                // A value that an alias repeats is written elsewhere.
                values.for_each(|entry| {
                    shown.push(key(source, &entry));
                    hidden.push(entry.value.span());
                });
            }
        }
    }
    let directive = |comment: &Span| source.slice(*comment).contains("ownerlint");
    shown.extend(document.comments.iter().map(|comment| comment.span).filter(directive));
    shown.sort_unstable();
    let mut from = whole.start;
    for span in shown {
        hide(source, Span::new(from, span.start.min(whole.end)), hidden);
        from = from.max(span.end);
    }
    hide(source, Span::new(from, whole.end), hidden);
}

/// Hides what is between two things that are shown, unless it is punctuation.
fn hide(source: &SourceFile, between: Span, hidden: &mut Vec<Span>) {
    let is_punctuation = |c: char| c.is_whitespace() || "{}[],-".contains(c);
    if between.start < between.end && !source.slice(between).chars().all(is_punctuation) {
        hidden.push(between);
    }
}

/// The parts of metadata that are shown: all, but for copies of the object that a client keeps in annotations.
fn shown_metadata(source: &SourceFile, metadata: Value<'_>) -> Vec<Span> {
    if !source.slice(metadata.span()).contains(LAST_APPLIED) {
        return vec![metadata.span()];
    }
    let fields = metadata.entries().flat_map(|entry| {
        let below = match entry.key {
            "annotations" => entry.value.entries().map(|entry| key(source, &entry)).collect(),
            _ => vec![entry.value.span()],
        };
        std::iter::once(key(source, &entry)).chain(below)
    });
    fields.collect()
}

/// A key with its colon.
fn key(source: &SourceFile, entry: &Entry<'_>) -> Span {
    let rest = &source.text()[entry.key_span.end as usize..];
    let colon = rest.find(|c: char| c != ' ').filter(|&at| rest[at..].starts_with(':'));
    Span::new(entry.key_span.start, entry.key_span.end + colon.map_or(0, |at| at as u32 + 1))
}

/// Whether a text that was not read as an object may be a Secret all the same.
fn mentions_secret(text: &str) -> bool {
    text.match_indices(SECRET).any(|(at, _)| {
        let before = text[..at].trim_end_matches([' ', '"', '\'']);
        before.ends_with(':') && before.trim_end_matches([':', ' ', '"', '\'']).ends_with("kind")
    })
}

/// Hides all of a text but the keys at the beginning of its lines.
fn hide_lines(source: &SourceFile, whole: Span, hidden: &mut Vec<Span>) {
    let mut start = whole.start;
    for line in source.slice(whole).split_inclusive('\n') {
        let end = start + line.len() as u32;
        let named = line.split_once(':').filter(|(key, _)| !key.contains(['{', '[', '"', '\'']));
        match named {
            Some((key, _)) if SHOWN_LINES.contains(&key.trim()) => {}
            Some((key, _)) => hidden.push(Span::new(start + key.len() as u32 + 1, end)),
            None if line.starts_with("---") => {}
            None => hidden.push(Span::new(start, end)),
        }
        start = end;
    }
}

fn disjoint(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => *last = Span::new(last.start, last.end.max(span.end)),
            _ => merged.push(span),
        }
    }
    merged
}
