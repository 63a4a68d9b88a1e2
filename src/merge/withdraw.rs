//! The tools' handling of removed objects: requests, spared objects, and objects that are not deleted.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::by_argo::AWAITS_CONFIRMATION;
use super::handover::{Handover, handovers};
use super::part::MergePart;
use super::pruning::{CANNOT_BUILD, Delivery, DeliveryChoice, FIXED_REVISION, Requested};
use crate::changes::Destination;
use crate::delivery::flux::KustomizationSettings;
use crate::delivery::helm;
use crate::delivery::{
    FluxObject, Leaving, Op, Regime, RegimeSource, ToolRequest, Withdrawal, argocd, flux,
};
use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::kustomize::{Deliverer, SourceTool};
use crate::text::plain;

/// The fate of the objects that are removed from one part of the tree, before the simulation.
#[derive(Debug, Default)]
pub struct PartWithdrawal {
    /// The requests, in the order in which they are sent.
    pub requests: Vec<ToolRequest>,
    /// Objects that a tool spares.
    pub kept: BTreeSet<ObjectKey>,
    /// Finalizers that a tool removes from a delivery object once the delivered objects are gone.
    pub releases: Vec<ToolRelease>,
    /// Objects whose deletion is a race: the change may take from the tool what it needs for this.
    pub late: BTreeSet<ObjectKey>,
    /// Objects whose deletion depends on facts that only the cluster or a service knows.
    pub possible: BTreeSet<ObjectKey>,
    /// Removed objects that are not deleted.
    pub orphaned: BTreeSet<ObjectKey>,
    /// Removed objects whose tool is unknown.
    pub unknown: BTreeSet<ObjectKey>,
    /// The tool of each object that is removed or moves, and whether there is evidence for it.
    pub regimes: BTreeMap<ObjectKey, (Regime, bool)>,
    /// Reasons why tools send no requests, one sentence each.
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
pub struct ToolRelease {
    pub object: ObjectKey,
    pub finalizers: Vec<String>,
    pub after: Vec<ObjectKey>,
}

impl ToolRelease {
    /// Returns the finalizers that Argo CD removes from an Application once the objects `after` are gone.
    pub fn of(application: &Member, after: Vec<ObjectKey>) -> Self {
        Self {
            object: application.key.clone(),
            finalizers: argocd::own_finalizers(application),
            after,
        }
    }
}

/// The applier of the objects at a destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Applier {
    /// An object of the tree.
    Object(Deliverer),
    /// A tool; `is_known` is whether there is evidence for it.
    Tool { regime: Regime, is_known: bool },
}

/// Plans the tools' requests for the objects that are removed from a part, and adds the deleted objects to `requested`,
/// which contains those of the parts before it.
pub fn withdraw(
    part: &MergePart<'_>,
    choice: &DeliveryChoice,
    requested: &mut Requested,
) -> PartWithdrawal {
    let mut groups = Groups::new();
    for member in part
        .leaving
        .iter()
        .map(|id| part.base.inventory.member(*id))
    {
        let destination = part.base.destination(member.file);
        let applier = applier(part, member, destination, choice);
        groups
            .entry((applier, destination))
            .or_default()
            .push(member);
    }
    let hooks = part.hooks.iter().map(|id| part.base.inventory.member(*id));
    for member in hooks.chain(part.leaves_its_release()) {
        let destination = part.base.destination(member.file);
        let applier = applier(part, member, destination, choice);
        if applier.regime().0.is_release() {
            groups
                .entry((applier, destination))
                .or_default()
                .push(member);
        }
    }
    let mut decided = Decided {
        requested: std::mem::take(requested),
        ..Decided::default()
    };
    for (applier, destination) in in_order(part, &groups) {
        let Some(members) = groups.remove(&(applier.clone(), destination)) else {
            continue;
        };
        let leaving = Leaving {
            inventory: &part.base.inventory,
            deliveries: part.analysis.deliveries(),
            members,
        };
        let (regime, is_known) = applier.regime();
        for member in &leaving.members {
            let known = decided
                .all
                .regimes
                .entry(member.key.clone())
                .or_insert((regime, is_known));
            // Two destinations may have one key: the one with evidence for its tool counts.
            if is_known {
                *known = (regime, is_known);
            }
        }
        let unbuildable = part.head.and_then(|head| head.unbuildable(destination));
        let withdrawal = match (&applier, regime) {
            (Applier::Object(deliverer), _) => Delivery {
                part,
                leaving: &leaving,
                destination,
                choice,
                requested: &decided.requested,
            }
            .of(deliverer),
            _ if unbuildable.is_some() => Withdrawal::nothing(CANNOT_BUILD),
            (_, Regime::Helm | Regime::Flux(FluxObject::HelmRelease)) => {
                upgraded(part, &leaving, destination, choice)
            }
            (_, Regime::ArgoCd) => {
                argocd::prune(&leaving, choice.cascade.unwrap_or(Policy::Foreground))
            }
            (_, Regime::Flux(_)) => flux::prune(&leaving, KustomizationSettings::default()),
            (_, Regime::Kubectl) if !is_known && choice.unknown_prunes => {
                flux::prune(&leaving, KustomizationSettings::default())
            }
            (_, Regime::Kubectl) => Withdrawal::nothing("prunes nothing"),
        };
        if regime == Regime::Kubectl && !is_known && unbuildable.is_none() {
            decided
                .all
                .unknown
                .extend(leaving.members.iter().map(|member| member.key.clone()));
        }
        decided
            .all
            .assumed
            .extend(assumed(&applier, destination, &withdrawal));
        decided.all.idle.extend(idle(
            &applier,
            &withdrawal,
            unbuildable,
            leaving.members.len(),
        ));
        let by = destination
            .deliverer()
            .and_then(|by| part.delivering_here(by));
        decided.take(&leaving, withdrawal, by.map(|by| &by.key));
    }
    let releases = releases(part, &decided.requested.here, &decided.held);
    let handovers = handovers(part, choice, &decided.requested);
    *requested = std::mem::take(&mut decided.requested).beyond(part);
    for handover in &handovers {
        let regime = (Regime::from(handover.from.tool), true);
        decided
            .all
            .regimes
            .extend(handover.objects.iter().map(|key| (key.clone(), regime)));
    }
    PartWithdrawal {
        releases,
        handovers,
        choice: *choice,
        ..decided.finish()
    }
}

