//! Something known of kinds.

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashMap};
use smol_str::SmolStr;

use super::GroupKind;

/// A value for each of some kinds, found without a copy of the kind's name. In no order.
#[derive(Clone, Debug)]
pub struct KindMap<T>(HashMap<GroupKind<SmolStr>, T, RandomState>);

impl<T> Default for KindMap<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl Equivalent<GroupKind<SmolStr>> for GroupKind<&str> {
    fn equivalent(&self, key: &GroupKind<SmolStr>) -> bool {
        // The core group has most objects; for what a comparison of nothing with nothing costs, see `GroupKind::kind`.
        let is_core = key.group.is_empty();
        key.kind == self.kind
            && is_core == self.group.is_empty()
            && (is_core || key.group == self.group)
    }
}

impl<T> KindMap<T> {
    /// Whether no kind has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a kind.
    pub fn get(&self, kind: GroupKind<&str>) -> Option<&T> {
        self.0.get(&kind)
    }

    /// Gives a kind its value, in place of one that it had.
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
    /// Collects the values of kinds, for those that have any.
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
    fn kinds_of_one_name_are_told_by_their_groups() {
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
