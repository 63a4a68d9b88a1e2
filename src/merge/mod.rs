//! What merging a change does: what leaves each cluster, what the tools request, what comes of it, and which of it is a surprise.
//!
//! * `part` one part of the tree, before and after; `outlook` what is known of head
//! * `withdraw` what the tools do about what leaves; `pruning` what one object that delivers does, `by_argo` one of Argo CD; `handover` what goes over to another
//! * `likely` the tool of what nothing in the tree points at
//! * `replaced` updates that the API server rejects, and who deletes and creates anew because of them
//! * `updated` what the tools change before they delete
//! * `effects` the tools' requests, simulated on the cluster of base
//! * `backends` Services that are called and leave; `released` what the controllers of base release of head
//! * `cascade` what has one cause, told together; `loss` one object of it; `mention` who names it in passing; `surprise` how bad it is

mod backends;
mod by_argo;
mod cascade;
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
pub use effect::{DiffEffect, EffectCertainty, EffectKind};
use effects::Telling;
pub use effects::scenario;
pub use handover::Handover;
pub use loss::Loss;
pub use outlook::Outlook;
pub use part::MergePart;
pub use pruning::{DeliveryChoice, Requested};
pub use released::ReleasedObject;
use released::released;
pub use replaced::{Answer, KeptObject};
pub use surprise::{Standing, Surprise, severity};
pub use updated::updated;
pub use withdraw::{PartWithdrawal, ToolRelease, withdraw};

/// What merging a change does to one part of the tree: all that rules of change look at.
#[derive(Debug)]
pub struct Merge<'a> {
    /// The part, on both sides.
    pub part: &'a MergePart<'a>,
    /// What the tools send, and what they leave.
    pub withdrawn: &'a PartWithdrawal,
    /// What happens to the objects of the cluster, in the order of the keys.
    pub effects: Vec<DiffEffect>,
    /// What of it is a surprise, each with its one cause.
    pub cascades: Vec<MergeCascade<'a>>,
    telling: Telling<'a>,
    lost_backends: OnceLock<Vec<LostBackend<'a>>>,
    released: OnceLock<BTreeMap<ObjectId, Vec<ReleasedObject<'a>>>>,
}

impl<'a> Merge<'a> {
    /// What comes of `withdrawn` as `plan` says, which simulates it. `implied`: what controllers create below the objects of base.
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

    /// What happens to an object, as far as it is deleted or gets stuck.
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

    /// What happens to an object: effects come in the order of their keys.
    pub fn effects_on(&self, key: &ObjectKey) -> &[DiffEffect] {
        let start = self.effects.partition_point(|effect| effect.key < *key);
        let end = self.effects.partition_point(|effect| effect.key <= *key);
        &self.effects[start..end]
    }

    /// What the API server calls in head, and nobody answers any more.
    pub fn lost_backends(&self) -> &[LostBackend<'a>] {
        self.lost_backends
            .get_or_init(|| match self.effects.as_slice() {
                [] => Vec::new(),
                _ => lost_backends(self.part, &|key| self.takes_away(key)),
            })
    }

    /// What workloads of base release of head, by workload.
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

    /// Whether anybody says by which tool an object of base is delivered.
    pub fn is_told(&self, member: &Member) -> bool {
        withdraw::delivered(self.part, member, &self.withdrawn.choice).1
    }

    /// What head adds and exists in the end.
    pub fn appearing(&self) -> impl Iterator<Item = &'a Member> {
        self.telling.appearing()
    }
}
