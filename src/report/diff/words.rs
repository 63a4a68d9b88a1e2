//! Sentences about a comparison, shared by all formats that people read.

use std::collections::{BTreeMap, BTreeSet};

use super::unread::subjects;
use super::{DiffReport, DiffVerdict, FailedBuild};
use crate::changes::{DeliveryName, Unread, UnreadSide, UnreadWhat};
use crate::kube::kinds;
use crate::kustomize::shown;
use crate::merge::{CascadeKind, DiffEffect, EffectCertainty, EffectKind};
use crate::report::deliveries::spoken;
use crate::text::plain;

/// The effects of a merge, the worst first. Direct deletions come last: the Git diff usually shows them.
pub(super) const WORST_FIRST: [(EffectKind, &str); 8] = [
    (EffectKind::Stuck, "Gets stuck in Terminating"),
    (EffectKind::DataLost, "Data is deleted with"),
    (EffectKind::Cascaded, "Deleted with another object"),
    (
        EffectKind::GeneratedDeleted,
        "Generated, and deleted by cascade",
    ),
    (EffectKind::Recreated, "Deleted, then created again"),
    (EffectKind::Orphaned, "Left behind: not deleted"),
    (EffectKind::Kept, "Kept by the tool"),
    (EffectKind::Deleted, "Deleted by the tool"),
];

/// The maximum number of objects that a headline names.
const GRAVEST: usize = 2;

impl DiffReport {
    /// Says what merging the change deletes, in one line without its full stop.
    pub(in crate::report) fn headline(&self) -> String {
        match self.summary.verdict {
            DiffVerdict::Deletes => self
                .sentence()
                .unwrap_or_else(|| "Merging this deletes objects".to_owned()),
            DiffVerdict::Nothing => "Merging this deletes nothing".to_owned(),
            DiffVerdict::Unknown if self.is_harmless() => format!(
                "Nothing that ownerlint can read is deleted. Not read: {}",
                subjects(&self.unread)
            ),
            DiffVerdict::Unknown => format!("ownerlint cannot tell: {}", self.doubts().join("; ")),
        }
    }

    /// Returns each failing build once per place and reason, with the state in which it fails unless it fails in both.
    pub(super) fn failed_builds(&self) -> Vec<(&FailedBuild, &'static str)> {
        let mut places: BTreeMap<(&str, usize, &str), Vec<&FailedBuild>> = BTreeMap::new();
        for failed in &self.failed {
            let place = (failed.file.as_str(), failed.line, failed.reason.as_str());
            places.entry(place).or_default().push(failed);
        }
        let places = places.into_values().map(|failed| {
            let mut sides = failed.iter().map(|failed| failed.side);
            let is_before = sides.clone().any(|side| side == UnreadSide::Base);
            let when = match (is_before, sides.any(|side| side == UnreadSide::Head)) {
                (true, false) => ", before the change",
                (false, true) => ", after the change",
                _ => "",
            };
            (failed[0], when)
        });
        places.collect()
    }

    /// Whether the report is complete, whatever its verdict: every changed input was read, the tool
    /// of each removed object is known, and the change makes no delivery fail. A delivery that
    /// fails deletes only after it is repaired.
    pub fn is_wholly_known(&self) -> bool {
        self.summary.unread == 0 && self.summary.unknown == 0 && self.newly_failing().is_none()
    }

    /// Whether helm rejects a chart in head that it renders in base.
    pub fn breaks_charts(&self) -> bool {
        self.failed.iter().any(|failed| failed.is_chart)
    }

    /// Describes the deliveries that fail only after the change; `None` if there are none.
    pub(in crate::report) fn newly_failing(&self) -> Option<String> {
        let before = self.failed_on(UnreadSide::Base);
        let before: BTreeSet<_> = before.map(FailedBuild::identity).collect();
        let after = self.failed_on(UnreadSide::Head);
        let mut failing = after.filter(|failed| !before.contains(&failed.identity()));
        let first = failing.next()?;
        let (deliveries, whose) = match failing.count() {
            0 => ("a delivery".to_owned(), "it delivers"),
            more => (format!("{} deliveries", more + 1), "they deliver"),
        };
        let FailedBuild {
            file, line, reason, ..
        } = first;
        Some(format!(
            "The change makes {deliveries} fail, and the objects that {whose} stay as they are: {} \
             ({file}:{line})",
            plain::one_line(reason)
        ))
    }

