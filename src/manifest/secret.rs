//! Finds the values of Secrets, which no snippet shows.

use super::ParsedDocument;
use super::metadata::{LAST_APPLIED, OBJECT_META_FIELDS};
use super::secret_words::{GENERATOR, STRING_DATA, SecretWords, are_mentioned_in};
use crate::kube::kinds;
use crate::text::{SourceFile, Span, disjoint};
use crate::yaml::{Comment, Entry, Value};

/// The fields of a Secret that are shown with their values.
const SHOWN: [&str; 5] = ["apiVersion", "kind", "metadata", "type", "immutable"];

/// The keys whose lines are shown whole in a Secret that cannot be read.
const SHOWN_LINES: [&str; 7] = [
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "namespace",
    "type",
    "immutable",
];

/// Returns the parts of a text with these `words` that must not be shown, in order, disjoint.
pub(super) fn hidden(
    source: &SourceFile,
    words: &SecretWords,
    documents: &[ParsedDocument],
) -> Vec<Span> {
    let mut hidden = Vec::new();
    for document in documents {
        let whole = document.span;
        let mentioned = words.are_in(whole);
        let Some(tree) = document.tree() else {
            if mentioned {
                hide_lines(source, whole, &mut hidden);
            }
            continue;
        };
        // An item of a SecretList may omit its kind.
        let mut secrets: Vec<_> = document
            .objects()
            .iter()
            .filter(|object| object.is(kinds::SECRET) || is_secret(object.value()))
            .map(|object| object.value())
            .collect();
        if secrets.is_empty() && is_secret(tree.root()) {
            secrets.push(tree.root());
        }
        for secret in &secrets {
            // In a document of one object, everything belongs to the Secret, such as a key that a second one replaces.
            let whole = if document.objects().len() <= 1 {
                whole
            } else {
                secret.span()
            };
            hide_values(source, *secret, document, whole, &mut hidden);
        }
        if mentioned {
            hide_within(source, tree.root(), &document.comments, &mut hidden);
            let dropped = Span::new(tree.root().span().end.min(whole.end), whole.end);
            if secrets.is_empty() && !words.kinds_in(dropped).is_empty() {
                hide_lines(source, dropped, &mut hidden);
            }
        }
    }
    disjoint(hidden)
}

/// Whether a mapping is meant to be a Secret, whatever else it lacks and however the kind is spelt.
pub(super) fn is_secret(value: Value<'_>) -> bool {
    value.str_at(&["kind"]).is_some_and(names_secrets) || value.get(STRING_DATA).is_some()
}

/// Whether the author of this kind means Secrets. The API server accepts only one spelling.
fn names_secrets(kind: &str) -> bool {
    ["secret", "secrets"]
        .iter()
        .any(|name| kind.trim().eq_ignore_ascii_case(name))
}

/// Whether a controller makes a Secret from a template in the mapping, as in an ExternalSecret.
fn makes_secrets(value: Value<'_>) -> bool {
    let kind = value.str_at(&["kind"]);
    kind.is_some_and(|kind| kind.ends_with("Secret"))
}

/// Hides everything of a Secret but its keys and the fields that are not secret.
fn hide_values(
    source: &SourceFile,
    secret: Value<'_>,
    document: &ParsedDocument,
    whole: Span,
    hidden: &mut Vec<Span>,
) {
    let mut shown: Vec<Span> = Vec::new();
    for entry in secret.entries() {
        shown.push(key(source, &entry));
        match entry.key {
            "metadata" => shown.extend(shown_metadata(source, entry.value)),
            known if SHOWN.contains(&known) => shown.push(entry.value.span()),
            _ => shown.extend(keys_of_values(source, entry.value, hidden)),
        }
    }
    // Uses a binary search: a list may have as many comments as Secrets.
    let first = document
        .comments
        .partition_point(|comment| comment.span.start < whole.start);
    let comments = document.comments[first..]
        .iter()
        .map(|comment| comment.span);
    let inside = comments.take_while(|comment| comment.start < whole.end);
    shown.extend(inside.filter(|comment| is_directive(source, *comment)));
    hide_between(source, whole, shown, hidden);
}

/// Hides the values of Secrets in other objects: in items of custom lists, manifests as text, templates of Secrets, and
/// kustomize's generators.
fn hide_within(source: &SourceFile, root: Value<'_>, comments: &[Comment], hidden: &mut Vec<Span>) {
    let before = hidden.len();
    let makes_secrets = makes_secrets(root);
    for entry in root.entries_below() {
        for holder in std::iter::once(entry.value).chain(entry.value.items()) {
            if is_secret(holder) || (makes_secrets && entry.key == "template") {
                let fields = ["data", STRING_DATA].into_iter();
                for values in fields.filter_map(|field| holder.get(field)) {
                    let shown = keys_of_values(source, values, hidden);
                    hide_between(source, values.span(), shown, hidden);
                }
            }
            if entry.key == GENERATOR
                && let Some(literals) = holder.get("literals")
            {
                hidden.push(literals.span());
            }
            // A patch or manifest as text, which another tool applies.
            if holder.as_str().is_some_and(are_mentioned_in) {
                hide_lines(source, holder.span(), hidden);
            }
        }
    }
    if hidden.len() > before {
        // A comment may contain a former value.
        let comments = comments.iter().map(|comment| comment.span);
        hidden.extend(comments.filter(|comment| !is_directive(source, *comment)));
    }
}

