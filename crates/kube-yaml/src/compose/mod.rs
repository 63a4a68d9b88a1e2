//! Composes events into a tree under Kubernetes' rules: aliases share their node, merges apply in written order, the
//! last of two equal keys takes precedence.
//!
//! The composer is iterative: open collections are on an explicit stack. `growing` is the tree so far, `open` the open
//! collections, `alias` the anchors.

mod alias;
mod growing;
mod open;

use std::borrow::Cow;
use std::sync::Arc;

use self::alias::{Aliases, Expansion, TOO_DEEP};
use self::growing::GrowingTree;
use self::open::{Key, OpenCollections};
use super::document::Problem;
use super::event::{Events, Properties, ScalarEvent, StartEvent, Style, SyntaxError};
use super::limits::MAX_DEPTH;
use super::scalar::{self, Scalar, TagMeaning};
use super::tree::{Node, NodeContent, NodeId, Tree};
use crate::Span;

/// A document's value and the problems in it.
pub(super) struct Composed {
    pub(super) tree: Tree,
    pub(super) problems: Vec<Problem>,
}

/// Composes the events of one document.
pub(super) struct Composer<'t> {
    json: bool,
    aliases: Aliases,
    tree: GrowingTree<'t>,
    open: OpenCollections,
    root: Option<NodeId>,
    /// The first error. Later events are ignored.
    failure: Option<SyntaxError>,
}

impl<'t> Composer<'t> {
    /// Creates a composer for a document of `length` bytes of the text `file`; `json` selects JSON's rules for scalars.
    pub(super) fn new(file: &'t str, length: usize, json: bool) -> Self {
        Self {
            json,
            aliases: Aliases::new(),
            tree: GrowingTree::new(file, length),
            open: OpenCollections::new(),
            root: None,
            failure: None,
        }
    }

    /// Sets the error that precedes the first event, if there is one.
    pub(super) fn reject(&mut self, error: Option<SyntaxError>) {
        self.failure = error;
    }

    /// Whether there was no event.
    pub(super) fn is_empty(&self) -> bool {
        self.root.is_none() && self.failure.is_none()
    }

