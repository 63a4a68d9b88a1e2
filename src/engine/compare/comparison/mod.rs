//! Two states, read and compared.

mod open;

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::ClusterInput;
use super::configured::Judging;
use super::describe::{self, KeptClaims};
use super::extras::FormatExtras;
use super::hiding::hides_results;
use super::judge::Judged;
use super::parsed::InputsOfDelivery;
use crate::changes::{
    BothSides, GoneInputs, ObjectChange, TreePart, Unread, UnreadChanges, written_key,
};
use crate::engine::describe::tool;
use crate::engine::{PlanError, Planner};
use crate::finding::Severity;
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::merge::{
    DeliveryChoice, DiffEffect, EffectCertainty, EffectKind, Merge, MergePart, Requested,
    rejections, scenario, updated, withdraw,
};
use crate::ownership::Products;
use crate::report::Format;
use crate::report::diff::{DiffReport, FailedBuild, StateName};

/// The note on charts that were not rendered.
const UNRENDERED: &str =
    "charts were not rendered: `--render` renders them with helm and shows their deletions";

/// Two states of a tree, and the changes between them.
#[derive(Debug)]
pub struct Comparison {
    base: StateName,
    head: StateName,
    old: Vec<TreePart>,
    new: Vec<TreePart>,
    changes: Vec<ObjectChange>,
    /// The files of base that the change removes or edits, as reports name them.
    edited: BTreeSet<String>,
    unread: UnreadChanges,
    /// The unread objects of Kustomizations of base, by the id of the Kustomization's parent and its key.
    elsewhere: BTreeMap<(Option<String>, String), Unread>,
    /// The unread inputs of deliveries of base, by the id of the delivery's parent and its key.
    inputs: BTreeMap<(Option<String>, String), InputsOfDelivery>,
    /// The unread inputs that deliveries of both states have only in base.
    dropped: GoneInputs,
    failed: Vec<FailedBuild>,
    notes: Vec<String>,
    /// The settings of each part of the trees, except the last, whose objects are not applied.
    clusters: Vec<ClusterInput>,
    delivery: DeliveryChoice,
    renders: bool,
    judging: Judging,
    /// The comparison without the configuration, if only head has one.
    unconfigured: Option<Box<Self>>,
}

impl Comparison {
    /// Counts the objects of both states together.
    pub fn objects(&self) -> usize {
        self.old
            .iter()
            .chain(&self.new)
            .map(|tree| tree.inventory.members.len())
            .sum()
    }

    /// Counts the unrendered templates of both states together.
    pub fn templates(&self) -> usize {
        let trees = self.old.iter().chain(&self.new);
        trees
            .map(|tree| tree.inventory.unrendered_templates())
            .sum()
    }

    /// Returns the lowest severity that fails a run: `given`, else as configured, else `error`; `None` means never.
    #[doc(hidden)]
    pub fn fail_on(&self, given: Option<Option<Severity>>) -> Option<Severity> {
        given
            .or(self.judging.fail_on)
            .unwrap_or(Some(Severity::Error))
    }

    /// Returns the changes, their consequences, and the findings of the rules of change, as reports show them.
    ///
    /// # Errors
    /// A cluster that is too large to be simulated.
    pub fn report(&self) -> Result<DiffReport, PlanError> {
        self.report_for(&Format::ALL)
    }

    /// Returns the report, with the additional parts that `formats` show.
    ///
    /// # Errors
    /// See [`Comparison::report`].
    #[doc(hidden)]
    pub fn report_for(&self, formats: &[Format]) -> Result<DiffReport, PlanError> {
        let report = self.own_report(formats)?;
        let Some(unconfigured) = &self.unconfigured else {
            return Ok(report);
        };
        let mut without = unconfigured.report_for(formats)?;
        if !hides_results(&report, &without) {
            return Ok(report);
        }
        let name = self.judging.configuration.as_deref().unwrap_or_default();
        without.notes.push(format!(
            "{name} is new in this change and is ignored, because it would hide a part of this report"
        ));
        Ok(without)
    }

