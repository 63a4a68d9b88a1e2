//! Applications that several ApplicationSets of base generate, and that one of these sets no longer generates.

use std::collections::{BTreeMap, BTreeSet};

use super::Parsed;
use crate::changes::{Unread, UnreadSide, UnreadWhat};
use crate::graph::argo::disputed;
use crate::graph::delivery::Delivery;
use crate::report::spoken;

impl Parsed {
    /// Returns the Applications that several sets of `base` generate, but only some of them in this
    /// state. Their owner deletes them if it no longer generates them.
    pub(in super::super) fn disputed(&self, base: &Self) -> Vec<Unread> {
        let before = base.delivered.deliveries();
        let disputed = disputed(&before);
        let sets: BTreeSet<usize> = disputed.values().flatten().copied().collect();
        let generated: BTreeMap<usize, Generated> = sets
            .into_iter()
            .map(|set| (set, self.generated(before[set])))
            .collect();
        let mut found = Vec::new();
        for ((_, key), sets) in disputed {
            let (stay, left): (Vec<usize>, Vec<usize>) =
                sets.iter().partition(|set| generated[*set].may_have(&key));
            let left = left.first().filter(|_| !stay.is_empty());
            let Some(left) = left.map(|set| before[*set]) else {
                continue;
            };
            let (here, file) = match self.delivered.delivery(&left.id) {
                Some(after) => (UnreadSide::Both, self.shown(&after.file)),
                None => (UnreadSide::Base, base.shown(&left.file)),
            };
            let names: BTreeSet<String> =
                sets.iter().map(|set| spoken(&before[*set].key)).collect();
            let names: Vec<String> = names.into_iter().collect();
            found.push(Unread {
                what: UnreadWhat::Generator,
                subject: format!("{} of {}", spoken(&key), names.join(" and ")),
                file: file.to_owned(),
                line: left.line,
                was: None,
                side: here,
                reason: "only the cluster knows which of these sets owns it: the owner deletes it once it no longer generates it, \
                    and another set then creates it again"
                    .to_owned(),
                delivery: Some(left.id.clone()),
                is_harmless: false,
            });
        }
        found
    }

    /// Marks disputed Applications as certain if no set of `head` generates them and their sets
    /// have one policy: the owner, whichever set it is, deletes them.
    pub(in super::super) fn settled(mut self, head: &Self) -> Self {
        let before = self.delivered.deliveries();
        let mut gone = BTreeSet::new();
        for ((_, key), sets) in disputed(&before) {
            let sets: Vec<&Delivery> = sets.into_iter().map(|set| before[set]).collect();
            let policy = |set: &Delivery| set.settings.applications_sync.clone();
            let are_alike = sets.iter().all(|set| policy(set) == policy(sets[0]));
            let is_gone = |set: &&Delivery| !head.generated(set).may_have(&key);
            if are_alike && sets.iter().all(is_gone) {
                gone.extend(sets.iter().map(|set| (set.id.clone(), key.clone())));
            }
        }
        if !gone.is_empty() {
            self.delivered.settle(&gone);
        }
        self
    }

    /// Returns the Applications that a set of the other state generates here.
    fn generated(&self, set: &Delivery) -> Generated {
        match self.delivered.delivery(&set.id) {
            // A set that fails deletes nothing.
            Some(after) if after.error.is_some() => Generated::Any,
            after => {
                let resources = after.iter().flat_map(|after| after.resources.iter());
                Generated::Keys(resources.map(|one| one.id().key()).collect())
            }
        }
    }
}

/// The Applications that a set generates or keeps.
enum Generated {
    Any,
    Keys(BTreeSet<String>),
}

impl Generated {
    fn may_have(&self, key: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Keys(keys) => keys.contains(key),
        }
    }
}
