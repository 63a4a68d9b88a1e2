//! Deletions that tools make after another one: Flux deletes the objects of a Kustomization and
//! uninstalls the release of a HelmRelease, Argo CD deletes the Applications of a set and the
//! objects of an Application.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::clusters::PlannedCluster;
use super::notes::named;
use super::recreated::created_again;
use super::teardown::spared_one_by_one;
use crate::changes::{Destination, TreePart};
use crate::cluster::{Analysis, Reclaims};
use crate::delivery::flux_operator::{self, FLUX_FINALIZER};
use crate::delivery::{Leaving, Op, Regime, Withdrawal};
use crate::gc::{Plan, Step};
use crate::inventory::Member;
use crate::kube::{ObjectKey, Policy, Wait};
use crate::kustomize::{Deliverer, SourceTool};
use crate::merge::{
    DeletedDelivery, DeliveryChoice, FinalizerRemoval, delivering, origins, release_steps,
};
use crate::ownership::{DeliveryKind, DeliveryObject, Remover};
use crate::text::plain;

/// The title of the last step of Argo CD.
const RELEASED: &str = "Argo CD removes its finalizers from the Applications";

/// The title of the step that deletes volumes.
const RECLAIMED: &str = "the volumes are deleted with their claims (reclaim policy Delete)";

/// The requests of tools after a deletion.
#[derive(Debug, Default)]
pub(in crate::engine) struct Followed {
    /// The requests, each with its title.
    steps: Vec<(Step, String)>,
    /// The finalizers that Argo CD removes from Applications, once the objects that these delivered are gone.
    finalizer_removals: Vec<FinalizerRemoval>,
    /// Sentences on deliveries that cannot be followed, and on objects that tools keep.
    pub(super) notes: Vec<String>,
    /// The deleted delivery objects whose delivered objects are not all known.
    pub(in crate::engine) unread: Vec<ObjectKey>,
}

/// The objects that one object delivers to a destination.
struct Delivered<'g> {
    by: &'g Deliverer,
    cluster: PlannedCluster<'g>,
    part: &'g TreePart,
    destination: &'g Destination,
    object: &'g Member,
}

impl Followed {
    /// Adds the requests to the steps of a deletion, then the last requests of Argo CD and of the controllers of
    /// volumes. `verdict` simulates steps. Returns the titles of the added steps.
    pub(in crate::engine) fn add_to<'c>(
        self,
        steps: &mut Vec<Step>,
        reclaims: &Reclaims,
        verdict: impl Fn(&[Step]) -> Plan<'c>,
    ) -> Vec<String> {
        let (added, mut titles): (Vec<Step>, Vec<String>) = self.steps.into_iter().unzip();
        steps.extend(added);
        if !self.finalizer_removals.is_empty() {
            let released = release_steps(&self.finalizer_removals, &verdict(steps));
            titles.extend(released.iter().map(|_| RELEASED.to_owned()));
            steps.extend(released);
        }
        if !reclaims.is_empty() {
            let reclaimed = reclaims.step(&verdict(steps));
            titles.extend(reclaimed.iter().map(|_| RECLAIMED.to_owned()));
            steps.extend(reclaimed);
        }
        titles
    }
}

