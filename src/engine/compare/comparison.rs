//! Two states, read and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cluster::ClusterInput;
use super::configured::{Configured, Judging, configured};
use super::definitions::Definitions;
use super::describe::{self, KeptClaims};
use super::forgetting::forgets;
use super::judge::Judged;
use super::parsed::{Homes, InputsOfDelivery, Parsed};
use super::rendered::{rendered, unrendered};
use super::request::{CompareRequest, StateChoice};
use super::resumed::unread_of_resumed;
use super::start::Start;
use super::state::StateReader;
use super::telling::MergeTelling;
use crate::changes::{
    BothSides, Builds, GoneInputs, ObjectChange, TreePart, Unread, UnreadChanges, UnreadSide,
    WrittenAs, compare, unread, written_key,
};
use crate::charts::Charts;
use crate::engine::describe::tool;
use crate::engine::input::BundleInput;
use crate::engine::{ConfigChoice, PlanError, Planner, SessionError};
use crate::finding::Severity;
use crate::graph::argo::Terms;
use crate::inventory::{self, Texts, read_bytes};
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::manifest::ParsedFile;
use crate::merge::{
    DeliveryChoice, DiffEffect, EffectCertainty, EffectKind, Merge, MergePart, Requested, scenario,
    updated, withdraw,
};
use crate::ownership::Products;
use crate::report::Format;
use crate::report::diff::{DiffReport, FailedBuild, StateName};
use crate::text::Side;

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
    /// Whether charts are rendered.
    renders: bool,
    judging: Judging,
    /// The comparison without the configuration, if only head has one.
    unconfigured: Option<Box<Self>>,
}

