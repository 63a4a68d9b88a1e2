//! The open collections of a document: collects entries and items until a collection is complete, and finds equal keys.

use super::alias::Expansion;
use super::growing::GrowingTree;
use crate::Span;
use crate::document::{Problem, ProblemKind};
use crate::event::{StartEvent, SyntaxError};
use crate::keys::KeySet;
use crate::tree::{NodeContent, NodeEntry, NodeId, Range, TextPlace};

/// An entry of an open mapping, which a later one may have replaced.
struct Slot {
    entry: NodeEntry,
    merged: bool,
    replaced: bool,
}

/// A key whose value follows.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Name(TextPlace, Span),
    Merge(Span),
}

/// A collection that is not complete. Its entries or items are the last ones of [`OpenCollections::slots`] or
/// [`OpenCollections::waiting`].
struct OpenNode {
    node: NodeId,
    flow: bool,
    /// The index of its first entry or item.
    first: usize,
    /// The number of nodes that were decoded before it.
    decoded_before: u64,
    /// The depth of its members so far.
    depth: usize,
    is_anchored: bool,
    /// State that only mappings have.
    map: Option<OpenMap>,
}

#[derive(Default)]
struct OpenMap {
    key: Option<Key>,
    keys: KeySet,
    /// Whether some of its entries were replaced.
    has_replaced: bool,
}

/// A collection that is complete.
pub(super) struct ClosedNode {
    pub(super) node: NodeId,
    pub(super) expansion: Expansion,
    pub(super) is_anchored: bool,
}

/// The collections around the current node, the innermost last.
pub(super) struct OpenCollections {
    open: Vec<OpenNode>,
    /// Entries of all open mappings, those of the innermost last.
    slots: Vec<Slot>,
    /// Items of all open sequences, those of the innermost last.
    waiting: Vec<NodeId>,
    /// The entries that a later key or a merge has replaced.
    pub(super) problems: Vec<Problem>,
}

impl OpenCollections {
    pub(super) fn new() -> Self {
        Self {
            open: Vec::with_capacity(16),
            slots: Vec::with_capacity(64),
            waiting: Vec::with_capacity(16),
            problems: Vec::new(),
        }
    }

    /// Opens a mapping or sequence for `node`; `decoded` is the number of nodes that were decoded before it.
    pub(super) fn open(
        &mut self,
        node: NodeId,
        start: StartEvent,
        decoded: u64,
        is_anchored: bool,
    ) {
        let (first, map) = if start.is_map {
            (self.slots.len(), Some(OpenMap::default()))
        } else {
            (self.waiting.len(), None)
        };
        self.open.push(OpenNode {
            node,
            flow: start.flow,
            first,
            decoded_before: decoded,
            depth: 0,
            is_anchored,
            map,
        });
    }

    /// Whether the next node is a key.
    pub(super) fn expects_key(&self) -> bool {
        let map = self.open.last().and_then(|open| open.map.as_ref());
        map.is_some_and(|map| map.key.is_none())
    }

    /// Returns the number of open collections.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Records the depth of a member of the innermost collection.
    pub(super) fn nests(&mut self, depth: usize) {
        if let Some(open) = self.open.last_mut() {
            open.depth = open.depth.max(depth);
        }
    }

    /// Records a key of the innermost mapping.
    pub(super) fn set_key(&mut self, tree: &mut GrowingTree<'_>, key: Key) {
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let Some(map) = &mut open.map else { return };
        let (Key::Name(_, span) | Key::Merge(span)) = key;
        let node = tree.node_mut(open.node);
        if !open.flow && self.slots.len() == open.first && node.span.is_empty() {
            node.span.start = span.start;
        }
        node.span.end = node.span.end.max(span.end);
        map.key = Some(key);
    }

    /// Adds a finished node to the innermost collection; returns `false` if the node is the root. `written` is its
    /// place in the text, which for an alias is the alias.
    pub(super) fn place(
        &mut self,
        tree: &mut GrowingTree<'_>,
        node: NodeId,
        written: Span,
        alias: bool,
    ) -> Result<bool, SyntaxError> {
        let Some(open) = self.open.last_mut() else {
            return Ok(false);
        };
        let parent = &mut tree.node_mut(open.node).span;
        parent.end = parent.end.max(written.end);
        match open.map.as_mut().map(|map| map.key.take()) {
            None => self.waiting.push(node),
            Some(Some(Key::Name(key, key_span))) => self.set_entry(
                tree,
                NodeEntry {
                    key,
                    key_span,
                    value: node,
                },
                None,
            ),
            Some(Some(Key::Merge(span))) => self.merge(tree, span, node, written, alias)?,
            Some(None) => {}
        }
        Ok(true)
    }

