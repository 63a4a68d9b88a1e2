//! Describes a comparison for the report of `diff`.

use std::collections::{BTreeMap, BTreeSet};

use super::request::StateChoice;
use super::state::TreeState;
use crate::changes::{
    BothSides, ChangeKind, DeliveryName, ObjectChange, Sides, TreePart, TreePlace, UnreadChanges,
};
use crate::kube::ObjectKey;
use crate::merge::{DiffEffect, EffectKind, Merge};
use crate::ownership::container_images;
use crate::report::diff::{
    ChangedImage, ChangedPlace, DiffSummary, DiffVerdict, ReportedChange, StateName,
};
use crate::story::words;
use crate::text::ColumnUnit;

/// Maximum number of objects that a sentence names.
const NAMED: usize = 3;

/// Returns notes on the submodules of the states.
pub(super) fn notes(base: &TreeState, head: &TreeState) -> Vec<String> {
    let mut submodules: Vec<&String> = base.submodules.iter().chain(&head.submodules).collect();
    submodules.sort();
    submodules.dedup();
    submodules
        .into_iter()
        .map(|path| format!("{path} is a submodule; its files are not compared"))
        .collect()
}

/// Returns the note on the changed files outside of the requested paths.
pub(super) fn left_out(count: usize) -> Option<String> {
    let (files, count_as) = match count {
        0 => return None,
        1 => ("1 changed file".to_owned(), "counts"),
        _ => (format!("{count} changed files"), "count"),
    };
    Some(format!(
        "{files} outside of the named paths {count_as} as unchanged: the effects are those of the other changes alone"
    ))
}

/// Returns the images that containers of changed objects run before and after, each pair once.
pub(super) fn images(sides: BothSides<'_>, changes: &[&ObjectChange]) -> Vec<ChangedImage> {
    let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for change in changes {
        let Sides::Both(base, head) = change.sides else {
            continue;
        };
        let before = sides.base[base.tree].inventory.member(base.id);
        let after = sides.head[head.tree].inventory.member(head.id);
        let (before, after) = (
            container_images(&before.object),
            container_images(&after.object),
        );
        let pairs = before
            .iter()
            .filter_map(|(name, was)| Some((*was, *after.get(name)?)));
        let pairs: BTreeSet<(&str, &str)> = pairs.filter(|(was, is)| was != is).collect();
        for pair in pairs {
            *found.entry(pair).or_default() += 1;
        }
    }
    found
        .into_iter()
        .map(|((from, to), objects)| ChangedImage {
            from: from.to_owned(),
            to: to.to_owned(),
            objects,
        })
        .collect()
}

/// Returns a sentence on changed objects that are not applied in either state.
pub(super) fn idle(sides: BothSides<'_>, changes: &[&ObjectChange]) -> Option<String> {
    let named = changes.iter().take(NAMED).map(|change| {
        let [base, head] = described(sides, change);
        let now = head.or(base);
        now.map(|Described { key, place, .. }| format!("{key} ({}:{})", place.file, place.line))
    });
    let named: Vec<String> = named.flatten().collect();
    let more = match changes.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (objects, them) = match changes.len() {
        1 => ("1 changed object is in a file".to_owned(), "it"),
        several => (format!("{several} changed objects are in files"), "them"),
    };
    (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("{objects} that nothing in this repository includes or delivers (something else may apply {them}): {named}{more}")
    })
}

/// The claims that stay when their StatefulSets are deleted, by StatefulSet.
#[derive(Default)]
pub(super) struct KeptClaims(BTreeMap<ObjectKey, BTreeSet<ObjectKey>>);

impl KeptClaims {
    /// Adds the claims of one part of the tree.
    pub(super) fn add(&mut self, merge: &Merge<'_>) {
        for claim in merge.kept_claims() {
            let of_set = self.0.entry(claim.owner.clone()).or_default();
            of_set.insert(claim.key.clone());
        }
    }

    /// Names the claims in one sentence without its full stop; `None` if there are none.
    pub(super) fn said(&self) -> Option<String> {
        let (set, _) = self.0.first_key_value()?;
        let claims: Vec<&ObjectKey> = self.0.values().flatten().collect();
        let claims = words::keys(claims.into_iter());
        let stay = match self.0.len() {
            1 => words::kept_claims(set),
            sets => format!("{sets} StatefulSets do not delete their claims, and their data stays"),
        };
        Some(format!("{stay}: {claims}"))
    }
}

