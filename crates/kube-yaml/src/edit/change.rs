//! Changes to the value of a document.

use crate::tree::Value;

/// A step down from a mapping or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// To the value of a key.
    Key(Box<str>),
    /// To an item, counted from 0.
    Item(usize),
}

impl RouteStep {
    /// Returns the value that the step leads to, and its index in the mapping or list.
    pub(super) fn member_of<'a>(&self, from: Value<'a>) -> Option<(usize, Value<'a>)> {
        match self {
            Self::Key(key) => {
                let mut entries = from.entries().enumerate();
                let (at, entry) = entries.find(|(_, entry)| entry.key == &**key)?;
                Some((at, entry.value))
            }
            Self::Item(index) => from.items().nth(*index).map(|item| (*index, item)),
        }
    }
}

/// Returns the value that steps lead to.
pub(super) fn follow<'a>(start: Value<'a>, steps: &[RouteStep]) -> Option<Value<'a>> {
    let mut steps = steps.iter();
    steps.try_fold(start, |at, step| Some(step.member_of(at)?.1))
}

/// A path to a value, from the mapping that begins at an offset of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The start of the mapping's span.
    pub start: u32,
    /// The steps from there.
    pub steps: Vec<RouteStep>,
}

impl Route {
    /// Parses a field path: `spec.volumeClaimTemplates[0].metadata`. Its keys must not contain dots or brackets; use
    /// [`Route::key`] for a last step that may.
    pub fn along(start: u32, field: &str) -> Self {
        let mut steps = Vec::new();
        for segment in field.split('.').filter(|segment| !segment.is_empty()) {
            let (key, items) = segment.split_once('[').unwrap_or((segment, ""));
            steps.push(RouteStep::Key(key.into()));
            let items = items
                .split('[')
                .filter_map(|item| item.trim_end_matches(']').parse().ok());
            steps.extend(items.map(RouteStep::Item));
        }
        Self { start, steps }
    }

    /// Returns the value at its end, starting from the mapping `start`.
    pub fn follow<'a>(&self, start: Value<'a>) -> Option<Value<'a>> {
        follow(start, &self.steps)
    }

    /// Appends a step to the value of a key, which may contain any characters.
    pub fn key(mut self, key: &str) -> Self {
        self.steps.push(RouteStep::Key(key.into()));
        self
    }
}

/// A value to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// A string.
    Text(String),
    /// A list.
    List(Vec<NewValue>),
    /// A mapping, in the order in which it is written.
    Map(Vec<(String, NewValue)>),
}

impl NewValue {
    /// Creates a list of strings.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        let texts = texts.into_iter().map(|text| Self::Text(text.into()));
        Self::List(texts.collect())
    }

    /// Wraps the value into a mapping for each of `steps`; `None` if one of them leads to an item.
    pub(super) fn below<'s>(
        &self,
        steps: impl DoubleEndedIterator<Item = &'s RouteStep>,
    ) -> Option<Self> {
        steps
            .rev()
            .try_fold(self.clone(), |value, step| match step {
                RouteStep::Key(key) => Some(Self::Map(vec![(key.to_string(), value)])),
                RouteStep::Item(_) => None,
            })
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// Removes an entry of a mapping, or an item of a list. An entry whose list loses all its items is removed.
    Remove(Route),
    /// Renames the key of an entry.
    Rename(Route, String),
    /// Sets the value of an entry. A missing entry is added, and so are the mappings around it.
    Set(Route, NewValue),
    /// Adds an item to the end of a list.
    Append(Route, NewValue),
}

impl ValueChange {
    /// Returns the route to the changed value.
    pub(super) fn route(&self) -> &Route {
        match self {
            Self::Remove(route)
            | Self::Rename(route, _)
            | Self::Set(route, _)
            | Self::Append(route, _) => route,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_path_becomes_route_steps() {
        let steps = Route::along(7, "spec.rules[2][0].metadata")
            .key("a.b/c[1]")
            .steps;
        let keys = ["spec", "rules", "metadata", "a.b/c[1]"];
        let [spec, rules, metadata, last] = keys.map(|key| RouteStep::Key(key.into()));
        let [first, second] = [RouteStep::Item(2), RouteStep::Item(0)];
        assert_eq!(steps, [spec, rules, first, second, metadata, last]);
    }
}
