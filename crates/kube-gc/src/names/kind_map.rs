//! A map keyed by kinds.

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashMap};
use smol_str::SmolStr;

use super::GroupKind;

/// An unordered map from kinds to values. Lookups do not copy the kind's name.
#[derive(Clone, Debug)]
pub struct KindMap<T>(HashMap<GroupKind<SmolStr>, T, RandomState>);

impl<T> Default for KindMap<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl Equivalent<GroupKind<SmolStr>> for GroupKind<&str> {
    fn equivalent(&self, key: &GroupKind<SmolStr>) -> bool {
        // Most objects are in the core group, whose empty name needs no comparison of strings, which is slow.
        let is_core = key.group.is_empty();
        key.kind == self.kind
            && is_core == self.group.is_empty()
            && (is_core || key.group == self.group)
    }
}

impl<T> KindMap<T> {
    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a kind.
    pub fn get(&self, kind: GroupKind<&str>) -> Option<&T> {
        self.0.get(&kind)
    }

    /// Sets the value of a kind.
    pub fn insert(&mut self, kind: GroupKind<&str>, value: T) {
        self.0.insert(
            GroupKind {
                kind: kind.kind.into(),
                group: kind.group.into(),
            },
            value,
        );
    }
}

impl<T> KindMap<Vec<T>> {
    /// Collects the values that `what` returns for each kind. Kinds without values are omitted.
    pub fn of<'k, I: Iterator<Item = T>>(
        kinds: impl Iterator<Item = GroupKind<&'k str>>,
        what: impl Fn(GroupKind<&'k str>) -> I,
    ) -> Self {
        let mut map = Self::default();
        for kind in kinds {
            let found: Vec<T> = what(kind).collect();
            if !found.is_empty() {
                map.insert(kind, found);
            }
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_name_are_distinguished_by_group() {
        let mut map = KindMap::default();
        map.insert(GroupKind::new("apps", "Widget"), 1);
        map.insert(GroupKind::new("", "Widget"), 7);
        map.insert(GroupKind::new("apps", "Widget"), 2);
        assert_eq!(map.get(GroupKind::new("apps", "Widget")), Some(&2));
        assert_eq!(map.get(GroupKind::new("", "Widget")), Some(&7));
        assert_eq!(map.get(GroupKind::new("batch", "Widget")), None);
        assert_eq!(map.get(GroupKind::new("", "")), None);
    }
}
