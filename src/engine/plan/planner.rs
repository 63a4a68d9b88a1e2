//! Builds scenarios, and the facts that formats show besides their simulation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cascaded::{self, cascaded};
use super::choose::Candidate;
use super::followed::{Followed, followed};
use super::notes::{self, NoteInput};
use super::question::{PlanError, Question};
use crate::cluster::{Analysis, Reclaims, SafeOrder, Scenario, safe_order};
use crate::gc::{self, Plan, SimulationOptions, Step};
use crate::knowledge::KnownFinalizers;
use crate::kube::kubectl::Target;
use crate::kube::{GroupKind, ObjectKey, Policy};
use crate::ownership::{Implied, ImpliedObject};
use crate::story::{ImpliedDependent, PlanView, WrittenAt, command};

/// The note on a target that nothing applies.
const UNAPPLIED: &str =
    "Nothing in the input applies the target: this plan is about the files that nothing applies.";

/// A scenario, and the facts that formats show besides its simulation.
#[derive(Debug)]
pub struct Planner {
    scenario: Scenario,
    implied: Vec<ImpliedDependent>,
    known: Arc<KnownFinalizers>,
    data: BTreeMap<ObjectKey, String>,
    written: WrittenAt,
    notes: Vec<String>,
    /// The kinds of CRDs whose objects may not all be in the input, by the key of the CRD.
    defined: BTreeMap<ObjectKey, GroupKind>,
    /// Whether no object is from a dump, which would show every controller.
    rendered: bool,
    /// The title of the requests that are shown as one step.
    title: Option<String>,
    /// The deleted delivery objects whose delivered objects are not all known.
    unread: Vec<ObjectKey>,
    /// The titles of the last steps: requests of tools and controllers that follow the first ones.
    followed_by: Vec<String>,
}

impl Planner {
    /// Builds the scenario of a question about a cluster. With `kubelet`, Pods run on nodes and finish when they are
    /// deleted.
    pub(in crate::engine) fn new(
        candidate: &Candidate<'_>,
        question: &Question,
        kubelet: bool,
    ) -> Result<Self, PlanError> {
        let Candidate {
            analysis,
            implied,
            targets,
            ..
        } = candidate;
        let is_deletion = matches!(question, Question::Delete { .. });
        let mut of_tools = Followed::default();
        let steps = match question {
            Question::Steps { steps, namespace } => steps.resolve(targets, namespace.as_deref())?,
            Question::Delete {
                targets: words,
                namespace,
                policy,
            } => {
                let targets = targets.resolve(words, namespace.as_deref())?;
                of_tools = followed(candidate.cluster, analysis, &targets, *policy);
                vec![Step::delete(targets, *policy)]
            }
        };
        let named = steps.iter().flat_map(targets_of);
        let namespaces = named
            .filter(|key| targets.is_implicit(key))
            .map(|key| key.name.to_string())
            .collect();
        let options = SimulationOptions {
            kubelet,
            ..SimulationOptions::default()
        };
        let mut scenario = Scenario::of(analysis, implied, namespaces, steps, options)?;
        let mut notes = std::mem::take(&mut of_tools.notes);
        let mut unread = std::mem::take(&mut of_tools.unread);
        let mut followed_by = Vec::new();
        if is_deletion {
            let reclaims = Reclaims::of(analysis.inventory(), implied);
            let mut steps = std::mem::take(&mut scenario.steps);
            followed_by =
                of_tools.add_to(&mut steps, &reclaims, |steps| scenario.verdict_of(steps));
            let cascaded = cascaded(analysis, &steps, || scenario.verdict_of(&steps));
            notes.extend(cascaded::notes(&cascaded));
            unread.extend(cascaded.into_iter().map(|(_, key)| key));
            scenario.steps = steps;
            scenario.settle_first();
        }
        let mut planner = Self::of(scenario, analysis, implied, None);
        planner.followed_by = followed_by;
        planner.unread = unread;
        if !candidate.cluster.is_applied() {
            planner.note(vec![UNAPPLIED.to_owned()]);
        }
        planner.note(notes);
        Ok(planner)
    }

    /// Builds the notes on a scenario and the facts that formats show. `title`: the title of the requests that are
    /// shown as one step.
    pub(in crate::engine) fn of(
        scenario: Scenario,
        analysis: &Analysis<'_>,
        implied: &Implied<'_>,
        title: Option<String>,
    ) -> Self {
        let input = NoteInput {
            inventory: analysis.inventory(),
            tables: analysis.tables(),
            implied,
            reach: analysis.reach(),
            namespaces: &scenario.namespaces,
            running: scenario.options.kubelet,
        };
        let mut notes = notes::notes(&input, &scenario.assumptions);
        if scenario.settles_first {
            notes.extend(notes::collapse(&scenario.settled(), &scenario.assumptions));
        }
        let mut members = analysis.inventory().members.iter();
        Self {
            implied: known_implied(&scenario.cluster, &implied.objects),
            data: analysis.data(implied),
            written: WrittenAt::of(analysis.inventory(), &scenario.cluster),
            notes,
            defined: notes::defined_kinds(analysis.inventory()),
            rendered: members.all(|member| !member.from_dump),
            title,
            ..Self::without_facts(scenario, analysis)
        }
    }

