//! From the tape to the tree, under Kubernetes' rules: aliases share their node, merges apply in written order, the last
//! of two equal keys wins.
//!
//! Iterative: open collections are on an explicit stack.

use std::collections::HashMap;

use super::alias::{self, AliasTargets};
use super::document::{Problem, ProblemKind};
use super::scalar::{self, Scalar};
use super::tape::{EventKind, Style, SyntaxError, Tape, TapeEvent};
use super::tree::{Kind, NodeId, RawEntry, Tree, TreeNode};
use crate::text::Span;

/// A document's value and what was noticed on the way.
pub(super) struct Composed {
    pub(super) tree: Tree,
    pub(super) problems: Vec<Problem>,
}

/// Composes a tape. `file` is the text of the whole file; `json` says which rules scalars follow.
pub(super) fn compose(tape: &Tape, file: &str, json: bool) -> Result<Composed, SyntaxError> {
    let targets = alias::resolve(tape, file)?;
    let mut composer = Composer {
        tape,
        file,
        json,
        targets,
        composed: HashMap::new(),
        nodes: Vec::new(),
        entries: Vec::new(),
        items: Vec::new(),
        open: Vec::new(),
        root: NodeId(0),
        problems: Vec::new(),
        looks: tape.events.len(),
    };
    for (index, event) in tape.events.iter().enumerate() {
        composer.event(index as u32, event)?;
    }
    let Composer { nodes, entries, items, root, problems, .. } = composer;
    Ok(Composed { tree: Tree { nodes, entries, items, root }, problems })
}

/// The content of a mapping while it is read.
#[derive(Default)]
struct OpenMap {
    slots: Vec<Slot>,
    /// Where a key is in `slots`.
    places: HashMap<Box<str>, usize>,
    key: Option<Key>,
}

/// An entry, or the place of one that was replaced.
struct Slot {
    entry: Option<RawEntry>,
    merged: bool,
}

enum Key {
    Name(Box<str>, Span),
    Merge(Span),
}

enum Collection {
    Map(OpenMap),
    Seq(Vec<NodeId>),
}

struct Open {
    node: NodeId,
    flow: bool,
    collection: Collection,
}

struct Composer<'a> {
    tape: &'a Tape,
    file: &'a str,
    json: bool,
    targets: AliasTargets,
    /// Nodes that have an anchor, by their event.
    composed: HashMap<u32, NodeId>,
    nodes: Vec<TreeNode>,
    entries: Vec<RawEntry>,
    items: Vec<NodeId>,
    open: Vec<Open>,
    root: NodeId,
    problems: Vec<Problem>,
    /// How many nodes [`Composer::same`] may still look at in this document.
    looks: usize,
}