impl Applier {
    /// Returns the tool, and whether there is evidence for it.
    fn regime(&self) -> (Regime, bool) {
        match self {
            Self::Object(deliverer) => (Regime::from(deliverer.tool), true),
            Self::Tool { regime, is_known } => (*regime, *is_known),
        }
    }
}

/// Returns the tool of an object of base, whether the object is removed or stays, and whether there is evidence for it.
pub(super) fn delivered(
    part: &MergePart<'_>,
    member: &Member,
    choice: &DeliveryChoice,
) -> (Regime, bool) {
    applier(part, member, part.base.destination(member.file), choice).regime()
}

/// Returns the finalizers that Argo CD removes from deleted Applications once all delivered objects are gone.
///
/// One that is `held` waits for a confirmation, and one that delivers itself never gets so far (recorded:
/// argo-self-managed-root-removed).
fn releases(
    part: &MergePart<'_>,
    requested: &BTreeSet<ObjectKey>,
    held: &BTreeSet<ObjectKey>,
) -> Vec<ToolRelease> {
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
    for member in inventory
        .members
        .iter()
        .filter(|member| requested.contains(&member.key))
    {
        let by = part.deliverer_here(member);
        if let Some(after) = by.and_then(|by| after.get_mut(&by.id)) {
            after.push(member.key.clone());
        }
    }
    after
        .into_iter()
        .map(|(application, after)| ToolRelease::of(inventory.member(application), after))
        .collect()
}

type Group<'a> = (Applier, &'a Destination);
type Groups<'a> = BTreeMap<Group<'a>, Vec<&'a Member>>;

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
        withdrawal
            .requests
            .iter_mut()
            .for_each(|request| request.client = client);
        if withdrawal.nothing == Some(AWAITS_CONFIRMATION) {
            self.held.extend(by.cloned());
        }
        let keeps = [CANNOT_BUILD, FIXED_REVISION];
        if withdrawal.nothing.is_some_and(|why| keeps.contains(&why)) {
            self.all
                .kept
                .extend(leaving.members.iter().map(|member| member.key.clone()));
        } else if withdrawal.nothing.is_some() {
            self.all
                .orphaned
                .extend(leaving.members.iter().map(|member| member.key.clone()));
        }
        let kept = withdrawal.kept.iter();
        let kept = kept.map(|id| leaving.inventory.member(*id).key.clone());
        self.all.kept.extend(kept);
        let outside = withdrawal
            .outside
            .iter()
            .map(|id| leaving.inventory.member(*id).key.clone());
        self.all.orphaned.extend(outside);
        let spared = withdrawal
            .spared
            .iter()
            .map(|(id, _)| leaving.inventory.member(*id).key.clone());
        self.all.kept.extend(spared);
        if withdrawal.is_race || by.is_some_and(|by| self.all.late.contains(by)) {
            let keys = withdrawal.requests.iter().map(|request| &request.key);
            self.all.late.extend(keys.cloned());
        }
        self.all
            .possible
            .append(&mut withdrawal.possible.into_iter().collect());
        // Without evidence for the tool that deletes the delivery object, its objects are no more certain to go.
        let is_possible = by.is_some_and(|by| {
            let regime = self.all.regimes.get(by);
            self.all.possible.contains(by) || regime.is_some_and(|(_, is_known)| !is_known)
        });
        if withdrawal.is_possible || is_possible {
            let keys = withdrawal.requests.iter().map(|request| &request.key);
            let keys =
                keys.filter(|key| withdrawal.is_possible || !withdrawal.anyway.contains(*key));
            self.all.possible.extend(keys.cloned());
        }
        let sent = match by.filter(|by| self.requested.here.contains(*by)) {
            Some(by) => self.before.entry(by.clone()).or_default(),
            None => &mut self.all.requests,
        };
        self.requested.here.extend(
            withdrawal
                .requests
                .iter()
                .map(|request| request.key.clone()),
        );
        sent.extend(withdrawal.requests);
    }

    /// Returns the result, with all requests in order.
    fn finish(self) -> PartWithdrawal {
        let Self {
            mut all,
            mut before,
            ..
        } = self;
        let mut pending = std::mem::take(&mut all.requests);
        pending.reverse();
        while let Some(request) = pending.pop() {
            match before.remove(&request.key) {
                Some(first) => {
                    pending.push(request);
                    pending.extend(first.into_iter().rev());
                }
                None => all.requests.push(request),
            }
        }
        in_turns(&mut all.requests);
        all
    }
}

