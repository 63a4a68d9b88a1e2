//! A cluster with the steps to be simulated on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::choose::Candidate;
use super::notes::{self, Ground};
use super::question::{PlanError, Question};
use super::titles::{targets_of, title};
use crate::cluster::{Analysis, Assumptions, Built, SafeOrder, safe_order, steps_of};
use crate::delivery::ToolRequest;
use crate::gc::{self, Plan, SimulationOptions, Step};
use crate::kube::kubectl::Target;
use crate::kube::{ObjectKey, Policy, Wait, kinds};
use crate::ownership::Implied;
use crate::ownership::known_finalizers::KnownFinalizers;
use crate::story::{ImpliedDependent, PlanView, command};

/// A cluster with the steps to be simulated on it.
#[derive(Debug)]
pub struct Planner {
    cluster: gc::Cluster,
    steps: Vec<Step>,
    options: SimulationOptions,
    implied: Vec<ImpliedDependent>,
    known: Arc<KnownFinalizers>,
    data: BTreeMap<ObjectKey, String>,
    notes: Vec<String>,
    removal: Option<Told>,
}

/// Many requests of one client, told as one step.
#[derive(Debug)]
struct Told {
    /// How many steps come before.
    first: usize,
    /// What the client does.
    title: String,
}

/// How many states the search for other outcomes of a removal looks at: its requests race with each other, and after some the search
/// finds nothing new.
const REMOVAL_STATES: usize = 50_000;

/// What a planner of a removal is about.
pub(in crate::engine) struct RemovalQuestion<'a> {
    /// The bundle, and what lives beside it.
    pub(in crate::engine) analysis: &'a Analysis<'a>,
    /// What controllers create below its rendered objects.
    pub(in crate::engine) implied: &'a Implied<'a>,
    /// What the tool sends.
    pub(in crate::engine) requests: &'a [ToolRequest],
    /// What that is called.
    pub(in crate::engine) title: String,
    /// Whether Pods run on nodes, and finish when they are deleted.
    pub(in crate::engine) kubelet: bool,
}

impl Planner {
    /// Builds the cluster of a bundle and looks up what the question is about. With `kubelet`, Pods run on nodes and finish
    /// when they are deleted.
    pub(in crate::engine) fn new(
        candidate: &Candidate<'_>,
        question: &Question,
        kubelet: bool,
    ) -> Result<Self, PlanError> {
        let Candidate { analysis, implied, targets, .. } = candidate;
        let is_deletion = matches!(question, Question::Delete { .. });
        let steps = match question {
            Question::Steps { steps, namespace } => steps.resolve(targets, namespace.as_deref())?,
            Question::Delete { targets: words, namespace, policy } => {
                vec![Step::Delete {
                    targets: targets.resolve(words, namespace.as_deref())?,
                    policy: *policy,
                    wait: Wait::Settled,
                }]
            }
        };
        let named = steps.iter().flat_map(targets_of);
        let namespaces = named.filter(|key| targets.is_implicit(key)).map(|key| key.name.clone()).collect();
        let options = SimulationOptions { kubelet, ..SimulationOptions::default() };
        let (mut planner, assumptions) = Self::on(analysis, implied, &namespaces, steps, options)?;
        if is_deletion {
            planner.settle_first(&assumptions);
        }
        Ok(planner)
    }

    /// What becomes of a cluster when a tool sends its requests: the one way from objects that leave to a plan. All requests are
    /// told as one step, the last; its outcomes are the states of every object after everything has come to rest.
    pub(in crate::engine) fn removal(question: RemovalQuestion<'_>) -> Result<Self, PlanError> {
        let RemovalQuestion { analysis, implied, requests, title, kubelet } = question;
        let inventory = analysis.inventory();
        let absent = |key: &&ObjectKey| key.is(kinds::NAMESPACE) && inventory.with_key(key).is_empty();
        let namespaces =
            requests.iter().map(|request| &request.key).filter(absent).map(|key| key.name.clone()).collect();
        let options = SimulationOptions { kubelet, state_cap: REMOVAL_STATES, ..SimulationOptions::default() };
        let (mut planner, assumptions) = Self::on(analysis, implied, &namespaces, steps_of(requests), options)?;
        let sent = planner.steps.len();
        planner.settle_first(&assumptions);
        planner.removal = Some(Told { first: planner.steps.len() - sent, title });
        Ok(planner)
    }