/// Whether a comment addresses ownerlint.
fn is_directive(source: &SourceFile, comment: Span) -> bool {
    source.slice(comment).contains("ownerlint")
}

/// Hides values, and returns the places of their keys.
fn keys_of_values(source: &SourceFile, values: Value<'_>, hidden: &mut Vec<Span>) -> Vec<Span> {
    // The value of an alias is written elsewhere.
    hidden.extend(values.entries().map(|entry| entry.value.span()));
    values.entries().map(|entry| key(source, &entry)).collect()
}

/// Hides everything in `whole` but the `shown` parts.
fn hide_between(source: &SourceFile, whole: Span, mut shown: Vec<Span>, hidden: &mut Vec<Span>) {
    shown.sort_unstable();
    let mut from = whole.start;
    for span in shown {
        hide(source, Span::new(from, span.start.min(whole.end)), hidden);
        from = from.max(span.end);
    }
    hide(source, Span::new(from, whole.end), hidden);
}

/// Hides the text between two shown parts, unless it is punctuation.
fn hide(source: &SourceFile, between: Span, hidden: &mut Vec<Span>) {
    let mut text = source.slice(between).chars();
    if !text.all(|c| c.is_whitespace() || "{}[],-".contains(c)) {
        hidden.push(between);
    }
}

/// Returns the parts of metadata that are shown: all, unless it contains a copy of the object or
/// unknown mappings, which may be data at the wrong level. In that case, only the keys of these and
/// of annotations are shown. Unknown lists (misspelt finalizers) are shown: data is never a list.
fn shown_metadata(source: &SourceFile, metadata: Value<'_>) -> Vec<Span> {
    if metadata.entries().all(|entry| is_metadata(&entry))
        && !source.slice(metadata.span()).contains(LAST_APPLIED)
    {
        return vec![metadata.span()];
    }
    let fields = metadata.entries().flat_map(|entry| {
        let below = if entry.key != "annotations" && is_metadata(&entry) {
            vec![entry.value.span()]
        } else {
            let below = entry.value.entries();
            below.map(|entry| key(source, &entry)).collect()
        };
        std::iter::once(key(source, &entry)).chain(below)
    });
    fields.collect()
}

/// Whether an entry of metadata is one of its fields, or a list.
fn is_metadata(entry: &Entry<'_>) -> bool {
    OBJECT_META_FIELDS.contains(&entry.key) || entry.value.items().next().is_some()
}

/// Returns the place of a key with its colon.
fn key(source: &SourceFile, entry: &Entry<'_>) -> Span {
    let rest = &source.text()[entry.key_span.end as usize..];
    let colon = rest
        .find(|c: char| c != ' ')
        .filter(|&at| rest[at..].starts_with(':'));
    Span::new(
        entry.key_span.start,
        entry.key_span.end + colon.map_or(0, |at| at as u32 + 1),
    )
}

/// Masks the text that an error message quotes, since it may be a value: one that begins with `*` is read as an alias.
pub(super) fn without_quotes(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut quote = None;
    for part in message.split_inclusive(['\'', '`', ' ']) {
        let text = part.trim_end_matches(['\'', '`', ' ']);
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if quote.is_some() || is_number {
            shown.push_str(&text.replace(char::is_alphanumeric, "*"));
        } else {
            shown.push_str(text);
        }
        let end = &part[text.len()..];
        shown.push_str(end);
        match end.chars().next().filter(|c| *c != ' ') {
            Some(c) if quote == Some(c) => quote = None,
            Some(c) if quote.is_none() => quote = Some(c),
            _ => {}
        }
    }
    shown
}

/// Hides all of a text but the keys at the beginning of its lines, and the lines in [`SHOWN_LINES`].
fn hide_lines(source: &SourceFile, whole: Span, hidden: &mut Vec<Span>) {
    let mut start = whole.start;
    for line in source.slice(whole).split_inclusive('\n') {
        let end = start + line.len() as u32;
        let named = line
            .split_once(':')
            .filter(|(key, _)| !key.contains(['{', '[', '"', '\'']));
        match named {
            Some((key, _)) if SHOWN_LINES.contains(&key.trim()) => {}
            Some((key, _)) => hidden.push(Span::new(start + key.len() as u32 + 1, end)),
            None if line.starts_with("---") => {}
            None => hidden.push(Span::new(start, end)),
        }
        start = end;
    }
}