/// Returns the name of a state in reports.
pub(super) fn name(choice: &StateChoice) -> StateName {
    match choice {
        StateChoice::Commit(reference) => StateName::Ref(reference.clone()),
        StateChoice::Path(path) => StateName::Path(path.clone()),
        StateChoice::WorkTree => StateName::Path(".".to_owned()),
        StateChoice::Staged => StateName::Staged,
    }
}

/// Returns the verdict, and the number of changes and effects of each kind. `unknown`: the number of removed objects
/// whose tool is not known.
pub(super) fn summary(
    changes: &[&ObjectChange],
    effects: &[DiffEffect],
    unread: &UnreadChanges,
    unknown: usize,
) -> DiffSummary {
    use EffectKind::{Cascaded, Deleted, GeneratedDeleted, Orphaned, Recreated, Stuck};
    let predicted: Vec<EffectKind> = effects
        .iter()
        .filter(|effect| !effect.is_supposed())
        .map(|effect| effect.effect)
        .collect();
    let changes: Vec<ChangeKind> = changes.iter().map(|change| change.kind).collect();
    let verdict = if predicted.iter().any(|effect| {
        matches!(
            effect,
            Cascaded | Deleted | GeneratedDeleted | Recreated | Stuck
        )
    }) {
        DiffVerdict::Deletes
    } else if unread.changed.is_empty() && unknown == 0 {
        DiffVerdict::Nothing
    } else {
        DiffVerdict::Unknown
    };
    DiffSummary {
        verdict,
        added: count(&changes, ChangeKind::Added),
        removed: count(&changes, ChangeKind::Removed),
        changed: count(&changes, ChangeKind::Changed),
        moved: count(&changes, ChangeKind::Moved),
        renamed: count(&changes, ChangeKind::Renamed),
        deleted: count(&predicted, Deleted),
        cascaded: count(&predicted, Cascaded) + count(&predicted, GeneratedDeleted),
        stuck: count(&predicted, Stuck),
        orphaned: count(&predicted, Orphaned),
        unknown,
        unread: unread.changed.len(),
        unread_unchanged: unread.unchanged,
    }
}

fn count<K: PartialEq>(kinds: &[K], kind: K) -> usize {
    kinds.iter().filter(|one| **one == kind).count()
}

fn described(sides: BothSides<'_>, change: &ObjectChange) -> [Option<Described>; 2] {
    [
        (sides.base, change.sides.base()),
        (sides.head, change.sides.head()),
    ]
    .map(|(trees, place)| Some(Described::of(trees, place?)))
}

/// Describes a change. `edited`: the files of base that the change removes or edits.
pub(super) fn reported(
    sides: BothSides<'_>,
    edited: &BTreeSet<String>,
    change: &ObjectChange,
) -> ReportedChange {
    let sides = described(sides, change);
    let [base, head] = sides.each_ref().map(Option::as_ref);
    // The key is that of head or, for a removed object, that of base.
    let now = head.or(base);
    let before = base.or(head);
    let key = now.map(|now| now.key.clone()).unwrap_or_default();
    let written = now.map(|now| now.written.clone());
    let was = base.map(|base| base.key.clone());
    ReportedChange {
        change: change.kind.as_str(),
        written: written.filter(|written| *written != key),
        was: was.filter(|was| *was != key),
        bundle: now.and_then(|now| now.bundle.clone()),
        key,
        cluster: before.and_then(|before| before.cluster.clone()),
        delivery: before.and_then(|before| before.delivery.clone()),
        is_visible: base.is_some_and(|base| edited.contains(&base.place.file)),
        base: base.map(|described| described.place.clone()),
        head: head.map(|described| described.place.clone()),
    }
}

/// An object of one side.
struct Described {
    key: String,
    written: String,
    bundle: Option<String>,
    cluster: Option<String>,
    delivery: Option<DeliveryName>,
    place: ChangedPlace,
}

impl Described {
    fn of(trees: &[TreePart], place: TreePlace) -> Self {
        let tree = &trees[place.tree];
        let member = tree.inventory.member(place.id);
        let file = tree.inventory.sources.file(member.file);
        let destination = tree.destination(member.file);
        let start = member.object.start().start;
        Self {
            key: member.key.to_string(),
            written: tree.inventory.written_key(member).to_string(),
            bundle: destination.name().map(str::to_owned),
            cluster: tree.cluster_of(Some(destination)),
            delivery: tree.delivery_at(destination),
            place: ChangedPlace {
                file: file.path_in_tree().to_owned(),
                line: file.line_in_tree(start),
                column: file.position(start, ColumnUnit::Utf8).column,
            },
        }
    }
}
