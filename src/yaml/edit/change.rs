//! Changes of the value of a document.

use crate::yaml::tree::Value;

/// A step down from a mapping or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteStep {
    /// To the value of a key.
    Key(Box<str>),
    /// To an item, counted from 0.
    Item(usize),
}

impl RouteStep {
    /// The value that it leads to, and which member of the mapping or the list that is.
    pub(super) fn member_of<'a>(&self, from: Value<'a>) -> Option<(usize, Value<'a>)> {
        match self {
            Self::Key(key) => {
                let mut entries = from.entries().enumerate();
                entries
                    .find(|(_, entry)| entry.key == &**key)
                    .map(|(at, entry)| (at, entry.value))
            }
            Self::Item(index) => from.items().nth(*index).map(|item| (*index, item)),
        }
    }
}

/// The way to a value: from the mapping that begins at an offset of the file, step by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where the mapping begins, as its span says.
    pub start: u32,
    /// The way from there.
    pub steps: Vec<RouteStep>,
}

impl Route {
    /// The way that a field path describes: `spec.volumeClaimTemplates[0].metadata`. Its keys contain neither dots nor
    /// brackets; one that may is the last step, see [`Route::key`].
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

    /// The value at its end, from the mapping where it begins.
    pub fn follow<'a>(&self, start: Value<'a>) -> Option<Value<'a>> {
        self.steps
            .iter()
            .try_fold(start, |at, step| Some(step.member_of(at)?.1))
    }

    /// The value of a key there, whatever the key contains.
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
    /// A list of strings.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(
            texts
                .into_iter()
                .map(|text| Self::Text(text.into()))
                .collect(),
        )
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// Removes an entry of a mapping, or an item of a list and with the last item the entry of the list.
    Remove(Route),
    /// Gives an entry of a mapping another key.
    Rename(Route, String),
    /// Gives an entry of a mapping a value. Where there is none it is added, and so are the mappings on the way to it.
    Set(Route, NewValue),
    /// Adds an item to the end of a list.
    Append(Route, NewValue),
}

impl ValueChange {
    /// The way to what changes.
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
    fn a_field_path_is_a_way() {
        let steps = Route::along(7, "spec.rules[2][0].metadata")
            .key("a.b/c[1]")
            .steps;
        let key = |key: &str| RouteStep::Key(key.into());
        let items = [RouteStep::Item(2), RouteStep::Item(0)];
        let [first, second] = items;
        assert_eq!(
            steps,
            [
                key("spec"),
                key("rules"),
                first,
                second,
                key("metadata"),
                key("a.b/c[1]")
            ]
        );
    }
}
