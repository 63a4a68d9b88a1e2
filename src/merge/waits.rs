//! Kustomizations that wait until others are ready with the same revision (`spec.dependsOn`).

use foldhash::{HashMap, HashSet};

use super::part::{MergePart, delivering};
use super::replaced::ends_on_its_own;
use crate::changes::TreePart;
use crate::inventory::{Member, ObjectId};
use crate::kustomize::{Deliverer, SourceTool};

impl<'a> MergePart<'a> {
    /// Whether `one` waits in head, directly or not, for `other`.
    pub(super) fn waits_for(&self, one: &Deliverer, other: &Deliverer) -> bool {
        self.head.is_some_and(|head| waits_for(head, one, other))
    }

    /// Whether `one` waits in base, too, and both have the same source: it then certainly does not apply head before
    /// `other`, which fails on `rejected`, is ready with it.
    pub(super) fn always_waits(
        &self,
        one: &Deliverer,
        (other, rejected): (&Deliverer, &Member),
    ) -> bool {
        let [source, awaited_source] = [one, other].map(|by| {
            let known = self.base.delivery(by);
            known.and_then(|known| known.settings.source.as_ref())
        });
        let [in_base, _] = self.blocked();
        let reason = known_as(self.base, one).and_then(|one| in_base.get(one));
        source == awaited_source
            && reason.is_some_and(|id| *id == rejected.id || waits_for(self.base, one, other))
    }

    /// Returns a Kustomization for which one waits in head, directly or not, and that never becomes ready because the API
    /// server rejects the update of one of its objects; with the object, preferably one that does not end on its own.
    pub(super) fn awaits_rejected(&self, by: &Deliverer) -> Option<(&'a Deliverer, &'a Member)> {
        let [_, in_head] = self.blocked();
        let waiting = known_as(self.head?, by)?;
        let rejected = self.base.inventory.member(*in_head.get(waiting)?);
        let awaited = self.base.destination(rejected.file).deliverer()?;
        Some((awaited, rejected))
    }

    fn blocked(&self) -> &[Blocked; 2] {
        self.blocked.get_or_init(|| {
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
            [Some(self.base), self.head]
                .map(|part| part.map(|part| blocked(part, &failing)).unwrap_or_default())
        })
    }
}

/// The Kustomizations that wait, directly or not, for one that fails, each with the object on which that fails.
pub(super) type Blocked = HashMap<Deliverer, ObjectId>;

/// Follows the waiting Kustomizations backwards from the `failing` ones, of which the first count most.
fn blocked(part: &TreePart, failing: &[(&Deliverer, &Member)]) -> Blocked {
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
    for (by, member) in failing {
        let mut pending = vec![*by];
        while let Some(awaited) = pending.pop() {
            for one in waiting.get(&awaited.key()).into_iter().flatten() {
                if !blocked.contains_key(*one) {
                    blocked.insert((*one).clone(), member.id);
                    pending.push(one);
                }
            }
        }
    }
    blocked
}

/// Whether one Kustomization waits, directly or not, for another one. Clusters are left out: the graph may name another
/// one once a delivery object has another deliverer.
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
