//! Removes entries of mappings and items of lists.

use std::collections::BTreeSet;

use super::TextEdit;
use super::layout::{NodeForm, NodePlace};
use super::plan::WrittenDocument;
use crate::Span;

/// The text of an entry with its key, or of an item.
struct MemberText {
    /// The place from its first token to its last.
    span: Span,
    /// Whether it begins at the start of `span`, and not with an anchor, a tag or a `?`.
    is_bare: bool,
}

/// Removes members of a mapping or a list, and nothing around them.
pub(super) fn members(
    document: WrittenDocument<'_>,
    collection: NodePlace,
    removed: &BTreeSet<usize>,
) -> Option<Vec<TextEdit>> {
    let layout = document.layout;
    let node = layout.node(collection);
    let places: Vec<(NodePlace, NodePlace)> = match node.form {
        NodeForm::Map { .. } => layout.entries(collection).collect(),
        _ => node.children.iter().map(|&item| (item, item)).collect(),
    };
    let mut removed_places = removed.iter().filter_map(|&member| places.get(member));
    if removed_places
        .any(|&(first, last)| layout.is_named_inside(first) || layout.is_named_inside(last))
    {
        return None;
    }
    let members = places
        .iter()
        .map(|&(first, last)| member(document, node.form, first, last));
    let members: Vec<MemberText> = members.collect();
    if removed.len() == members.len() {
        return Some(vec![emptied(document, collection)?]);
    }
    let spans = if node.form.is_flow() {
        in_flow(document, &members, removed)?
    } else {
        in_block(document, &members, removed)?
    };
    let edits = spans.into_iter().map(|span| TextEdit {
        span,
        replacement: String::new(),
        within: node.span,
    });
    Some(edits.collect())
}

fn member(
    document: WrittenDocument<'_>,
    form: NodeForm,
    first: NodePlace,
    last: NodePlace,
) -> MemberText {
    let (key, value) = (document.layout.node(first), document.layout.node(last));
    let (start, is_bare) = match form {
        NodeForm::Seq { flow: false } => {
            let dash = document.lines.dash_before(key.span.start);
            (dash.unwrap_or(key.span.start), dash.is_some())
        }
        NodeForm::Map { .. } => (key.span.start, matches!(key.form, NodeForm::Scalar(_))),
        _ => (key.span.start, true),
    };
    MemberText {
        span: Span::new(start, key.span.end.max(value.span.end)),
        is_bare: is_bare && !key.has_properties,
    }
}

/// Removes whole lines, with trailing comments. After a dash, the next member moves up to it.
fn in_block(
    document: WrittenDocument<'_>,
    members: &[MemberText],
    removed: &BTreeSet<usize>,
) -> Option<Vec<Span>> {
    let lines = document.lines;
    let mut spans = Vec::new();
    let mut covered = 0;
    for &at in removed {
        let MemberText { span, is_bare } = members[at];
        if at < covered {
            continue;
        }
        if !is_bare || !lines.is_last(span.end) {
            return None;
        }
        if lines.is_first(span.start) {
            spans.push(Span::new(lines.start(span.start), lines.next(span.end)));
            continue;
        }
        lines.indentation(span.start)?;
        covered = (at..members.len()).find(|member| !removed.contains(member))?;
        let next = &members[covered];
        let whole = Span::new(span.start, next.span.start);
        // A comment on a line of its own may refer to the remaining members.
        let lost = document.layout.comments_in(whole).any(|comment| {
            lines.before(comment.start).trim().is_empty()
                && !members[at..covered]
                    .iter()
                    .any(|member| member.span.contains(comment.start))
        });
        if lost || !next.is_bare || !lines.is_first(next.span.start) {
            return None;
        }
        spans.push(whole);
    }
    Some(spans)
}

/// Removes each member with one comma: up to the next remaining member or, if there is none, from
/// the end of the previous one.
fn in_flow(
    document: WrittenDocument<'_>,
    members: &[MemberText],
    removed: &BTreeSet<usize>,
) -> Option<Vec<Span>> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < members.len() {
        if !removed.contains(&at) {
            at += 1;
            continue;
        }
        let next = (at..members.len()).find(|member| !removed.contains(member));
        let span = match next {
            Some(next) if members[at].is_bare && members[next].is_bare => {
                Span::new(members[at].span.start, members[next].span.start)
            }
            Some(_) => return None,
            None => {
                let before = &members[at.checked_sub(1)?];
                Span::new(before.span.end, members.last()?.span.end)
            }
        };
        if document.layout.comments_in(span).next().is_some() {
            return None;
        }
        spans.push(span);
        at = next.unwrap_or(members.len());
    }
    Some(spans)
}

/// Replaces a collection that loses all its members by `{}` or `[]`.
fn emptied(document: WrittenDocument<'_>, collection: NodePlace) -> Option<TextEdit> {
    let node = document.layout.node(collection);
    let parent = document.layout.node(node.parent?);
    let empty = if matches!(node.form, NodeForm::Map { .. }) {
        "{}"
    } else {
        "[]"
    };
    let opens = document.lines.slice(node.span.start, node.span.start + 1);
    let (span, replacement) = match document.layout.key_of(collection) {
        _ if node.form.is_flow() => (node.span, empty.to_owned()),
        Some(key) => {
            let colon = document.lines.colon_after(document.layout.node(key).span)?;
            let blank = document
                .lines
                .slice(colon, node.span.start)
                .trim()
                .is_empty();
            if !blank || node.has_properties {
                return None;
            }
            (Span::new(colon, node.span.end), format!(" {empty}"))
        }
        None if node.has_properties || opens == "-" => return None,
        None => (node.span, empty.to_owned()),
    };
    let lost = document.layout.comments_in(span).next().is_some();
    (!lost).then_some(TextEdit {
        span,
        replacement,
        within: parent.span,
    })
}