/// Interleaves concurrent clients: the requests before the first wait of each, those before the second, and so on.
fn in_turns(requests: &mut [ToolRequest]) {
    let mut waits: BTreeMap<usize, usize> = BTreeMap::new();
    let turns = requests.iter().map(|request| {
        let waited = waits.entry(request.client).or_default();
        let turn = *waited;
        *waited += usize::from(request.wait != Wait::None);
        turn
    });
    let turns: Vec<usize> = turns.collect();
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|at| turns[*at]);
    let sorted: Vec<ToolRequest> = order.into_iter().map(|at| requests[at].clone()).collect();
    requests.clone_from_slice(&sorted);
}

/// Returns why a tool sends nothing, if there is evidence that it delivers these objects.
fn idle(
    applier: &Applier,
    withdrawal: &Withdrawal<'_>,
    unbuildable: Option<&str>,
    objects: usize,
) -> Option<String> {
    let reason = withdrawal.nothing?;
    let subject = match applier {
        Applier::Object(deliverer) => format!("the {} {deliverer}", deliverer.tool.kind().kind),
        Applier::Tool {
            regime,
            is_known: true,
        } => regime.tool().to_owned(),
        Applier::Tool {
            is_known: false, ..
        } => return None,
    };
    let rejected = withdrawal.rejected.as_ref();
    let rejected =
        rejected.map(|key| format!(", because the API server rejects the update of {key}"));
    let unbuildable = unbuildable.map(|obstacle| format!(", because {obstacle}"));
    let because = rejected.or(unbuildable).unwrap_or_default();
    let (objects, stay) = (
        plain::count(objects, "object"),
        if objects == 1 { "stays" } else { "stay" },
    );
    Some(format!(
        "{subject} {reason}{because}: {objects} that left {stay} in the cluster"
    ))
}

/// Returns the assumption that a probable tool deletes objects; `None` if it deletes none or there is evidence for it.
fn assumed(
    applier: &Applier,
    destination: &Destination,
    withdrawal: &Withdrawal<'_>,
) -> Option<String> {
    let Applier::Tool {
        regime,
        is_known: false,
    } = applier
    else {
        return None;
    };
    let count = withdrawal
        .requests
        .iter()
        .filter(|request| request.op == Op::Delete)
        .count();
    let (tool, place) = (regime.tool(), destination.folder().filter(|_| count > 0)?);
    let objects = plain::count(count, "object");
    Some(format!(
        "nothing here points at {place}, which holds objects of {tool}: if {tool} applies it, {tool} deletes {objects}"
    ))
}

fn applier(
    part: &MergePart<'_>,
    member: &Member,
    destination: &Destination,
    choice: &DeliveryChoice,
) -> Applier {
    match (choice.by, destination.deliverer()) {
        (Some(tool), _) => Applier::Tool {
            regime: tool.regime(),
            is_known: true,
        },
        (None, Some(deliverer)) => Applier::Object(deliverer.clone()),
        (None, None) => {
            let delivered = part.analysis.deliveries().regime(member);
            let is_known = match delivered.source {
                RegimeSource::None => false,
                // A kustomization keeps the marks of the chart that its files were copied from.
                RegimeSource::Mark { .. } if delivered.regime == Regime::Helm => {
                    !matches!(destination, Destination::Root { .. })
                }
                // If all deliveries of the tool are known, none of them has the object: it is not applied yet, or left
                // over.
                RegimeSource::Object(_) | RegimeSource::Mark { .. } => {
                    ![SourceTool::Flux, SourceTool::ArgoCd]
                        .into_iter()
                        .any(|tool| delivered.regime == Regime::from(tool) && part.base.knows(tool))
                }
                RegimeSource::Config => true,
            };
            let likely = if is_known {
                None
            } else {
                part.likely_tool(destination)
            };
            let regime = if is_known {
                delivered.regime
            } else {
                likely.unwrap_or(Regime::Kubectl)
            };
            Applier::Tool { regime, is_known }
        }
    }
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
    let members = head.members_at(destination).collect();
    let new = Leaving {
        inventory: &head.inventory,
        deliveries,
        members,
    };
    helm::upgrade(&old, &new, choice.helm_version, |key| part.rejects(key))
}
