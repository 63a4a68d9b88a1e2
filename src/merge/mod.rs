//! The effects of merging a change: the objects that leave each cluster, the tools' requests, their effects, and the
//! surprises among them.
//!
//! * `part` one part of the tree, before and after; `outlook` what is known of head
//! * `withdraw` the tools' handling of objects that leave; `pruning` that of one object that delivers, `by_argo` of one
//!   of Argo CD, `deleted` of one that is deleted; `handover` objects that go over to another
//! * `likely` the tool of objects that no object of the tree delivers
//! * `replaced` updates that the API server rejects, and the tools that delete and create anew because of them
//! * `updated` what the tools change before they delete
//! * `effects` the tools' requests, simulated on the cluster of base
//! * `backends` Services that are called and leave; `released` what the controllers of base release of head
//! * `cause` the edit that makes an object leave
//! * `cascade` losses of one cause, as one; `loss` one object of it; `mention` objects that name it in passing;
//!   `surprise` how bad it is

mod backends;
mod by_argo;
mod cascade;
mod cause;
mod deleted;
mod effect;
mod effects;
mod handover;
mod likely;
mod loss;
mod mention;
mod outlook;
mod part;
mod pruning;
mod released;
mod replaced;
mod surprise;
mod updated;
mod withdraw;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::delivery::Regime;
use crate::gc::Plan;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::ownership::Implied;
pub use backends::LostBackend;
use backends::lost_backends;
pub use cascade::{CascadeKind, MergeCascade};
pub use cause::CauseInHead;
pub use deleted::DeletedDelivery;
pub use effect::{DiffEffect, EffectCertainty, EffectKind};
use effects::Telling;
pub use effects::{release_steps, scenario};
pub use handover::Handover;
pub use loss::Loss;
pub use outlook::Outlook;
pub use part::{MergePart, delivering, origins};
pub use pruning::{DeliveryChoice, Requested};
pub use released::ReleasedObject;
use released::released;
pub use replaced::{Answer, KeptObject};
pub use surprise::{Standing, Surprise, severity};
pub use updated::updated;
pub use withdraw::{PartWithdrawal, ToolRelease, withdraw};

/// The effects of merging a change on one part of the tree: the input of the rules of change.
#[derive(Debug)]
pub struct Merge<'a> {
    /// The part, on both sides.
    pub part: &'a MergePart<'a>,
    /// The requests of the tools, and the objects that they leave.
    pub withdrawn: &'a PartWithdrawal,
    /// The effects on the objects of the cluster, in the order of the keys.
    pub effects: Vec<DiffEffect>,
    /// The surprises among them, each with its one cause.
    pub cascades: Vec<MergeCascade<'a>>,
    telling: Telling<'a>,
    lost_backends: OnceLock<Vec<LostBackend<'a>>>,
    released: OnceLock<BTreeMap<ObjectId, Vec<ReleasedObject<'a>>>>,
}

impl<'a> Merge<'a> {
    /// The effects of `withdrawn` according to `plan`, which simulates it. `implied`: the objects that controllers
    /// create below the objects of base.
    pub fn of(
        part: &'a MergePart<'a>,
        withdrawn: &'a PartWithdrawal,
        implied: &'a Implied<'a>,
        plan: &'a Plan<'a>,
    ) -> Self {
        let telling = Telling {
            part,
            withdrawn,
            implied,
            plan,
        };
        let effects = telling.effects();
        let cascades = cascade::cascades(part, withdrawn, &effects);
        let (lost_backends, released) = (OnceLock::new(), OnceLock::new());
        Self {
            part,
            withdrawn,
            effects,
            cascades,
            telling,
            lost_backends,
            released,
        }
    }

    /// The cascades that an object of some kind explains.
    pub fn of_kind(&self, kind: CascadeKind) -> impl Iterator<Item = &MergeCascade<'a>> {
        self.cascades
            .iter()
            .filter(move |cascade| cascade.kind == kind)
    }

    /// The end of an object, if it is deleted or gets stuck.
    pub fn end_of(&self, key: &ObjectKey) -> Option<&DiffEffect> {
        use EffectKind::{Cascaded, Deleted, Stuck};
        self.effects_on(key)
            .iter()
            .find(|effect| matches!(effect.effect, Deleted | Cascaded | Stuck))
    }

    /// Whether an object of base is deleted and head applies none of its key, and whether that is more than possible.
    pub fn takes_away(&self, key: &ObjectKey) -> Option<bool> {
        use EffectKind::{Cascaded, Deleted};
        let effect = self
            .effects_on(key)
            .iter()
            .find(|effect| matches!(effect.effect, Deleted | Cascaded))?;
        self.part
            .after(key)
            .is_none()
            .then_some(effect.certainty != EffectCertainty::Possible)
    }

    /// The effects on an object: effects are in the order of their keys.
    pub fn effects_on(&self, key: &ObjectKey) -> &[DiffEffect] {
        let start = self.effects.partition_point(|effect| effect.key < *key);
        let end = self.effects.partition_point(|effect| effect.key <= *key);
        &self.effects[start..end]
    }

    /// The callouts of head that have lost their backend.
    pub fn lost_backends(&self) -> &[LostBackend<'a>] {
        self.lost_backends
            .get_or_init(|| match self.effects.as_slice() {
                [] => Vec::new(),
                _ => lost_backends(self.part, &|key| self.takes_away(key)),
            })
    }

    /// The objects of head that workloads of base release, by workload.
    pub fn released(&self) -> &BTreeMap<ObjectId, Vec<ReleasedObject<'a>>> {
        self.released.get_or_init(|| released(self.part))
    }

    /// By which tool an object was delivered that leaves, if that is known.
    pub fn tool_of(&self, member: &Member) -> Option<Regime> {
        self.withdrawn
            .regimes
            .get(&member.key)
            .map(|(regime, _)| *regime)
    }

    /// By which tool an object of base is delivered, whether it leaves or stays.
    pub fn regime_of(&self, member: &Member) -> Regime {
        withdraw::delivered(self.part, member, &self.withdrawn.choice).0
    }

    /// Returns whether the tool that delivers an object of base is known.
    pub fn is_told(&self, member: &Member) -> bool {
        withdraw::delivered(self.part, member, &self.withdrawn.choice).1
    }

    /// Objects that head adds and that exist in the end.
    pub fn appearing(&self) -> impl Iterator<Item = &'a Member> {
        self.telling.appearing()
    }
}
