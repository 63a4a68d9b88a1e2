//! Explanations: which rules decided an object's fate, along which chain of objects, and what holds
//! an object that hangs.

use std::collections::BTreeMap;

use super::cluster::{Cluster, NONE, ObjectId};
use super::collector::Class;
use super::links::{Release, Role};
use super::object::Key;
use super::outcome::waits_for_kubelet;
use super::state::{DELETING_DEPENDENTS, FOREGROUND, State, TERMINATING};
use super::trace::Entry;
use super::world::World;

/// Why an object fared as it did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Why {
    /// Rules of the deletion semantics, in the order in which they decided, each once.
    pub rules: Vec<&'static str>,
    /// From the object that the step was about down to this one, both included.
    pub chain: Vec<Key>,
    /// The round in which the object was removed, or last touched.
    pub round: u32,
}

/// An object that stays Terminating, and everything that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hanging {
    /// The object.
    pub object: Key,
    /// Finalizers that nobody removes, `foregroundDeletion` and `orphan` included.
    pub finalizers: Vec<String>,
    /// Dependents for which its foreground deletion waits `[GC-30]`.
    pub blocking_dependents: Vec<Key>,
    /// What is left in a namespace, or of a definition.
    pub content: Vec<Key>,
    /// Objects that keep a protection finalizer on it (Pods that mount a claim, a bound claim, …).
    pub held_by: Vec<Key>,
    /// It is a Pod whose kubelet has not answered `[DEL-15]`.
    pub kubelet: bool,
    /// Rules that say why it is not let go.
    pub rules: Vec<&'static str>,
}

/// Explains every object that the last of the logs mentions, and every live object with an owner
/// that is gone or Terminating.
pub(super) fn explain<'l>(
    cluster: &Cluster,
    state: &State,
    logs: impl DoubleEndedIterator<Item = &'l [Entry]> + Clone,
) -> BTreeMap<Key, Why> {
    // The entry because of which each object first went its way, over all steps.
    let mut began: BTreeMap<ObjectId, &Entry> = BTreeMap::new();
    for entry in logs.clone().flatten() {
        began.entry(entry.object).or_insert(entry);
    }
    let mut explained: BTreeMap<ObjectId, Why> = BTreeMap::new();
    for entry in logs.clone().next_back().into_iter().flatten() {
        let why = explained.entry(entry.object).or_default();
        why.round = entry.round;
        add_rules(&mut why.rules, entry.cause.rules);
    }
    let world = World { cluster, state: state.clone(), watch: Vec::new(), trace: None };
    for id in cluster.ids().filter(|id| state.live(*id)) {
        let rules = rules_of_standing(&world, id);
        if !rules.is_empty() {
            add_rules(&mut explained.entry(id).or_default().rules, &rules);
        }
    }
    let shown = explained.into_iter().filter(|(id, _)| !cluster.is_assumed(*id));
    let keyed = shown.map(|(id, mut why)| {
        why.chain = chain(cluster, &began, id);
        (cluster.key(id), why)
    });
    keyed.collect()
}

fn add_rules(rules: &mut Vec<&'static str>, more: &[&'static str]) {
    for rule in more {
        if !rules.contains(rule) {
            rules.push(rule);
        }
    }
}

/// Follows causes upwards; a cycle of owners ends where it would begin again.
fn chain(cluster: &Cluster, began: &BTreeMap<ObjectId, &Entry>, id: ObjectId) -> Vec<Key> {
    let mut ids = vec![id];
    let mut seen = std::collections::BTreeSet::from([id]);
    while let Some(entry) = ids.last().and_then(|last| began.get(last)) {
        if entry.cause.via == NONE || !seen.insert(entry.cause.via) {
            break;
        }
        ids.push(entry.cause.via);
    }
    ids.into_iter().rev().map(|id| cluster.key(id)).collect()
}

