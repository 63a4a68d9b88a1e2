//! The effects of merging a change: the objects that are removed from each cluster, the tools' requests, their effects,
//! and the surprises, which are deletions that the change itself does not show.
//!
//! * `part` one part of the tree, before and after; `named` objects that head has under another key; `outlook` facts about
//!   head
//! * `withdraw` the tools' requests for removed objects, by `applier`: `pruning` of a delivery
//!   object, `by_argo` of an Application or ApplicationSet, `deleted` after the deletion of a
//!   delivery object, `uninstalled` after that of a FluxInstance
//! * `waits` Kustomizations that wait for others
//! * `handover` objects that move from one delivery object to another; `moved` those whose move deletes others or data
//! * `likely` the tool of objects that no object of the tree delivers
//! * `release` objects that leave a Helm release, but not the tree
//! * `replaced` updates that the API server rejects, and the tools that then recreate the objects
//! * `updated` the tools' updates before their deletes
//! * `effects` the tools' requests, simulated on the cluster of base
//! * `backends` deleted Services that the API server calls; `released` objects of head that controllers of base release
//! * `cause` the edit that causes the removal of an object
//! * `cascade` losses with one cause; `loss` one lost object; `mention` objects that name it in arbitrary fields;
//!   `surprise` its severity

mod applier;
mod backends;
mod by_argo;
mod cascade;
mod cause;
mod deleted;
mod deleters;
mod effect;
mod effects;
mod handover;
mod likely;
mod loss;
mod mention;
mod moved;
mod named;
mod outlook;
mod part;
mod pruning;
mod release;
mod released;
mod replaced;
mod scaled;
mod surprise;
mod uninstalled;
mod unwritten;
mod updated;
mod waits;
mod withdraw;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use foldhash::HashSet;

use crate::delivery::Regime;
use crate::gc::Plan;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::ownership::{Implied, ImpliedObject, delivery_object};
pub use backends::LostBackend;
use backends::lost_backends;
pub use by_argo::{never_deletes, prunes};
pub use cascade::{Cascade, CascadeKind};
pub use cause::CauseInHead;
pub use deleted::{DeletedDelivery, excluding_unpruned};
pub use effect::{DiffEffect, EffectCertainty, EffectKind, OtherDelivery};
use effects::EffectInputs;
pub use effects::{release_steps, scenario};
pub use handover::Handover;
pub use loss::Loss;
pub use moved::{LossesByCause, MovedLoss};
pub use outlook::Outlook;
pub use part::{MergePart, delivering, origins};
pub use pruning::{DeliveryChoice, Requested};
pub use release::ReplacedRelease;
pub use released::ReleasedObject;
use released::released;
pub use replaced::{Answer, KeptObject, ends_on_its_own};
pub use scaled::ScaledSet;
pub use surprise::{Standing, Surprise, severity};
pub use updated::updated;
pub use waits::{Rejection, rejections};
pub use withdraw::{FinalizerRemoval, PartWithdrawal, withdraw};

/// The effects of merging a change on one part of the tree: the input of the rules of change.
#[derive(Debug)]
pub struct Merge<'a> {
    /// The part, on both sides.
    pub part: &'a MergePart<'a>,
    /// The requests of the tools, and the objects that they spare.
    pub withdrawn: &'a PartWithdrawal,
    /// The effects on the objects of the cluster, in the order of the keys.
    pub effects: Vec<DiffEffect>,
    /// The surprises among them, grouped by cause.
    pub cascades: Vec<Cascade<'a>>,
    inputs: EffectInputs<'a>,
    lost_backends: OnceLock<Vec<LostBackend<'a>>>,
    released: OnceLock<BTreeMap<ObjectId, Vec<ReleasedObject<'a>>>>,
}

impl<'a> Merge<'a> {
    /// Derives the effects of `withdrawn` from `plan`, which simulates it. `implied` contains the objects that
    /// controllers create for those of base.
    pub fn of(
        part: &'a MergePart<'a>,
        withdrawn: &'a PartWithdrawal,
        implied: &'a Implied<'a>,
        plan: &'a Plan<'a>,
    ) -> Self {
        let inputs = EffectInputs {
            part,
            withdrawn,
            implied,
            plan,
        };
        let effects = inputs.effects();
        let cascades = cascade::cascades(part, withdrawn, &effects);
        Self {
            part,
            withdrawn,
            effects,
            cascades,
            inputs,
            lost_backends: OnceLock::new(),
            released: OnceLock::new(),
        }
    }