    fn own_report(&self, formats: &[Format]) -> Result<DiffReport, PlanError> {
        let sides = BothSides {
            base: &self.old,
            head: &self.new,
        };
        let mut judged = Judged::default();
        let mut effects = Vec::new();
        let mut extras = FormatExtras::new(formats);
        let mut notes = self.notes.clone();
        let mut unknown = 0;
        let mut requested = Requested::default();
        let mut kept_claims = KeptClaims::default();
        let mut unseen = BTreeSet::new();
        let parts = (0..self.clusters.len()).map(|at| self.part(at, sides));
        let rejected = rejections(sides, parts);
        // Objects that are not applied are in the last part, which has no settings of its own.
        for (at, cluster) in self.clusters.iter().enumerate() {
            let part = self.part(at, sides);
            let part = part.with_rejected_elsewhere(rejected.clone());
            let withdrawn = withdraw(&part, &self.delivery, &mut requested);
            notes.extend(withdrawn.idle.iter().chain(&withdrawn.assumed).cloned());
            let implied = part.analysis.implied(Products::Used);
            let implied = updated(&part, implied);
            let scenario = scenario(&part, &withdrawn, &implied)?;
            let planner = if extras.is_silent() {
                Planner::without_facts(scenario, &part.analysis)
            } else {
                Planner::of(scenario, &part.analysis, &implied, Some("merge".to_owned()))
            };
            let simulated = planner.simulate();
            let merge = Merge::of(&part, &withdrawn, &implied, &simulated);
            notes.extend(merge.notes_on_moves());
            judged.add(&merge, &self.judging);
            if !extras.is_silent() {
                extras.add(
                    &merge,
                    &planner.view(&simulated),
                    cluster.name().unwrap_or("outside any bundle"),
                );
            }
            kept_claims.add(&merge);
            unseen.extend(merge.unseen());
            effects.extend(merge.effects);
            if !withdrawn.unknown.is_empty() {
                effects.retain(|effect| !is_left(effect, &withdrawn.unknown));
                let supposed = self.supposed(&part, &withdrawn.unknown, &mut kept_claims)?;
                effects.extend(supposed);
                unknown += withdrawn.unknown.len();
            }
        }
        effects.sort();
        let changes = self.changes.iter();
        let (changes, idle): (Vec<&ObjectChange>, Vec<&ObjectChange>) =
            changes.partition(|change| sides.applies(change.sides));
        let reported = changes.iter();
        let reported = reported.map(|change| describe::reported(sides, &self.edited, change));
        notes.extend(describe::idle(sides, &idle));
        let unread = self.unread.with_uninstalled(&self.uninstalled(&effects));
        let unread = unread.with_gone(&self.gone(&effects));
        if !self.renders && !self.unread.are_of_charts() && unread.are_of_charts() {
            notes.push(UNRENDERED.to_owned());
        }
        let unread = unread.with_elsewhere(self.deleted_elsewhere(&effects));
        Ok(DiffReport {
            tool: tool(),
            base: self.base.clone(),
            head: self.head.clone(),
            summary: describe::summary(&changes, &effects, &unread, unknown),
            changes: reported.collect(),
            effects,
            unseen,
            unread: unread.changed,
            failed: self.failed.clone(),
            kept_claims: kept_claims.said(),
            images: describe::images(sides, &changes),
            plan: extras.outcomes,
            cascades: extras.cascades,
            stories: extras.stories,
            findings: judged.report(sides, &self.judging),
            accepted: Vec::new(),
            notes,
        })
    }

    fn part<'s>(&'s self, at: usize, sides: BothSides<'s>) -> MergePart<'s> {
        let cluster = &self.clusters[at];
        let tools = cluster.tools(&self.old[at]);
        MergePart::of(at, sides, &self.changes, cluster.tables(), tools)
    }