    fn failed_on(&self, side: UnreadSide) -> impl Iterator<Item = &FailedBuild> {
        let failed = self.failed.iter();
        failed.filter(move |failed| failed.side == side)
    }

    /// Whether every input in `unread` is harmless (see [`Unread::is_harmless`]), and the tool of
    /// every removed object is known.
    pub(super) fn is_harmless(&self) -> bool {
        self.summary.unknown == 0 && self.unread.iter().all(|unread| unread.is_harmless)
    }

    /// Returns why the deletions of the merge are unknown.
    fn doubts(&self) -> Vec<String> {
        let doubtful = self.unread.iter().filter(|unread| !unread.is_harmless);
        let (unpruned, doubtful): (Vec<&Unread>, Vec<&Unread>) =
            doubtful.partition(|unread| unread.what == UnreadWhat::Unpruned);
        let doubtful = doubtful.into_iter();
        let (removed, changed): (Vec<&Unread>, Vec<&Unread>) =
            doubtful.partition(|unread| unread.side == UnreadSide::Base);
        // The files of these stay, or belong to a delivery that leaves.
        let (undelivered, removed): (Vec<&Unread>, Vec<&Unread>) = removed
            .into_iter()
            .partition(|unread| unread.delivery.is_some());
        let (moved, changed): (Vec<&Unread>, Vec<&Unread>) =
            changed.into_iter().partition(|unread| unread.was.is_some());
        let mut doubts = Vec::new();
        if !removed.is_empty() {
            let removed = subjects(removed);
            doubts.push(format!(
                "the change removes {removed}, which cannot be read"
            ));
        }
        if !undelivered.is_empty() {
            let undelivered = subjects(undelivered);
            doubts.push(format!(
                "the change no longer delivers {undelivered}, which cannot be read"
            ));
        }
        if !moved.is_empty() {
            let moved = subjects(moved);
            doubts.push(format!("the change moves {moved}, which cannot be read"));
        }
        if !changed.is_empty() {
            let changed = subjects(changed);
            doubts.push(format!("{changed} changed and cannot be read"));
        }
        if !unpruned.is_empty() {
            let unpruned = subjects(unpruned);
            doubts.push(format!(
                "{unpruned} are deleted from now on, and are not in the files"
            ));
        }
        match self.summary.unknown {
            0 => {}
            1 => doubts.push(
                "1 object is gone from the files, and nothing says which tool applies it"
                    .to_owned(),
            ),
            n => doubts.push(format!(
                "{n} objects are gone from the files, and nothing says which tool applies them"
            )),
        }
        doubts
    }

    /// Says what happens to the removed objects whose tool is unknown, with a full stop; `None` if there are none.
    pub(in crate::report) fn supposition(&self) -> Option<String> {
        let objects = self.summary.unknown;
        if objects == 0 {
            return None;
        }
        let deleted = self.count_supposed(&[EffectKind::Deleted]);
        let more = self.count_supposed(&[EffectKind::Cascaded, EffectKind::GeneratedDeleted]);
        let stuck = self.count_supposed(&[EffectKind::Stuck]);
        let lost = self.count_supposed(&[EffectKind::DataLost]);
        let mut deletions = match (deleted, more) {
            (0, 0) => "deletes none of them".to_owned(),
            (deleted, 0) => format!("deletes {}", plain::count(deleted, "object")),
            (deleted, more) => format!(
                "deletes {} ({more} by cascade)",
                plain::count(deleted + more, "object")
            ),
        };
        if stuck > 0 {
            deletions.push_str(&format!("; {stuck} may get stuck"));
        }
        if lost > 0 {
            deletions.push_str(&format!(
                "; the data of {} may be deleted",
                plain::count(lost, "object")
            ));
        }
        let them = if objects == 1 { "it" } else { "them" };
        let subject = plain::count(objects, "removed object");
        Some(format!(
            "{subject}: ownerlint cannot tell which tool deploys {them}. A tool that prunes {deletions}; `kubectl apply` leaves {them}."
        ))
    }

