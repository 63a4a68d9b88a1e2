//! What a comparison comes to, in words that every format for people shares.

use std::collections::{BTreeMap, BTreeSet};

use super::{DiffReport, DiffSummary};
use crate::kube::kinds;
use crate::merge::{DiffEffect, EffectCertainty, EffectKind};
use crate::text::plain;

/// The effects of a merge, the worst first; what the change itself shows comes last.
pub(super) const WORST_FIRST: [(EffectKind, &str); 8] = [
    (EffectKind::Stuck, "Gets stuck in Terminating"),
    (EffectKind::DataLost, "Data is deleted with"),
    (EffectKind::Cascaded, "Deleted with another object"),
    (EffectKind::GeneratedDeleted, "Deleted with the object it was generated from"),
    (EffectKind::Recreated, "Deleted, then created again"),
    (EffectKind::Orphaned, "Left behind: nobody deletes it"),
    (EffectKind::Kept, "Kept by the tool"),
    (EffectKind::Deleted, "Deleted by the tool"),
];

impl DiffReport {
    /// Everything that merging the change does, in one sentence without its full stop; `None` if it deletes nothing.
    pub(in crate::report) fn sentence(&self) -> Option<String> {
        let deleted = self.of(EffectKind::Deleted).count();
        let cascaded = self.of(EffectKind::Cascaded).chain(self.of(EffectKind::GeneratedDeleted)).count();
        let stuck: Vec<&DiffEffect> = self.of(EffectKind::Stuck).collect();
        let again = self.created_again();
        if deleted + cascaded + stuck.len() == 0 {
            let objects = plain::count(again.len(), "object");
            let verb = if is_certain(&again) { "deletes" } else { "may delete" };
            let them = if again.len() == 1 { "it" } else { "them" };
            return (!again.is_empty()).then(|| {
                format!(
                    "Merging this {verb} {objects} and create{} {them} again",
                    if is_certain(&again) { "s" } else { "" }
                )
            });
        }
        let stuck_objects = match (is_certain(&stuck), stuck.len()) {
            (_, 0) => None,
            (false, n) => Some(format!("{n} may get stuck")),
            (true, 1) => Some("1 gets stuck".to_owned()),
            (true, n) => Some(format!("{n} get stuck")),
        };
        let deletions = match (deleted, cascaded) {
            (0, 0) => "nothing at once".to_owned(),
            (0, _) => format!("{} by cascade", plain::count(cascaded, "object")),
            (_, 0) => plain::count(deleted, "object"),
            _ => format!("{} and, by cascade, {cascaded} more", plain::count(deleted, "object")),
        };
        let mut said = format!("Merging this deletes {deletions}");
        said.extend(stuck_objects.map(|stuck| format!("; {stuck}")));
        if !again.is_empty() {
            let verb = match (is_certain(&again), again.len()) {
                (true, 1) => "is",
                (true, _) => "are",
                (false, _) => "may be",
            };
            said.push_str(&format!("; {} {verb} deleted and created again", again.len()));
        }
        let lost: Vec<&DiffEffect> = self.of(EffectKind::DataLost).collect();
        if !lost.is_empty() {
            let verb = if is_certain(&lost) { "is deleted" } else { "may be deleted" };
            said.push_str(&format!("; the data of {} {verb}", holders(&lost)));
        }
        Some(said)
    }

    /// What is deleted for a while only, and not with another object.
    fn created_again(&self) -> Vec<&DiffEffect> {
        let cascaded: BTreeSet<_> = self.of(EffectKind::Cascaded).map(|effect| &effect.key).collect();
        self.of(EffectKind::Recreated).filter(|effect| !cascaded.contains(&effect.key)).collect()
    }

    /// How many objects changed, and in which way.
    pub(super) fn counted(&self) -> String {
        let DiffSummary { added, removed, changed, moved, renamed, .. } = self.summary;
        let counts =
            [(removed, "removed"), (renamed, "renamed"), (moved, "moved"), (changed, "changed"), (added, "added")];
        let counts: Vec<String> =
            counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        if counts.is_empty() { "No object changed".to_owned() } else { counts.join(", ") }
    }

    /// Whether the change does something that it does not show: gets objects stuck, deletes data, or deletes what it does not
    /// itself remove.
    pub(super) fn surprises(&self) -> bool {
        let removed = self.changes.iter().filter(|change| matches!(change.change, "removed" | "renamed"));
        let shown: BTreeSet<&str> = removed.map(|change| change.was.as_deref().unwrap_or(&change.key)).collect();
        self.effects.iter().any(|effect| match effect.effect {
            EffectKind::Stuck | EffectKind::DataLost | EffectKind::Recreated => true,
            EffectKind::Cascaded => !shown.contains(effect.key.to_string().as_str()),
            // What was generated is a surprise if something still needs it, which rules know.
            EffectKind::GeneratedDeleted | EffectKind::Deleted | EffectKind::Orphaned | EffectKind::Kept => false,
        })
    }

    /// The effects of one kind, in the order of the keys.
    pub(super) fn of(&self, kind: EffectKind) -> impl Iterator<Item = &DiffEffect> {
        self.effects.iter().filter(move |effect| effect.effect == kind)
    }
}

fn is_certain(effects: &[&DiffEffect]) -> bool {
    effects.iter().any(|effect| effect.certainty == EffectCertainty::Certain)
}

/// `2 volumes and 1 Cluster`.
fn holders(effects: &[&DiffEffect]) -> String {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for effect in effects {
        let is_volume = effect.key.is(kinds::PERSISTENT_VOLUME_CLAIM);
        *counts.entry((!is_volume, if is_volume { "volume" } else { effect.key.kind() })).or_default() += 1;
    }
    let counted = counts.into_iter().map(|((is_kind, word), count)| match is_kind {
        true => format!("{count} {}", plain::one_line(word)),
        false => plain::count(count, word),
    });
    let mut counted: Vec<String> = counted.collect();
    match counted.pop() {
        Some(last) if !counted.is_empty() => format!("{} and {last}", counted.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// What an effect depends on, after the object that it is about.
pub(super) fn unless(certainty: EffectCertainty) -> &'static str {
    match certainty {
        EffectCertainty::Certain => "",
        EffectCertainty::Race => ", unless a controller is quicker",
        EffectCertainty::Possible => ", possibly",
    }
}
