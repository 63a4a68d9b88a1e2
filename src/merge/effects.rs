//! The effects of merging the change on the cluster: the tools' requests, simulated on the cluster of base.

use std::collections::{BTreeMap, BTreeSet};

use super::effect::{DiffEffect, EffectCertainty, EffectKind, OtherDelivery};
use super::handover::Handover;
use super::part::{MergePart, with_key};
use super::replaced::Answer;
use super::scaled::ScaledSets;
use super::unwritten::certainty_with_stuck;
use super::updated::is_mounted;
use super::withdraw::{FinalizerRemoval, PartWithdrawal, delivered};
use crate::changes::Destination;
use crate::cluster::Scenario;
use crate::gc::{ClusterError, Fate, Plan, Step};
use crate::inventory::Member;
use crate::kube::{ObjectKey, Wait, kinds};
use crate::kustomize::SourceTool;
use crate::ownership::Implied;

/// Builds the scenario: the cluster of base and the requests of the tools.
///
/// # Errors
/// Returns an error if the cluster is too large.
pub fn scenario(
    part: &MergePart<'_>,
    withdrawn: &PartWithdrawal,
    implied: &Implied<'_>,
) -> Result<Scenario, ClusterError> {
    let mut scenario = Scenario::removal(&part.analysis, implied, &withdrawn.requests, true)?;
    if !withdrawn.finalizer_removals.is_empty() {
        let steps = release_steps(&withdrawn.finalizer_removals, &scenario.verdict());
        scenario.release(steps);
    }
    Ok(scenario)
}

/// Returns steps that remove the finalizers of the releases whose awaited objects are gone at the end of `plan`.
pub fn release_steps(releases: &[FinalizerRemoval], plan: &Plan<'_>) -> Vec<Step> {
    let Some(verdict) = plan.verdict() else {
        return Vec::new();
    };
    let own: BTreeSet<&ObjectKey> = releases.iter().map(|release| &release.object).collect();
    let fates = plan.fates(verdict).into_iter();
    let awaited = fates.filter(|(key, fate)| *fate != Fate::Gone && !own.contains(key));
    let awaited: BTreeSet<ObjectKey> = awaited.map(|(key, _)| key).collect();
    let ready = releases
        .iter()
        .filter(|release| !release.after.iter().any(|key| awaited.contains(key)));
    let mut holders: BTreeMap<&String, Vec<ObjectKey>> = BTreeMap::new();
    for release in ready {
        for name in &release.finalizers {
            let targets = holders.entry(name).or_default();
            targets.push(release.object.clone());
        }
    }
    holders
        .into_iter()
        .map(|(name, targets)| Step::RemoveFinalizer {
            targets,
            finalizer: name.clone(),
            wait: Wait::Settled,
        })
        .collect()
}

/// The inputs of the effects: a part, the tools' requests about it, and their simulation.
#[derive(Clone, Copy, Debug)]
pub(super) struct EffectInputs<'a> {
    pub(super) part: &'a MergePart<'a>,
    pub(super) withdrawn: &'a PartWithdrawal,
    pub(super) implied: &'a Implied<'a>,
    pub(super) plan: &'a Plan<'a>,
}

