//! The tools' handling of objects that leave: their requests, the objects that they spare, and those that are not deleted.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::by_argo::AWAITS_CONFIRMATION;
use super::handover::{Handover, handovers};
use super::part::MergePart;
use super::pruning::{CANNOT_BUILD, Delivery, DeliveryChoice, Requested};
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

/// The fate of the objects that leave one part of the tree, before the simulation.
#[derive(Debug, Default)]
pub struct PartWithdrawal {
    /// In order.
    pub requests: Vec<ToolRequest>,
    /// Objects that a tool spares.
    pub kept: BTreeSet<ObjectKey>,
    /// Finalizers that a tool removes from an object that delivers once what that delivered is gone.
    pub releases: Vec<ToolRelease>,
    /// Objects that a tool deletes unless the change takes its means from it first.
    pub late: BTreeSet<ObjectKey>,
    /// Objects that a tool deletes under a condition that only the cluster or a service knows.
    pub possible: BTreeSet<ObjectKey>,
    /// Objects that are not deleted.
    pub orphaned: BTreeSet<ObjectKey>,
    /// Objects that left, by an unknown tool.
    pub unknown: BTreeSet<ObjectKey>,
    /// The tool of each of them, and whether there is evidence for it.
    pub regimes: BTreeMap<ObjectKey, (Regime, bool)>,
    /// Why tools send nothing about what leaves, a sentence for each.
    pub idle: Vec<String>,
    /// Assumptions about which tool manages the removed objects, one sentence each.
    pub assumed: Vec<String>,
    /// Objects that go over from one deliverer to another.
    pub handovers: Vec<Handover>,
    /// The delivery tools, as far as the user gives them.
    pub choice: DeliveryChoice,
}

/// A finalizer that a tool removes from an object that it deletes, once others are gone.
#[derive(Debug)]
pub struct ToolRelease {
    pub object: ObjectKey,
    pub finalizers: Vec<String>,
    pub after: Vec<ObjectKey>,
}

impl ToolRelease {
    /// The finalizers that Argo CD removes from an Application once the objects `after` are gone.
    pub fn of(application: &Member, after: Vec<ObjectKey>) -> Self {
        Self {
            object: application.key.clone(),
            finalizers: argocd::own_finalizers(application),
            after,
        }
    }
}

/// Who applies what is at one destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Applier {
    /// An object of the tree.
    Object(Deliverer),
    /// A tool; `said` is whether there is evidence for it.
    Tool { regime: Regime, said: bool },
}

