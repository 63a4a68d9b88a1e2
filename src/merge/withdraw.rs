//! What the tools do when objects leave: their requests, what they spare, and what nobody deletes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::part::{MergePart, delivering};
use crate::changes::Destination;
use crate::delivery::flux::KustomizationSettings;
use crate::delivery::helm::{self, HelmVersion};
use crate::delivery::{
    Deliveries, DeliveryTool, FluxObject, Leaving, Regime, RegimeSource, ToolRequest, Withdrawal, argocd, flux,
};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, Policy};
use crate::kustomize::{Deliverer, SourceTool};

/// What the user says of the tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryChoice {
    /// The tool that delivers everything; by default each object's own.
    pub by: Option<DeliveryTool>,
    /// The version of Helm.
    pub helm_version: HelmVersion,
    /// The propagation policy of the tools' deletes, instead of their own.
    pub cascade: Option<Policy>,
}

/// What becomes of the objects that leave one part of the tree, before the cluster has its say.
#[derive(Debug, Default)]
pub struct PartWithdrawal {
    /// In order.
    pub requests: Vec<ToolRequest>,
    /// What a tool spares.
    pub kept: BTreeSet<ObjectKey>,
    /// Finalizers that a tool removes from an object that delivers once what that delivered is gone.
    pub releases: Vec<ToolRelease>,
    /// What nobody deletes.
    pub orphaned: BTreeSet<ObjectKey>,
    /// By which tool each of them was delivered, and whether somebody says so.
    pub regimes: BTreeMap<ObjectKey, (Regime, bool)>,
}

/// A finalizer that a tool removes from an object that it deletes, once others are gone.
#[derive(Debug)]
pub struct ToolRelease {
    pub object: ObjectKey,
    pub finalizers: Vec<String>,
    pub after: Vec<ObjectKey>,
}

/// Who applies what is at one destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Applier {
    /// An object of the tree.
    Object(Deliverer),
    /// A tool, as far as anybody says; `said` is whether anybody does.
    Tool { regime: Regime, said: bool },
}

/// Plans what the tools do about what leaves a part.
pub fn withdraw(part: &MergePart<'_>, choice: &DeliveryChoice) -> PartWithdrawal {
    let mut groups = Groups::new();
    let deliveries = part.analysis.deliveries();
    for member in part.leaving.iter().map(|id| part.base.inventory.member(*id)) {
        let destination = part.base.destination(member.file);
        let applier = applier(deliveries, member, destination, choice);
        groups.entry((applier, destination)).or_default().push(member);
    }
    for member in part.hooks.iter().map(|id| part.base.inventory.member(*id)) {
        let destination = part.base.destination(member.file);
        let applier = applier(deliveries, member, destination, choice);
        if matches!(applier, Applier::Tool { regime, .. } if regime.is_release()) {
            groups.entry((applier, destination)).or_default().push(member);
        }
    }
    let mut decided = Decided::default();
    for (applier, destination) in in_order(part, &groups) {
        let Some(members) = groups.remove(&(applier.clone(), destination)) else { break };
        let leaving = Leaving { inventory: &part.base.inventory, deliveries, members };
        let (regime, said) = match &applier {
            Applier::Object(deliverer) => (regime_of(deliverer.tool), true),
            Applier::Tool { regime, said } => (*regime, *said),
        };
        let regimes = leaving.members.iter().map(|member| (member.key.clone(), (regime, said)));
        decided.all.regimes.extend(regimes);
        let withdrawal = match (&applier, regime) {
            (Applier::Object(deliverer), _) => {
                Delivery { part, leaving: &leaving, destination, choice }.of(deliverer, &decided)
            }
            (_, Regime::Helm | Regime::Flux(FluxObject::HelmRelease)) => upgraded(part, &leaving, destination, choice),
            (_, Regime::ArgoCd) => argocd::prune(&leaving, choice.cascade.unwrap_or(Policy::Foreground)),
            (_, Regime::Flux(_)) => flux::prune(&leaving, KustomizationSettings::default()),
            (_, Regime::Kubectl) => nothing("prunes nothing"),
        };
        let by = destination.deliverer().and_then(|by| delivering(&part.base.inventory, by));
        decided.take(&leaving, withdrawal, by.map(|by| &by.key));
    }
    let releases = releases(part, &decided.requested);
    PartWithdrawal { releases, ..decided.finish() }
}