impl<'a> EffectInputs<'a> {
    /// Returns the effects, ordered by key.
    pub(super) fn effects(&self) -> Vec<DiffEffect> {
        let Some(last) = self.plan.steps.len().checked_sub(1) else {
            return Vec::new();
        };
        let Some(verdict) = self.plan.steps[last].outcomes.first() else {
            return Vec::new();
        };
        let fates: BTreeMap<ObjectKey, Fate> = self.plan.fates(verdict).into_iter().collect();
        let why = self.plan.why(last);
        let chain_of = |key: &ObjectKey| {
            let chain = &why.get(key)?.chain;
            (!chain.is_empty()).then(|| chain.clone())
        };
        let raced: BTreeSet<ObjectKey> = self.raced(last);
        let unattended = self.unattended(last);
        let requested = self.withdrawn.deleted();
        let elsewhere = self.built_elsewhere(&requested);
        // Loss of data of a StatefulSet with claims is reported on its claims.
        let with_claims: BTreeSet<&ObjectKey> = self.claims().map(|claim| &claim.owner).collect();
        let policies = self.policies();
        let mut effects = Vec::new();
        let mut seen = BTreeSet::new();
        let members = self.part.base.inventory.members.iter();
        for member in members.filter(|member| seen.insert(&member.key)) {
            let Some(fate) = fates.get(&member.key) else {
                continue;
            };
            let kind = match (fate, requested.contains(&member.key)) {
                (Fate::Present(present), _) if present.terminating => EffectKind::Stuck,
                (Fate::Present(_), _) => {
                    effects.extend(self.left_behind(member));
                    continue;
                }
                (Fate::Gone, true) if self.is_installed_again(member) => EffectKind::Recreated,
                (Fate::Gone, true) => EffectKind::Deleted,
                (Fate::Gone, false) => EffectKind::Cascaded,
            };
            let because = chain_of(&member.key).unwrap_or_else(|| vec![member.key.clone()]);
            let certainty = self.certainty(raced.contains(&member.key), &because);
            let certainty = certainty.and(because.iter().all(|key| !elsewhere.contains(key)));
            // If tools are assumed, the controller that removes the finalizer may not be deleted.
            let is_attended =
                !unattended.contains(&member.key) && self.withdrawn.assumed.is_empty();
            let certainty_of_end = certainty.and(kind != EffectKind::Stuck || is_attended);
            effects.push(self.effect(&member.key, kind, certainty_of_end, because.clone()));
            let with_owner = if kind == EffectKind::Stuck && is_attended {
                certainty_with_stuck(policies.get(&member.key).copied().flatten(), certainty)
            } else {
                Some(certainty)
            };
            let certainties = (certainty, with_owner);
            effects.extend(self.products(member, certainties, &because, &fates));
            if !with_claims.contains(&member.key) {
                effects.extend(self.data(member, certainty, &because));
            }
            if kind == EffectKind::Cascaded && self.comes_back(member, &because, &fates) {
                effects.push(self.effect(
                    &member.key,
                    EffectKind::Recreated,
                    EffectCertainty::Possible,
                    because,
                ));
            }
        }
        effects.extend(self.handed_over(&fates));
        effects.extend(self.replaced());
        let scaled = ScaledSets::of(self.part);
        for claim in self.claims() {
            let because = chain_of(&claim.key)
                .unwrap_or_else(|| vec![claim.owner.clone(), claim.key.clone()]);
            let certainty = self.certainty(raced.contains(&claim.key), &because);
            match fates.get(&claim.key) {
                Some(Fate::Gone) => effects.extend(self.lost_claim(claim, certainty, because)),
                Some(Fate::Present(present)) if present.terminating => {
                    effects.push(self.effect(&claim.key, EffectKind::Stuck, certainty, because));
                }
                Some(Fate::Present(_)) if scaled.lose(&claim.key, &claim.owner) => {
                    effects.extend(self.lost_claim(claim, certainty, because));
                }
                _ => {}
            }
        }
        effects.sort();
        effects.dedup();
        effects
    }

    /// Whether head has the object in another release, which is installed after its own is uninstalled.
    fn is_installed_again(&self, member: &Member) -> bool {
        let by = self.part.base.destination(member.file).deliverer();
        let Some((by, head)) = by.zip(self.part.head) else {
            return false;
        };
        let after = self.part.after(&member.key);
        by.tool == SourceTool::FluxRelease
            && after.is_some_and(|after| {
                head.destination(after.file).deliverer() != Some(by)
                    || self.part.is_another_release(by)
            })
    }

    /// Returns the effects on objects that move from one deliverer to another, and on all that a
    /// moved Namespace contains, a moved CRD defines or a moved delivery object delivers.
    fn handed_over(&self, fates: &BTreeMap<ObjectKey, Fate>) -> Vec<DiffEffect> {
        let mut moving: BTreeMap<&ObjectKey, (&Handover, Option<&ObjectKey>)> = BTreeMap::new();
        for handover in &self.withdrawn.handovers {
            let below = handover.delivered.iter();
            moving.extend(below.map(|(key, above)| (key, (handover, Some(above)))));
        }
        // Inserted last, to replace entries from above: otherwise, if two objects deliver each other, the chains of causes
        // would not end.
        for handover in &self.withdrawn.handovers {
            moving.extend(handover.objects.iter().map(|key| (key, (handover, None))));
        }
        if moving.is_empty() {
            return Vec::new();
        }
        let mut effects = Vec::new();
        for member in &self.part.base.inventory.members {
            let present = matches!(fates.get(&member.key), Some(Fate::Present(present)) if !present.terminating);
            let nearest = std::iter::once(member.key.clone())
                .chain(self.part.containers(member))
                .find_map(|key| moving.get_key_value(&key));
            let Some((nearest, (handover, above))) = nearest.filter(|_| present) else {
                continue;
            };
            let certainty = handover.certainty();
            let chain = std::iter::successors(Some(*nearest), |key| moving.get(key)?.1);
            let mut because: Vec<ObjectKey> = chain.cloned().collect();
            because.reverse();
            because.extend((**nearest != member.key).then(|| member.key.clone()));
            effects.extend(self.data(member, certainty, &because));
            let kind = match self.applied_again(member) {
                Some(_) if handover.blocked.is_none() => EffectKind::Recreated,
                Some(_) if **nearest == member.key && above.is_none() => EffectKind::Deleted,
                _ => EffectKind::Cascaded,
            };
            effects.push(self.effect(&member.key, kind, certainty, because));
        }
        effects
    }