    fn count_supposed(&self, kinds: &[EffectKind]) -> usize {
        let effects = self.supposed();
        let effects = effects.filter(|effect| kinds.contains(&effect.effect));
        effects.count()
    }

    /// Says what the merge deletes, in one sentence without its full stop; `None` if nothing is deleted or stuck.
    pub(in crate::report) fn sentence(&self) -> Option<String> {
        let deleted = self.of(EffectKind::Deleted);
        let cascaded = self.of(EffectKind::Cascaded);
        let generated = self.of(EffectKind::GeneratedDeleted);
        let gone: Vec<&DiffEffect> = deleted.chain(cascaded).chain(generated).collect();
        let deleted = self.of(EffectKind::Deleted).count();
        let cascaded = gone.len() - deleted;
        let stuck: Vec<&DiffEffect> = self.of(EffectKind::Stuck).collect();
        let again = self.created_again();
        if gone.is_empty() && stuck.is_empty() {
            let objects = plain::count(again.len(), "object");
            let (delete, create) = if any_certain(&again) {
                ("deletes", "creates")
            } else {
                ("may delete", "create")
            };
            let them = if again.len() == 1 { "it" } else { "them" };
            let share = in_brackets(possible_share(&again));
            let lost = self.lost_data();
            return (!again.is_empty()).then(|| {
                format!("Merging this {delete} {objects}{share} and {create} {them} again{lost}")
            });
        }
        let stuck_objects = match (any_certain(&stuck), stuck.len()) {
            (_, 0) => None,
            (false, n) => Some(format!("{n} may get stuck")),
            (true, 1) => Some("1 gets stuck".to_owned()),
            (true, n) => Some(format!(
                "{n} get stuck{}",
                in_brackets(possible_share(&stuck))
            )),
        };
        let deletions = match (deleted, cascaded) {
            (0, 0) => "nothing at once".to_owned(),
            (0, _) => format!("{} by cascade", plain::count(cascaded, "object")),
            _ => plain::count(deleted + cascaded, "object"),
        };
        let verb = if !gone.is_empty() && count_possible(&gone) == gone.len() {
            "may delete"
        } else {
            "deletes"
        };
        let by_cascade = (deleted > 0 && cascaded > 0).then(|| format!("{cascaded} by cascade"));
        let shares = by_cascade.into_iter().chain(possible_share(&gone));
        let mut said = format!("Merging this {verb} {deletions}{}", in_brackets(shares));
        said.push_str(&self.gravest(gone));
        said.extend(stuck_objects.map(|stuck| format!("; {stuck}")));
        if !again.is_empty() {
            let verb = match (any_certain(&again), again.len()) {
                (true, 1) => "is",
                (true, _) => "are",
                (false, _) => "may be",
            };
            said.push_str(&format!(
                "; {} {verb} deleted and created again{}",
                again.len(),
                in_brackets(possible_share(&again))
            ));
        }
        said.push_str(&self.lost_data());
        Some(said)
    }

    /// Says whose data is deleted, as the end of a sentence; empty if no data is deleted.
    fn lost_data(&self) -> String {
        let lost: Vec<&DiffEffect> = self.of(EffectKind::DataLost).collect();
        if lost.is_empty() {
            return String::new();
        }
        let verb = if any_certain(&lost) { "is" } else { "may be" };
        format!(
            "; the data of {} {verb} deleted{}",
            holders(&lost),
            in_brackets(possible_share(&lost))
        )
    }

    /// Names the gravest of the deleted objects: those with data, then those that deliver, define or contain others.
    fn gravest(&self, mut gone: Vec<&DiffEffect>) -> String {
        let with_data = self.of(EffectKind::DataLost);
        let with_data: BTreeSet<_> = with_data.map(|lost| &lost.key).collect();
        // Other kinds come last.
        gone.sort_by_key(|effect| {
            let kind = CascadeKind::of(effect.key.group_kind());
            (!with_data.contains(&effect.key), kind.is_none(), kind)
        });
        let mut named: Vec<String> = Vec::new();
        let mut rest = gone;
        while let Some(first) = rest.first().copied().filter(|_| named.len() < GRAVEST) {
            let (alike, others): (Vec<&DiffEffect>, Vec<&DiffEffect>) =
                rest.into_iter().partition(|effect| {
                    effect.key.kind() == first.key.kind() && effect.key.name == first.key.name
                });
            let is_unseen = alike.iter().any(|effect| self.unseen.contains(&effect.key));
            let more = if is_unseen {
                " (and what it delivers, which was not read)"
            } else {
                ""
            };
            named.push(several(&alike) + more);
            rest = others;
        }
        match (named.is_empty(), rest.is_empty()) {
            (true, _) => String::new(),
            (_, true) => format!(": {}", named.join(" and ")),
            (_, false) => format!(", including {}", named.join(" and ")),
        }
    }