impl Comparison {
    /// Reads both states and compares their objects. A text that both share is parsed once.
    ///
    /// # Errors
    /// A path that neither state has, a commit that does not exist, a repository that git cannot read, or a mistake in
    /// the configuration.
    pub fn open(request: &CompareRequest) -> Result<Self, SessionError> {
        let mut reader = StateReader::default();
        let start = Start::of(request, &mut reader)?;
        let base = reader.read(&start.choice, &request.paths)?;
        let mut head = reader.read(&request.head, &request.paths)?;
        if let (StateChoice::Path(_), StateChoice::Path(_)) = (&start.choice, &request.head) {
            head.distinguish(&base);
        }
        if let Some(path) = base.missing.iter().find(|path| head.missing.contains(path)) {
            return Err(SessionError::InNeitherState { path: path.clone() });
        }
        let mut notes = describe::notes(&base, &head);
        notes.splice(0..0, start.note);
        let mut configured = configured(request, &mut reader, &base, &head)?;
        notes.append(&mut configured.notes);
        let unconfigured = configured.is_new.then(|| {
            let without = CompareRequest {
                config: ConfigChoice::Without,
                ..request.clone()
            };
            Self::open(&without).map(Box::new)
        });
        let mut texts = std::mem::take(&mut reader.texts);
        let beside = beside(&request.beside, &mut texts)?;
        let input = &configured.rest.input;
        let charts = if request.render {
            Charts::rendering(
                &request.rendering.and(&configured.charts),
                input.settings.release.to_string(),
            )
        } else {
            Charts::unrendered()
        };
        let [old, new] = Parsed::both(
            [(base, Side::Base), (head, Side::Head)],
            &input.exclude,
            Terms {
                limits: &input.settings.limits,
                clusters: configured.argo_clusters.as_deref(),
            },
            &charts,
            &mut texts,
        )?;
        let edited = old.edited_in(&new);
        let states = [(start.choice, old), (request.head.clone(), new)];
        let [old, new] = if request.render {
            rendered(
                states,
                (&configured, &charts),
                &mut reader,
                &mut texts,
                &mut notes,
            )?
        } else {
            notes.extend(unrendered(&configured));
            states.map(|(_, parsed)| parsed)
        };
        let [in_base, in_head] =
            [&old, &new].map(|parsed| |place: &str| parsed.is_rendered(place, &configured));
        let [of_base, of_head] =
            [&old, &new].map(|parsed| |place: &str| parsed.delivered.evaluated(place));
        let [chart_of_base, chart_of_head] =
            [&old, &new].map(|parsed| |place: &str| parsed.delivered.charted(place));
        let homes = [&old, &new].map(Homes::of);
        let [homes_in_base, homes_in_head] = homes
            .each_ref()
            .map(|homes| |place: &str, written: WrittenAs<'_>| homes.find(place, written));
        let [releases_of_base, releases_of_head] =
            [&old, &new].map(|parsed| parsed.delivered.releases());
        let unread = unread(
            &old.source_state(Builds {
                rendered: &in_base,
                evaluated: &of_base,
                charted: &chart_of_base,
                homes: &homes_in_base,
                releases: &releases_of_base,
            }),
            &new.source_state(Builds {
                rendered: &in_head,
                evaluated: &of_head,
                charted: &chart_of_head,
                homes: &homes_in_head,
                releases: &releases_of_head,
            }),
        );
        let unread = unread.with_transformed(new.transformed(&old, in_head));
        if !request.render && unread.are_of_charts() {
            notes.push(UNRENDERED.to_owned());
        }
        let unrendered = new.unrendered(&old, UnreadSide::Head).into_iter();
        let unrendered = unrendered.chain(old.unrendered(&new, UnreadSide::Base));
        let unread = unread
            .with_unrendered(unrendered)
            .with_elsewhere(new.edited_elsewhere(&old))
            .with_elsewhere(new.unpruned(&old))
            .with_elsewhere(new.disputed(&old));
        let elsewhere = old.deleted_elsewhere();
        let (inputs, dropped) = (old.unread_of_deliveries(), new.unread_dropped(&old));
        let failed = [
            old.failed(UnreadSide::Base),
            new.failed(UnreadSide::Head),
            new.broken_charts(&old),
        ]
        .concat();
        let (before, after) = (old.definitions(), new.definitions());
        let always = Definitions::of(&beside);
        let free = old.free();
        let delivered = old.clusters.clone();
        let bundles_of_base = old.bundles(&configured.clusters)?;
        let bundles_of_head = new.bundles(&configured.clusters)?;
        let are_apart =
            !old.shares_deliveries(&bundles_of_base) && !new.shares_deliveries(&bundles_of_head);
        let rest = &configured.rest.input.settings;
        let old = old.settled(&new).arrange(
            (&bundles_of_base, rest, are_apart),
            &beside,
            &before.or(&after).or(&always),
            &BTreeSet::new(),
        );
        let new = new.arrange(
            (&bundles_of_head, rest, are_apart),
            &beside,
            &after.or(&before).or(&always),
            &free,
        );
        let changes = compare(&old, &new);
        let sides = BothSides {
            base: &old,
            head: &new,
        };
        let unread = unread.with_elsewhere(unread_of_resumed(sides, &changes));
        let Configured {
            mut clusters,
            rest,
            judging,
            ..
        } = configured;
        clusters.push(ClusterInput::alone(rest.clone()));
        // The clusters into which the tree delivers files of no bundle.
        clusters.extend(delivered.iter().map(|name| {
            ClusterInput::alone(BundleInput {
                cluster: Some(name.to_string()),
                ..rest.clone()
            })
        }));
        Ok(Self {
            base: start.name,
            head: describe::name(&request.head),
            old,
            new,
            changes,
            edited,
            unread,
            elsewhere,
            inputs,
            dropped,
            failed,
            notes,
            clusters,
            delivery: request.delivery,
            renders: request.render,
            judging,
            unconfigured: unconfigured.transpose()?,
        })
    }

    /// Counts the objects of both states together.
    pub fn objects(&self) -> usize {
        self.old
            .iter()
            .chain(&self.new)
            .map(|tree| tree.inventory.members.len())
            .sum()
    }

    /// Counts the templates of both states together that were not rendered.
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

    /// Returns the report with the extras of these formats.
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
        if !forgets(&report, &without) {
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
        let mut telling = MergeTelling::new(formats);
        let mut notes = self.notes.clone();
        let mut unknown = 0;
        let mut requested = Requested::default();
        let mut kept_claims = KeptClaims::default();
        let mut unseen = BTreeSet::new();
        // Objects that are not applied are in the last part, which has no settings of its own.
        for (at, cluster) in self.clusters.iter().enumerate() {
            let tools = cluster.tools(&self.old[at]);
            let part = MergePart::of(at, sides, &self.changes, cluster.tables(), tools);
            let withdrawn = withdraw(&part, &self.delivery, &mut requested);
            notes.extend(withdrawn.idle.iter().chain(&withdrawn.assumed).cloned());
            let implied = part.analysis.implied(Products::Used);
            let implied = updated(&part, implied);
            let scenario = scenario(&part, &withdrawn, &implied)?;
            let planner = if telling.is_silent() {
                Planner::untold(scenario, &part.analysis)
            } else {
                Planner::of(scenario, &part.analysis, &implied, Some("merge".to_owned()))
            };
            let simulated = planner.simulate();
            let merge = Merge::of(&part, &withdrawn, &implied, &simulated);
            notes.extend(merge.notes_on_moves());
            judged.add(&merge, &self.judging);
            if !telling.is_silent() {
                telling.add(
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
            plan: telling.outcomes,
            cascades: telling.cascades,
            stories: telling.stories,
            findings: judged.report(sides, &self.judging),
            accepted: Vec::new(),
            notes,
        })
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

    /// Returns the unread inputs that go with their deliveries, or that their deliveries drop.
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
        let planner = Planner::untold(scenario(part, &withdrawn, &implied)?, &part.analysis);
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

fn beside(paths: &[String], texts: &mut Texts) -> Result<Vec<ParsedFile>, SessionError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let walk = inventory::walk(paths, &[])?;
    let read = walk
        .files
        .into_iter()
        .map(|file| (file.path, read_bytes(&file.origin).map(Arc::from)));
    let unreadable = walk
        .unreadable
        .into_iter()
        .map(|file| (file.path, Err(file.reason)));
    Ok(texts.parse(read.chain(unreadable).collect(), Side::Head))
}
