//! A value of a manifest that a build may change.
//!
//! Unchanged parts refer to the parsed document; a change copies only the mappings and sequences that contain it.

use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use smol_str::SmolStr;

use crate::text::Span;
use crate::yaml::{Kind, NodeId, Tree, Value};

/// Maximum depth at which [`Node::with_texts`] replaces texts; deeper ones stay as they are written.
const DEEPEST_TEXT: usize = 200;

/// The entries of a mapping that a build made, in their order.
pub type Entries = IndexMap<SmolStr, Node, RandomState>;

/// The estimated size of a value in bytes, apart from its text.
const VALUE: usize = 50;

/// A value, written in a file or made by a build.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value in a document of a file.
    Written(Arc<Tree>, NodeId),
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// Text.
    Text(Arc<str>),
    /// A mapping.
    Map(Arc<Entries>),
    /// A sequence.
    Seq(Arc<Vec<Node>>),
}

/// The address of a value while the value exists: values with equal addresses are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address(usize, Option<NodeId>);

/// A borrowed view of a value.
#[derive(Clone, Copy)]
enum Look<'n> {
    Written(&'n Arc<Tree>, Value<'n>),
    Made(&'n Node),
}

impl<'n> Look<'n> {
    fn get(self, key: &str) -> Option<Self> {
        match self {
            Self::Written(tree, value) => Some(Self::Written(tree, value.get(key)?)),
            Self::Made(Node::Map(entries)) => entries.get(key).map(Node::look),
            Self::Made(_) => None,
        }
    }

    fn as_str(self) -> Option<&'n str> {
        match self {
            Self::Written(_, value) => value.as_str(),
            Self::Made(Node::Text(text)) => Some(text),
            Self::Made(_) => None,
        }
    }

    fn to_node(self) -> Node {
        match self {
            Self::Written(tree, value) => Node::Written(Arc::clone(tree), value.id()),
            Self::Made(node) => node.clone(),
        }
    }
}

/// Maximum depth of the text that [`Node::text_without`] returns; deeper parts are null.
const TEXT_DEPTH: usize = 100;

