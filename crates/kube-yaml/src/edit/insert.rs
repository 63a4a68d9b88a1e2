//! Adds entries to mappings and items to lists, in the style of the text around them.

use super::TextEdit;
use super::change::NewValue;
use super::layout::{NodeForm, NodePlace};
use super::plan::WrittenDocument;
use super::write::{Lists, STEP, ValueWriter};
use crate::Notation;
use crate::Span;
use crate::event::Style;

/// Adds an entry to a mapping, or to an empty value that becomes a mapping.
pub(super) fn entry(
    document: WrittenDocument<'_>,
    at: NodePlace,
    key: &str,
    value: &NewValue,
) -> Option<TextEdit> {
    let node = document.layout.node(at);
    match node.form {
        NodeForm::Map { .. } if document.layout.may_have(at, key) => None,
        NodeForm::Map { flow: false } => {
            let (first, _) = document.layout.entries(at).next()?;
            let first = document.layout.node(first);
            if first.has_properties {
                return None;
            }
            let indent = document.lines.indentation(first.span.start)?;
            let text = writer(document, at).block_entry(key, value, &indent);
            Some(below(document, node.span.end, &indent, node.span, &text))
        }
        NodeForm::Map { flow: true } => {
            flow(document, at, &writer(document, at).flow_entry(key, value))
        }
        NodeForm::Scalar(Style::Plain) if node.span.is_empty() && !node.has_properties => {
            let key_of_it = document.layout.node(document.layout.key_of(at)?);
            let parent = document.layout.node(node.parent?);
            if parent.form != (NodeForm::Map { flow: false }) || key_of_it.has_properties {
                return None;
            }
            let indent = document.lines.indentation(key_of_it.span.start)? + &" ".repeat(STEP);
            let text = writer(document, node.parent?).block_entry(key, value, &indent);
            document
                .lines
                .is_last(node.span.end)
                .then(|| below(document, node.span.end, &indent, parent.span, &text))
        }
        _ => None,
    }
}

/// Adds an item to the end of a list.
pub(super) fn item(
    document: WrittenDocument<'_>,
    list: NodePlace,
    value: &NewValue,
) -> Option<TextEdit> {
    let node = document.layout.node(list);
    match node.form {
        NodeForm::Seq { flow: false } => {
            let last = document.layout.node(*node.children.last()?);
            let dash = document.lines.dash_before(last.span.start)?;
            let indent = document.lines.indentation(dash)?;
            let text = writer(document, list).item(value, &indent);
            Some(below(document, node.span.end, &indent, node.span, &text))
        }
        NodeForm::Seq { flow: true } => {
            flow(document, list, &writer(document, list).flow(value, false))
        }
        _ => None,
    }
}

/// Adds a line below the line of `end` and the comments after it that are indented past `indent`.
fn below(
    document: WrittenDocument<'_>,
    end: u32,
    indent: &str,
    within: Span,
    text: &str,
) -> TextEdit {
    let lines = document.lines;
    let mut at = lines.end(end);
    loop {
        let next = lines.next(at);
        let line = lines.slice(next, lines.end(next));
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if next <= at || blanks <= indent.len() || !line[blanks..].starts_with('#') {
            break;
        }
        at = lines.end(next);
    }
    let replacement = format!("{}{indent}{text}", lines.line_break(at));
    TextEdit {
        span: Span::empty(at),
        replacement,
        within,
    }
}

/// Adds a member after the last one of a flow collection, on a line of its own if the last one begins a line.
fn flow(document: WrittenDocument<'_>, at: NodePlace, text: &str) -> Option<TextEdit> {
    let (lines, node) = (document.lines, document.layout.node(at));
    let Some(&last) = node.children.last() else {
        let inside = Span::new(node.span.start + 1, node.span.end.checked_sub(1)?);
        let lost = document.layout.comments_in(inside).next().is_some();
        return (!lost).then(|| TextEdit {
            span: inside,
            replacement: text.to_owned(),
            within: node.span,
        });
    };
    let first = match node.form {
        NodeForm::Map { .. } => document.layout.key_of(last)?,
        _ => last,
    };
    let start = document.layout.node(first).span.start;
    let is_on_own_line = lines.is_first(start) && lines.start(start) > lines.start(node.span.start);
    let replacement = if is_on_own_line {
        format!(",{}{}{text}", lines.line_break(start), lines.before(start))
    } else {
        format!(", {text}")
    };
    Some(TextEdit {
        span: Span::empty(document.layout.node(last).span.end),
        replacement,
        within: node.span,
    })
}

/// Returns a writer in the style of a collection.
fn writer(document: WrittenDocument<'_>, around: NodePlace) -> ValueWriter {
    let (lines, layout) = (document.lines, document.layout);
    let node = layout.node(around);
    let first = layout.entries(around).next();
    let is_double =
        first.is_some_and(|(key, _)| layout.node(key).form == NodeForm::Scalar(Style::Double));
    ValueWriter {
        quotes_all: is_double || lines.notation == Notation::Json,
        line_break: lines.line_break(node.span.end),
        lists: lists(document, around),
    }
}

/// Returns the style of the lists in the last member of a collection.
fn lists(document: WrittenDocument<'_>, around: NodePlace) -> Lists {
    let Some(&last) = document.layout.node(around).children.last() else {
        return Lists::Flow;
    };
    let entries = document.layout.entries(last);
    let written = entries.filter_map(|(key, list)| {
        let (key, list) = (document.layout.node(key), document.layout.node(list));
        match list.form {
            NodeForm::Seq { flow: true } => Some(Lists::Flow),
            NodeForm::Seq { flow: false } => {
                let [list, key] =
                    [list, key].map(|node| document.lines.before(node.span.start).len());
                Some(Lists::Block(list.saturating_sub(key)))
            }
            _ => None,
        }
    });
    written.last().unwrap_or(Lists::Block(0))
}
