//! Objects that are deleted because they move from one deliverer to another, and with which others or data are deleted.

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
    /// The kind of objects that are deleted with it, as far as its own kind decides that.
    pub kind: Option<CascadeKind>,
    /// The objects that are deleted with it, as far as the tree contains them.
    pub others: BTreeSet<&'a ObjectKey>,
    /// Those of these objects, `moved` included, with which data is deleted, and how certain that is.
    pub data: BTreeMap<&'a ObjectKey, EffectCertainty>,
    /// The severity.
    pub severity: Severity,
}

impl Merge<'_> {
    /// Returns the objects whose move deletes others or data, in the order of the handovers.
    pub fn moved_losses(&self) -> Vec<MovedLoss<'_>> {
        let mut by_root: BTreeMap<&ObjectKey, Vec<&DiffEffect>> = BTreeMap::new();
        for effect in self.effects.iter().filter(|effect| effect.effect.is_loss()) {
            by_root.entry(&effect.because[0]).or_default().push(effect);
        }
        let handovers = self.withdrawn.handovers.iter();
        // The removal of a delivery object has a finding of its own.
        let handovers = handovers.filter(|handover| !handover.leaves);
        let moved = handovers.flat_map(|handover| {
            let objects = handover.objects.iter();
            objects.map(move |key| (handover, key))
        });
        let losses = moved.filter_map(|(handover, key)| {
            let lost = by_root.get(key)?;
            self.moved_loss(handover, key, lost)
        });
        losses.collect()
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
        if others.is_empty() && data.is_empty() && !may_hold_more {
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
            severity: severity(surprise)?,
        })
    }

    /// Returns a note on each move that deletes its objects, unless there is a finding on it.
    pub fn notes_on_moves(&self) -> Vec<String> {
        let losses = self.moved_losses();
        let handovers = self.withdrawn.handovers.iter();
        let harmless = handovers.filter(|handover| {
            !handover.leaves && losses.iter().all(|loss| loss.handover != *handover)
        });
        harmless.map(Handover::note).collect()
    }
}
