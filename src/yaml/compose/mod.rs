//! From the tape to the tree, under Kubernetes' rules: aliases share their node, merges apply in written order, the last
//! of two equal keys wins.
//!
//! Iterative: open collections are on an explicit stack.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::alias::{self, AliasTargets};
use super::document::{Problem, ProblemKind};
use super::keys::KeySet;
use super::limits::MAX_DEPTH;
use super::scalar::{self, Scalar};
use super::tape::{EventKind, Style, SyntaxError, Tape, TapeEvent, TextRef};
use super::tree::{NodeContent, NodeId, Number, RawEntry, TextPlace, Tree, TreeNode};
use crate::text::Span;

/// A document's value and what was noticed on the way.
pub(super) struct Composed {
    pub(super) tree: Tree,
    pub(super) problems: Vec<Problem>,
}

/// Composes a tape. `file` is the text of the whole file; `json` says which rules scalars follow. The decoded texts of the
/// tape go to the tree.
pub(super) fn compose(tape: &mut Tape, file: &Arc<String>, json: bool) -> Result<Composed, SyntaxError> {
    let extent = TapeExtent::of(tape)?;
    let targets = if extent.shares { alias::resolve(tape, file)? } else { AliasTargets::new() };
    let mut composer = Composer {
        file,
        json,
        targets,
        anchored: HashMap::new(),
        nodes: Vec::with_capacity(extent.values - extent.keys),
        entries: Vec::with_capacity(extent.keys),
        items: Vec::new(),
        numbers: Vec::new(),
        texts: Vec::new(),
        added: String::new(),
        open: Vec::new(),
        slots: Vec::new(),
        waiting: Vec::new(),
        root: NodeId(0),
        problems: Vec::new(),
        looks: tape.events.len(),
        tape: &*tape,
    };
    for (index, event) in composer.tape.events.iter().enumerate() {
        composer.event(index as u32, event)?;
    }
    let Composer { nodes, entries, mut items, numbers, texts, added, root, problems, .. } = composer;
    let mut decoded = std::mem::take(&mut tape.decoded);
    decoded.push_str(&added);
    decoded.shrink_to_fit();
    items.shrink_to_fit();
    let file = Arc::clone(file);
    Ok(Composed { tree: Tree { nodes, entries, items, numbers, texts, root, file, decoded }, problems })
}

/// What a look along the tape shows.
struct TapeExtent {
    /// Scalars, collections and aliases, keys among them.
    values: usize,
    /// Keys of mappings.
    keys: usize,
    /// Whether there is an anchor or an alias.
    shares: bool,
}

impl TapeExtent {
    fn of(tape: &Tape) -> Result<Self, SyntaxError> {
        let shares = tape.properties.iter().any(|properties| properties.anchor.is_some());
        let mut extent = Self { values: 0, keys: 0, shares };
        // For each open collection, how many values it has, and whether every other one is a key.
        let mut open: Vec<(usize, bool)> = Vec::new();
        for event in &tape.events {
            match event.kind {
                EventKind::MapEnd | EventKind::SeqEnd => {
                    if let Some((values, true)) = open.pop() {
                        extent.keys += values / 2;
                    }
                    continue;
                }
                EventKind::Alias => extent.shares = true,
                EventKind::MapStart { .. } | EventKind::SeqStart { .. } | EventKind::Scalar(_) => {}
            }
            extent.values += 1;
            if let Some((values, _)) = open.last_mut() {
                *values += 1;
            }
            if let EventKind::MapStart { .. } | EventKind::SeqStart { .. } = event.kind {
                open.push((0, matches!(event.kind, EventKind::MapStart { .. })));
                if open.len() > MAX_DEPTH {
                    return Err(SyntaxError::new(event.start, "exceeded max depth of 10000"));
                }
            }
        }
        Ok(extent)
    }
}

