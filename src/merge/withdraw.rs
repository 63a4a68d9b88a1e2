//! The tools' handling of removed objects: requests, spared objects, and objects that are not deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;

use super::applier::Applier;
use super::by_argo::AWAITS_CONFIRMATION;
use super::handover::{Handover, handovers};
use super::part::MergePart;
use super::pruning::{CANNOT_BUILD, Delivery, DeliveryChoice, FIXED_REVISION, Requested};
use super::uninstalled::{uninstalled, uninstalling};
use crate::changes::Destination;
use crate::delivery::flux::KustomizationSettings;
use crate::delivery::helm;
use crate::delivery::{FluxObject, Leaving, Regime, ToolRequest, Withdrawal, argocd, flux};
use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::kustomize::SourceTool;

/// The fate of the objects that are removed from one part of the tree, before the simulation.
#[derive(Debug, Default)]
pub struct PartWithdrawal {
    /// The requests, in the order in which they are sent.
    pub requests: Vec<ToolRequest>,
    /// Objects that a tool spares.
    pub kept: BTreeSet<ObjectKey>,
    /// The objects that left the sources of a tool that spares them: several if several tools deliver an object.
    pub keepers: BTreeMap<ObjectKey, Vec<ObjectId>>,
    /// Finalizers that a tool removes from a delivery object once the delivered objects are gone.
    pub finalizer_removals: Vec<FinalizerRemoval>,
    /// Objects whose deletion is a race: the change also affects the tool's settings, permissions or sources.
    pub raced: BTreeSet<ObjectKey>,
    /// Objects whose deletion depends on facts that only the cluster or a service knows.
    pub possible: BTreeSet<ObjectKey>,
    /// Removed objects that are not deleted.
    pub orphaned: BTreeSet<ObjectKey>,
    /// Removed objects whose tool is unknown.
    pub unknown: BTreeSet<ObjectKey>,
    /// The tool of each object that is removed or moves, and whether there is evidence for it.
    pub regimes: BTreeMap<ObjectKey, (Regime, bool)>,
    /// The tools that delete each removed object, with the object that left their sources: several if several tools
    /// deliver it.
    pub deleters: BTreeMap<ObjectKey, Vec<(Regime, ObjectId)>>,
    /// Reasons why tools send no requests, and why settings come too late, one sentence each.
    pub idle: Vec<String>,
    /// Assumptions about which tool manages the removed objects, one sentence each.
    pub assumed: Vec<String>,
    /// Objects that move from one deliverer to another.
    pub handovers: Vec<Handover>,
    /// The delivery tools, as far as the user gives them.
    pub choice: DeliveryChoice,
}

/// Finalizers that a tool removes from a deleted object, once others are gone.
#[derive(Debug)]
pub struct FinalizerRemoval {
    pub object: ObjectKey,
    pub finalizers: Vec<String>,
    /// Shared, because all Applications of a teardown wait for the same objects.
    pub after: Arc<[ObjectKey]>,
}

impl FinalizerRemoval {
    /// Returns the finalizers that Argo CD removes from an Application once the objects `after` are gone.
    pub fn of(application: &Member, after: impl Into<Arc<[ObjectKey]>>) -> Self {
        Self {
            object: application.key.clone(),
            finalizers: argocd::own_finalizers(application),
            after: after.into(),
        }
    }
}