    /// Returns the objects that are deleted and created again, except those that are deleted with another object.
    fn created_again(&self) -> Vec<&DiffEffect> {
        let cascaded = self.of(EffectKind::Cascaded);
        let cascaded: BTreeSet<_> = cascaded.map(|effect| &effect.key).collect();
        let again = self.of(EffectKind::Recreated);
        let again = again.filter(|effect| !cascaded.contains(&effect.key));
        again.collect()
    }

    /// Counts the changed objects by kind of change; `None` if there are none and the verdict is not `Nothing`.
    pub(super) fn counted(&self) -> Option<String> {
        let summary = &self.summary;
        let counts = [
            (summary.removed, "removed"),
            (summary.renamed, "renamed"),
            (summary.moved, "moved"),
            (summary.changed, "changed"),
            (summary.added, "added"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts = counts.map(|(count, word)| format!("{count} {word}"));
        let counts: Vec<String> = counts.collect();
        if !counts.is_empty() {
            return Some(counts.join(", "));
        }
        (self.summary.verdict == DiffVerdict::Nothing).then(|| "No object changed".to_owned())
    }

    /// Whether the merge has effects that the Git diff does not show: it makes objects stuck, deletes data, recreates
    /// objects, or deletes objects that the change does not remove from the files.
    pub(super) fn surprises(&self) -> bool {
        use EffectKind::{Cascaded, DataLost, Deleted, Recreated, Stuck};
        // Deleted generated objects do not count: rules report them if something still needs them.
        [Stuck, DataLost, Recreated]
            .into_iter()
            .any(|kind| self.of(kind).next().is_some())
            || self.are_out_of_sight(&[Deleted, Cascaded])
    }

    /// Whether one of these effects is on an object other than those that the Git diff removes or renames.
    pub(super) fn are_out_of_sight(&self, kinds: &[EffectKind]) -> bool {
        let changes = self.changes.iter().filter(|change| change.is_visible);
        let removed = changes.filter(|change| matches!(change.change, "removed" | "renamed"));
        let visible = removed.map(|change| change.was.as_deref().unwrap_or(&change.key));
        let visible: BTreeSet<&str> = visible.collect();
        let mut effects = kinds.iter().flat_map(|kind| self.of(*kind));
        effects.any(|effect| !visible.contains(effect.key.to_string().as_str()))
    }

    /// Returns the effects of one kind that do not depend on an unknown tool, in the order of the keys.
    pub(super) fn of(&self, kind: EffectKind) -> impl Iterator<Item = &DiffEffect> {
        self.effects
            .iter()
            .filter(move |effect| effect.effect == kind && !effect.is_supposed())
    }

    /// Returns the objects that an unknown tool deletes if it prunes, each with how it is deleted.
    pub(super) fn supposed_deletions(&self) -> Vec<(&DiffEffect, String)> {
        let lost = self.supposed();
        let lost = lost.filter(|effect| effect.effect == EffectKind::DataLost);
        let with_data: BTreeSet<_> = lost.map(|effect| &effect.key).collect();
        let deleted = self.supposed().filter_map(|effect| {
            let mut how = match effect.effect {
                EffectKind::Deleted => Vec::new(),
                EffectKind::Stuck => vec!["gets stuck".to_owned()],
                EffectKind::Cascaded | EffectKind::GeneratedDeleted => {
                    let root = effect.because.first();
                    let with = root.map(|root| format!("with {root}"));
                    with.into_iter().collect()
                }
                EffectKind::DataLost
                | EffectKind::Kept
                | EffectKind::Orphaned
                | EffectKind::Recreated => return None,
            };
            if with_data.contains(&effect.key) {
                how.push("with its data".to_owned());
            }
            Some((effect, how.join(", ")))
        });
        deleted.collect()
    }

    /// Returns the effects that happen only if an unknown tool prunes.
    pub(super) fn supposed(&self) -> impl Iterator<Item = &DiffEffect> {
        self.effects.iter().filter(|effect| effect.is_supposed())
    }
}

/// Names objects of one kind and name, with the number of clusters or namespaces if there are several.
fn several(alike: &[&DiffEffect]) -> String {
    let key = &alike[0].key;
    let kind = plain::one_line(key.kind());
    let name = plain::one_line(&key.name);
    let named = format!("{kind} `{name}`");
    let clusters: BTreeSet<_> = alike.iter().map(|effect| &effect.cluster).collect();
    let namespaces: BTreeSet<_> = alike.iter().map(|effect| &effect.key.namespace).collect();
    if alike.len() > 1 && clusters.len() == alike.len() {
        format!("{named} in {} clusters", clusters.len())
    } else if alike.len() > 1 && namespaces.len() == alike.len() {
        format!("{named} in {} namespaces", namespaces.len())
    } else {
        named
    }
}

fn any_certain(effects: &[&DiffEffect]) -> bool {
    let mut effects = effects.iter();
    effects.any(|effect| effect.certainty == EffectCertainty::Certain)
}

fn count_possible(effects: &[&DiffEffect]) -> usize {
    let effects = effects.iter();
    let possible = effects.filter(|effect| effect.certainty == EffectCertainty::Possible);
    possible.count()
}

/// Counts the possible effects, if there are also others: `2 possibly`.
fn possible_share(effects: &[&DiffEffect]) -> Option<String> {
    let possible = count_possible(effects);
    (possible > 0 && possible < effects.len()).then(|| format!("{possible} possibly"))
}

/// Joins shares to ` (3 by cascade, 2 possibly)`; empty if there are none.
fn in_brackets(shares: impl IntoIterator<Item = String>) -> String {
    let shares: Vec<String> = shares.into_iter().collect();
    if shares.is_empty() {
        return String::new();
    }
    format!(" ({})", shares.join(", "))
}

/// Counts objects that hold data: `2 volumes and 1 Cluster`.
fn holders(effects: &[&DiffEffect]) -> String {
    let mut counts: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for effect in effects {
        let word = if effect.key.is(kinds::PERSISTENT_VOLUME_CLAIM) {
            (false, "volume")
        } else {
            (true, effect.key.kind())
        };
        *counts.entry(word).or_default() += 1;
    }
    let counted = counts.into_iter().map(|((is_kind, word), count)| {
        if !is_kind {
            plain::count(count, word)
        } else if count > 1 {
            format!("{count} objects of kind {}", plain::one_line(word))
        } else {
            format!("1 {}", plain::one_line(word))
        }
    });
    let mut counted: Vec<String> = counted.collect();
    match counted.pop() {
        Some(last) if !counted.is_empty() => format!("{} and {last}", counted.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Returns the condition of an effect, which follows the name of the object.
pub(super) fn unless(certainty: EffectCertainty) -> &'static str {
    match certainty {
        EffectCertainty::Certain => "",
        EffectCertainty::Race => ", unless a controller releases it first",
        EffectCertainty::Possible => ", possibly",
    }
}

/// Returns `by Application argocd/web-eu of ApplicationSet argocd/web in cluster eu, if …`.
pub(super) fn applied_by(delivery: &DeliveryName, cluster: Option<&str>) -> String {
    let mut text = match &delivery.key {
        Some(key) => format!("by {}", spoken(key)),
        None => format!("from {}", shown(&delivery.path)),
    };
    let parent = delivery.parent.as_deref();
    if let Some(set) = parent.filter(|parent| parent.starts_with("ApplicationSet.")) {
        text.push_str(&format!(" of {}", spoken(set)));
    }
    if let Some(chart) = &delivery.chart {
        text.push_str(&format!(" ({chart})"));
    }
    if let Some(cluster) = cluster {
        text.push_str(&format!(" in cluster {}", shown(cluster)));
    }
    if let Some(doubt) = &delivery.doubt {
        text.push_str(&format!(", if it exists ({doubt})"));
    }
    text
}
