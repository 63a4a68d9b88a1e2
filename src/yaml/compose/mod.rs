//! From the tape to the tree, under Kubernetes' rules: aliases share their node, merges apply in written order, the last
//! of two equal keys wins.
//!
//! Iterative: open collections are on an explicit stack. `growing` is the tree so far; `open` the collections around the place
//! that is read.

mod depth;
mod growing;
mod open;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use self::growing::{GrowingTree, Growth, TreeLists};
use self::open::{Key, OpenCollections};
use super::alias::{self, EventLinks};
use super::document::Problem;
use super::growth;
use super::left_out::LeftOut;
use super::limits::MAX_OFFSET;
use super::node::{NodeContent, NodeId, Number, TreeNode};
use super::part_text::{PartText, TreeText};
use super::passing;
use super::root;
use super::scalar::{self, Scalar, TagMeaning};
use super::tape::{EventKind, Style, SyntaxError, Tape, TapeEvent};
use super::tree::Tree;
use super::words::SharedWords;
use crate::text::Span;

/// A document's value and what was noticed on the way.
pub(super) struct Composed {
    pub(super) tree: Tree,
    pub(super) problems: Vec<Problem>,
}

/// Composes a tape. `file` is the text of the whole file; `json` says which rules scalars follow.
pub(super) fn compose(tape: &Tape, file: Arc<String>, json: bool) -> Result<Composed, SyntaxError> {
    let tree_text = TreeText::Shared(PartText::new(Arc::clone(&file)));
    compose_without(tape, &file, &tree_text, json, LeftOut::default())
}

/// The same; the tree finds its texts where `tree_text` says, and `left_out` is checked like all else, and not kept.
pub(super) fn compose_without(
    tape: &Tape,
    file: &str,
    tree_text: &TreeText,
    json: bool,
    left_out: LeftOut,
) -> Result<Composed, SyntaxError> {
    if file.len() >= MAX_OFFSET as usize {
        return Err(SyntaxError::new(0, root::TOO_LARGE));
    }
    root::check_size(tape, file)?;
    if tape.may_be_deep {
        depth::check(tape)?;
    }
    let shares = tape.has_aliases
        || tape
            .properties
            .iter()
            .any(|properties| properties.anchor.is_some());
    // What an alias names has to be there, and of a text that goes on after the document not all can be read again.
    let left_out = if shares || tape.dropped_from.is_some() {
        LeftOut::default()
    } else {
        left_out
    };
    let links = if tape.has_aliases {
        alias::resolve(tape, file)?
    } else {
        EventLinks::new()
    };
    let mut scratch = SCRATCH.take().unwrap_or_default();
    let Scratch { lists, open, words } = &mut *scratch;
    let mut composer = Composer {
        tape,
        file,
        json,
        links,
        anchored: Vec::new(),
        tree: GrowingTree::new(tape, file, lists),
        open,
        root: NodeId(0),
        left_out: left_out.under,
        keeps_nothing: left_out
            .without
            .is_some_and(|key| root::is_mapping_without(tape, file, key)),
        leaving_out: None,
    };
    let mut index = 0;
    while let Some(event) = tape.events.get(index) {
        index = composer.event(index, event)? + 1;
    }
    let Composer {
        tree, root, open, ..
    } = composer;
    let composed = Composed {
        problems: std::mem::take(&mut open.problems),
        tree: tree.finish(root, tree_text, words),
    };
    SCRATCH.set(Some(scratch));
    Ok(composed)
}

thread_local! {
    static SCRATCH: Cell<Option<Box<Scratch>>> = Cell::default();
}

/// What the last document of a thread grew in, empty: its memory serves the next one; and what the next one may share.
#[derive(Default)]
struct Scratch {
    lists: TreeLists,
    open: OpenCollections,
    words: SharedWords,
}