/// Finds the deletions by tools that follow the deletion of `targets` in a cluster with a `policy`, and those that follow
/// in turn.
pub(in crate::engine) fn followed(
    cluster: PlannedCluster<'_>,
    analysis: &Analysis<'_>,
    targets: &[ObjectKey],
    policy: Option<Policy>,
) -> Followed {
    let mut followed = Followed::default();
    let Some(part) = cluster.part() else {
        return followed;
    };
    let delivered = delivered(cluster, part);
    let failing: BTreeMap<ObjectKey, &str> = part
        .failing()
        .filter_map(|(by, error)| {
            let object = delivering(&part.inventory, &part.object_of(by))?;
            Some((object.key.clone(), error))
        })
        .collect();
    let objects = analysis.delivery_objects();
    let objects: BTreeMap<&ObjectKey, &DeliveryObject> = objects
        .iter()
        .map(|object| (&part.inventory.member(object.id).key, object))
        .collect();
    let mut elsewhere: BTreeMap<usize, Analysis<'_>> = BTreeMap::new();
    let mut outside = Vec::new();
    let mut is_uninstalled = false;
    let mut is_stopping = false;
    let mut pending: VecDeque<ObjectKey> = targets.iter().cloned().collect();
    let mut seen: BTreeSet<ObjectKey> = targets.iter().cloned().collect();
    while let Some(key) = pending.pop_front() {
        if let Some(instance) = instance(part, &key) {
            followed.uninstall(analysis, instance, &mut seen);
            (is_uninstalled, is_stopping) = (true, true);
            continue;
        }
        let Some(all) = delivered.get(&key) else {
            let object = objects.get(&key).filter(|object| object.deletes());
            if let Some(object) = object {
                followed
                    .finalizer_removals
                    .extend(release_of_unread(part, object));
                followed.unread.push(key.clone());
            }
            if let Some(error) = failing.get(&key) {
                let assumed = object.map_or("", |object| assumed_release(object.kind));
                let note = format!(
                    "The objects that {key} delivers are not known, because it cannot be built: {error}.{assumed}"
                );
                followed.notes.push(note);
            } else if let Some(object) = object {
                outside.push((object.kind, key));
            }
            continue;
        };
        for one in all {
            let tool = Regime::from(one.by.tool).tool();
            // The collector deletes the Applications of a set, which it owns; no finalizer of the set does.
            let is_of_set = one.by.tool == SourceTool::ArgoCdSet;
            if is_of_set && policy == Some(Policy::Orphan) && targets.contains(&key) {
                followed.notes.push(format!(
                    "The Applications that {key} generated stay, because its deletion orphans them."
                ));
                continue;
            }
            let in_part = one.unread(&key);
            let is_read = in_part.is_none();
            followed.notes.extend(in_part);
            let is_here = one.cluster.at == cluster.at;
            let analysis = if is_here {
                analysis
            } else {
                let there = elsewhere.entry(one.cluster.at);
                there.or_insert_with(|| one.cluster.analysis())
            };
            let withdrawal = one.withdrawal(analysis);
            if let Some(reason) = withdrawal.nothing {
                followed.notes.push(format!(
                    "{tool} keeps what {key} delivered, because it {reason}."
                ));
                continue;
            }
            let kept = spared_one_by_one(&one.part.inventory, &withdrawal).into_iter();
            let kept: Vec<String> = kept.map(|(key, why)| format!("{key} ({why})")).collect();
            if !kept.is_empty() {
                followed.notes.push(format!(
                    "Of what {key} delivered, {tool} keeps {}.",
                    named(&kept)
                ));
            }
            if !is_here {
                followed.notes.extend(one.elsewhere(&key, &withdrawal));
                continue;
            }
            if !is_read && followed.unread.last() != Some(&key) {
                followed.unread.push(key.clone());
            }
            let gone: Vec<ObjectKey> = withdrawal
                .requests
                .iter()
                // An Application with parameters in its name stands for unknown Applications of its set.
                .filter(|request| !request.key.name.contains("{{"))
                .filter(|request| request.op == Op::Delete && seen.insert(request.key.clone()))
                .map(|request| request.key.clone())
                .collect();
            let after = withdrawal
                .requests
                .iter()
                .map(|request| request.key.clone());
            followed
                .finalizer_removals
                .extend(one.release(after.collect()));
            if gone.is_empty() {
                continue;
            }
            let stops = one.controllers(analysis, &gone);
            pending.extend(gone.iter().cloned());
            let first = withdrawal.requests.first();
            let step = Step::delete(gone, first.and_then(|request| request.policy));
            let unless = if is_stopping {
                ", unless its controller has stopped before"
            } else {
                ""
            };
            let title = format!("{tool} deletes what {key} delivered{unless}");
            followed.steps.push((step, title));
            is_stopping |= !stops.is_empty();
            followed.notes.extend(stopping(tool, &key, &stops));
        }
    }
    followed.notes.extend(unknown(outside));
    if !is_uninstalled {
        followed.notes.extend(created_again(part, targets, &seen));
    }
    followed
}

/// Returns the FluxInstance with a key, if the Flux Operator uninstalls Flux with it.
fn instance<'g>(part: &'g TreePart, key: &ObjectKey) -> Option<&'g Member> {
    let ids = part.inventory.with_key(key).iter();
    let mut members = ids.map(|id| part.inventory.member(*id));
    members.find(|member| flux_operator::uninstalls(member))
}

/// Returns a sentence on a deletion that also deletes the controllers that carry it out.
fn stopping(tool: &str, key: &ObjectKey, controllers: &BTreeSet<ObjectKey>) -> Option<String> {
    let keys: Vec<String> = controllers.iter().map(ObjectKey::to_string).collect();
    let way_out = match tool {
        "Flux" => " `flux uninstall` removes Flux and leaves what it applied.",
        _ => "",
    };
    (!keys.is_empty()).then(|| {
        format!(
            "{tool} may stop half-way, because {key} delivered the controller that deletes the objects: {}. What it has \
             not deleted by then stays, and objects with its finalizers get stuck.{way_out}",
            named(&keys)
        )
    })
}