    /// Returns the cascades of `kind`.
    pub fn of_kind(&self, kind: CascadeKind) -> impl Iterator<Item = &Cascade<'a>> {
        self.cascades
            .iter()
            .filter(move |cascade| cascade.kind == kind)
    }

    /// Returns the effect by which an object is deleted or gets stuck.
    pub fn end_of(&self, key: &ObjectKey) -> Option<&DiffEffect> {
        use EffectKind::{Cascaded, Deleted, Stuck};
        self.effects_on(key)
            .iter()
            .find(|effect| matches!(effect.effect, Deleted | Cascaded | Stuck))
    }

    /// Returns `Some` if an object of base is deleted and head has none with its key: `true` if certain or a race.
    pub fn takes_away(&self, key: &ObjectKey) -> Option<bool> {
        let mut effects = self.effects_on(key).iter();
        let effect = effects.find(|effect| effect.effect.is_deletion())?;
        self.part
            .after(key)
            .is_none()
            .then_some(effect.certainty != EffectCertainty::Possible)
    }

    /// Returns the deleted delivery objects that delete objects which were not read.
    pub fn unseen(&self) -> BTreeSet<ObjectKey> {
        let deleted = self.effects.iter().filter(|effect| {
            let kind = CascadeKind::of(effect.key.group_kind());
            effect.effect.is_deletion() && kind == Some(CascadeKind::Delivery)
        });
        let deleted = deleted.filter_map(|effect| self.part.applied_before(&effect.key));
        let deleting =
            deleted.filter(|member| delivery_object(member).is_some_and(|object| object.deletes()));
        let mut unseen: Vec<&Member> = deleting.collect();
        if unseen.is_empty() {
            return BTreeSet::new();
        }
        let known = self.part.deliverers_of_all();
        let idle: HashSet<String> = self.part.base.idle().collect();
        unseen.retain(|member| {
            !known.contains(&member.id) && !idle.contains(&member.key.to_string())
        });
        unseen
            .into_iter()
            .map(|member| member.key.clone())
            .collect()
    }

    /// Returns the claims that stay when their StatefulSets are deleted. Those of a renamed
    /// StatefulSet are left out: they have a finding.
    pub fn kept_claims(&self) -> impl Iterator<Item = &'a ImpliedObject<'a>> {
        let keeps = self.inputs.plan.keeps();
        self.inputs.claims().filter(move |claim| {
            let set = self.part.applied_before(&claim.owner);
            self.takes_away(&claim.owner).is_some()
                && set.is_none_or(|set| self.part.renamed(set).is_none())
                && keeps(&claim.key)
        })
    }

    /// Returns the effects on an object, by binary search: effects are ordered by key.
    pub fn effects_on(&self, key: &ObjectKey) -> &[DiffEffect] {
        let start = self.effects.partition_point(|effect| effect.key < *key);
        let end = self.effects.partition_point(|effect| effect.key <= *key);
        &self.effects[start..end]
    }

    /// Returns the objects of head whose Service has lost its backend.
    pub fn lost_backends(&self) -> &[LostBackend<'a>] {
        self.lost_backends
            .get_or_init(|| match self.effects.as_slice() {
                [] => Vec::new(),
                _ => lost_backends(self.part, &|key| self.takes_away(key)),
            })
    }

    /// Returns the objects of head with a finalizer that a workload of base removes, by workload.
    pub fn released(&self) -> &BTreeMap<ObjectId, Vec<ReleasedObject<'a>>> {
        self.released.get_or_init(|| released(self.part))
    }

    /// Returns the known or assumed tool of an object; `None` if the object is neither removed nor moved.
    pub fn tool_of(&self, member: &Member) -> Option<Regime> {
        self.withdrawn
            .regimes
            .get(&member.key)
            .map(|(regime, _)| *regime)
    }

    /// Returns the tool that delivers an object of base, whether the object is removed or stays.
    pub fn regime_of(&self, member: &Member) -> Regime {
        withdraw::delivered(self.part, member, &self.withdrawn.choice).0
    }

    /// Returns whether the tool that delivers an object of base is known.
    pub fn is_tool_known(&self, member: &Member) -> bool {
        withdraw::delivered(self.part, member, &self.withdrawn.choice).1
    }

    /// Whether the deletion of an object of base is possible and not certain.
    pub fn is_possible(&self, key: &ObjectKey) -> bool {
        self.withdrawn.possible.contains(key)
    }

    /// Returns the objects that head adds and that exist after the merge.
    pub fn appearing(&self) -> impl Iterator<Item = &'a Member> {
        self.inputs.appearing()
    }
}
