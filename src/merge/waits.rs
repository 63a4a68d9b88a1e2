//! Kustomizations that wait until others are ready with the same revision (`spec.dependsOn`).

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::part::{MergePart, delivering};
use super::replaced::ends_on_its_own;
use crate::changes::{BothSides, TreePart};
use crate::inventory::Member;
use crate::kube::ObjectKey;
use crate::kustomize::{Deliverer, SourceTool};

/// A Kustomization that fails in head, because the API server rejects the update of one of its objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The Kustomization.
    pub by: Deliverer,
    /// The object.
    pub key: ObjectKey,
    /// Whether the object is a Job that is usually gone by then.
    pub ends_on_its_own: bool,
}

impl MergePart<'_> {
    /// Whether `one` waits in head, directly or not, for `other`.
    pub(super) fn waits_for(&self, one: &Deliverer, other: &Deliverer) -> bool {
        self.head.is_some_and(|head| waits_for(head, one, other))
    }

    /// Whether `one` waits in base too, and has the source of the failing Kustomization: it then
    /// certainly does not apply head before that one is ready with it.
    pub(super) fn always_waits(&self, one: &Deliverer, rejection: &Rejection) -> bool {
        let [source, awaited_source] = [one, &rejection.by].map(|by| {
            let known = self.base.delivery(by);
            known.and_then(|known| known.settings.source.as_ref())
        });
        let [in_base, _] = self.blocked();
        let reason = known_as(self.base, one).and_then(|one| in_base.get(one));
        source == awaited_source
            && reason.is_some_and(|reason| {
                reason == rejection || waits_for(self.base, one, &rejection.by)
            })
    }

    /// Returns why a Kustomization that `by` waits for in head, directly or not, never becomes
    /// ready: a rejected update, preferably of an object that does not end on its own.
    pub(super) fn awaits_rejected(&self, by: &Deliverer) -> Option<&Rejection> {
        let [_, in_head] = self.blocked();
        in_head.get(known_as(self.head?, by)?)
    }

    /// Returns the Kustomizations that deliver into this part and fail, each with one object on which it fails.
    fn rejections(&self) -> Vec<Rejection> {
        let rejected = self.rejected().iter();
        let mut failing: Vec<(&Deliverer, &Member)> = rejected
            .filter_map(|id| {
                let member = self.base.inventory.member(*id);
                let by = self.base.destination(member.file).deliverer()?;
                let fails = by.tool == SourceTool::Flux && self.fails_on(by, member);
                fails.then_some((by, member))
            })
            .collect();
        failing.sort_by_key(|(_, member)| (ends_on_its_own(member), member.id));
        let mut seen = HashSet::default();
        failing.retain(|(by, _)| seen.insert(*by));
        let failing = failing.into_iter().map(|(by, member)| Rejection {
            by: by.clone(),
            key: member.key.clone(),
            ends_on_its_own: ends_on_its_own(member),
        });
        failing.collect()
    }

    fn blocked(&self) -> &[Blocked; 2] {
        self.blocked.get_or_init(|| {
            let mut failing = self.rejections();
            let here: BTreeSet<&Deliverer> = failing.iter().map(|one| &one.by).collect();
            let elsewhere = self.rejected_elsewhere.iter();
            let elsewhere = elsewhere.filter(|one| !here.contains(&one.by));
            let elsewhere: Vec<Rejection> = elsewhere.cloned().collect();
            failing.extend(elsewhere);
            failing.sort_by_key(|one| one.ends_on_its_own);
            [Some(self.base), self.head]
                .map(|part| part.map(|part| blocked(part, &failing)).unwrap_or_default())
        })
    }
}

/// Returns the Kustomizations that fail in any of the parts, if one that delivers into another part may wait for them.
pub fn rejections<'a>(
    sides: BothSides<'_>,
    parts: impl Iterator<Item = MergePart<'a>>,
) -> Vec<Rejection> {
    let mut states = sides.base.iter().chain(sides.head);
    if !states.any(waits_across_clusters) {
        return Vec::new();
    }
    parts.flat_map(|part| part.rejections()).collect()
}

/// Whether a Kustomization of a state waits for one that delivers into another cluster.
fn waits_across_clusters(part: &TreePart) -> bool {
    part.deliveries().iter().any(|(one, known)| {
        let mut awaited = known.awaits.iter();
        awaited.any(|awaited| awaited.cluster != one.cluster)
    })
}

/// The Kustomizations that wait, directly or not, for one that fails.
pub(super) type Blocked = HashMap<Deliverer, Rejection>;

/// Follows `dependsOn` backwards from the `failing` Kustomizations; the first ones take precedence.
fn blocked(part: &TreePart, failing: &[Rejection]) -> Blocked {
    let mut blocked = Blocked::default();
    if failing.is_empty() {
        return blocked;
    }
    let mut waiting: HashMap<String, Vec<&Deliverer>> = HashMap::default();
    for (one, known) in part.deliveries() {
        for awaited in &known.awaits {
            waiting.entry(awaited.key()).or_default().push(one);
        }
    }
    for rejection in failing {
        let mut pending = vec![&rejection.by];
        while let Some(awaited) = pending.pop() {
            for one in waiting.get(&awaited.key()).into_iter().flatten() {
                if !blocked.contains_key(*one) {
                    blocked.insert((*one).clone(), rejection.clone());
                    pending.push(one);
                }
            }
        }
    }
    blocked
}

/// Whether one Kustomization waits, directly or not, for another one. Clusters are ignored: the
/// graph may name another one once a delivery object has another deliverer.
fn waits_for(part: &TreePart, one: &Deliverer, other: &Deliverer) -> bool {
    let mut pending: Vec<&Deliverer> = known_as(part, one).into_iter().collect();
    let mut seen: HashSet<&Deliverer> = HashSet::default();
    while let Some(known) = pending.pop().and_then(|by| part.delivery(by)) {
        for next in known.awaits.iter().filter(|next| seen.insert(*next)) {
            if next.has_key_of(other) {
                return true;
            }
            pending.push(next);
        }
    }
    false
}

/// Returns a Kustomization as the graph of a part knows it: the one itself, or the first with its key if the part has
/// its delivery object.
fn known_as<'p>(part: &'p TreePart, by: &Deliverer) -> Option<&'p Deliverer> {
    let known = part.deliveries();
    if let Some((same, _)) = known.get_key_value(by) {
        return Some(same);
    }
    delivering(&part.inventory, by)?;
    known.keys().find(|other| other.has_key_of(by))
}