/// Returns the removal of Argo CD's finalizer from an Application whose objects are not known. It
/// depends on no known object and needs no build, because Argo CD deletes the objects that it
/// tracks in the cluster. `None` for other objects, and for an Application that Argo CD skips.
fn release_of_unread(part: &TreePart, object: &DeliveryObject) -> Option<FinalizerRemoval> {
    let is_followed = object.kind == DeliveryKind::Application && !object.suspended;
    is_followed.then(|| FinalizerRemoval::of(part.inventory.member(object.id), Vec::new()))
}

/// Returns the deliveries of each delivery object of a part, in this cluster and in others.
fn delivered<'g>(
    cluster: PlannedCluster<'g>,
    part: &'g TreePart,
) -> BTreeMap<ObjectKey, Vec<Delivered<'g>>> {
    let (parts, at) = (cluster.parts, cluster.at);
    let mut found: BTreeMap<ObjectKey, Vec<Delivered<'g>>> = BTreeMap::new();
    for (other, there) in parts.iter().enumerate() {
        let is_led_from_here = other == at || origins(parts, other).contains(&at);
        for destination in there.destinations().filter(|_| is_led_from_here) {
            let Some(by) = destination.deliverer() else {
                continue;
            };
            let named = there.object_of(by);
            let is_its_own = other != at && delivering(&there.inventory, &named).is_some();
            let Some(object) = delivering(&part.inventory, &named).filter(|_| !is_its_own) else {
                continue;
            };
            found
                .entry(object.key.clone())
                .or_default()
                .push(Delivered {
                    by,
                    cluster: cluster.with_part(other),
                    part: there,
                    destination,
                    object,
                });
        }
    }
    found
}

impl Followed {
    /// Adds the requests of the Flux Operator after the deletion of `instance`, and adds the objects that they delete
    /// to `seen`, which contains those that are deleted already.
    fn uninstall(
        &mut self,
        analysis: &Analysis<'_>,
        instance: &Member,
        seen: &mut BTreeSet<ObjectKey>,
    ) {
        let members = flux_operator::uninstalled(analysis.inventory(), instance);
        let members: Vec<&Member> = members.filter(|one| seen.insert(one.key.clone())).collect();
        let held = members
            .iter()
            .filter(|member| is_held_by_flux(analysis, member));
        let held: Vec<ObjectKey> = held.map(|member| member.key.clone()).collect();
        if !held.is_empty() {
            let step = Step::RemoveFinalizer {
                targets: held,
                finalizer: FLUX_FINALIZER.to_owned(),
                wait: Wait::Settled,
            };
            let title = "the Flux Operator removes the finalizers of Flux".to_owned();
            self.steps.push((step, title));
        }
        let gone: Vec<ObjectKey> = members.iter().map(|member| member.key.clone()).collect();
        if !gone.is_empty() {
            let step = Step::delete(gone, Some(Policy::Background));
            let title = "the Flux Operator uninstalls Flux, without pruning".to_owned();
            self.steps.push((step, title));
        }
        self.notes.push(format!(
            "The Flux Operator uninstalls Flux once {} is deleted: its controllers, and its CustomResourceDefinitions with \
             every Kustomization, HelmRelease and source. It prunes nothing: what Flux applied stays in the cluster, and \
             nothing applies it any more.",
            instance.key
        ));
    }
}

/// Whether an object has the finalizer of Flux, in its manifest or from a controller in the input.
fn is_held_by_flux(analysis: &Analysis<'_>, member: &Member) -> bool {
    let removers = &analysis.ownership().removers;
    let mut written = member.object.metadata().finalizer_names();
    let mut added = removers.added_finalizers(member);
    written.any(|name| name == FLUX_FINALIZER)
        || added.any(|name| name == FLUX_FINALIZER)
            && matches!(
                removers.remover(analysis.inventory(), member, FLUX_FINALIZER),
                Remover::Workload { .. }
            )
}

impl<'g> Delivered<'g> {
    /// Returns the workloads among the deleted objects `gone` that carry out the deletion: they remove the finalizers of
    /// the delivery object.
    fn controllers(&self, analysis: &Analysis<'_>, gone: &[ObjectKey]) -> BTreeSet<ObjectKey> {
        let inventory = analysis.inventory();
        let removers = &analysis.ownership().removers;
        let written = self.object.object.metadata().finalizer_names();
        let finalizers = written.chain(removers.added_finalizers(self.object));
        let controllers = finalizers.filter_map(|finalizer| {
            match removers.remover(inventory, self.object, finalizer) {
                Remover::Workload { id, .. } => Some(inventory.member(id).key.clone()),
                _ => None,
            }
        });
        controllers.filter(|key| gone.contains(key)).collect()
    }