    /// Wraps a scenario that no format shows, so that no facts are computed.
    pub(in crate::engine) fn without_facts(scenario: Scenario, analysis: &Analysis<'_>) -> Self {
        Self {
            scenario,
            implied: Vec::new(),
            known: Arc::clone(analysis.ownership().removers.known()),
            data: BTreeMap::new(),
            written: WrittenAt::default(),
            notes: Vec::new(),
            defined: BTreeMap::new(),
            rendered: false,
            title: None,
            unread: Vec::new(),
            followed_by: Vec::new(),
        }
    }

    /// Returns the requests of a tool, which are shown as one step; without them, all steps.
    pub(super) fn requests(&self) -> &[Step] {
        self.scenario.requests()
    }

    /// Sets the deleted delivery objects whose delivered objects are not all known.
    pub(super) fn set_unread(&mut self, unread: Vec<ObjectKey>) {
        self.unread = unread;
    }

    /// Puts notes before the others.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        self.notes.splice(0..0, notes);
    }

    /// Searches for preparations that keep the requests from leaving anything stuck.
    pub(super) fn safe_order(&self, leaving: &BTreeSet<ObjectKey>, policy: Policy) -> SafeOrder {
        let Scenario {
            cluster,
            steps,
            options,
            ..
        } = &self.scenario;
        safe_order(cluster, steps, leaving, policy, options)
    }

    /// Returns how kubectl addresses an object.
    pub(super) fn target(&self, key: &ObjectKey) -> Target {
        let cluster = self.cluster();
        cluster
            .find(key)
            .map_or_else(|| Target::from(key), |id| command::target(cluster, id))
    }

    /// Returns the finalizers of an object before the first step, as they are stored.
    pub(super) fn finalizers(&self, key: &ObjectKey) -> Vec<String> {
        let stored = self
            .cluster()
            .find(key)
            .map(|id| self.cluster().finalizer_names(id));
        stored.into_iter().flatten().map(str::to_owned).collect()
    }

    /// Returns the cluster before the first step.
    pub(super) fn cluster(&self) -> &gc::Cluster {
        &self.scenario.cluster
    }

    /// Returns the steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.scenario.steps
    }

    /// Simulates the steps.
    pub fn simulate(&self) -> Plan<'_> {
        self.scenario.simulate()
    }

    /// Returns the view of a plan of this planner, for formats.
    pub fn view<'a>(&'a self, plan: &'a Plan<'a>) -> PlanView<'a> {
        let steps = self.steps();
        let mut titles: Vec<String> = steps.iter().map(title).collect();
        titles.truncate(steps.len() - self.followed_by.len());
        titles.extend(self.followed_by.iter().cloned());
        let mut targets: Vec<Vec<ObjectKey>> =
            steps.iter().map(|step| targets_of(step).to_vec()).collect();
        if let (Some(first), Some(title)) = (self.scenario.together, &self.title) {
            titles.truncate(first);
            titles.push(title.clone());
            let requests = targets.split_off(first);
            targets.push(requests.into_iter().flatten().collect());
        }
        let mut notes: Vec<String> = notes::instances(&self.defined, plan).into_iter().collect();
        notes.extend(self.notes.iter().cloned());
        notes.extend(notes::rejections(&targets, plan));
        notes.extend(self.rendered.then(|| notes::unattended(plan)).flatten());
        PlanView {
            plan,
            steps,
            data: self.data.clone(),
            implied: self.implied.clone(),
            titles,
            targets,
            known: &self.known,
            written: Some(&self.written),
            notes,
            unread: &self.unread,
            follow_ups: self.followed_by.len(),
            removal: None,
        }
    }
}

/// Returns the implied objects that the cluster contains.
fn known_implied(cluster: &gc::Cluster, objects: &[ImpliedObject<'_>]) -> Vec<ImpliedDependent> {
    let known = objects
        .iter()
        .filter(|object| cluster.find(&object.key).is_some());
    let implied = known.map(|object| ImpliedDependent {
        key: object.key.clone(),
        owner: object.owner.clone(),
        rule: object.rule.clone(),
    });
    implied.collect()
}

/// Returns the targets of a step, in the order of its requests.
pub(super) fn targets_of(step: &Step) -> &[ObjectKey] {
    match step {
        Step::Settle => &[],
        Step::Delete { targets, .. } | Step::RemoveFinalizer { targets, .. } => targets,
        Step::RemoveAllFinalizers { target } | Step::ForceDelete { target } => {
            std::slice::from_ref(target)
        }
    }
}

fn title(step: &Step) -> String {
    match step {
        Step::Settle => "settle".to_owned(),
        Step::Delete {
            targets, policy, ..
        } => {
            let policy = match policy {
                Some(Policy::Background) => "Background",
                Some(Policy::Foreground) => "Foreground",
                Some(Policy::Orphan) => "Orphan",
                None => "no policy",
            };
            format!("delete {} ({policy})", listed(targets))
        }
        Step::RemoveFinalizer {
            targets, finalizer, ..
        } => {
            format!("remove finalizer {finalizer} from {}", listed(targets))
        }
        Step::RemoveAllFinalizers { target } => format!("remove all finalizers from {target}"),
        Step::ForceDelete { target } => format!("force-delete {target}"),
    }
}

fn listed(targets: &[ObjectKey]) -> String {
    let targets: Vec<String> = targets.iter().map(ObjectKey::to_string).collect();
    targets.join(", ")
}