    /// Returns the object of head with the key of `member`, unless its deliverer applies nothing.
    fn applied_again(&self, member: &Member) -> Option<&'a Member> {
        let (after, head) = self.part.after(&member.key).zip(self.part.head)?;
        (!head.is_held_back(head.destination(after.file))).then_some(after)
    }

    /// Returns the effects on objects that a tool is set to delete and create again, because their
    /// update is rejected or is always a replacement.
    fn replaced(&self) -> Vec<DiffEffect> {
        let part = self.part;
        let changed = part.kept().filter(|object| {
            let (regime, _) = delivered(part, object.base, &self.withdrawn.choice);
            part.is_replaced_at_any_sync(regime, *object)
                || matches!(part.answer(regime, *object), Answer::Replaces { .. })
                    && !part.rejected_fields(*object).is_empty()
        });
        let mut effects = Vec::new();
        for object in changed.chain(part.synced_unchanged()) {
            let base = object.base;
            let (regime, is_known) = delivered(part, base, &self.withdrawn.choice);
            let because = vec![base.key.clone()];
            let certainty = EffectCertainty::Certain.and(is_known);
            let data = self.data(base, certainty, &because);
            // The tool waits until the object is gone, but Pods keep using it.
            let kind = if is_mounted(base, self.implied) {
                EffectKind::Stuck
            } else {
                EffectKind::Recreated
            };
            let again = self.effect(&base.key, kind, certainty, because);
            effects.extend(data.into_iter().chain([again]).map(|effect| DiffEffect {
                regime: Some(regime.as_str()),
                ..effect
            }));
        }
        effects
    }

    /// Returns the requested objects that may be part of a remote resource or a chart that head adds.
    fn built_elsewhere(&self, requested: &BTreeSet<&ObjectKey>) -> BTreeSet<ObjectKey> {
        let inventory = &self.part.base.inventory;
        let built = requested.iter().filter(|key| {
            with_key(inventory, key).any(|member| self.part.unseen_source(member).is_some())
        });
        built.map(|key| (**key).clone()).collect()
    }

    /// Returns the rendered objects that are stuck unless a controller outside of base runs. Dumps contain every
    /// controller.
    fn unattended(&self, step: usize) -> BTreeSet<ObjectKey> {
        let inventory = &self.part.base.inventory;
        let stuck = self.plan.stuck(step).into_iter();
        stuck
            .filter(|held| held.unattended)
            .map(|held| self.plan.cluster().key(held.object))
            .filter(|key| with_key(inventory, key).all(|member| !member.from_dump))
            .collect()
    }

    /// Returns the objects whose end differs between the outcomes of a race.
    fn raced(&self, step: usize) -> BTreeSet<ObjectKey> {
        let outcomes = self.plan.steps[step].outcomes.iter().skip(1);
        let differences = outcomes.flat_map(|outcome| self.plan.differences(outcome));
        let raced = differences.filter(|(_, here, there)| match (here, there) {
            (Fate::Present(here), Fate::Present(there)) => here.terminating != there.terminating,
            _ => true,
        });
        raced.map(|(key, ..)| key).collect()
    }

    /// Returns how certain an effect is that happens because of the objects `because`.
    fn certainty(&self, raced: bool, because: &[ObjectKey]) -> EffectCertainty {
        let tool = self.withdrawn.tool_of_first(because);
        let in_time = because
            .iter()
            .all(|key| !self.withdrawn.raced.contains(key));
        let certainty = if raced || !in_time {
            EffectCertainty::Race
        } else {
            EffectCertainty::Certain
        };
        let is_sure = because
            .iter()
            .all(|key| !self.withdrawn.possible.contains(key));
        certainty.and(is_sure && tool.is_none_or(|(_, is_known)| is_known))
    }

    pub(super) fn effect(
        &self,
        key: &ObjectKey,
        effect: EffectKind,
        certainty: EffectCertainty,
        because: Vec<ObjectKey>,
    ) -> DiffEffect {
        let tool = self.withdrawn.tool_of_first(&because);
        let tool = tool.or_else(|| self.withdrawn.regimes.get(key).copied());
        let base = self.part.base;
        let deleters = self.withdrawn.deleters.get(key);
        let deleted = deleters.and_then(|deleters| deleters.first());
        let member = deleted.map(|(_, id)| base.inventory.member(*id));
        let destination = member
            .or_else(|| self.part.applied_before(key))
            .map(|member| base.destination(member.file));
        let is_requested = matches!(effect, EffectKind::Deleted | EffectKind::Stuck);
        DiffEffect {
            key: key.clone(),
            effect,
            certainty,
            because,
            regime: tool.map(|(regime, _)| regime.as_str()),
            cluster: base.cluster_of(destination),
            delivery: destination.and_then(|destination| base.delivery_at(destination)),
            also: if is_requested {
                self.other_deliveries(key, destination)
            } else {
                Vec::new()
            },
        }
    }

    /// Returns the deliveries that delete or keep a deleted object, besides the one at `destination`.
    fn other_deliveries(
        &self,
        key: &ObjectKey,
        destination: Option<&Destination>,
    ) -> Vec<OtherDelivery> {
        let base = self.part.base;
        let deleters = self.withdrawn.deleters.get(key).into_iter().flatten();
        let deleters = deleters.map(|(_, id)| (*id, false));
        let keepers = self.withdrawn.keepers.get(key).into_iter().flatten();
        let keepers = keepers.map(|id| (*id, true));
        let others = deleters.chain(keepers).filter_map(|(id, keeps)| {
            let other = base.destination(base.inventory.member(id).file);
            if Some(other) == destination {
                return None;
            }
            Some(OtherDelivery {
                delivery: base.delivery_at(other)?,
                cluster: base.cluster_of(Some(other)),
                keeps,
            })
        });
        let others: BTreeSet<OtherDelivery> = others.collect();
        others.into_iter().collect()
    }

    /// Returns the effect on a removed object that stays in the cluster: it is spared or orphaned.
    fn left_behind(&self, member: &Member) -> Option<DiffEffect> {
        let key = &member.key;
        let because = vec![key.clone()];
        let stays = self.part.still_applied(member).is_some();
        if self.withdrawn.kept.contains(key) && !stays {
            return Some(self.effect(key, EffectKind::Kept, EffectCertainty::Certain, because));
        }
        let orphaned = self.withdrawn.orphaned.contains(key);
        let tool = self.withdrawn.regimes.get(key);
        let certainty = EffectCertainty::Certain.and(tool.is_some_and(|(_, is_known)| *is_known));
        orphaned.then(|| self.effect(key, EffectKind::Orphaned, certainty, because))
    }

    /// Whether a reconciling tool recreates the object: head has it, and its namespace and CRD are or will be there.
    fn comes_back(
        &self,
        member: &Member,
        because: &[ObjectKey],
        fates: &BTreeMap<ObjectKey, Fate>,
    ) -> bool {
        let tool = self.withdrawn.tool_of_first(because);
        let reconciles = tool.is_some_and(|(regime, _)| regime.reconciles());
        let Some(after) = self.part.after(&member.key) else {
            return false;
        };
        let namespace = after.key.namespace.name().map(ObjectKey::of_namespace);
        let mut definitions = because
            .iter()
            .filter(|key| key.is(kinds::CUSTOM_RESOURCE_DEFINITION));
        let is_served = definitions.all(|definition| self.part.after(definition).is_some());
        reconciles
            && is_served
            && namespace.is_none_or(|key| {
                fates.get(&key) != Some(&Fate::Gone) || self.part.after(&key).is_some()
            })
    }

    /// Returns the objects that head adds and that exist after the merge.
    pub(super) fn appearing(self) -> impl Iterator<Item = &'a Member> {
        let head = self.part.head.into_iter();
        let members = head.flat_map(|head| &head.inventory.members);
        members.filter(move |member| {
            self.part.base.inventory.with_key(&member.key).is_empty() && self.survives(member)
        })
    }

    /// Whether an object that head adds exists after the merge: head applies it, and its namespace is not gone.
    fn survives(&self, member: &Member) -> bool {
        let Some(head) = self.part.head.filter(|head| head.is_own(member)) else {
            return false;
        };
        let Some(verdict) = self.plan.verdict() else {
            return true;
        };
        let cluster = self.plan.cluster();
        let namespace = member.key.namespace.name().map(ObjectKey::of_namespace);
        head.applies(member)
            && namespace.is_none_or(|key| {
                let fate = cluster.find(&key).map(|id| self.plan.fate(verdict, id));
                matches!(fate, None | Some(Fate::Present(_)))
            })
    }
}
