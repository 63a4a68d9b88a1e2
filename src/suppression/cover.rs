//! Finds the bytes that a comment covers: the nodes that it belongs to, and everything nested in them.
//!
//! A node is an entry of a mapping (key and value) or an item of a sequence. A comment at the end of a line belongs to
//! the nodes that begin on that line; if there is none, to the innermost node that ends there. A comment on its own
//! line belongs to the outermost node that begins next.

use std::cell::{Cell, OnceCell};

use foldhash::HashSet;

use crate::text::{SourceFile, Span};
use crate::yaml::{Comment, Tree, Value};

/// The nodes of a document in the order of their starts, outer ones first.
pub(super) struct Nodes {
    nodes: Vec<Span>,
    /// The spans in the order of their ends, for comments at the end of a line.
    by_end: OnceCell<Vec<Span>>,
}

impl Nodes {
    /// Collects all nodes of `tree`. Shared nodes are visited once, so that aliases do not multiply them.
    pub(super) fn new(tree: &Tree) -> Self {
        let mut nodes = Vec::new();
        let mut seen = HashSet::default();
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
        Self {
            nodes,
            by_end: OnceCell::new(),
        }
    }

    /// Returns the span that `comment` covers; `None` if it belongs to no node.
    pub(super) fn covered(&self, file: &SourceFile, comment: &Comment) -> Option<Span> {
        if comment.own_line {
            let end = comment.span.end;
            let at = self.nodes.partition_point(|node| node.start < end);
            self.nodes.get(at).copied()
        } else {
            let line = line_before(file, comment);
            self.beginning_in(line).or_else(|| self.ending_in(line))
        }
    }

    /// Returns the span of all nodes that begin on a line.
    fn beginning_in(&self, line: Span) -> Option<Span> {
        let from = self.nodes.partition_point(|node| node.start < line.start);
        let nodes = self.nodes[from..].iter().copied();
        let here = nodes.take_while(|node| node.start < line.end);
        here.reduce(|all, node| Span::new(all.start, all.end.max(node.end)))
    }

    /// Returns the innermost node that ends on a line, for a comment at the end of the node's last line.
    fn ending_in(&self, line: Span) -> Option<Span> {
        let by_end = self.by_end.get_or_init(|| {
            let mut nodes = self.nodes.clone();
            nodes.sort_by_key(|node| node.end);
            nodes
        });
        let from = by_end.partition_point(|node| node.end <= line.start);
        let nodes = by_end[from..].iter().copied();
        let here = nodes.take_while(|node| node.end <= line.end);
        here.min_by_key(|node| (node.len(), node.start))
    }
}

/// Returns the span of a key and its value; of the key alone if the value is an alias.
fn with_value(key: Span, value: Value<'_>) -> Span {
    if value.span().start >= key.end {
        Span::new(key.start, value.span().end)
    } else {
        key
    }
}

/// Returns the part of a line before the comment on it.
fn line_before(file: &SourceFile, comment: &Comment) -> Span {
    let before = file.slice(Span::new(0, comment.span.start));
    let start = before.rfind('\n').map_or(0, |at| at as u32 + 1);
    Span::new(start, comment.span.start)
}

/// The lines of a document that cannot be read. Comments must be looked up in written order, because the last line that
/// was found is cached.
pub(super) struct UnreadLines<'f> {
    file: &'f SourceFile,
    document: Span,
    /// Cache of the last line with content that was found.
    found: Cell<Option<Span>>,
}

impl<'f> UnreadLines<'f> {
    pub(super) fn new(file: &'f SourceFile, document: Span) -> Self {
        Self {
            file,
            document,
            found: Cell::new(None),
        }
    }

    /// Returns the span that a comment covers: its own line, or the next one with content.
    pub(super) fn covered(&self, comment: &Comment) -> Option<Span> {
        if !comment.own_line {
            return Some(line_before(self.file, comment));
        }
        let mut start = comment.span.end;
        if let Some(found) = self.found.get().filter(|found| found.start >= start) {
            return Some(found);
        }
        let rest = self.file.slice(Span::new(start, self.document.end));
        for line in rest.split_inclusive('\n') {
            let end = start + line.len() as u32;
            let text = line.trim();
            if !text.is_empty() && !text.starts_with('#') {
                self.found.set(Some(Span::new(start, end)));
                return self.found.get();
            }
            start = end;
        }
        None
    }
}

/// Returns the start of the first line of a document that is neither blank nor a comment nor a separator.
pub(super) fn first_content(file: &SourceFile, document: Span) -> u32 {
    let mut start = document.start;
    for line in file.slice(document).split_inclusive('\n') {
        let text = line.trim_start_matches('\u{FEFF}').trim();
        let after_separator = text.strip_prefix("---").map_or(text, str::trim_start);
        if !after_separator.is_empty() && !after_separator.starts_with('#') {
            break;
        }
        start += line.len() as u32;
    }
    start
}
