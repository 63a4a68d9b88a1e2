//! Something known of kinds.

use foldhash::HashMap;

use super::GroupKind;

/// A value for each of some kinds, found without a copy of the kind's name. In no order.
#[derive(Clone, Debug)]
pub struct KindMap<T> {
    /// By kind, then by group: few groups share the name of a kind.
    kinds: HashMap<String, ByGroup<T>>,
}

/// What is known of kinds of one name.
#[derive(Clone, Debug)]
struct ByGroup<T> {
    /// Of the core group: it has most objects, and no text to compare.
    core: Option<T>,
    others: HashMap<String, T>,
}

impl<T> Default for ByGroup<T> {
    fn default() -> Self {
        Self { core: None, others: HashMap::default() }
    }
}

impl<T> Default for KindMap<T> {
    fn default() -> Self {
        Self { kinds: HashMap::default() }
    }
}

impl<T> KindMap<T> {
    /// The value of a kind.
    pub fn get(&self, kind: GroupKind<&str>) -> Option<&T> {
        let groups = self.kinds.get(kind.kind)?;
        if kind.group.is_empty() { groups.core.as_ref() } else { groups.others.get(kind.group) }
    }

    /// The value of a kind, made by `new` if there is none.
    pub fn get_or_insert_with(&mut self, kind: GroupKind<&str>, new: impl FnOnce() -> T) -> &mut T {
        let groups = self.kinds.entry(kind.kind.to_owned()).or_default();
        match kind.group {
            "" => groups.core.get_or_insert_with(new),
            group => groups.others.entry(group.to_owned()).or_insert_with(new),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_one_name_are_told_by_their_groups() {
        let mut map = KindMap::default();
        *map.get_or_insert_with(GroupKind::new("apps", "Widget"), || 1) += 1;
        *map.get_or_insert_with(GroupKind::new("", "Widget"), || 7) += 1;
        assert_eq!(map.get(GroupKind::new("apps", "Widget")), Some(&2));
        assert_eq!(map.get(GroupKind::new("", "Widget")), Some(&8));
        assert_eq!(map.get(GroupKind::new("batch", "Widget")), None);
    }
}