/// Plans the tools' requests for the objects that are removed from a part, and adds the deleted objects to `requested`,
/// which contains those of the parts before it.
pub fn withdraw(
    part: &MergePart<'_>,
    choice: &DeliveryChoice,
    requested: &mut Requested,
) -> PartWithdrawal {
    let mut groups = groups(part, choice);
    let mut decided = Decided {
        requested: std::mem::take(requested),
        ..Decided::default()
    };
    let mut idle = Vec::new();
    for (applier, destination) in in_order(part, &groups) {
        let Some(members) = groups.remove(&(applier.clone(), destination)) else {
            continue;
        };
        let leaving = Leaving {
            inventory: &part.base.inventory,
            deliveries: part.analysis.deliveries(),
            members,
        };
        let tool = applier.regime();
        let unbuildable = part.head.and_then(|head| head.unbuildable(destination));
        let withdrawal = match &applier {
            Applier::Object(deliverer) => Delivery {
                part,
                leaving: &leaving,
                destination,
                choice,
                requested: &decided.requested,
            }
            .of(deliverer),
            Applier::Tool { .. } if unbuildable.is_some() => Withdrawal::nothing(CANNOT_BUILD),
            Applier::Tool { .. } => of_tool(tool, part, &leaving, destination, choice),
        };
        let all = &mut decided.all;
        all.add_tool(&leaving, tool, &withdrawal);
        if tool == (Regime::Kubectl, false) && unbuildable.is_none() {
            let members = leaving.members.iter();
            all.unknown.extend(members.map(|member| member.key.clone()));
        }
        let count = leaving.members.len();
        all.assumed
            .extend(applier.assumed(destination, &withdrawal));
        let by = destination.deliverer();
        let by = by.and_then(|by| part.delivering_here(by));
        let by = by.map(|by| &by.key);
        let reason = applier.idle(&withdrawal, unbuildable, count);
        idle.extend(reason.map(|reason| (by, reason)));
        let staying = leaving
            .members
            .iter()
            .filter(|member| part.removed_only_if(member).is_some());
        all.possible
            .extend(staying.map(|member| member.key.clone()));
        all.idle.extend(applier.remarks(&withdrawal));
        decided.take(&leaving, withdrawal, by);
    }
    let instance = uninstalling(part, &decided.requested.here);
    decided.all.idle.extend(instance.map(uninstalled));
    let finalizer_removals = finalizer_removals(part, &decided.requested.here, &decided.held);
    let handovers = handovers(part, choice, &decided.requested);
    // A delivery object that moves is deleted with what it delivered.
    let moving: BTreeSet<&ObjectKey> = handovers.iter().flat_map(|one| &one.objects).collect();
    idle.retain(|(by, _)| !by.is_some_and(|by| moving.contains(by)));
    let idle = idle.into_iter().map(|(_, reason)| reason);
    decided.all.idle.extend(idle);
    *requested = std::mem::take(&mut decided.requested).into_previous(part);
    for handover in &handovers {
        let tool = (Regime::from(handover.from.tool), true);
        let objects = handover.objects.iter();
        let moved = objects.map(|key| (key.clone(), tool));
        decided.all.regimes.extend(moved);
    }
    PartWithdrawal {
        finalizer_removals,
        handovers,
        choice: *choice,
        ..decided.finish()
    }
}

/// Returns what a tool does with removed objects if no known delivery object applies them. `tool` contains whether
/// there is evidence for the tool.
fn of_tool<'a>(
    tool: (Regime, bool),
    part: &MergePart<'a>,
    leaving: &Leaving<'a>,
    destination: &Destination,
    choice: &DeliveryChoice,
) -> Withdrawal<'a> {
    match tool {
        (Regime::Helm | Regime::Flux(FluxObject::HelmRelease), _) => {
            upgraded(part, leaving, destination, choice)
        }
        (Regime::ArgoCd, _) => argocd::prune(leaving, choice.cascade.unwrap_or(Policy::Foreground)),
        (Regime::Flux(_), _) => flux::prune(leaving, KustomizationSettings::default()),
        (Regime::Kubectl, false) if choice.unknown_prunes => {
            flux::prune(leaving, KustomizationSettings::default())
        }
        (Regime::Kubectl, _) => Withdrawal::nothing("prunes nothing"),
    }
}

/// Returns the tool of an object of base, whether the object is removed or stays, and whether there is evidence for it.
pub(super) fn delivered(
    part: &MergePart<'_>,
    member: &Member,
    choice: &DeliveryChoice,
) -> (Regime, bool) {
    Applier::of(part, member, part.base.destination(member.file), choice).regime()
}

