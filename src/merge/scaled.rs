//! StatefulSets that lose Pods, and whose policy deletes the claims of these Pods.

use std::ops::Range;

use foldhash::HashMap;

use super::part::MergePart;
use super::replaced::KeptObject;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::text::Span;
use crate::yaml::Value;

/// A StatefulSet of both states, whose controller deletes the claims of the Pods that head does not have.
#[derive(Debug)]
pub struct ScaledSet<'a> {
    /// `whenScaled` of its retention policy in head: `Delete`.
    pub policy: Value<'a>,
    /// The ordinals of its Pods in base.
    pub was: Ordinals,
    /// The ordinals of its Pods in head.
    pub is: Ordinals,
}

impl<'a> ScaledSet<'a> {
    /// Reads an object; `None` unless it is a StatefulSet that loses Pods and whose policy deletes their claims.
    pub fn of(object: KeptObject<'a>) -> Option<Self> {
        let KeptObject { base, head } = object;
        if !base.object.is(kinds::STATEFUL_SET) {
            return None;
        }
        let policy = ["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"];
        let policy = head.object.at(&policy);
        let policy = policy.filter(|policy| policy.as_str() == Some("Delete"))?;
        let (was, is) = (Ordinals::of(base)?, Ordinals::of(head)?);
        was.without(&is)?;
        Some(Self { policy, was, is })
    }

    /// Whether the claim with a name, `<template>-<set>-<ordinal>`, belongs to a Pod that the set loses.
    fn loses(&self, claim: &str) -> bool {
        let ordinal = claim.rsplit('-').next().and_then(|text| text.parse().ok());
        ordinal.is_some_and(|ordinal: i32| {
            self.was.range.contains(&ordinal) && !self.is.range.contains(&ordinal)
        })
    }
}

/// The StatefulSets of a part that lose claims, by key.
pub(super) struct ScaledSets<'a>(HashMap<&'a ObjectKey, ScaledSet<'a>>);

impl<'a> ScaledSets<'a> {
    /// Finds the StatefulSets whose new state a tool applies.
    pub(super) fn of(part: &MergePart<'a>) -> Self {
        let applied = part.kept().filter(|object| {
            part.head
                .is_some_and(|head| !head.is_held_back(head.destination(object.head.file)))
        });
        let sets = applied.filter_map(|object| Some((&object.base.key, ScaledSet::of(object)?)));
        Self(sets.collect())
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &'a ObjectKey> {
        self.0.keys().copied()
    }

    /// Whether `claim`, which is made for `owner`, belongs to a Pod that a set loses.
    pub(super) fn lose(&self, claim: &ObjectKey, owner: &ObjectKey) -> bool {
        self.0.get(owner).is_some_and(|set| set.loses(&claim.name))
    }
}

/// The ordinals of the Pods of a StatefulSet.
#[derive(Debug)]
pub struct Ordinals {
    /// The ordinals.
    pub range: Range<i32>,
    /// The place of `spec.replicas`, if it is written.
    pub replicas: Option<Span>,
    /// The place of `spec.ordinals.start`, if it is written.
    pub start: Option<Span>,
}

impl Ordinals {
    /// Reads the ordinals of a StatefulSet; `None` if a field is not a number.
    fn of(set: &Member) -> Option<Self> {
        let (count, replicas) = number(set, &["spec", "replicas"], 1)?;
        let (first, start) = number(set, &["spec", "ordinals", "start"], 0)?;
        Some(Self {
            range: first..first.saturating_add(count),
            replicas,
            start,
        })
    }

    /// Returns the number of ordinals that `other` does not have, and the last of them; `None` if it has all.
    pub fn without(&self, other: &Self) -> Option<(usize, i32)> {
        let (own, kept) = (&self.range, &other.range);
        let below = own.start..own.end.min(kept.start);
        let above = own.start.max(kept.end)..own.end;
        let parts = [&above, &below];
        let last = parts.into_iter().find(|part| !part.is_empty())?;
        Some((below.len() + above.len(), last.end - 1))
    }
}

/// Returns the number in a field, and its place; `default` if it is omitted or null.
fn number(member: &Member, field: &[&str], default: i32) -> Option<(i32, Option<Span>)> {
    let written = member.object.at(field).filter(|value| !value.is_null());
    let Some(written) = written else {
        return Some((default, None));
    };
    let number = i32::try_from(written.as_int()?).ok()?;
    Some((number.max(0), Some(written.span())))
}