    /// Returns the HelmReleases that are deleted, by their keys as written, with the ids of their deliveries.
    fn uninstalled(&self, effects: &[DiffEffect]) -> BTreeMap<String, Option<String>> {
        let deleted: BTreeMap<&ObjectKey, Option<String>> =
            deleted(effects, kinds::HELM_RELEASE).collect();
        let members = self.old.iter().flat_map(|tree| &tree.inventory.members);
        let written = members.filter_map(|member| {
            let delivery = deleted.get(&member.key)?;
            Some((written_key(&member.object), delivery.clone()))
        });
        written.collect()
    }

    /// Returns the unread inputs that are deleted with their deliveries, or dropped by them.
    fn gone(&self, effects: &[DiffEffect]) -> GoneInputs {
        let mut gone = self.dropped.clone();
        if self.inputs.is_empty() {
            return gone;
        }
        let members = self.old.iter().flat_map(|tree| &tree.inventory.members);
        let written = members.filter(|member| member.object.group() == kinds::APPLICATION.group);
        let written = written.map(|member| (member.key.to_string(), written_key(&member.object)));
        let written: BTreeMap<String, String> = written.collect();
        let kinds = [
            kinds::APPLICATION,
            kinds::APPLICATION_SET,
            kinds::FLUX_KUSTOMIZATION,
            kinds::HELM_RELEASE,
        ];
        let deleted = kinds.into_iter().flat_map(|kind| deleted(effects, kind));
        for (key, parent) in deleted {
            if let Some(inputs) = self.inputs.get(&(parent, key.to_string())) {
                inputs.add_to(&mut gone, &written);
            }
        }
        gone
    }

    /// Returns the unread objects that are deleted with their Kustomizations.
    fn deleted_elsewhere(&self, effects: &[DiffEffect]) -> Vec<Unread> {
        let unread = deleted(effects, kinds::FLUX_KUSTOMIZATION)
            .filter_map(|(key, parent)| self.elsewhere.get(&(parent, key.to_string())));
        unread.cloned().collect()
    }

    /// Returns the effects of removing the `unknown` objects, whose tools are not known, if these tools prune.
    fn supposed(
        &self,
        part: &MergePart<'_>,
        unknown: &BTreeSet<ObjectKey>,
        kept_claims: &mut KeptClaims,
    ) -> Result<Vec<DiffEffect>, PlanError> {
        let choice = DeliveryChoice {
            unknown_prunes: true,
            ..self.delivery
        };
        let withdrawn = withdraw(part, &choice, &mut Requested::default());
        let implied = part.analysis.implied(Products::Used);
        let implied = updated(part, implied);
        let planner = Planner::without_facts(scenario(part, &withdrawn, &implied)?, &part.analysis);
        let simulated = planner.simulate();
        let merge = Merge::of(part, &withdrawn, &implied, &simulated);
        kept_claims.add(&merge);
        let caused = merge.effects.into_iter().filter(|effect| {
            effect
                .because
                .first()
                .is_some_and(|root| unknown.contains(root))
        });
        let supposed = caused.map(|effect| DiffEffect {
            certainty: EffectCertainty::Possible,
            regime: Some(DiffEffect::UNKNOWN),
            ..effect
        });
        Ok(supposed.collect())
    }
}

/// Returns the deleted objects of a kind, each with the id of its delivery.
fn deleted<'e>(
    effects: &'e [DiffEffect],
    kind: GroupKind<&'e str>,
) -> impl Iterator<Item = (&'e ObjectKey, Option<String>)> {
    let deleted = effects
        .iter()
        .filter(move |effect| effect.effect.is_deletion() && effect.key.is(kind));
    deleted.map(|effect| {
        let delivery = effect.delivery.as_ref();
        (&effect.key, delivery.map(|delivery| delivery.id.clone()))
    })
}

/// Whether an effect leaves one of the `unknown` objects behind.
fn is_left(effect: &DiffEffect, unknown: &BTreeSet<ObjectKey>) -> bool {
    effect.effect == EffectKind::Orphaned && unknown.contains(&effect.key)
}