/// Why a live object with troubled owners was left alone, or still hangs.
fn rules_of_standing(world: &World<'_>, id: ObjectId) -> Vec<&'static str> {
    let (cluster, state) = (world.cluster, &world.state);
    let mut rules = Vec::new();
    if state.has(id, TERMINATING) {
        rules.extend(rules_of_hanging(world, id));
        return rules;
    }
    for index in cluster.refs_of(id).filter(|index| state.present(*index)) {
        match world.classify(index) {
            Class::Unresolvable => add_rules(&mut rules, &["GC-16"]),
            Class::OutOfScope => add_rules(&mut rules, &["GC-20"]),
            Class::Solid if state.has(cluster.reference(index).by_uid, TERMINATING) => {
                add_rules(&mut rules, &["GC-46"])
            }
            _ => {}
        }
    }
    rules
}

/// The live objects that are not Terminating although something is wrong with an owner of theirs.
pub(super) fn spared(cluster: &Cluster, state: &State) -> Vec<(ObjectId, Vec<&'static str>)> {
    let world = World { cluster, state: state.clone(), watch: Vec::new(), trace: None };
    let live = cluster.ids().filter(|id| state.live(*id) && !state.has(*id, TERMINATING));
    live.map(|id| (id, rules_of_standing(&world, id))).filter(|(_, rules)| !rules.is_empty()).collect()
}

fn rules_of_hanging(world: &World<'_>, id: ObjectId) -> Vec<&'static str> {
    let (cluster, state) = (world.cluster, &world.state);
    let mut rules = Vec::new();
    if waits_for_kubelet(state, id) {
        rules.push("DEL-15");
    }
    if state.has(id, FOREGROUND) {
        let own = cluster.refs_of(id).any(|index| cluster.reference(index).by_uid == id && state.blocks(index));
        rules.push(if own { "GC-44" } else { "GC-33" });
    }
    if !state.without_foreign_finalizers(cluster, id) {
        rules.push("FIN-17");
    }
    match cluster.links.roles.get(&id) {
        Some(Role::Namespace { pods, .. }) if pods.iter().any(|pod| state.live(*pod)) => rules.push("NS-17"),
        Some(Role::Namespace { .. }) => rules.push("NS-9"),
        Some(Role::Definition { .. }) => rules.push("CRD-4"),
        _ => {}
    }
    rules
}

/// Every Terminating object, with what holds it.
pub(super) fn hanging(cluster: &Cluster, state: &State) -> Vec<Hanging> {
    let world = World { cluster, state: state.clone(), watch: Vec::new(), trace: None };
    let terminating = |id: &ObjectId| state.live(*id) && state.has(*id, TERMINATING);
    let stuck = cluster.ids().filter(|id| terminating(id) && !cluster.is_assumed(*id));
    stuck.map(|id| hanging_one(&world, id)).collect()
}

fn hanging_one(world: &World<'_>, id: ObjectId) -> Hanging {
    let (cluster, state) = (world.cluster, &world.state);
    let finalizers = match super::outcome::fate(cluster, state, id) {
        super::outcome::Fate::Present(present) => present.finalizers,
        super::outcome::Fate::Gone => Vec::new(),
    };
    let blockers = state
        .dependents(cluster, id)
        .filter(|dependent| state.has(id, DELETING_DEPENDENTS | FOREGROUND) && state.blocks(dependent.reference));
    let content: Vec<ObjectId> = match cluster.links.roles.get(&id) {
        Some(Role::Namespace { content, pods, .. }) => pods.iter().chain(content).copied().collect(),
        Some(Role::Definition { instances, .. }) => instances.clone(),
        _ => Vec::new(),
    };
    let holders =
        cluster.links.protections_of(id).iter().filter(|protection| state.finalizers[protection.finalizer as usize]);
    let holders = holders.filter_map(|protection| match &protection.release {
        Release::WhenUnheld(holders) => Some(holders),
        Release::JobTracking { .. } => None,
    });
    Hanging {
        object: cluster.key(id),
        finalizers,
        blocking_dependents: keys(cluster, blockers.map(|dependent| dependent.holder)),
        content: keys(cluster, content.into_iter().filter(|id| state.live(*id))),
        held_by: keys(
            cluster,
            holders.flatten().filter(|holder| world.still_holds(**holder)).map(|holder| holder.object),
        ),
        kubelet: waits_for_kubelet(state, id),
        rules: rules_of_hanging(world, id),
    }
}

/// Sorted, each once.
fn keys(cluster: &Cluster, ids: impl Iterator<Item = ObjectId>) -> Vec<Key> {
    let ids: std::collections::BTreeSet<ObjectId> = ids.collect();
    ids.into_iter().map(|id| cluster.key(id)).collect()
}