/// An entry of an open mapping, or the place of one that was replaced.
struct Slot {
    entry: RawEntry,
    merged: bool,
    replaced: bool,
}

#[derive(Clone, Copy)]
enum Key {
    Name(TextPlace, Span),
    Merge(Span),
}

/// A collection while it is read. Its entries or items are the last ones of [`Composer::slots`] or [`Composer::waiting`].
struct Open {
    node: NodeId,
    flow: bool,
    /// Where its entries or items begin.
    first: usize,
    /// What only mappings have.
    map: Option<OpenMap>,
}

#[derive(Default)]
struct OpenMap {
    key: Option<Key>,
    keys: KeySet,
}

struct Composer<'a> {
    tape: &'a Tape,
    file: &'a str,
    json: bool,
    targets: AliasTargets,
    /// Nodes that have an anchor, by their event.
    anchored: HashMap<u32, NodeId>,
    nodes: Vec<TreeNode>,
    entries: Vec<RawEntry>,
    items: Vec<NodeId>,
    numbers: Vec<Number>,
    texts: Vec<TextRef>,
    /// What is to follow the tape's decoded texts: keys that are written otherwise than Kubernetes knows them, binary data.
    added: String,
    open: Vec<Open>,
    /// Entries of all open mappings, those of the innermost last.
    slots: Vec<Slot>,
    /// Items of all open sequences, those of the innermost last.
    waiting: Vec<NodeId>,
    root: NodeId,
    problems: Vec<Problem>,
    /// How many nodes [`Composer::same`] may still look at in this document.
    looks: usize,
}