    /// Returns the value; `None` if there was no event. `file` is the text that the composer was created with.
    ///
    /// # Errors
    /// The reason for which Kubernetes rejects the value.
    pub(super) fn finish(self, file: &Arc<String>) -> Result<Option<Composed>, SyntaxError> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        let Some(root) = self.root else {
            return Ok(None);
        };
        let has_aliases = self.aliases.exist();
        let tree = self.tree.finish(root, Arc::clone(file), has_aliases);
        Ok(Some(Composed {
            tree,
            problems: self.open.problems,
        }))
    }

    fn compose(
        &mut self,
        event: &ScalarEvent<'_>,
        properties: &Properties<'_>,
    ) -> Result<(), SyntaxError> {
        self.aliases.decode(event.span.start)?;
        let tag = properties.tag.map(TagMeaning::of);
        let is_key = self.open.expects_key();
        if is_key && event.text == "<<" && is_merge(event.style, tag) {
            self.open.set_key(&mut self.tree, Key::Merge(event.span));
            return Ok(());
        }
        if tag.is_none() && scalar::is_text_as(event.style, event.text) {
            let place = self.tree.text_place(Cow::Borrowed(event.text), event);
            if !is_key {
                return self.value(NodeContent::Text(place), event.span, properties);
            }
            if properties.anchor.is_some() {
                self.anchored(NodeContent::Text(place), event.span, properties);
            }
            let key = Key::Name(place, event.span);
            self.open.set_key(&mut self.tree, key);
            return Ok(());
        }
        let resolved = resolve(event, tag)?;
        if !is_key {
            let value = self.through_json(resolved, event)?;
            let content = self.tree.content(value, event);
            return self.value(content, event.span, properties);
        }
        if properties.anchor.is_some() {
            let value = self.through_json(resolved.clone(), event);
            let content = self.tree.content(value.unwrap_or(Scalar::Null), event);
            self.anchored(content, event.span, properties);
        }
        self.scalar_key(resolved, event)
    }

    fn through_json<'s>(
        &self,
        value: Scalar<'s>,
        event: &ScalarEvent<'_>,
    ) -> Result<Scalar<'s>, SyntaxError> {
        let value = value.through_json(self.json);
        value.map_err(|problem| SyntaxError::new(event.span.start, problem))
    }

    /// Adds a scalar that is not a key.
    #[inline]
    fn value(
        &mut self,
        content: NodeContent,
        span: Span,
        properties: &Properties<'_>,
    ) -> Result<(), SyntaxError> {
        let node = self.anchored(content, span, properties);
        self.place(node, span, false)
    }

    /// Adds the node of a scalar, and its anchor.
    #[inline]
    fn anchored(
        &mut self,
        content: NodeContent,
        span: Span,
        properties: &Properties<'_>,
    ) -> NodeId {
        let node = self.tree.add(content, span);
        if let Some(name) = properties.anchor {
            self.aliases.define(name, node);
            self.aliases
                .complete(node, Expansion { nodes: 1, depth: 0 });
        }
        node
    }

    fn scalar_key(
        &mut self,
        resolved: Scalar<'_>,
        event: &ScalarEvent<'_>,
    ) -> Result<(), SyntaxError> {
        let name = resolved.into_key().map_err(|what| {
            SyntaxError::new(event.span.start, format!("unsupported map key: {what}"))
        })?;
        let place = self.tree.text_place(name, event);
        let key = Key::Name(place, event.span);
        self.open.set_key(&mut self.tree, key);
        Ok(())
    }

    fn open(&mut self, event: StartEvent, properties: &Properties<'_>) -> Result<(), SyntaxError> {
        let at = event.span.start;
        if self.open.depth() == MAX_DEPTH {
            return Err(SyntaxError::new(at, TOO_DEEP));
        }
        if self.open.expects_key() {
            return Err(SyntaxError::new(at, COLLECTION_AS_KEY));
        }
        let decoded_before = self.aliases.decoded;
        self.aliases.decode(at)?;
        let node = self.tree.add(NodeContent::Null, event.span);
        if let Some(name) = properties.anchor {
            self.aliases.define(name, node);
        }
        let is_anchored = properties.anchor.is_some();
        self.open.open(node, event, decoded_before, is_anchored);
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), SyntaxError> {
        let decoded = self.aliases.decoded;
        let Some(closed) = self.open.close(&mut self.tree, end, decoded) else {
            return Ok(());
        };
        if closed.is_anchored {
            self.aliases.complete(closed.node, closed.expansion);
        }
        let span = self.tree.node(closed.node).span;
        self.place(closed.node, span, false)
    }

    fn compose_alias(&mut self, span: Span, name: &str) -> Result<(), SyntaxError> {
        self.aliases.decode(span.start)?;
        let depth = self.open.depth();
        let (node, expansion) = self.aliases.expand(name, span.start, depth)?;
        self.open.nests(expansion.depth);
        if !self.open.expects_key() {
            return self.place(node, span, true);
        }
        // As a key, an alias stands for the resolved scalar that it names.
        let Node {
            content,
            span: anchored,
        } = self.tree.node(node);
        let key = match content {
            NodeContent::Null => Scalar::Null,
            NodeContent::Bool(value) => Scalar::Bool(value),
            NodeContent::Int(value) => Scalar::Int(value),
            NodeContent::Uint(value) => Scalar::Uint(value),
            NodeContent::Float(value) => Scalar::Float(value),
            NodeContent::Text(place) => {
                Scalar::Text(Cow::Owned(self.tree.text(place, anchored).to_owned()))
            }
            NodeContent::Map(_) | NodeContent::Seq(_) => {
                return Err(SyntaxError::new(span.start, COLLECTION_AS_KEY));
            }
        };
        let event = ScalarEvent {
            style: Style::Plain,
            span,
            text: "",
            is_verbatim: false,
        };
        self.scalar_key(key, &event)
    }

    #[inline]
    fn place(&mut self, node: NodeId, written: Span, alias: bool) -> Result<(), SyntaxError> {
        if !self.open.place(&mut self.tree, node, written, alias)? {
            self.root = Some(node);
        }
        Ok(())
    }

    /// Composes an event, unless an earlier one failed.
    #[inline]
    fn attempt(&mut self, compose: impl FnOnce(&mut Self) -> Result<(), SyntaxError>) {
        if self.failure.is_none() {
            self.failure = compose(self).err();
        }
    }
}

impl Events for Composer<'_> {
    #[inline]
    fn scalar(&mut self, scalar: ScalarEvent<'_>, properties: &Properties<'_>) {
        self.attempt(|composer| composer.compose(&scalar, properties));
    }

    #[inline]
    fn start(&mut self, start: StartEvent, properties: &Properties<'_>) {
        self.attempt(|composer| composer.open(start, properties));
    }

    #[inline]
    fn end(&mut self, end: Span) {
        self.attempt(|composer| composer.close(end));
    }

    fn alias(&mut self, span: Span, name: &str) {
        self.attempt(|composer| composer.compose_alias(span, name));
    }
}

const COLLECTION_AS_KEY: &str = "invalid map key: a mapping or a sequence";

/// Resolves a scalar before the conversion to JSON.
fn resolve<'e>(
    event: &ScalarEvent<'e>,
    tag: Option<TagMeaning>,
) -> Result<Scalar<'e>, SyntaxError> {
    let text = event.text;
    let resolved = match event.style {
        Style::JsonWord => scalar::resolve_json(text)
            .ok_or_else(|| format!("json: cannot unmarshal number {text} into a float64")),
        style => scalar::resolve(text, style == Style::Plain, tag),
    };
    resolved.map_err(|problem| SyntaxError::new(event.span.start, problem))
}

/// Whether a key written `<<` merges: unquoted, or tagged as a merge.
fn is_merge(style: Style, tag: Option<TagMeaning>) -> bool {
    match tag {
        None => style == Style::Plain,
        Some(tag) => matches!(tag, TagMeaning::Bare | TagMeaning::Merge),
    }
}