struct Composer<'a> {
    tape: &'a Tape,
    file: &'a str,
    json: bool,
    /// None where there are no aliases.
    links: EventLinks,
    /// Nodes that an alias may name, by their event, in order.
    anchored: Vec<(u32, NodeId)>,
    tree: GrowingTree<'a>,
    open: &'a mut OpenCollections,
    root: NodeId,
    /// Keys of mappings that are not kept.
    left_out: &'a [&'a str],
    /// Whether nothing inside the values of the root is kept.
    keeps_nothing: bool,
    /// Inside a mapping that is not kept: how deep it is, and what there was before it.
    leaving_out: Option<(usize, Growth)>,
}

impl Composer<'_> {
    /// Composes an event. Returns the last one that is dealt with then.
    fn event(&mut self, index: usize, event: &TapeEvent) -> Result<usize, SyntaxError> {
        let at = index as u32;
        match event.kind() {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => {
                return self.collection(index, event);
            }
            EventKind::MapEnd | EventKind::SeqEnd => self.close(event)?,
            EventKind::Scalar(style) => self.scalar(at, event, style)?,
            EventKind::Alias => self.alias(at, event)?,
            EventKind::LeftOut => {
                let node = self.tree.left_out(true, event.span());
                self.place(node, event.span(), false)?;
            }
        }
        Ok(index)
    }

    fn collection(&mut self, index: usize, event: &TapeEvent) -> Result<usize, SyntaxError> {
        let (flow, is_map) = match event.kind() {
            EventKind::MapStart { flow } => (flow, true),
            EventKind::SeqStart { flow } => (flow, false),
            _ => return Ok(index),
        };
        if self.open.expects_key() {
            return Err(SyntaxError::new(
                event.start(),
                "invalid map key: a mapping or a sequence",
            ));
        }
        let is_forgotten = self.leaving_out.is_none() && is_map && self.is_left_out();
        let is_left_out = is_forgotten || (self.keeps_nothing && self.open.depth() == 1);
        let passed = is_left_out
            .then(|| passing::pass(self.tape, self.file, self.json, index))
            .flatten();
        if let Some(passed) = passed {
            let node = self.tree.left_out(is_map, passed.span);
            self.place(node, passed.span, false)?;
            return Ok(passed.last);
        }
        let node = self.tree.add(NodeContent::Null, event.span());
        self.remember(index as u32, event, node);
        if is_forgotten {
            self.leaving_out = Some((self.open.depth(), self.tree.growth()));
        }
        self.open.open(node, flow, is_map);
        Ok(index)
    }

    /// Whether the value that comes is not kept if it is a mapping.
    fn is_left_out(&self) -> bool {
        !self.left_out.is_empty()
            && self
                .open
                .awaited(&self.tree)
                .is_some_and(|key| self.left_out.contains(&key))
    }

    fn remember(&mut self, index: u32, event: &TapeEvent, node: NodeId) {
        if self.is_anchored(event) {
            growth::push(&mut self.anchored, (index, node));
        }
    }

    fn anchored_at(&self, index: u32) -> Option<NodeId> {
        let at = self
            .anchored
            .binary_search_by_key(&index, |(event, _)| *event)
            .ok()?;
        Some(self.anchored[at].1)
    }

    /// Whether an alias may name the node.
    fn is_anchored(&self, event: &TapeEvent) -> bool {
        self.tape.has_aliases && self.tape.anchor(event).is_some()
    }

    fn scalar(&mut self, index: u32, event: &TapeEvent, style: Style) -> Result<(), SyntaxError> {
        let (tape, file) = (self.tape, self.file);
        let tag = tape.tag(event).map(TagMeaning::of);
        let text = tape.text_of(file, event);
        let is_key = self.open.expects_key();
        if is_key && text == "<<" && is_merge(style, tag) {
            self.open.set_key(&mut self.tree, Key::Merge(event.span()));
            return Ok(());
        }
        if tag.is_none() && scalar::is_text_as(style, text) {
            return self.text(index, event, text, is_key);
        }
        let fail = |message: String| SyntaxError::new(event.start(), message);
        let resolved = match style {
            Style::JsonWord => scalar::resolve_json(text).ok_or_else(|| {
                fail(format!(
                    "json: cannot unmarshal number {text} into a float64"
                ))
            })?,
            _ => scalar::resolve(text, style == Style::Plain, tag).map_err(fail)?,
        };
        if !is_key {
            let content = self
                .tree
                .content(resolved.through_json(self.json).map_err(fail)?, event);
            let node = self.tree.add(content, event.span());
            self.remember(index, event, node);
            return self.place(node, event.span(), false);
        }
        if self.is_anchored(event) {
            let value = resolved
                .clone()
                .through_json(self.json)
                .unwrap_or(Scalar::Null);
            let content = self.tree.content(value, event);
            let node = self.tree.add(content, event.span());
            self.remember(index, event, node);
        }
        self.scalar_key(resolved, event)
    }

    /// Most scalars are nothing but text.
    fn text(
        &mut self,
        index: u32,
        event: &TapeEvent,
        text: &str,
        is_key: bool,
    ) -> Result<(), SyntaxError> {
        let place = self.tree.text_place(Cow::Borrowed(text), event);
        let node = (!is_key || self.is_anchored(event))
            .then(|| self.tree.add(NodeContent::Text(place), event.span()));
        if let Some(node) = node {
            self.remember(index, event, node);
        }
        match node.filter(|_| !is_key) {
            Some(node) => self.place(node, event.span(), false),
            None => {
                self.open
                    .set_key(&mut self.tree, Key::Name(place, event.span()));
                Ok(())
            }
        }
    }

    fn scalar_key(&mut self, resolved: Scalar<'_>, event: &TapeEvent) -> Result<(), SyntaxError> {
        match resolved.into_key() {
            Ok(name) => {
                let place = self.tree.text_place(name, event);
                self.open
                    .set_key(&mut self.tree, Key::Name(place, event.span()));
                Ok(())
            }
            Err(what) => Err(SyntaxError::new(
                event.start(),
                format!("unsupported map key: {what}"),
            )),
        }
    }

    fn alias(&mut self, index: u32, event: &TapeEvent) -> Result<(), SyntaxError> {
        let target = self
            .links
            .get(index as usize)
            .and_then(|target| self.anchored_at(*target));
        let Some(node) = target else {
            return Err(SyntaxError::new(event.start(), "unknown anchor referenced"));
        };
        if !self.open.expects_key() {
            return self.place(node, event.span(), true);
        }
        // The key is what the anchor's scalar resolves to.
        let TreeNode { content, span } = self.tree.node(node);
        let key = match content {
            NodeContent::Null => Scalar::Null,
            NodeContent::Bool(value) => Scalar::Bool(value),
            NodeContent::Int(value) => Scalar::Int(value.into()),
            NodeContent::Number(at) => match self.tree.number(at) {
                Number::Int(value) => Scalar::Int(value),
                Number::Uint(value) => Scalar::Uint(value),
                Number::Float(value) => Scalar::Float(value),
            },
            NodeContent::Text(place) => {
                Scalar::Text(Cow::Owned(self.tree.text(place, span).to_owned()))
            }
            NodeContent::Map { .. } | NodeContent::Seq { .. } | NodeContent::LeftOut => {
                return Err(SyntaxError::new(
                    event.start(),
                    "invalid map key: a mapping or a sequence",
                ));
            }
        };
        self.scalar_key(key, event)
    }

    fn place(&mut self, node: NodeId, written: Span, alias: bool) -> Result<(), SyntaxError> {
        if !self.open.place(&mut self.tree, node, written, alias)? {
            self.root = node;
        }
        Ok(())
    }

    fn close(&mut self, event: &TapeEvent) -> Result<(), SyntaxError> {
        match self.open.close(&mut self.tree, event) {
            Some(node) => {
                if let Some((_, growth)) = self
                    .leaving_out
                    .take_if(|(depth, _)| *depth == self.open.depth())
                {
                    self.tree.forget(node, growth);
                }
                self.place(node, self.tree.node(node).span, false)
            }
            None => Ok(()),
        }
    }
}

/// Whether a key written `<<` merges: unquoted, or tagged as a merge.
fn is_merge(style: Style, tag: Option<TagMeaning>) -> bool {
    match tag {
        None => style == Style::Plain,
        Some(tag) => matches!(tag, TagMeaning::Bare | TagMeaning::Merge),
    }
}