impl Node {
    fn look(&self) -> Look<'_> {
        match self {
            Self::Written(tree, id) => Look::Written(tree, tree.value(*id)),
            made => Look::Made(made),
        }
    }

    fn look_at(&self, path: &[&str]) -> Option<Look<'_>> {
        path.iter()
            .try_fold(self.look(), |value, key| value.get(key))
    }

    /// Returns the value of a whole document.
    pub fn from_tree(tree: &Arc<Tree>) -> Self {
        Self::Written(Arc::clone(tree), tree.root().id())
    }

    /// Returns its address; `None` for a scalar that a build made.
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::Written(tree, id) => Some(Address(Arc::as_ptr(tree) as usize, Some(*id))),
            Self::Map(entries) => Some(Address(Arc::as_ptr(entries) as usize, None)),
            Self::Seq(items) => Some(Address(Arc::as_ptr(items) as usize, None)),
            Self::Null | Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// Creates a text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a mapping without entries.
    pub fn empty_map() -> Self {
        Self::Map(Arc::default())
    }

    /// Creates a mapping. Of several values of a key, the last one counts.
    fn of_entries(entries: impl IntoIterator<Item = (SmolStr, Self)>) -> Self {
        Self::Map(Arc::new(entries.into_iter().collect()))
    }

    /// Returns the place of the value; `None` if a build made it.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Written(tree, id) => Some(tree.value(*id).span()),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        self.look().as_str()
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Written(tree, id) => tree.value(*id).as_bool(),
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a scalar as text: numbers and booleans in their JSON form.
    pub fn scalar(&self) -> Option<String> {
        match self {
            Self::Written(tree, id) => match tree.value(*id).kind() {
                Kind::String(text) => Some(text.to_owned()),
                Kind::Bool(value) => Some(value.to_string()),
                Kind::Int(value) => Some(value.to_string()),
                Kind::Uint(value) => Some(value.to_string()),
                Kind::Float(value) => Some(value.to_string()),
                Kind::Null | Kind::Map | Kind::Seq => None,
            },
            Self::Text(text) => Some(text.to_string()),
            Self::Bool(value) => Some(value.to_string()),
            Self::Null | Self::Map(_) | Self::Seq(_) => None,
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Written(tree, id) => tree.value(*id).is_null(),
            Self::Null => true,
            _ => false,
        }
    }

    /// Whether it is a mapping.
    pub fn is_map(&self) -> bool {
        match self {
            Self::Written(tree, id) => tree.value(*id).is_map(),
            Self::Map(_) => true,
            _ => false,
        }
    }

    /// Whether it is a sequence.
    pub fn is_seq(&self) -> bool {
        match self {
            Self::Written(tree, id) => tree.value(*id).is_seq(),
            Self::Seq(_) => true,
            _ => false,
        }
    }

    /// Returns the value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<Self> {
        self.look().get(key).map(Look::to_node)
    }

    /// Returns the value at a path of keys through nested mappings.
    pub fn at(&self, path: &[&str]) -> Option<Self> {
        self.look_at(path).map(Look::to_node)
    }

    /// Returns the string at a path of keys.
    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.look_at(path)?.as_str()
    }

    /// Returns the text at a path of keys, unless it is empty.
    pub fn text_at(&self, path: &[&str]) -> Option<String> {
        let text = self.str_at(path)?;
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the entries of a mapping in their order; none for any other value.
    pub fn entries(&self) -> Vec<(SmolStr, Self)> {
        match self {
            Self::Written(tree, id) => {
                let entries = tree.value(*id).entries();
                let entries = entries.map(|entry| {
                    let value = Self::Written(Arc::clone(tree), entry.value.id());
                    (entry.key.into(), value)
                });
                entries.collect()
            }
            Self::Map(entries) => {
                let entries = entries.iter();
                entries
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the items of a sequence; none for any other value.
    pub fn items(&self) -> Vec<Self> {
        match self {
            Self::Written(tree, id) => {
                let items = tree.value(*id).items();
                items
                    .map(|item| Self::Written(Arc::clone(tree), item.id()))
                    .collect()
            }
            Self::Seq(items) => items.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns an item of a sequence.
    pub fn item(&self, at: usize) -> Option<Self> {
        match self {
            Self::Written(tree, id) => {
                let item = tree.value(*id).items().nth(at)?;
                Some(Self::Written(Arc::clone(tree), item.id()))
            }
            Self::Seq(items) => items.get(at).cloned(),
            _ => None,
        }
    }

    /// Returns the boolean at a path of keys.
    pub fn bool_at(&self, path: &[&str]) -> Option<bool> {
        self.at(path)?.as_bool()
    }

    /// Whether the value at a path of keys is `true`.
    pub fn is_true_at(&self, path: &[&str]) -> bool {
        self.bool_at(path) == Some(true)
    }

    /// Returns the entries of a mapping at a path of keys.
    pub fn entries_at(&self, path: &[&str]) -> Vec<(SmolStr, Self)> {
        self.at(path).map(|map| map.entries()).unwrap_or_default()
    }

    /// Returns the items of a sequence under a key.
    pub fn items_at(&self, key: &str) -> Vec<Self> {
        self.get(key).map(|list| list.items()).unwrap_or_default()
    }

    /// Returns the texts of a sequence under a key.
    pub fn texts_at(&self, key: &str) -> Vec<String> {
        let items = self.items_at(key);
        let texts = items.iter().filter_map(Self::as_str);
        texts.map(str::to_owned).collect()
    }

    /// Returns the entries for modification; any other value becomes an empty mapping.
    pub fn map_mut(&mut self) -> &mut Entries {
        if !matches!(self, Self::Map(_)) {
            *self = Self::of_entries(self.entries());
        }
        match self {
            Self::Map(entries) => Arc::make_mut(entries),
            _ => unreachable!("it was made a mapping"),
        }
    }

    /// Returns the items for modification; any other value becomes an empty sequence.
    pub fn seq_mut(&mut self) -> &mut Vec<Self> {
        if !matches!(self, Self::Seq(_)) {
            *self = Self::Seq(Arc::new(self.items()));
        }
        match self {
            Self::Seq(items) => Arc::make_mut(items),
            _ => unreachable!("it was made a sequence"),
        }
    }

    /// Returns the value of a key for modification; null if there was none.
    pub fn entry_mut(&mut self, key: &str) -> &mut Self {
        self.map_mut().entry(key.into()).or_insert(Self::Null)
    }

    /// Sets the value of a key.
    pub fn set(&mut self, key: &str, value: Self) {
        *self.entry_mut(key) = value;
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        if self.look().get(key).is_some() {
            self.map_mut().shift_remove(key);
        }
    }

    /// Replaces texts, including keys; `None` if `replace` changes none. Parts that are too deep stay as they are.
    ///
    /// # Errors
    /// Returns the errors of `replace`.
    pub fn with_texts<E>(
        &self,
        replace: &mut impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<Self>, E> {
        self.with_texts_below(DEEPEST_TEXT, replace)
    }

    fn with_texts_below<E>(
        &self,
        depth: usize,
        replace: &mut impl FnMut(&str) -> Result<Option<String>, E>,
    ) -> Result<Option<Self>, E> {
        if let Some(text) = self.as_str() {
            return Ok(replace(text)?.map(Self::text));
        }
        if depth == 0 {
            return Ok(None);
        }
        if self.is_map() {
            let mut entries = self.entries();
            let mut is_changed = false;
            for (key, value) in &mut entries {
                if let Some(new) = value.with_texts_below(depth - 1, replace)? {
                    *value = new;
                    is_changed = true;
                }
                if let Some(new) = replace(key)? {
                    *key = new.into();
                    is_changed = true;
                }
            }
            return Ok(is_changed.then(|| Self::of_entries(entries)));
        }
        let mut changed = None;
        for (at, item) in self.items().into_iter().enumerate() {
            if let Some(new) = item.with_texts_below(depth - 1, replace)? {
                changed.get_or_insert_with(|| self.clone()).seq_mut()[at] = new;
            }
        }
        Ok(changed)
    }

    /// Returns the entries of a mapping, apart from the keys `without`, as JSON with sorted keys.
    pub fn text_without(&self, without: &[&str]) -> String {
        let entries = self.entries().into_iter();
        let entries = entries
            .filter(|(key, _)| !without.contains(&key.as_str()))
            .map(|(key, value)| (key.into(), value.to_json(TEXT_DEPTH)));
        let mut all = serde_json::Value::Object(entries.collect());
        all.sort_all_objects();
        all.to_string()
    }

    /// Estimates the bytes that the value takes if no parts are shared; stops counting above `most`.
    pub fn weight(&self, most: usize) -> usize {
        let mut weight: usize = 0;
        let mut pending = vec![self.clone()];
        while let Some(node) = pending.pop() {
            weight += VALUE + node.as_str().map_or(0, str::len);
            if weight > most {
                break;
            }
            for (key, value) in node.entries() {
                weight += key.len();
                pending.push(value);
            }
            pending.extend(node.items());
        }
        weight
    }

    /// Converts the value to JSON, with its keys in their order; parts below `depth` levels are null.
    pub fn to_json(&self, depth: usize) -> serde_json::Value {
        use serde_json::Value;
        let below = depth.checked_sub(1);
        if self.is_map() {
            let entries = self.entries().into_iter().map(|(key, value)| {
                let value = below.map_or(Value::Null, |depth| value.to_json(depth));
                (key.into(), value)
            });
            return Value::Object(entries.collect());
        }
        if self.is_seq() {
            let items = self.items().into_iter();
            return below.map_or(Value::Null, |depth| {
                Value::Array(items.map(|item| item.to_json(depth)).collect())
            });
        }
        match self {
            Self::Written(tree, id) => match tree.value(*id).kind() {
                Kind::String(text) => Value::String(text.to_owned()),
                Kind::Bool(value) => Value::Bool(value),
                Kind::Int(value) => value.into(),
                Kind::Uint(value) => value.into(),
                Kind::Float(value) => value.into(),
                Kind::Null | Kind::Map | Kind::Seq => Value::Null,
            },
            Self::Text(text) => Value::String(text.to_string()),
            Self::Bool(value) => Value::Bool(*value),
            Self::Null | Self::Map(_) | Self::Seq(_) => Value::Null,
        }
    }
}