/// Returns the finalizers that Argo CD removes from deleted Applications once all delivered objects are gone.
///
/// One in `held` waits for a confirmation; one that delivers itself never removes them (recorded:
/// argo-self-managed-root-removed).
fn finalizer_removals(
    part: &MergePart<'_>,
    requested: &BTreeSet<ObjectKey>,
    held: &BTreeSet<ObjectKey>,
) -> Vec<FinalizerRemoval> {
    let inventory = &part.base.inventory;
    let applications = part.leaving.iter().map(|id| inventory.member(*id));
    let applications = applications.filter(|member| {
        let is_deleted =
            member.object.is(SourceTool::ArgoCd.kind()) && requested.contains(&member.key);
        is_deleted
            && !held.contains(&member.key)
            && part.deliverer_here(member).map(|object| object.id) != Some(member.id)
    });
    let mut after: BTreeMap<ObjectId, Vec<ObjectKey>> = applications
        .map(|application| (application.id, Vec::new()))
        .collect();
    if after.is_empty() {
        return Vec::new();
    }
    let members = inventory.members.iter();
    for member in members.filter(|member| requested.contains(&member.key)) {
        let by = part.deliverer_here(member);
        if let Some(after) = by.and_then(|by| after.get_mut(&by.id)) {
            after.push(member.key.clone());
        }
    }
    after
        .into_iter()
        .map(|(application, after)| FinalizerRemoval::of(inventory.member(application), after))
        .collect()
}

type Group<'a> = (Applier, &'a Destination);
type Groups<'a> = BTreeMap<Group<'a>, Vec<&'a Member>>;

/// Groups the removed objects, and those that only leave a Helm release, by applier and destination.
fn groups<'a>(part: &MergePart<'a>, choice: &DeliveryChoice) -> Groups<'a> {
    let member = |id: &ObjectId| part.base.inventory.member(*id);
    let hooks = part.hooks.iter().map(member);
    let only_from_releases = hooks.chain(part.leaving_only_their_release());
    let leaving = part.leaving.iter().map(|id| (member(id), true));
    let mut groups = Groups::new();
    for (member, is_removed) in leaving.chain(only_from_releases.map(|member| (member, false))) {
        let destination = part.base.destination(member.file);
        let applier = Applier::of(part, member, destination, choice);
        if is_removed || applier.regime().0.is_release() {
            let group = groups.entry((applier, destination)).or_default();
            group.push(member);
        }
    }
    groups
}

/// Returns the groups in topological order: a delivery object is decided before the objects that it delivers. In a
/// cycle, the first group comes first.
fn in_order<'a>(part: &MergePart<'a>, groups: &Groups<'a>) -> Vec<Group<'a>> {
    let names: Vec<&Group<'a>> = groups.keys().collect();
    let group_of = groups
        .values()
        .zip(0..)
        .flat_map(|(members, at)| members.iter().map(move |member| (member.id, at)));
    let group_of: HashMap<ObjectId, usize> = group_of.collect();
    let mut pending: BTreeSet<usize> = (0..names.len()).collect();
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut ready = BTreeSet::new();
    for (at, (applier, _)) in names.iter().enumerate() {
        let deliverer = match applier {
            Applier::Object(deliverer) => part.delivering_here(deliverer),
            Applier::Tool { .. } => None,
        };
        let before = deliverer.and_then(|deliverer| group_of.get(&deliverer.id).copied());
        match before.filter(|before| *before != at) {
            Some(before) => waiting.entry(before).or_default().push(at),
            None => {
                ready.insert(at);
            }
        }
    }
    let mut order = Vec::with_capacity(names.len());
    while let Some(at) = ready.pop_first().or_else(|| pending.first().copied()) {
        if pending.remove(&at) {
            order.push(names[at].clone());
            ready.extend(waiting.remove(&at).unwrap_or_default());
        }
    }
    order
}

/// The decisions so far.
#[derive(Default)]
struct Decided {
    all: PartWithdrawal,
    requested: Requested,
    /// Requests that are sent before the first one about a delivery object, by its key.
    before: BTreeMap<ObjectKey, Vec<ToolRequest>>,
    /// Delivery objects whose deletion waits for a confirmation.
    held: BTreeSet<ObjectKey>,
    /// Number of clients so far.
    clients: usize,
}

