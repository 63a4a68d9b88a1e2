//! How a document is written: every node with its form, its place and what is around it.
//!
//! A [`Tree`](crate::yaml::Tree) says what a document means. To change its text one must know more: which keys were
//! overridden, which braces are there, what an alias shares. The events of the document say so; they are laid out here once.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::change::RouteStep;
use crate::text::Span;
use crate::yaml::event::{Events, Properties, ScalarEvent, StartEvent, Style};

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
    /// The node of which it is a key, a value or an item.
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
#[derive(Debug, Default)]
pub(super) struct Layout {
    nodes: Vec<WrittenNode>,
    /// The mappings by where they begin.
    maps: HashMap<u32, NodePlace>,
    /// Nodes that an alias names.
    named: BTreeSet<NodePlace>,
    /// Comments, in written order.
    comments: Vec<Span>,
}

/// A layout while the events of its document come.
#[derive(Default)]
pub(super) struct LayoutBuilder {
    layout: Layout,
    open: Vec<NodePlace>,
    /// The last node with each anchor.
    anchors: HashMap<Box<str>, NodePlace>,
}

impl LayoutBuilder {
    /// The layout, once all events have come; `comments` are those of the document, in written order.
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

    /// The mapping that begins at an offset.
    pub(super) fn map_at(&self, start: u32) -> Option<NodePlace> {
        self.maps.get(&start).copied()
    }

    /// The node that a step leads to. `None` where nothing is written there, and where more than one node is.
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