impl Composer<'_> {
    fn event(&mut self, index: u32, event: &TapeEvent) -> Result<(), SyntaxError> {
        match event.kind {
            EventKind::MapStart { flow } | EventKind::SeqStart { flow } => {
                if self.expects_key() {
                    return Err(SyntaxError::new(event.start, "invalid map key: a mapping or a sequence"));
                }
                let node = self.add(Kind::Null, event.span());
                self.remember(index, event, node);
                let collection = match event.kind {
                    EventKind::MapStart { .. } => Collection::Map(OpenMap::default()),
                    _ => Collection::Seq(Vec::new()),
                };
                self.open.push(Open { node, flow, collection });
                Ok(())
            }
            EventKind::MapEnd | EventKind::SeqEnd => self.close(event),
            EventKind::Scalar(style) => self.scalar(index, event, style),
            EventKind::Alias => self.alias(index, event),
        }
    }

    fn add(&mut self, kind: Kind, span: Span) -> NodeId {
        self.nodes.push(TreeNode { kind, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn remember(&mut self, index: u32, event: &TapeEvent, node: NodeId) {
        if self.tape.properties(event).is_some_and(|properties| properties.anchor.is_some()) {
            self.composed.insert(index, node);
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { collection: Collection::Map(OpenMap { key: None, .. }), .. }))
    }

    fn scalar(&mut self, index: u32, event: &TapeEvent, style: Style) -> Result<(), SyntaxError> {
        let tag = self.tape.properties(event).and_then(|properties| properties.tag.as_deref());
        let text = self.tape.text(self.file, event.text);
        let anchored = self.tape.properties(event).is_some_and(|properties| properties.anchor.is_some());
        if self.expects_key() && text == "<<" && is_merge(style, tag) {
            self.set_key(Key::Merge(event.span()));
            return Ok(());
        }
        let fail = |message: String| SyntaxError::new(event.start, message);
        let resolved = match style {
            Style::JsonWord => scalar::resolve_json(text)
                .ok_or_else(|| fail(format!("json: cannot unmarshal number {text} into a float64")))?,
            // An empty node has no text of its own to be the word `!`'s value: go-yaml then keeps it a string.
            Style::Plain if event.start == event.end && tag == Some("!") => Scalar::Text(String::new()),
            _ => scalar::resolve(text, style == Style::Plain, tag).map_err(fail)?,
        };
        if self.expects_key() && !anchored {
            return self.scalar_key(resolved, event);
        }
        if self.expects_key() {
            let node = self.add(resolved.clone().into_kind(self.json).unwrap_or(Kind::Null), event.span());
            self.remember(index, event, node);
            return self.scalar_key(resolved, event);
        }
        let kind = resolved.into_kind(self.json).map_err(fail)?;
        let node = self.add(kind, event.span());
        self.remember(index, event, node);
        self.place(node, event.span(), false)
    }

    fn scalar_key(&mut self, resolved: Scalar, event: &TapeEvent) -> Result<(), SyntaxError> {
        match resolved.into_key() {
            Ok(name) => {
                self.set_key(Key::Name(name.into(), event.span()));
                Ok(())
            }
            Err(what) => Err(SyntaxError::new(event.start, format!("unsupported map key: {what}"))),
        }
    }

    fn alias(&mut self, index: u32, event: &TapeEvent) -> Result<(), SyntaxError> {
        let target = self.targets.get(&index).and_then(|target| self.composed.get(target).copied());
        let Some(node) = target else {
            return Err(SyntaxError::new(event.start, "unknown anchor referenced"));
        };
        if !self.expects_key() {
            return self.place(node, event.span(), true);
        }
        // The key is what the anchor's scalar resolves to.
        let key = match &self.nodes[node.0 as usize].kind {
            Kind::Null => Scalar::Null,
            Kind::Bool(value) => Scalar::Bool(*value),
            Kind::Int(value) => Scalar::Int(*value),
            Kind::Uint(value) => Scalar::Uint(*value),
            Kind::Float(value) => Scalar::Float(*value),
            Kind::String(value) => Scalar::Text(value.to_string()),
            Kind::Map { .. } | Kind::Seq { .. } => {
                return Err(SyntaxError::new(event.start, "invalid map key: a mapping or a sequence"));
            }
        };
        self.scalar_key(key, event)
    }

    fn set_key(&mut self, key: Key) {
        let Some(open) = self.open.last_mut() else { return };
        let Collection::Map(map) = &mut open.collection else { return };
        let (Key::Name(_, span) | Key::Merge(span)) = &key;
        let node = &mut self.nodes[open.node.0 as usize];
        if !open.flow && map.slots.is_empty() && node.span.is_empty() {
            node.span.start = span.start;
        }
        node.span.end = node.span.end.max(span.end);
        map.key = Some(key);
    }

    /// Puts a finished node where it belongs. `written` is its place in the text, which for an alias is the alias.
    fn place(&mut self, node: NodeId, written: Span, alias: bool) -> Result<(), SyntaxError> {
        let Some(open) = self.open.last_mut() else {
            self.root = node;
            return Ok(());
        };
        let parent = &mut self.nodes[open.node.0 as usize].span;
        parent.end = parent.end.max(written.end);
        match &mut open.collection {
            Collection::Seq(items) => items.push(node),
            Collection::Map(map) => match map.key.take() {
                Some(Key::Name(key, key_span)) => self.set_entry(RawEntry { key, key_span, value: node }, None),
                Some(Key::Merge(span)) => self.merge(span, node, written, alias)?,
                None => {}
            },
        }
        Ok(())
    }

    fn close(&mut self, event: &TapeEvent) -> Result<(), SyntaxError> {
        let Some(Open { node, collection, .. }) = self.open.pop() else { return Ok(()) };
        let kind = match collection {
            Collection::Seq(items) => {
                let start = self.items.len() as u32;
                self.items.extend(items);
                Kind::Seq { start, end: self.items.len() as u32 }
            }
            Collection::Map(map) => {
                let start = self.entries.len() as u32;
                self.entries.extend(map.slots.into_iter().filter_map(|slot| slot.entry));
                Kind::Map { start, end: self.entries.len() as u32 }
            }
        };
        let place = &mut self.nodes[node.0 as usize];
        place.kind = kind;
        place.span.end = place.span.end.max(event.end);
        let span = place.span;
        self.place(node, span, false)
    }

    /// Applies `<<`. Several mappings apply from the last to the first, so earlier ones win.
    fn merge(&mut self, merge: Span, node: NodeId, written: Span, alias: bool) -> Result<(), SyntaxError> {
        let sources: Vec<NodeId> = match self.nodes[node.0 as usize].kind {
            Kind::Map { .. } => vec![node],
            Kind::Seq { start, end } if !alias => {
                self.items[start as usize..end as usize].iter().rev().copied().collect()
            }
            _ => Vec::new(),
        };
        let empty_list = matches!(self.nodes[node.0 as usize].kind, Kind::Seq { start, end } if !alias && start == end);
        if sources.is_empty() && !empty_list {
            return Err(SyntaxError::new(written.start, BAD_MERGE));
        }
        for source in sources {
            let Kind::Map { start, end } = self.nodes[source.0 as usize].kind else {
                return Err(SyntaxError::new(written.start, BAD_MERGE));
            };
            for at in start..end {
                let entry = self.entries[at as usize].clone();
                self.set_entry(entry, Some(merge));
            }
        }
        Ok(())
    }

    /// Sets a key of the innermost mapping: the last one wins. `merge` is the `<<` that brings the entry, if one does.
    fn set_entry(&mut self, entry: RawEntry, merge: Option<Span>) {
        let Some(Open { collection: Collection::Map(map), .. }) = self.open.last_mut() else { return };
        let slot = map.slots.len();
        let replaced = map.places.insert(entry.key.clone(), slot).map(|place| {
            let old = &mut map.slots[place];
            (old.entry.take(), old.merged)
        });
        let (key, new, value) = (entry.key.to_string(), entry.key_span, entry.value);
        map.slots.push(Slot { entry: Some(entry), merged: merge.is_some() });
        let Some((Some(old), false)) = replaced else { return };
        // A merge that brings the value that is written already changes nothing.
        if merge.is_some() && self.same(old.value, value) {
            return;
        }
        let path = self.path_to(&key);
        self.problems.push(match merge {
            None => Problem { kind: ProblemKind::DuplicateKey { key }, span: new, related: Some(old.key_span), path },
            Some(merge) => {
                Problem { kind: ProblemKind::MergeOverride { key }, span: old.key_span, related: Some(merge), path }
            }
        });
    }

    /// Whether two finished nodes have the same value. Aliases let a small text name large values many times, so the looks
    /// of one document are limited; what is not looked at counts as different.
    fn same(&mut self, one: NodeId, other: NodeId) -> bool {
        let mut pairs = vec![(one, other)];
        while let Some((one, other)) = pairs.pop() {
            if one == other {
                continue;
            }
            let cost = match self.nodes[one.0 as usize].kind {
                Kind::Map { start, end } | Kind::Seq { start, end } => 1 + (end - start) as usize,
                _ => 1,
            };
            let Some(left) = self.looks.checked_sub(cost) else { return false };
            self.looks = left;
            match (&self.nodes[one.0 as usize].kind, &self.nodes[other.0 as usize].kind) {
                (&Kind::Seq { start, end }, &Kind::Seq { start: from, end: to }) if end - start == to - from => {
                    pairs.extend(
                        (start..end).zip(from..to).map(|(a, b)| (self.items[a as usize], self.items[b as usize])),
                    );
                }
                (&Kind::Map { start, end }, &Kind::Map { start: from, end: to }) if end - start == to - from => {
                    let values: HashMap<&str, NodeId> = (from..to)
                        .map(|at| &self.entries[at as usize])
                        .map(|entry| (&*entry.key, entry.value))
                        .collect();
                    for entry in &self.entries[start as usize..end as usize] {
                        let Some(value) = values.get(&*entry.key) else { return false };
                        pairs.push((entry.value, *value));
                    }
                }
                (Kind::Seq { .. } | Kind::Map { .. }, _) => return false,
                (one, other) if one != other => return false,
                _ => {}
            }
        }
        true
    }

    /// The path of a key of the innermost mapping, as Kubernetes writes field paths.
    fn path_to(&self, key: &str) -> String {
        let mut path = String::new();
        let hidden = self.open.len().saturating_sub(PATH_SEGMENTS);
        if hidden > 0 {
            path.push('…');
        }
        for open in self.open.iter().skip(hidden) {
            match &open.collection {
                Collection::Seq(items) => path.push_str(&format!("[{}]", items.len())),
                Collection::Map(OpenMap { key: Some(Key::Name(name, _)), .. }) => push_segment(&mut path, name),
                Collection::Map(_) => {}
            }
        }
        push_segment(&mut path, key);
        path
    }
}

const BAD_MERGE: &str = "map merge requires map or sequence of maps as the value";

/// How many levels of a path are shown; deeper ones lose their beginning.
const PATH_SEGMENTS: usize = 64;

/// Whether a key written `<<` merges: unquoted, or tagged as a merge.
fn is_merge(style: Style, tag: Option<&str>) -> bool {
    match tag {
        None => style == Style::Plain,
        Some(tag) => matches!(tag, "!" | "tag:yaml.org,2002:merge"),
    }
}

/// `.name`, or `[a.b/c]` for keys that are not plain field names.
fn push_segment(path: &mut String, key: &str) {
    let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    match (plain, path.is_empty()) {
        (true, true) => path.push_str(key),
        (true, false) => path.extend([".", key]),
        (false, _) => path.extend(["[", key, "]"]),
    }
}