    /// Returns the delivered objects, except the one that delivers them: a Kustomization may deliver itself.
    fn members(&self) -> impl Iterator<Item = &'g Member> {
        let (part, own) = (self.part, &self.object.key);
        let members = part.members_at(self.destination);
        members.filter(move |member| member.key != *own)
    }

    /// Returns the tool's requests once the delivery object is deleted.
    fn withdrawal<'a>(&self, analysis: &'a Analysis<'_>) -> Withdrawal<'a>
    where
        'g: 'a,
    {
        let leaving = Leaving {
            inventory: &self.part.inventory,
            deliveries: analysis.deliveries(),
            members: self.members().collect(),
        };
        DeletedDelivery {
            leaving: &leaving,
            tool: self.by.tool,
            object: self.object,
            known: self.part.delivery(self.by),
            choice: &DeliveryChoice::default(),
        }
        .withdrawal()
    }

    /// Returns the removal of Argo CD's finalizer from an Application, `after` its objects, unless it delivers itself.
    fn release(&self, after: Vec<ObjectKey>) -> Option<FinalizerRemoval> {
        let own = &self.object.key;
        let mut delivered = self.part.members_at(self.destination);
        let is_application = self.by.tool == SourceTool::ArgoCd;
        if !is_application || delivered.any(|member| member.key == *own) {
            return None;
        }
        Some(FinalizerRemoval::of(self.object, after))
    }

    /// Returns a sentence if the object called `key` may deliver more than is known.
    fn unread(&self, key: &ObjectKey) -> Option<String> {
        let known = self.part.delivery(self.by)?;
        let why = match (&known.error, &known.doubt) {
            (Some(error), _) => format!("it cannot be built: {error}"),
            (None, Some(doubt)) => doubt.clone(),
            (None, None) if known.unread.is_empty() => return None,
            (None, None) => {
                let unread: Vec<&String> = known.unread.iter().collect();
                format!("not read: {}", named(&unread))
            }
        };
        Some(format!(
            "The objects that {key} delivers are known in part, {why}."
        ))
    }

    /// Returns a sentence on objects that are deleted in another cluster.
    fn elsewhere(&self, key: &ObjectKey, withdrawal: &Withdrawal<'_>) -> Option<String> {
        let requests = withdrawal.requests.iter();
        let deleted = requests.filter(|request| request.op == Op::Delete);
        let keys: Vec<String> = deleted.map(|request| request.key.to_string()).collect();
        let cluster = self.part.cluster.as_deref().unwrap_or_default();
        (!keys.is_empty()).then(|| {
            format!(
                "Not part of this plan, because they are in cluster {cluster}: the {} that {} deletes once {key} is deleted, {}.",
                plain::count(keys.len(), "object"),
                Regime::from(self.by.tool).tool(),
                named(&keys)
            )
        })
    }
}

/// Returns the sentence on [`release_of_unread`]; empty for kinds that it does not release.
fn assumed_release(kind: DeliveryKind) -> &'static str {
    match kind {
        DeliveryKind::Application => {
            " Argo CD keeps its finalizer until they are deleted; this assumes that it succeeds."
        }
        _ => "",
    }
}

/// Returns a sentence for each kind of deleted delivery objects whose delivered objects are not in the input.
pub(super) fn unknown(outside: Vec<(DeliveryKind, ObjectKey)>) -> impl Iterator<Item = String> {
    let mut kinds: BTreeMap<DeliveryKind, Vec<String>> = BTreeMap::new();
    for (kind, key) in outside {
        kinds.entry(kind).or_default().push(key.to_string());
    }
    kinds.into_iter().map(|(kind, keys)| {
        let tool = Regime::of(kind).tool();
        let (what, remedy) = match (kind, keys.len()) {
            (DeliveryKind::HelmRelease, 1) => (
                "the objects of its release",
                "`--render` renders its chart, if `helm` is installed",
            ),
            (DeliveryKind::HelmRelease, _) => (
                "the objects of their releases",
                "`--render` renders their charts, if `helm` is installed",
            ),
            (_, 1) => (
                "the objects that it delivers",
                "add the folder or the repository that it names to the input",
            ),
            _ => (
                "the objects that they deliver",
                "add the folders or the repositories that they name to the input",
            ),
        };
        let (deleted, keys) = (if keys.len() == 1 { "is" } else { "are" }, named(&keys));
        let assumed = assumed_release(kind);
        format!(
            "Not part of this plan: once {keys} {deleted} deleted, {tool} deletes {what}, which \
             are not in the input: {remedy}.{assumed}"
        )
    })
}
