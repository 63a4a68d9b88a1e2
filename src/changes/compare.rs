//! The comparison of the objects of two sides.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::built::is_same;
use super::destination::Destination;
use super::pairing::{Pair, Unpaired};
use super::tree::{TreePart, TreePlace, destination_of, file_of, key_of, member, places};
use crate::kube::{GroupKind, ObjectKey};

/// The kinds of change of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Only head has it.
    Added,
    /// Only base has it.
    Removed,
    /// Both have it, with different content.
    Changed,
    /// Both have it, in another file or at another destination.
    Moved,
    /// Head has it under another name, or in another namespace.
    Renamed,
}

impl ChangeKind {
    /// Returns its name in the output of `diff`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Renamed => "renamed",
        }
    }
}

/// A change of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectChange {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The sides that have the object, and its places there.
    pub sides: Sides,
}

/// The sides that have an object, and its places there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sides {
    /// Only base.
    Base(TreePlace),
    /// Only head.
    Head(TreePlace),
    /// Base and head.
    Both(TreePlace, TreePlace),
}

impl Sides {
    /// Returns the object of base.
    pub fn base(self) -> Option<TreePlace> {
        match self {
            Self::Base(base) | Self::Both(base, _) => Some(base),
            Self::Head(_) => None,
        }
    }

    /// Returns the object of head.
    pub fn head(self) -> Option<TreePlace> {
        match self {
            Self::Head(head) | Self::Both(_, head) => Some(head),
            Self::Base(_) => None,
        }
    }
}

type ByIdentity<'t> = BTreeMap<(&'t Destination, &'t ObjectKey), Vec<TreePlace>>;

/// Returns the changes from `base` to `head`, ordered by the key of the object in base, or in head
/// if it is added.
pub fn compare(base: &[TreePart], head: &[TreePart]) -> Vec<ObjectChange> {
    let (old, new) = (by_identity(base), by_identity(head));
    let mut changes = Vec::new();
    let mut left = Unpaired {
        base,
        head,
        gone: Vec::new(),
        new: Vec::new(),
    };
    for (identity, olds) in &old {
        match new.get(identity) {
            Some(news) => changes.extend(kept(base, head, olds, news)),
            None => left.gone.push(olds[0]),
        }
    }
    let added = new
        .iter()
        .filter(|(identity, _)| !old.contains_key(*identity));
    left.new.extend(added.map(|(_, news)| news[0]));
    changes.extend(paired(ChangeKind::Moved, left.moved()));
    changes.extend(paired(ChangeKind::Changed, left.hashed()));
    changes.extend(paired(ChangeKind::Renamed, left.renamed()));
    // If a file contains an object on both sides, the object counts as removed only if base applied
    // it, and as added only if head applies it (through a deliverer, if base had one).
    let [old, new] = [base, head].map(|trees| WrittenObjects::of(trees, |_| true));
    let delivered = WrittenObjects::of(base, |destination| destination.deliverer().is_some());
    left.gone
        .retain(|&place| destination_of(base, place).is_applied() || !new.contains(base, place));
    left.new.retain(|&place| match destination_of(head, place) {
        Destination::Unapplied(_) | Destination::NewlyGoverned(_) => !old.contains(head, place),
        Destination::Root { by: None, .. } | Destination::Folder(_) => {
            !delivered.contains(head, place)
        }
        _ => true,
    });
    let removed = left.gone.iter().map(|&base| ObjectChange {
        kind: ChangeKind::Removed,
        sides: Sides::Base(base),
    });
    let added = left.new.iter().map(|&head| ObjectChange {
        kind: ChangeKind::Added,
        sides: Sides::Head(head),
    });
    changes.extend(removed.chain(added));
    changes.sort_by_cached_key(|change| {
        let (trees, place) = match change.sides {
            Sides::Base(place) | Sides::Both(place, _) => (base, place),
            Sides::Head(place) => (head, place),
        };
        (
            key_of(trees, place).clone(),
            destination_of(trees, place).clone(),
            *change,
        )
    });
    changes
}

fn paired(kind: ChangeKind, pairs: Vec<Pair>) -> impl Iterator<Item = ObjectChange> {
    pairs.into_iter().map(move |(base, head)| ObjectChange {
        kind,
        sides: Sides::Both(base, head),
    })
}

/// Objects of one side, by the files that contain them.
struct WrittenObjects<'t>(HashSet<WrittenName<'t>>);

/// The identity of an object as written: its file, its kind, its name.
type WrittenName<'t> = (&'t str, GroupKind<&'t str>, Option<Cow<'t, str>>);

impl<'t> WrittenObjects<'t> {
    /// Collects the objects at the destinations for which `counts` holds.
    fn of(trees: &'t [TreePart], counts: impl Fn(&Destination) -> bool) -> Self {
        let counted = places(trees).filter(|place| counts(destination_of(trees, *place)));
        Self(counted.map(|place| Self::identity(trees, place)).collect())
    }

    /// Whether the object at `place` of `trees`, the other side, is one of these, in the same file.
    fn contains(&self, trees: &[TreePart], place: TreePlace) -> bool {
        self.0.contains(&Self::identity(trees, place))
    }

    fn identity(trees: &[TreePart], place: TreePlace) -> WrittenName<'_> {
        let object = &member(trees, place).object;
        (file_of(trees, place), object.group_kind(), object.name())
    }
}

fn by_identity(trees: &[TreePart]) -> ByIdentity<'_> {
    let mut all = ByIdentity::new();
    for place in places(trees) {
        let identity = (destination_of(trees, place), key_of(trees, place));
        all.entry(identity).or_default().push(place);
    }
    all
}

/// Compares an object that both sides have, file by file if several files contain it. A copy in
/// base whose file has none in head counts as moved to the first copy in head.
fn kept(
    base: &[TreePart],
    head: &[TreePart],
    olds: &[TreePlace],
    news: &[TreePlace],
) -> Vec<ObjectChange> {
    let mut by_file: HashMap<&str, TreePlace> = HashMap::default();
    for &new in news {
        by_file.entry(file_of(head, new)).or_insert(new);
    }
    let changes = olds.iter().filter_map(|&old| {
        let same_file = by_file.get(file_of(base, old)).copied();
        let new = same_file.unwrap_or(news[0]);
        let [was, is] = [(base, old), (head, new)]
            .map(|(trees, place)| (&trees[place.tree], member(trees, place)));
        let same = is_same(was, is);
        let kind = match (same_file, same) {
            (None, _) => ChangeKind::Moved,
            (Some(_), false) => ChangeKind::Changed,
            (Some(_), true) => return None,
        };
        Some(ObjectChange {
            kind,
            sides: Sides::Both(old, new),
        })
    });
    changes.collect()
}