    /// Closes the innermost collection with its last token `end`, after `decoded` decoded nodes.
    pub(super) fn close(
        &mut self,
        tree: &mut GrowingTree<'_>,
        end: Span,
        decoded: u64,
    ) -> Option<ClosedNode> {
        let open = self.open.pop()?;
        let content = if let Some(map) = &open.map {
            let start = tree.entries.len() as u32;
            let slots = self.slots.drain(open.first..);
            if map.has_replaced {
                let kept = slots.filter(|slot| !slot.replaced);
                tree.entries.extend(kept.map(|slot| slot.entry));
            } else {
                tree.entries.extend(slots.map(|slot| slot.entry));
            }
            NodeContent::Map(Range {
                start,
                end: tree.entries.len() as u32,
            })
        } else {
            let start = tree.items.len() as u32;
            tree.items.extend(self.waiting.drain(open.first..));
            NodeContent::Seq(Range {
                start,
                end: tree.items.len() as u32,
            })
        };
        let node = tree.node_mut(open.node);
        node.content = content;
        node.span.end = node.span.end.max(end.end);
        let expansion = Expansion {
            nodes: decoded - open.decoded_before,
            depth: open.depth + 1,
        };
        self.nests(expansion.depth);
        Some(ClosedNode {
            node: open.node,
            expansion,
            is_anchored: open.is_anchored,
        })
    }

    /// Applies `<<`. Several mappings are merged from the last to the first, so earlier ones take precedence.
    fn merge(
        &mut self,
        tree: &mut GrowingTree<'_>,
        merge: Span,
        node: NodeId,
        written: Span,
        alias: bool,
    ) -> Result<(), SyntaxError> {
        let sources: Vec<NodeId> = match tree.node(node).content {
            NodeContent::Map(_) => vec![node],
            NodeContent::Seq(items) if !alias => {
                items.of(&tree.items).iter().rev().copied().collect()
            }
            _ => return Err(SyntaxError::new(written.start, BAD_MERGE)),
        };
        for source in sources {
            let NodeContent::Map(Range { start, end }) = tree.node(source).content else {
                return Err(SyntaxError::new(written.start, BAD_MERGE));
            };
            for at in start..end {
                self.set_entry(tree, tree.entries[at as usize], Some(merge));
            }
        }
        Ok(())
    }

    /// Sets a key of the innermost mapping, replacing an earlier equal one. `merge` is the `<<` of a merged entry.
    fn set_entry(&mut self, tree: &mut GrowingTree<'_>, entry: NodeEntry, merge: Option<Span>) {
        let Some(OpenNode {
            first,
            map: Some(map),
            ..
        }) = self.open.last_mut()
        else {
            return;
        };
        let (first, slots) = (*first, &self.slots);
        let key = tree.key(&entry);
        let earlier = map.keys.insert(key, slots.len() - first, |at| {
            tree.key(&slots[first + at].entry)
        });
        let replaced = earlier.and_then(|at| {
            map.has_replaced = true;
            let old = &mut self.slots[first + at];
            let counts = !std::mem::replace(&mut old.replaced, true) && !old.merged;
            counts.then_some(old.entry)
        });
        self.slots.push(Slot {
            entry,
            merged: merge.is_some(),
            replaced: false,
        });
        let Some(old) = replaced else { return };
        // A merge that repeats the written value changes nothing.
        if merge.is_some() && tree.same(old.value, entry.value) {
            return;
        }
        let key = tree.key(&entry).to_owned();
        let path = self.path_to(tree, &key);
        let (kind, span, related) = match merge {
            None => {
                let kind = ProblemKind::DuplicateKey { key };
                (kind, entry.key_span, old.key_span)
            }
            Some(merge) => (ProblemKind::MergeOverride { key }, old.key_span, merge),
        };
        self.problems.push(Problem {
            kind,
            span,
            related: Some(related),
            path,
        });
    }

    /// Returns the path of a key of the innermost mapping, in Kubernetes' notation.
    fn path_to(&self, tree: &GrowingTree<'_>, key: &str) -> String {
        let mut path = String::new();
        let hidden = self.open.len().saturating_sub(PATH_SEGMENTS);
        if hidden > 0 {
            path.push('…');
        }
        for (at, open) in self.open.iter().enumerate().skip(hidden) {
            match &open.map {
                None => {
                    // The items of each sequence end where those of the next inner one begin.
                    let inner = self.open[at + 1..].iter().find(|open| open.map.is_none());
                    let end = inner.map_or(self.waiting.len(), |open| open.first);
                    path.push_str(&format!("[{}]", end - open.first));
                }
                Some(OpenMap {
                    key: Some(Key::Name(key, span)),
                    ..
                }) => push_segment(&mut path, tree.text(*key, *span)),
                Some(_) => {}
            }
        }
        push_segment(&mut path, key);
        path
    }
}

const BAD_MERGE: &str = "map merge requires map or sequence of maps as the value";

/// The number of levels in a path; the beginning of a deeper one is cut off.
const PATH_SEGMENTS: usize = 64;

/// Appends `.name`, or `[a.b/c]` for keys that are not plain field names.
fn push_segment(path: &mut String, key: &str) {
    let plain = !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match (plain, path.is_empty()) {
        (true, true) => path.push_str(key),
        (true, false) => path.extend([".", key]),
        (false, _) => path.extend(["[", key, "]"]),
    }
}