    /// Steps on the cluster of an analysis, and what had to be assumed of it.
    fn on(
        analysis: &Analysis<'_>,
        implied: &Implied<'_>,
        namespaces: &BTreeSet<String>,
        steps: Vec<Step>,
        options: SimulationOptions,
    ) -> Result<(Self, Assumptions), PlanError> {
        let running = options.kubelet;
        let Built { cluster, assumptions } = analysis.with_implied(implied, namespaces, running)?;
        let known = Arc::clone(analysis.ownership().removers.known());
        let ground = Ground { inventory: analysis.inventory(), known: &known, implied, namespaces, running };
        let notes = notes::notes(&ground, &assumptions);
        let data = analysis.data(implied);
        let implied = known_implied(&cluster, &implied.objects);
        Ok((Self { cluster, steps, options, implied, data, known, notes, removal: None }, assumptions))
    }

    /// Has the tool remove finalizers of its own, which it does as soon as it may. They go before its requests: what it deletes then is
    /// not held by them.
    pub(in crate::engine) fn release(&mut self, finalizers: Vec<Step>) {
        let first = self.removal.as_ref().map_or(0, |told| told.first);
        self.steps.splice(first..first, finalizers);
    }

    /// The tool's requests of a removal; everything, where none is told as one.
    pub(super) fn requests(&self) -> &[Step] {
        &self.steps[self.removal.as_ref().map_or(0, |told| told.first)..]
    }

    /// Adds what was assumed of the tool.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        self.notes.splice(0..0, notes);
    }

    /// What to do before the requests, so that nothing gets stuck.
    pub(super) fn safe_order(&self, leaving: &BTreeSet<ObjectKey>, policy: Policy) -> SafeOrder {
        safe_order(&self.cluster, &self.steps, leaving, policy, &self.options)
    }

    /// How kubectl addresses an object.
    pub(super) fn target(&self, key: &ObjectKey) -> Target {
        self.cluster.find(key).map_or_else(|| Target::from(key), |id| command::target(&self.cluster, id))
    }

    /// The finalizers of an object before the first step, as they are stored.
    pub(super) fn finalizers(&self, key: &ObjectKey) -> Vec<String> {
        let stored = self.cluster.find(key).map(|id| self.cluster.finalizer_names(id));
        stored.into_iter().flatten().map(str::to_owned).collect()
    }

    /// The cluster before the first step.
    pub(super) fn cluster(&self) -> &gc::Cluster {
        &self.cluster
    }

    /// [SIM-4]: a deletion is not blamed for what the collector would remove anyway. A list of steps says when to settle.
    fn settle_first(&mut self, assumptions: &Assumptions) {
        let settled = gc::simulate(&self.cluster, &[Step::Settle], &self.verdict_only());
        if !settled.changes(0).is_empty() {
            let note = notes::collapse(&settled, assumptions);
            self.notes.extend(note);
            self.steps.insert(0, Step::Settle);
        }
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Simulates the steps.
    pub fn simulate(&self) -> Plan<'_> {
        self.simulate_with(&self.options)
    }

    /// Simulates the steps without a search for other outcomes.
    pub(in crate::engine) fn verdict(&self) -> Plan<'_> {
        self.simulate_with(&self.verdict_only())
    }

    fn simulate_with(&self, options: &SimulationOptions) -> Plan<'_> {
        let plan = gc::simulate(&self.cluster, &self.steps, options);
        match &self.removal {
            Some(told) => plan.together(told.first),
            None => plan,
        }
    }

    fn verdict_only(&self) -> SimulationOptions {
        SimulationOptions { state_cap: 0, ..self.options.clone() }
    }

    /// What formats may say about a plan of this planner.
    pub fn view<'a>(&'a self, plan: &'a Plan<'a>) -> PlanView<'a> {
        let mut titles: Vec<String> = self.steps.iter().map(title).collect();
        let mut targets: Vec<Vec<ObjectKey>> =
            self.steps.iter().map(|step| targets_of(step).cloned().collect()).collect();
        if let Some(Told { first, title }) = &self.removal {
            titles.truncate(*first);
            titles.push(title.clone());
            let requests = targets.split_off(*first);
            targets.push(requests.into_iter().flatten().collect());
        }
        let mut notes = self.notes.clone();
        notes.extend(notes::rejections(&targets, plan));
        let (implied, data) = (self.implied.clone(), self.data.clone());
        PlanView { plan, steps: &self.steps, data, implied, titles, targets, known: &self.known, notes, removal: None }
    }
}

/// The implied objects that made it into the cluster.
fn known_implied(cluster: &gc::Cluster, objects: &[crate::ownership::ImpliedObject<'_>]) -> Vec<ImpliedDependent> {
    let implied = objects.iter().map(|object| ImpliedDependent {
        key: object.key.clone(),
        owner: object.owner.clone(),
        rule: object.rule.clone(),
    });
    implied.filter(|implied| cluster.find(&implied.key).is_some()).collect()
}