impl Composer<'_> {
    fn event(&mut self, index: u32, event: &TapeEvent) -> Result<(), SyntaxError> {
        match event.kind {
            EventKind::MapStart { flow } => self.start(index, event, flow, Some(OpenMap::default())),
            EventKind::SeqStart { flow } => self.start(index, event, flow, None),
            EventKind::MapEnd | EventKind::SeqEnd => self.close(event),
            EventKind::Scalar(style) => self.scalar(index, event, style),
            EventKind::Alias => self.alias(index, event),
        }
    }

    fn start(&mut self, index: u32, event: &TapeEvent, flow: bool, map: Option<OpenMap>) -> Result<(), SyntaxError> {
        if self.expects_key() {
            return Err(SyntaxError::new(event.start, "invalid map key: a mapping or a sequence"));
        }
        let node = self.add(NodeContent::Null, event.span());
        self.remember(index, event, node);
        let first = if map.is_some() { self.slots.len() } else { self.waiting.len() };
        self.open.push(Open { node, flow, first, map });
        Ok(())
    }

    fn add(&mut self, content: NodeContent, span: Span) -> NodeId {
        self.nodes.push(TreeNode { content, span });
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn remember(&mut self, index: u32, event: &TapeEvent, node: NodeId) {
        if self.is_anchored(event) {
            self.anchored.insert(index, node);
        }
    }

    fn is_anchored(&self, event: &TapeEvent) -> bool {
        self.tape.properties(event).is_some_and(|properties| properties.anchor.is_some())
    }

    fn expects_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { map: Some(OpenMap { key: None, .. }), .. }))
    }

    fn scalar(&mut self, index: u32, event: &TapeEvent, style: Style) -> Result<(), SyntaxError> {
        let tag = self.tape.properties(event).and_then(|properties| properties.tag.as_deref());
        let (tape, file) = (self.tape, self.file);
        let text = tape.text(file, event.text);
        let is_key = self.expects_key();
        if is_key && text == "<<" && is_merge(style, tag) {
            self.set_key(Key::Merge(event.span()));
            return Ok(());
        }
        let fail = |message: String| SyntaxError::new(event.start, message);
        let resolved = match style {
            Style::JsonWord => scalar::resolve_json(text)
                .ok_or_else(|| fail(format!("json: cannot unmarshal number {text} into a float64")))?,
            // An empty node has no text of its own to be the word `!`'s value: go-yaml then keeps it a string.
            Style::Plain if event.start == event.end && tag == Some("!") => Scalar::Text(Cow::Borrowed("")),
            _ => scalar::resolve(text, style == Style::Plain, tag).map_err(fail)?,
        };
        if !is_key {
            let content = self.content(resolved.through_json(self.json).map_err(fail)?, event);
            let node = self.add(content, event.span());
            self.remember(index, event, node);
            return self.place(node, event.span(), false);
        }
        if self.is_anchored(event) {
            let value = resolved.clone().through_json(self.json).unwrap_or(Scalar::Null);
            let content = self.content(value, event);
            let node = self.add(content, event.span());
            self.remember(index, event, node);
        }
        self.scalar_key(resolved, event)
    }

    /// A value after JSON as the tree keeps it.
    fn content(&mut self, value: Scalar<'_>, event: &TapeEvent) -> NodeContent {
        let number = match value {
            Scalar::Null => return NodeContent::Null,
            Scalar::Bool(value) => return NodeContent::Bool(value),
            Scalar::Text(text) => return NodeContent::Text(self.text_place(text, event)),
            Scalar::Int(value) => Number::Int(value),
            Scalar::Uint(value) => Number::Uint(value),
            Scalar::Float(value) | Scalar::Big(value) => Number::Float(value),
        };
        self.numbers.push(number);
        NodeContent::Number(self.numbers.len() as u32 - 1)
    }

    /// Where a text is that came from an event, borrowed if it is the event's own.
    fn text_place(&mut self, text: Cow<'_, str>, event: &TapeEvent) -> TextPlace {
        let text = match text {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => return self.added_text(&text),
        };
        let TextRef { start, end, decoded } = event.text;
        match () {
            () if !decoded && (start, end) == (event.start, event.end) => TextPlace::Written,
            () if !decoded && (start, end) == (event.start + 1, event.end.saturating_sub(1)) => TextPlace::Quoted,
            () if text.is_empty() => self.text_at(TextRef::default()),
            () => self.text_at(event.text),
        }
    }

    /// A text that is written nowhere.
    fn added_text(&mut self, text: &str) -> TextPlace {
        let start = (self.tape.decoded.len() + self.added.len()) as u32;
        self.added.push_str(text);
        self.text_at(TextRef { start, end: start + text.len() as u32, decoded: true })
    }

    fn text_at(&mut self, text: TextRef) -> TextPlace {
        self.texts.push(text);
        TextPlace::Elsewhere(self.texts.len() as u32 - 1)
    }

    /// The text of a key of an open mapping.
    fn key_text(&self, key: TextPlace, span: Span) -> &str {
        let text = match key {
            TextPlace::Written => TextRef { start: span.start, end: span.end, decoded: false },
            TextPlace::Quoted => TextRef { start: span.start + 1, end: span.end - 1, decoded: false },
            TextPlace::Elsewhere(at) => self.texts.get(at as usize).copied().unwrap_or_default(),
        };
        match (text.start as usize).checked_sub(self.tape.decoded.len()) {
            Some(start) if text.decoded => {
                self.added.get(start..start + (text.end - text.start) as usize).unwrap_or_default()
            }
            _ => self.tape.text(self.file, text),
        }
    }

    fn scalar_key(&mut self, resolved: Scalar<'_>, event: &TapeEvent) -> Result<(), SyntaxError> {
        match resolved.into_key() {
            Ok(name) => {
                let place = self.text_place(name, event);
                self.set_key(Key::Name(place, event.span()));
                Ok(())
            }
            Err(what) => Err(SyntaxError::new(event.start, format!("unsupported map key: {what}"))),
        }
    }

    fn alias(&mut self, index: u32, event: &TapeEvent) -> Result<(), SyntaxError> {
        let target = self.targets.get(&index).and_then(|target| self.anchored.get(target).copied());
        let Some(node) = target else {
            return Err(SyntaxError::new(event.start, "unknown anchor referenced"));
        };
        if !self.expects_key() {
            return self.place(node, event.span(), true);
        }
        // The key is what the anchor's scalar resolves to.
        let TreeNode { content, span } = self.nodes[node.0 as usize];
        let key = match content {
            NodeContent::Null => Scalar::Null,
            NodeContent::Bool(value) => Scalar::Bool(value),
            NodeContent::Number(at) => match self.numbers[at as usize] {
                Number::Int(value) => Scalar::Int(value),
                Number::Uint(value) => Scalar::Uint(value),
                Number::Float(value) => Scalar::Float(value),
            },
            NodeContent::Text(place) => Scalar::Text(Cow::Owned(self.key_text(place, span).to_owned())),
            NodeContent::Map { .. } | NodeContent::Seq { .. } => {
                return Err(SyntaxError::new(event.start, "invalid map key: a mapping or a sequence"));
            }
        };
        self.scalar_key(key, event)
    }

    fn set_key(&mut self, key: Key) {
        let Some(open) = self.open.last_mut() else { return };
        let Some(map) = &mut open.map else { return };
        let (Key::Name(_, span) | Key::Merge(span)) = key;
        let node = &mut self.nodes[open.node.0 as usize];
        if !open.flow && self.slots.len() == open.first && node.span.is_empty() {
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
        match open.map.as_mut().map(|map| map.key.take()) {
            None => self.waiting.push(node),
            Some(Some(Key::Name(key, key_span))) => self.set_entry(RawEntry { key, key_span, value: node }, None),
            Some(Some(Key::Merge(span))) => self.merge(span, node, written, alias)?,
            Some(None) => {}
        }
        Ok(())
    }

    fn close(&mut self, event: &TapeEvent) -> Result<(), SyntaxError> {
        let Some(Open { node, first, map, .. }) = self.open.pop() else { return Ok(()) };
        let content = match map {
            None => {
                let start = self.items.len() as u32;
                self.items.extend(self.waiting.drain(first..));
                NodeContent::Seq { start, end: self.items.len() as u32 }
            }
            Some(_) => {
                let start = self.entries.len() as u32;
                let kept = self.slots.drain(first..).filter(|slot| !slot.replaced);
                self.entries.extend(kept.map(|slot| slot.entry));
                NodeContent::Map { start, end: self.entries.len() as u32 }
            }
        };
        let place = &mut self.nodes[node.0 as usize];
        place.content = content;
        place.span.end = place.span.end.max(event.end);
        let span = place.span;
        self.place(node, span, false)
    }

    /// Applies `<<`. Several mappings apply from the last to the first, so earlier ones win.
    fn merge(&mut self, merge: Span, node: NodeId, written: Span, alias: bool) -> Result<(), SyntaxError> {
        let content = self.nodes[node.0 as usize].content;
        let sources: Vec<NodeId> = match content {
            NodeContent::Map { .. } => vec![node],
            NodeContent::Seq { start, end } if !alias => {
                self.items[start as usize..end as usize].iter().rev().copied().collect()
            }
            _ => Vec::new(),
        };
        let empty_list = matches!(content, NodeContent::Seq { start, end } if !alias && start == end);
        if sources.is_empty() && !empty_list {
            return Err(SyntaxError::new(written.start, BAD_MERGE));
        }
        for source in sources {
            let NodeContent::Map { start, end } = self.nodes[source.0 as usize].content else {
                return Err(SyntaxError::new(written.start, BAD_MERGE));
            };
            for at in start..end {
                self.set_entry(self.entries[at as usize], Some(merge));
            }
        }
        Ok(())
    }

    /// Sets a key of the innermost mapping: the last one wins. `merge` is the `<<` that brings the entry, if one does.
    fn set_entry(&mut self, entry: RawEntry, merge: Option<Span>) {
        let Some(open) = self.open.len().checked_sub(1) else { return };
        let first = self.open[open].first;
        let mut keys = self.open[open].map.as_mut().map(|map| std::mem::take(&mut map.keys)).unwrap_or_default();
        let text_of = |entry: &RawEntry| self.key_text(entry.key, entry.key_span);
        let earlier =
            keys.insert(text_of(&entry), self.slots.len() - first, |at| text_of(&self.slots[first + at].entry));
        if let Some(map) = &mut self.open[open].map {
            map.keys = keys;
        }
        let replaced = earlier.and_then(|at| {
            let old = &mut self.slots[first + at];
            let counts = !std::mem::replace(&mut old.replaced, true) && !old.merged;
            counts.then_some(old.entry)
        });
        self.slots.push(Slot { entry, merged: merge.is_some(), replaced: false });
        let Some(old) = replaced else { return };
        // A merge that brings the value that is written already changes nothing.
        if merge.is_some() && self.same(old.value, entry.value) {
            return;
        }
        let key = self.key_text(entry.key, entry.key_span).to_owned();
        let path = self.path_to(&key);
        self.problems.push(match merge {
            None => {
                let kind = ProblemKind::DuplicateKey { key };
                Problem { kind, span: entry.key_span, related: Some(old.key_span), path }
            }
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
            let (here, there) = (self.nodes[one.0 as usize], self.nodes[other.0 as usize]);
            let cost = match here.content {
                NodeContent::Map { start, end } | NodeContent::Seq { start, end } => 1 + (end - start) as usize,
                _ => 1,
            };
            let Some(left) = self.looks.checked_sub(cost) else { return false };
            self.looks = left;
            match (here.content, there.content) {
                (NodeContent::Seq { start, end }, NodeContent::Seq { start: from, end: to })
                    if end - start == to - from =>
                {
                    pairs.extend(
                        (start..end).zip(from..to).map(|(a, b)| (self.items[a as usize], self.items[b as usize])),
                    );
                }
                (NodeContent::Map { start, end }, NodeContent::Map { start: from, end: to })
                    if end - start == to - from =>
                {
                    let key = |entry: &RawEntry| self.key_text(entry.key, entry.key_span);
                    let there = &self.entries[from as usize..to as usize];
                    let values: HashMap<&str, NodeId> = there.iter().map(|entry| (key(entry), entry.value)).collect();
                    for entry in &self.entries[start as usize..end as usize] {
                        let Some(value) = values.get(key(entry)) else { return false };
                        pairs.push((entry.value, *value));
                    }
                }
                (NodeContent::Null, NodeContent::Null) => {}
                (NodeContent::Bool(one), NodeContent::Bool(other)) if one == other => {}
                (NodeContent::Number(one), NodeContent::Number(other))
                    if self.numbers[one as usize] == self.numbers[other as usize] => {}
                (NodeContent::Text(one), NodeContent::Text(other))
                    if self.key_text(one, here.span) == self.key_text(other, there.span) => {}
                _ => return false,
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
        // The items of a sequence end where those of the next inner one begin.
        let mut end = self.waiting.len();
        let mut steps = Vec::new();
        for open in self.open.iter().skip(hidden).rev() {
            match &open.map {
                None => {
                    steps.push(PathStep::Item(end - open.first));
                    end = open.first;
                }
                Some(OpenMap { key: Some(Key::Name(key, span)), .. }) => steps.push(PathStep::Key(*key, *span)),
                Some(_) => {}
            }
        }
        for step in steps.into_iter().rev() {
            match step {
                PathStep::Item(index) => path.push_str(&format!("[{index}]")),
                PathStep::Key(key, span) => push_segment(&mut path, self.key_text(key, span)),
            }
        }
        push_segment(&mut path, key);
        path
    }
}

/// A step of a path.
enum PathStep {
    Key(TextPlace, Span),
    Item(usize),
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
