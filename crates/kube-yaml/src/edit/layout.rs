//! The layout of a document: every node with its form, its place, its parent and its children.
//!
//! A [`Tree`](crate::Tree) contains the meaning of a document. Changes of its text need more: overridden keys,
//! braces, and the nodes that aliases share. The layout is built once from the events of the document.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::change::RouteStep;
use crate::Span;
use crate::event::{Events, Properties, ScalarEvent, StartEvent, Style};

/// The index of a node in its [`Layout`].
pub(super) type NodePlace = usize;

/// The form in which a node is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeForm {
    /// A mapping; its children are alternately keys and values.
    Map { flow: bool },
    /// A list.
    Seq { flow: bool },
    /// A scalar.
    Scalar(Style),
    /// An alias.
    Alias,
}

impl NodeForm {
    /// Whether it is a collection in brackets or braces.
    pub(super) fn is_flow(self) -> bool {
        matches!(self, Self::Map { flow: true } | Self::Seq { flow: true })
    }
}

#[derive(Debug)]
pub(super) struct WrittenNode {
    pub(super) form: NodeForm,
    /// From the first token to the last, without anchor and tag.
    pub(super) span: Span,
    /// The node in which it is a key, a value or an item.
    pub(super) parent: Option<NodePlace>,
    /// Its index among the children of `parent`.
    pub(super) index: usize,
    pub(super) children: Vec<NodePlace>,
    /// Whether an anchor or a tag is before it.
    pub(super) has_properties: bool,
    /// Whether an alias names it or a node around it, so that a change of it would also apply elsewhere.
    pub(super) is_shared: bool,
    /// The text of a scalar.
    text: Box<str>,
    /// The last node inside it; its own index if there is none.
    last: NodePlace,
}

/// All nodes of a document, in written order.
#[derive(Debug, Default)]
pub(super) struct Layout {
    nodes: Vec<WrittenNode>,
    /// The mappings, by the offsets at which they begin.
    maps: HashMap<u32, NodePlace>,
    /// The nodes that aliases name.
    named: BTreeSet<NodePlace>,
    /// Comments, in written order.
    comments: Vec<Span>,
}

/// Builds a layout from the events of a document.
#[derive(Default)]
pub(super) struct LayoutBuilder {
    layout: Layout,
    open: Vec<NodePlace>,
    /// The last node with each anchor so far.
    anchors: HashMap<Box<str>, NodePlace>,
}

impl LayoutBuilder {
    /// Returns the layout after the last event. `comments` are those of the document, in written order.
    pub(super) fn finish(self, comments: Vec<Span>) -> Layout {
        let mut layout = self.layout;
        layout.comments = comments;
        for place in 0..layout.nodes.len() {
            let is_named = layout.named.contains(&place);
            let parent = layout.nodes[place].parent;
            layout.nodes[place].is_shared =
                is_named || parent.is_some_and(|parent| layout.nodes[parent].is_shared);
            if let NodeForm::Map { .. } = layout.nodes[place].form {
                layout.maps.insert(layout.nodes[place].span.start, place);
            }
        }
        layout
    }

    fn add(
        &mut self,
        form: NodeForm,
        span: Span,
        text: &str,
        properties: &Properties<'_>,
    ) -> NodePlace {
        let nodes = &mut self.layout.nodes;
        let place = nodes.len();
        let parent = self.open.last().copied();
        let mut index = 0;
        if let Some(parent) = parent.and_then(|parent| nodes.get_mut(parent)) {
            index = parent.children.len();
            // A block mapping begins at its first key, as in the tree.
            if index == 0 && parent.form == (NodeForm::Map { flow: false }) {
                parent.span.start = span.start;
            }
            parent.children.push(place);
        }
        nodes.push(WrittenNode {
            form,
            span,
            parent,
            index,
            children: Vec::new(),
            has_properties: !properties.is_empty(),
            is_shared: false,
            text: text.into(),
            last: place,
        });
        if let Some(name) = properties.anchor {
            self.anchors.insert(name.into(), place);
        }
        place
    }
}

impl Events for LayoutBuilder {
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>) {
        let form = NodeForm::Scalar(scalar.style);
        self.add(form, scalar.span, scalar.text, properties);
    }

    fn start(&mut self, start: StartEvent, properties: &Properties<'_>) {
        let StartEvent { is_map, flow, span } = start;
        let form = if is_map {
            NodeForm::Map { flow }
        } else {
            NodeForm::Seq { flow }
        };
        let place = self.add(form, span, "", properties);
        self.open.push(place);
    }

    fn end(&mut self, end: Span) {
        let Some(place) = self.open.pop() else { return };
        let last = self.layout.nodes.len() - 1;
        let node = &mut self.layout.nodes[place];
        node.last = last;
        node.span.end = node.span.end.max(end.end);
    }

    fn alias(&mut self, span: Span, name: &str) {
        self.layout.named.extend(self.anchors.get(name));
        self.add(NodeForm::Alias, span, name, &Properties::default());
    }
}

impl Layout {
    pub(super) fn node(&self, place: NodePlace) -> &WrittenNode {
        &self.nodes[place]
    }

    /// Returns the mapping that begins at an offset.
    pub(super) fn map_at(&self, start: u32) -> Option<NodePlace> {
        self.maps.get(&start).copied()
    }

    /// Returns the node that a step leads to; `None` if there is none or more than one.
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

    /// Returns the keys of a mapping with their values.
    pub(super) fn entries(&self, map: NodePlace) -> impl Iterator<Item = (NodePlace, NodePlace)> {
        self.node(map)
            .children
            .chunks_exact(2)
            .map(|entry| (entry[0], entry[1]))
    }

    /// Returns the key of a value; `None` for a node that is not the value of a key.
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

    /// Whether a mapping has the key, or merges keys from elsewhere.
    pub(super) fn may_have(&self, map: NodePlace, key: &str) -> bool {
        self.entries(map)
            .any(|(place, _)| self.is_key(place, key) || self.is_key(place, "<<"))
    }

    /// Whether an alias names a node, or something inside it.
    pub(super) fn is_named_inside(&self, place: NodePlace) -> bool {
        let mut inside = self.named.range(place..=self.node(place).last);
        inside.next().is_some()
    }

    /// Returns the comments that begin in a span.
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
