//! Turns changes of a value into edits of its text, depending on its form.
//!
//! A change that is not fully understood gives no edit: the value is shared through an alias, a merge provides the key,
//! an anchor or a tag is in the way, or a comment would be lost.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{NewValue, Route, RouteStep, ValueChange};
use super::layout::{Layout, NodeForm, NodePlace};
use super::lines::TextLines;
use super::{TextEdit, insert, remove, write};
use crate::Span;
use crate::event::Style;

/// A document with its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenDocument<'a> {
    pub(super) lines: TextLines<'a>,
    pub(super) layout: &'a Layout,
}

impl WrittenDocument<'_> {
    /// Returns the edits that make all changes; `None` if one of them cannot be made.
    pub(super) fn edits(self, changes: &[ValueChange]) -> Option<Vec<TextEdit>> {
        let mut edits = Vec::new();
        let mut removed: BTreeMap<NodePlace, BTreeSet<usize>> = BTreeMap::new();
        for change in changes {
            match change {
                ValueChange::Remove(route) => {
                    let node = self.layout.node(self.reached(route)?);
                    let parent = node.parent?;
                    let member = match self.layout.node(parent).form {
                        NodeForm::Map { .. } => node.index / 2,
                        _ => node.index,
                    };
                    removed.entry(parent).or_default().insert(member);
                }
                ValueChange::Rename(route, to) => edits.push(self.rename(route, to)?),
                ValueChange::Set(route, value) => edits.push(self.set(route, value)?),
                ValueChange::Append(route, value) => {
                    let list = self.unshared(self.reached(route)?)?;
                    edits.push(insert::item(self, list, value)?);
                }
            }
        }
        // Inner lists come first, since a list that loses its last item is removed with its entry.
        while let Some((collection, members)) = removed.pop_last() {
            let node = self.layout.node(collection);
            let is_list = matches!(node.form, NodeForm::Seq { .. });
            match self.layout.key_of(collection) {
                Some(_) if is_list && members.len() == node.children.len() => {
                    let siblings = removed.entry(node.parent?).or_default();
                    siblings.insert(node.index / 2);
                }
                _ => edits.extend(remove::members(self, self.unshared(collection)?, &members)?),
            }
        }
        edits.sort_by_key(|edit| edit.span);
        let apart = edits
            .windows(2)
            .all(|pair| pair[0].span.end <= pair[1].span.start);
        apart.then_some(edits)
    }

    /// Returns the node, unless a change of it would also apply elsewhere.
    fn unshared(self, place: NodePlace) -> Option<NodePlace> {
        (!self.layout.node(place).is_shared).then_some(place)
    }

    /// Returns the node that a route leads to.
    fn reached(self, route: &Route) -> Option<NodePlace> {
        let start = self.layout.map_at(route.start)?;
        let mut steps = route.steps.iter();
        steps.try_fold(start, |place, step| self.layout.step(place, step))
    }

    fn rename(self, route: &Route, to: &str) -> Option<TextEdit> {
        let value = self.reached(route)?;
        let map = self.unshared(self.layout.node(value).parent?)?;
        let key = self.layout.key_of(value)?;
        let node = self.layout.node(key);
        if node.has_properties || self.layout.may_have(map, to) {
            return None;
        }
        self.rewritten(key, to, self.layout.node(map).span)
    }

    /// Replaces the text of a scalar, keeping its quotes.
    fn rewritten(self, scalar: NodePlace, text: &str, within: Span) -> Option<TextEdit> {
        let node = self.layout.node(scalar);
        let replacement = match node.form {
            NodeForm::Scalar(Style::Plain) if write::is_plain(text, false) => text.to_owned(),
            NodeForm::Scalar(Style::Plain | Style::Double) => write::double_quoted(text),
            NodeForm::Scalar(Style::Single) => write::single_quoted(text)?,
            _ => return None,
        };
        Some(TextEdit {
            span: node.span,
            replacement,
            within,
        })
    }

    fn set(self, route: &Route, value: &NewValue) -> Option<TextEdit> {
        let mut at = self.layout.map_at(route.start)?;
        let mut steps = route.steps.iter();
        while let Some(step) = steps.next() {
            if let Some(below) = self.layout.step(at, step) {
                at = below;
                continue;
            }
            // From here on, the route leads to missing values.
            let RouteStep::Key(key) = step else {
                return None;
            };
            return insert::entry(self, self.unshared(at)?, key, &value.below(steps)?);
        }
        let (node, NewValue::Text(text)) = (self.layout.node(self.unshared(at)?), value) else {
            return None;
        };
        let within = self.layout.node(node.parent?).span;
        if node.has_properties || node.span.is_empty() {
            None
        } else {
            self.rewritten(at, text, within)
        }
    }
}
