//! How a document is written: every node with its form, its place and what is around it.
//!
//! A [`Tree`](crate::yaml::Tree) says what a document means. To change its text one must know more: which keys were
//! overridden, which braces are there, what an alias shares. The tape knows, so it is laid out here once per document.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::super::alias;
use super::super::tape::{EventKind, Style, Tape, TapeEvent};
use super::change::RouteStep;
use crate::text::Span;

/// The place of a node in its [`Layout`].
pub(super) type NodePlace = usize;

/// How a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeForm {
    /// A mapping; its children are keys and values in turn.
    Map { flow: bool },
    /// A list.
    Seq { flow: bool },
    /// A scalar.
    Scalar(Style),
    /// An alias.
    Alias,
}

#[derive(Debug)]
pub(super) struct WrittenNode {
    pub(super) form: NodeForm,
    /// From the first token to the last, without anchor and tag.
    pub(super) span: Span,
    /// What it is a key, a value or an item of.
    pub(super) parent: Option<NodePlace>,
    /// Which child of it.
    pub(super) index: usize,
    pub(super) children: Vec<NodePlace>,
    /// Whether an anchor or a tag is before it.
    pub(super) has_properties: bool,
    /// Whether an alias names it, or something that it is in: a change here would be one elsewhere.
    pub(super) is_shared: bool,
    /// The text of a scalar.
    text: Box<str>,
    /// The last node in it; its own place if there is none.
    last: NodePlace,
}

/// All nodes of a document, in written order.
#[derive(Debug)]
pub(super) struct Layout {
    nodes: Vec<WrittenNode>,
    /// The mappings by where they begin.
    maps: HashMap<u32, NodePlace>,
    /// Nodes that an alias names.
    named: BTreeSet<NodePlace>,
    /// Comments, in written order.
    comments: Vec<Span>,
}

impl Layout {
    /// The layout of a tape; `file` is the text that it was read from. `None` if its aliases do not resolve.
    pub(super) fn new(tape: &Tape, file: &str) -> Option<Self> {
        let links = alias::resolve(tape, file).ok()?;
        let aliases = tape
            .events
            .iter()
            .zip(&links)
            .filter(|(event, _)| event.kind() == EventKind::Alias);
        let targets: BTreeSet<u32> = aliases.map(|(_, target)| *target).collect();
        let mut layout = Self {
            nodes: Vec::new(),
            maps: HashMap::default(),
            named: BTreeSet::new(),
            comments: tape.comments.clone(),
        };
        let mut open: Vec<NodePlace> = Vec::new();
        for (index, event) in (0u32..).zip(&tape.events) {
            match event.kind() {
                EventKind::MapEnd | EventKind::SeqEnd => layout.close(open.pop()?, event),
                _ => {
                    let is_named = targets.contains(&index);
                    let text = tape.text_of(file, event);
                    let place = layout.add(open.last().copied(), event, is_named, text);
                    layout.nodes[place].has_properties = tape.has_properties(event);
                    if matches!(
                        event.kind(),
                        EventKind::MapStart { .. } | EventKind::SeqStart { .. }
                    ) {
                        open.push(place);
                    }
                }
            }
        }
        layout.maps = (0..layout.nodes.len())
            .filter(|&place| matches!(layout.nodes[place].form, NodeForm::Map { .. }))
            .map(|place| (layout.nodes[place].span.start, place))
            .collect();
        Some(layout)
    }

    fn add(
        &mut self,
        parent: Option<NodePlace>,
        event: &TapeEvent,
        is_named: bool,
        text: &str,
    ) -> NodePlace {
        let place = self.nodes.len();
        let form = match event.kind() {
            EventKind::MapStart { flow } => NodeForm::Map { flow },
            EventKind::SeqStart { flow } => NodeForm::Seq { flow },
            EventKind::Scalar(style) => NodeForm::Scalar(style),
            _ => NodeForm::Alias,
        };
        let mut index = 0;
        let mut is_shared = is_named;
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
            index = parent.children.len();
            // A block mapping begins at its first key, as in the tree.
            if index == 0 && parent.form == (NodeForm::Map { flow: false }) {
                parent.span.start = event.start();
            }
            parent.children.push(place);
            is_shared |= parent.is_shared;
        }
        if is_named {
            self.named.insert(place);
        }
        self.nodes.push(WrittenNode {
            form,
            span: event.span(),
            parent,
            index,
            children: Vec::new(),
            has_properties: false,
            is_shared,
            text: text.into(),
            last: place,
        });
        place
    }

    fn close(&mut self, place: NodePlace, event: &TapeEvent) {
        let last = self.nodes.len() - 1;
        let node = &mut self.nodes[place];
        node.last = last;
        node.span.end = node.span.end.max(event.end());
    }

    pub(super) fn node(&self, place: NodePlace) -> &WrittenNode {
        &self.nodes[place]
    }

    /// The mapping that begins at an offset.
    pub(super) fn map_at(&self, start: u32) -> Option<NodePlace> {
        self.maps.get(&start).copied()
    }

    /// What a step leads to. `None` where nothing is written there, and where more than one thing is.
    pub(super) fn step(&self, from: NodePlace, step: &RouteStep) -> Option<NodePlace> {
        let node = self.node(from);
        match (node.form, step) {
            (NodeForm::Map { .. }, RouteStep::Key(key)) => {
                let mut found = self
                    .entries(from)
                    .filter(|(place, _)| self.is_key(*place, key));
                let (_, value) = found.next()?;
                found.next().is_none().then_some(value)
            }
            (NodeForm::Seq { .. }, RouteStep::Item(index)) => node.children.get(*index).copied(),
            _ => None,
        }
    }

    /// The keys of a mapping with their values.
    pub(super) fn entries(&self, map: NodePlace) -> impl Iterator<Item = (NodePlace, NodePlace)> {
        self.node(map)
            .children
            .chunks_exact(2)
            .map(|entry| (entry[0], entry[1]))
    }

    /// The key of a value, if it is one.
    pub(super) fn key_of(&self, value: NodePlace) -> Option<NodePlace> {
        let node = self.node(value);
        let parent = self.node(node.parent?);
        match parent.form {
            NodeForm::Map { .. } if node.index % 2 == 1 => {
                parent.children.get(node.index - 1).copied()
            }
            _ => None,
        }
    }

    fn is_key(&self, place: NodePlace, key: &str) -> bool {
        let node = self.node(place);
        matches!(node.form, NodeForm::Scalar(_)) && &*node.text == key
    }

    /// Whether a mapping has the key, or takes over keys from elsewhere.
    pub(super) fn may_have(&self, map: NodePlace, key: &str) -> bool {
        self.entries(map)
            .any(|(place, _)| self.is_key(place, key) || self.is_key(place, "<<"))
    }

    /// Whether an alias elsewhere names something in a node.
    pub(super) fn is_named_inside(&self, place: NodePlace) -> bool {
        self.named
            .range(place..=self.node(place).last)
            .next()
            .is_some()
    }

    /// The comments that begin in a span.
    pub(super) fn comments_in(&self, span: Span) -> impl Iterator<Item = Span> {
        let from = self
            .comments
            .partition_point(|comment| comment.start < span.start);
        self.comments[from..]
            .iter()
            .copied()
            .take_while(move |comment| comment.start < span.end)
    }
}