/// Plans what the tools do about what leaves a part, and adds what they delete of it to what is `requested` of the
/// parts before it.
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
            break;
        };
        let leaving = Leaving {
            inventory: &part.base.inventory,
            deliveries: part.analysis.deliveries(),
            members,
        };
        let (regime, said) = applier.regime();
        for member in &leaving.members {
            let known = decided
                .all
                .regimes
                .entry(member.key.clone())
                .or_insert((regime, said));
            // Two destinations may have one key: who says that he delivers it counts.
            if said {
                *known = (regime, said);
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
            (_, Regime::Kubectl) if !said && choice.unknown_prunes => {
                flux::prune(&leaving, KustomizationSettings::default())
            }
            (_, Regime::Kubectl) => Withdrawal::nothing("prunes nothing"),
        };
        if regime == Regime::Kubectl && !said && unbuildable.is_none() {
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
    /// The tool, and whether there is evidence for it.
    fn regime(&self) -> (Regime, bool) {
        match self {
            Self::Object(deliverer) => (Regime::from(deliverer.tool), true),
            Self::Tool { regime, said } => (*regime, *said),
        }
    }
}

/// The tool of an object of base, whether the object leaves or stays, and whether there is evidence for it.
pub(super) fn delivered(
    part: &MergePart<'_>,
    member: &Member,
    choice: &DeliveryChoice,
) -> (Regime, bool) {
    applier(part, member, part.base.destination(member.file), choice).regime()
}

/// Argo CD removes its finalizer from an Application that it deletes when everything that this delivered is gone.
///
/// One that is `held` waits for a person, and one that delivers itself never gets so far (recorded:
/// argo-self-managed-root-removed).
fn releases(
    part: &MergePart<'_>,
    requested: &BTreeSet<ObjectKey>,
    held: &BTreeSet<ObjectKey>,
) -> Vec<ToolRelease> {
    let inventory = &part.base.inventory;
    let applications = part.leaving.iter().map(|id| inventory.member(*id));
    let delivers_itself = |member: &Member| {
        let by = part.base.destination(member.file).deliverer();
        by.is_some_and(|by| {
            part.delivering_here(by)
                .is_some_and(|object| object.id == member.id)
        })
    };
    let applications = applications.filter(|member| {
        let is_deleted =
            member.object.is(SourceTool::ArgoCd.kind()) && requested.contains(&member.key);
        is_deleted && !held.contains(&member.key) && !delivers_itself(member)
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
        let by = part.base.destination(member.file).deliverer();
        let by = by.and_then(|by| part.delivering_here(by));
        if let Some(after) = by.and_then(|by| after.get_mut(&by.id)) {
            after.push(member.key.clone());
        }
    }
    let release =
        |(application, after): (ObjectId, _)| ToolRelease::of(inventory.member(application), after);
    after.into_iter().map(release).collect()
}

type Group<'a> = (Applier, &'a Destination);
type Groups<'a> = BTreeMap<Group<'a>, Vec<&'a Member>>;

/// The groups in an order in which what becomes of an object that delivers is decided before what it delivered; in a circle, the
/// first is decided first.
fn in_order<'a>(part: &MergePart<'a>, groups: &Groups<'a>) -> Vec<Group<'a>> {
    let names: Vec<&Group<'a>> = groups.keys().collect();
    let group_of = groups
        .values()
        .zip(0..)
        .flat_map(|(members, at)| members.iter().map(move |member| (member.id, at)));
    let group_of: HashMap<ObjectId, usize> = group_of.collect();
    let waits_for = |(applier, _): &Group<'a>| match applier {
        Applier::Object(deliverer) => group_of.get(&part.delivering_here(deliverer)?.id).copied(),
        Applier::Tool { .. } => None,
    };
    let mut pending: BTreeSet<usize> = (0..names.len()).collect();
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut ready = BTreeSet::new();
    for (at, name) in names.iter().enumerate() {
        match waits_for(name).filter(|before| *before != at) {
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
    /// The requests before the first one about an object, by its key.
    before: BTreeMap<ObjectKey, Vec<ToolRequest>>,
    /// Deliverers that are not deleted before it is confirmed.
    held: BTreeSet<ObjectKey>,
    /// How many clients there are so far.
    clients: usize,
}

impl Decided {
    /// Adds what one client does. The object that delivers is gone last: so what its own client sends comes before.
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
        if withdrawal.nothing == Some(CANNOT_BUILD) {
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
        let is_possible = by.is_some_and(|by| self.all.possible.contains(by));
        if withdrawal.is_possible || is_possible {
            let keys = withdrawal.requests.iter().map(|request| &request.key);
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

    /// All requests in their order.
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

/// Clients go on at the same time: what each sends before its first wait comes before what any of them sends after it, and so on.
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
        Applier::Tool { regime, said: true } => regime.tool().to_owned(),
        Applier::Tool { said: false, .. } => return None,
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

/// That a tool probably deletes something.
fn assumed(
    applier: &Applier,
    destination: &Destination,
    withdrawal: &Withdrawal<'_>,
) -> Option<String> {
    let Applier::Tool {
        regime,
        said: false,
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
            said: true,
        },
        (None, Some(deliverer)) => Applier::Object(deliverer.clone()),
        (None, None) => {
            let delivered = part.analysis.deliveries().regime(member);
            // Everything that the tool delivers is known, and this is not among it: it may be on its way, or left behind.
            let is_left_out = || {
                let mut known = [SourceTool::Flux, SourceTool::ArgoCd].into_iter();
                known.any(|tool| delivered.regime == Regime::from(tool) && part.base.knows(tool))
            };
            let said = match delivered.source {
                RegimeSource::None => false,
                RegimeSource::Object(_) => !is_left_out(),
                // A kustomization keeps the marks of the chart that its files were copied from.
                RegimeSource::Mark { .. } if delivered.regime == Regime::Helm => {
                    !matches!(destination, Destination::Root { .. })
                }
                RegimeSource::Mark { .. } => !is_left_out(),
                RegimeSource::Config => true,
            };
            let likely = if said {
                None
            } else {
                part.likely_tool(destination)
            };
            let regime = if said {
                delivered.regime
            } else {
                likely.unwrap_or(Regime::Kubectl)
            };
            Applier::Tool { regime, said }
        }
    }
}

/// A release is upgraded to what head has at the same destination.
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