/// Argo CD removes its finalizer from an Application that it deletes when everything that this delivered is gone.
fn releases(part: &MergePart<'_>, requested: &BTreeSet<ObjectKey>) -> Vec<ToolRelease> {
    let inventory = &part.base.inventory;
    let applications = part.leaving.iter().map(|id| inventory.member(*id));
    let applications =
        applications.filter(|member| member.object.is(SourceTool::ArgoCd.kind()) && requested.contains(&member.key));
    let mut after: BTreeMap<ObjectId, Vec<ObjectKey>> =
        applications.map(|application| (application.id, Vec::new())).collect();
    if after.is_empty() {
        return Vec::new();
    }
    for member in inventory.members.iter().filter(|member| requested.contains(&member.key)) {
        let by = part.base.destination(member.file).deliverer();
        let by = by.and_then(|by| delivering(inventory, by));
        if let Some(after) = by.and_then(|by| after.get_mut(&by.id)) {
            after.push(member.key.clone());
        }
    }
    let release = |(application, after): (ObjectId, _)| {
        let Member { key, object, .. } = inventory.member(application);
        let finalizers = object.metadata.finalizers.iter().map(|finalizer| finalizer.value.clone());
        let finalizers = finalizers.filter(|finalizer| finalizer.starts_with(argocd::RESOURCES_FINALIZER)).collect();
        ToolRelease { object: key.clone(), finalizers, after }
    };
    after.into_iter().map(release).collect()
}

type Group<'a> = (Applier, &'a Destination);
type Groups<'a> = BTreeMap<Group<'a>, Vec<&'a Member>>;

