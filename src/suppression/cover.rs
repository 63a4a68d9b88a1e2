//! Which bytes a comment covers: the node that it precedes, and everything nested in it.
//!
//! A node is an entry of a mapping (key and value) or an item of a sequence. A comment at the end of a line belongs to
//! the nodes that begin on that line; a comment on its own line, to the outermost node that begins next.

use crate::text::{SourceFile, Span};
use crate::yaml::{Comment, Tree, Value};

/// The nodes of a document in the order of their starts, outer ones first.
pub(super) struct Nodes {
    nodes: Vec<Span>,
}

impl Nodes {
    /// All nodes of `tree`. Shared nodes (aliases) are visited once, so no document grows.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut nodes = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut pending = vec![tree.root()];
        while let Some(value) = pending.pop() {
            if !seen.insert(value.id()) {
                continue;
            }
            for entry in value.entries() {
                nodes.push(with_value(entry.key_span, entry.value));
                pending.push(entry.value);
            }
            for item in value.items() {
                nodes.push(item.span());
                pending.push(item);
            }
        }
        nodes.sort_by_key(|node| (node.start, std::cmp::Reverse(node.end)));
        Self { nodes }
    }

    /// What `comment` covers; `None` when no node follows.
    pub(super) fn covered(&self, file: &SourceFile, comment: &Comment) -> Option<Span> {
        match comment.own_line {
            true => self.next(comment.span.end),
            false => {
                self.beginning_in(line_before(file, comment)).or_else(|| self.ending_in(line_before(file, comment)))
            }
        }
    }

    fn next(&self, offset: u32) -> Option<Span> {
        let at = self.nodes.partition_point(|node| node.start < offset);
        self.nodes.get(at).copied()
    }

    /// From the first to the last byte of the nodes that begin on a line.
    fn beginning_in(&self, line: Span) -> Option<Span> {
        let from = self.nodes.partition_point(|node| node.start < line.start);
        let here = self.nodes[from..].iter().take_while(|node| node.start < line.end);
        here.copied().reduce(|all, node| Span::new(all.start, all.end.max(node.end)))
    }

    /// The innermost node that ends on a line: the comment is at the end of its last line.
    fn ending_in(&self, line: Span) -> Option<Span> {
        let here = self.nodes.iter().filter(|node| line.start < node.end && node.end <= line.end);
        here.copied().min_by_key(|node| node.len())
    }
}

/// An alias's value is at its anchor, which is before the key.
fn with_value(key: Span, value: Value<'_>) -> Span {
    match value.span().start >= key.end {
        true => Span::new(key.start, value.span().end),
        false => key,
    }
}

/// The part of a line before the comment on it.
fn line_before(file: &SourceFile, comment: &Comment) -> Span {
    let before = file.slice(Span::new(0, comment.span.start));
    Span::new(before.rfind('\n').map_or(0, |at| at as u32 + 1), comment.span.start)
}

/// What a comment covers in a document that cannot be read: its own line, or the next one with content.
pub(super) fn covered_line(file: &SourceFile, comment: &Comment, document: Span) -> Option<Span> {
    if !comment.own_line {
        return Some(line_before(file, comment));
    }
    let mut start = comment.span.end;
    for line in file.slice(Span::new(start, document.end)).split_inclusive('\n') {
        let end = start + line.len() as u32;
        let text = line.trim();
        if !text.is_empty() && !text.starts_with('#') {
            return Some(Span::new(start, end));
        }
        start = end;
    }
    None
}

/// Whether only comments come before `offset` in its document.
pub(super) fn before_first_key(file: &SourceFile, document: Span, offset: u32) -> bool {
    let before = file.slice(Span::new(document.start, offset)).trim_start_matches('\u{FEFF}');
    before.lines().map(str::trim).all(|line| {
        let after_separator = line.strip_prefix("---").map_or(line, str::trim_start);
        after_separator.is_empty() || after_separator.starts_with('#')
    })
}