impl Decided {
    /// Adds the requests of one client. They come before a deletion of its delivery object `by`, which is gone last.
    fn take(
        &mut self,
        leaving: &Leaving<'_>,
        mut withdrawal: Withdrawal<'_>,
        by: Option<&ObjectKey>,
    ) {
        let client = self.clients;
        self.clients += 1;
        for request in &mut withdrawal.requests {
            request.client = client;
        }
        if withdrawal.nothing == Some(AWAITS_CONFIRMATION) {
            self.held.extend(by.cloned());
        }
        if let Some(why) = withdrawal.nothing {
            let stay = if [CANNOT_BUILD, FIXED_REVISION].contains(&why) {
                &mut self.all.kept
            } else {
                &mut self.all.orphaned
            };
            stay.extend(leaving.members.iter().map(|member| member.key.clone()));
        }
        let key = |id: &ObjectId| leaving.inventory.member(*id).key.clone();
        let spared = withdrawal.spared.iter().map(|(id, _)| id);
        for id in withdrawal.kept.iter().chain(spared) {
            let keepers = self.all.keepers.entry(key(id)).or_default();
            keepers.push(*id);
            self.all.kept.insert(key(id));
        }
        self.all.orphaned.extend(withdrawal.outside.iter().map(key));
        let keys = withdrawal.requests.iter().map(|request| &request.key);
        if withdrawal.is_race || by.is_some_and(|by| self.all.raced.contains(by)) {
            self.all.raced.extend(keys.clone().cloned());
        }
        self.all.possible.extend(withdrawal.possible);
        // If the deletion of the delivery object is uncertain, or there is no evidence for its tool, its objects are no
        // more certain to be deleted.
        let is_possible = by.is_some_and(|by| {
            let regime = self.all.regimes.get(by);
            self.all.possible.contains(by) || regime.is_some_and(|(_, is_known)| !is_known)
        });
        if withdrawal.is_possible || is_possible {
            let doubtful = keys
                .clone()
                .filter(|key| withdrawal.is_possible || !withdrawal.anyway.contains(*key));
            self.all.possible.extend(doubtful.cloned());
        }
        let sent = match by.filter(|by| self.requested.here.contains(*by)) {
            Some(by) => self.before.entry(by.clone()).or_default(),
            None => &mut self.all.requests,
        };
        self.requested.here.extend(keys.cloned());
        sent.extend(withdrawal.requests);
    }

    /// Returns the result, with all requests in order.
    fn finish(mut self) -> PartWithdrawal {
        let mut pending = std::mem::take(&mut self.all.requests);
        let mut requests = Vec::with_capacity(pending.len());
        pending.reverse();
        while let Some(request) = pending.pop() {
            match self.before.remove(&request.key) {
                Some(first) => {
                    pending.push(request);
                    pending.extend(first.into_iter().rev());
                }
                None => requests.push(request),
            }
        }
        PartWithdrawal {
            requests: in_turns(requests),
            ..self.all
        }
    }
}

/// Interleaves concurrent clients: the requests before the first wait of each, those before the second, and so on.
fn in_turns(requests: Vec<ToolRequest>) -> Vec<ToolRequest> {
    let mut waits: BTreeMap<usize, usize> = BTreeMap::new();
    let turns = requests.into_iter().map(|request| {
        let waited = waits.entry(request.client).or_default();
        let turn = *waited;
        *waited += usize::from(request.wait != Wait::None);
        (turn, request)
    });
    let mut turns: Vec<(usize, ToolRequest)> = turns.collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, request)| request).collect()
}

/// Returns the upgrade of a release to head's objects at `destination`, or the uninstallation if there is no head.
pub(super) fn upgraded<'a>(
    part: &MergePart<'a>,
    leaving: &Leaving<'a>,
    destination: &Destination,
    choice: &DeliveryChoice,
) -> Withdrawal<'a> {
    let (Some(head), Some(deliveries)) = (part.head, part.deliveries_of_head()) else {
        return helm::uninstall(leaving, choice.helm_version, Policy::Background);
    };
    let old = Leaving {
        members: part.base.members_at(destination).collect(),
        ..leaving.clone()
    };
    let new = Leaving {
        inventory: &head.inventory,
        deliveries,
        members: head.members_at(destination).collect(),
    };
    let rejected = old.members.iter().filter(|member| part.rejects(member));
    let rejected: BTreeSet<&ObjectKey> = rejected.map(|member| &member.key).collect();
    helm::upgrade(&old, &new, choice.helm_version, |key| {
        rejected.contains(key)
    })
}
