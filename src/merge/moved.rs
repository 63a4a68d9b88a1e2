//! Objects that are deleted because they move to another deliverer, together with others or data.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::cascade::CascadeKind;
use super::effect::{DiffEffect, EffectKind};
use super::handover::Handover;
use super::{Merge, Surprise, severity};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::ObjectKey;
use crate::merge::{EffectCertainty, Standing};
use crate::ownership::delivery_object;

/// An object whose move deletes other objects or data.
#[derive(Clone, Debug)]
pub struct MovedLoss<'a> {
    /// Its move.
    pub handover: &'a Handover,
    /// The object in base.
    pub moved: &'a Member,
    /// The kind of the cascade, if the kind of the moved object decides it.
    pub kind: Option<CascadeKind>,
    /// The objects that are deleted with it, as far as the tree contains them.
    pub others: BTreeSet<&'a ObjectKey>,
    /// The objects, `moved` included, with which data is deleted, and how certain that is.
    pub data: BTreeMap<&'a ObjectKey, EffectCertainty>,
    /// Whether some of the others are not created again, because their delivery in head fails.
    pub stays_away: bool,
    /// The severity.
    pub severity: Severity,
}

/// Losses by their first cause.
pub type LossesByCause<'m> = BTreeMap<&'m ObjectKey, Vec<&'m DiffEffect>>;

impl Merge<'_> {
    /// Returns the objects whose move deletes others or data, in the order of the handovers.
    pub fn moved_losses(&self) -> Vec<MovedLoss<'_>> {
        let by_root = LazyCell::new(|| self.losses_by_cause());
        let handovers = self.staying_handovers();
        let losses = handovers.flat_map(|handover| self.losses_of(handover, &by_root));
        losses.collect()
    }

    /// Returns a note on each move that deletes its objects, unless there is a finding on it.
    pub fn notes_on_moves(&self) -> Vec<String> {
        let by_root = LazyCell::new(|| self.losses_by_cause());
        let harmless = self
            .staying_handovers()
            .filter(|handover| self.losses_of(handover, &by_root).next().is_none());
        harmless.map(Handover::note).collect()
    }

    /// Returns the handovers whose old delivery object stays: its removal has a finding of its own.
    fn staying_handovers(&self) -> impl Iterator<Item = &Handover> {
        let handovers = self.withdrawn.handovers.iter();
        handovers.filter(|handover| !handover.leaves)
    }

    /// Returns the effects that are losses, by their first cause.
    pub fn losses_by_cause(&self) -> LossesByCause<'_> {
        let mut by_cause = LossesByCause::new();
        for effect in self.effects.iter().filter(|effect| effect.effect.is_loss()) {
            by_cause.entry(&effect.because[0]).or_default().push(effect);
        }
        by_cause
    }

    fn losses_of<'m>(
        &'m self,
        handover: &'m Handover,
        by_root: &LossesByCause<'m>,
    ) -> impl Iterator<Item = MovedLoss<'m>> {
        let objects = handover.objects.iter();
        objects.filter_map(move |key| {
            let lost = by_root.get(key)?;
            self.moved_loss(handover, key, lost)
        })
    }

    fn moved_loss<'m>(
        &'m self,
        handover: &'m Handover,
        key: &ObjectKey,
        lost: &[&'m DiffEffect],
    ) -> Option<MovedLoss<'m>> {
        let moved = self.part.applied_before(key)?;
        let lost = lost.iter();
        let (data, objects): (Vec<&DiffEffect>, Vec<&DiffEffect>) =
            lost.partition(|effect| effect.effect == EffectKind::DataLost);
        let stays_away = objects.iter().any(|effect| {
            effect.effect == EffectKind::Cascaded && self.part.after(&effect.key).is_some()
        });
        let others = objects.iter().map(|effect| &effect.key);
        let others: BTreeSet<&ObjectKey> = others.filter(|other| *other != key).collect();
        let kind = CascadeKind::of(key.group_kind());
        let may_hold_more = match kind {
            Some(CascadeKind::Definition | CascadeKind::Namespace) => true,
            Some(CascadeKind::Delivery) => {
                delivery_object(moved).is_some_and(|object| object.deletes())
            }
            _ => false,
        };
        let comes_back = handover.blocked.is_none();
        if others.is_empty() && data.is_empty() && !may_hold_more && comes_back {
            return None;
        }
        let surprise = Surprise {
            standing: Standing::Applied,
            ..Surprise::removed(handover.pruned_first)
        };
        Some(MovedLoss {
            handover,
            moved,
            kind,
            others,
            data: data
                .iter()
                .map(|effect| (&effect.key, effect.certainty))
                .collect(),
            stays_away,
            severity: severity(surprise)?,
        })
    }
}