/// The groups in an order in which what becomes of an object that delivers is decided before what it delivered; in a circle, the
/// first is decided first.
fn in_order<'a>(part: &MergePart<'a>, groups: &Groups<'a>) -> Vec<Group<'a>> {
    let names: Vec<&Group<'a>> = groups.keys().collect();
    let group_of = groups.values().zip(0..).flat_map(|(members, at)| members.iter().map(move |member| (member.id, at)));
    let group_of: HashMap<ObjectId, usize> = group_of.collect();
    let waits_for = |(applier, _): &Group<'a>| match applier {
        Applier::Object(deliverer) => group_of.get(&delivering(&part.base.inventory, deliverer)?.id).copied(),
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

fn nothing(reason: &'static str) -> Withdrawal<'static> {
    Withdrawal { nothing: Some(reason), ..Withdrawal::default() }
}

/// What has been decided so far.
#[derive(Default)]
struct Decided {
    all: PartWithdrawal,
    requested: BTreeSet<ObjectKey>,
    /// What is sent before the first request about an object, by its key.
    before: BTreeMap<ObjectKey, Vec<ToolRequest>>,
}

impl Decided {
    /// Adds what one tool does. Another client than the one that deletes the object which delivers waits for nobody, and that
    /// object is gone last: so its own requests come before.
    fn take(&mut self, leaving: &Leaving<'_>, withdrawal: Withdrawal<'_>, by: Option<&ObjectKey>) {
        if withdrawal.nothing.is_some() {
            self.all.orphaned.extend(leaving.members.iter().map(|member| member.key.clone()));
        }
        let spared = withdrawal.spared.iter().map(|(id, _)| leaving.inventory.member(*id).key.clone());
        self.all.kept.extend(spared);
        let sent = match by.filter(|by| self.requested.contains(*by)) {
            Some(by) => self.before.entry(by.clone()).or_default(),
            None => &mut self.all.requests,
        };
        self.requested.extend(withdrawal.requests.iter().map(|request| request.key.clone()));
        sent.extend(withdrawal.requests);
    }

    /// All requests in their order.
    fn finish(self) -> PartWithdrawal {
        let Self { mut all, mut before, .. } = self;
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
        all
    }
}

fn applier(deliveries: &Deliveries, member: &Member, destination: &Destination, choice: &DeliveryChoice) -> Applier {
    match (choice.by, destination.deliverer()) {
        (Some(tool), _) => Applier::Tool { regime: tool.regime(), said: true },
        (None, Some(deliverer)) => Applier::Object(deliverer.clone()),
        (None, None) => {
            let delivered = deliveries.regime(member);
            Applier::Tool { regime: delivered.regime, said: delivered.source != RegimeSource::None }
        }
    }
}

fn regime_of(tool: SourceTool) -> Regime {
    match tool {
        SourceTool::Flux => Regime::Flux(FluxObject::Kustomization),
        SourceTool::ArgoCd => Regime::ArgoCd,
    }
}

/// Objects that leave what one object delivers.
struct Delivery<'a, 'p> {
    part: &'p MergePart<'a>,
    leaving: &'p Leaving<'a>,
    destination: &'p Destination,
    choice: &'p DeliveryChoice,
}

impl<'a> Delivery<'a, '_> {
    /// Pruned if the object that delivers stays; deleted with it if it is deleted; neither if it stays in the cluster although
    /// it left the tree, and its sources are gone: it fails to build from then on.
    fn of(&self, deliverer: &Deliverer, decided: &Decided) -> Withdrawal<'a> {
        let before = delivering(&self.part.base.inventory, deliverer);
        let after = self.part.head.and_then(|head| delivering(&head.inventory, deliverer));
        let deleted = before.is_some_and(|member| decided.requested.contains(&member.key));
        match (before, after) {
            (_, Some(after)) => self.pruned(deliverer.tool, after),
            (Some(before), None) if deleted => self.deleted(deliverer.tool, before),
            (Some(before), None) if self.sources_stay() => self.pruned(deliverer.tool, before),
            (Some(_), None) => nothing("has no sources any more"),
            (None, None) => nothing("is unknown"),
        }
    }

    fn pruned(&self, tool: SourceTool, deliverer: &Member) -> Withdrawal<'a> {
        match tool {
            SourceTool::Flux => flux::prune(self.leaving, KustomizationSettings::of(&deliverer.object)),
            SourceTool::ArgoCd if prunes(deliverer) => argocd::prune(self.leaving, self.policy(Policy::Foreground)),
            SourceTool::ArgoCd => nothing("does not prune"),
        }
    }

    fn deleted(&self, tool: SourceTool, deliverer: &Member) -> Withdrawal<'a> {
        match (tool, argocd::policy_of(&deliverer.object)) {
            (SourceTool::Flux, _) => {
                flux::kustomization_deleted(self.leaving, KustomizationSettings::of(&deliverer.object))
            }
            (SourceTool::ArgoCd, Some(policy)) => argocd::application_deleted(self.leaving, self.policy(policy)),
            (SourceTool::ArgoCd, None) => nothing("has no resources finalizer"),
        }
    }

    fn policy(&self, of_tool: Policy) -> Policy {
        self.choice.cascade.unwrap_or(of_tool)
    }

    /// Whether head has anything where the sources were.
    fn sources_stay(&self) -> bool {
        let Destination::Root { folder, .. } = self.destination else { return false };
        self.part.sides.head.iter().any(|part| part.contains_folder(folder))
    }
}

/// `spec.syncPolicy.automated.prune`. Somebody who syncs by hand decides each time.
fn prunes(application: &Member) -> bool {
    let prune = application.object.at(&["spec", "syncPolicy", "automated", "prune"]);
    prune.and_then(crate::yaml::Value::as_bool).unwrap_or(false)
}

/// A release is upgraded to what head has at the same destination.
fn upgraded<'a>(
    part: &MergePart<'a>,
    leaving: &Leaving<'a>,
    destination: &Destination,
    choice: &DeliveryChoice,
) -> Withdrawal<'a> {
    let of = |inventory: &'a Inventory, there: &dyn Fn(&Member) -> bool| -> Vec<&'a Member> {
        inventory.members.iter().filter(|member| there(member)).collect()
    };
    let old = of(&part.base.inventory, &|member| part.base.destination(member.file) == destination);
    let Some(head) = part.head else { return helm::uninstall(leaving, choice.helm_version, Policy::Background) };
    let new = of(&head.inventory, &|member| head.destination(member.file) == destination);
    let old = Leaving { members: old, ..leaving.clone() };
    let deliveries = Deliveries::of(&head.inventory, None);
    let new = Leaving { inventory: &head.inventory, deliveries: &deliveries, members: new };
    let rejects = |key: &ObjectKey| part.rejects(key);
    helm::upgrade(&old, &new, choice.helm_version, rejects)
}
