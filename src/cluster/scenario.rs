//! A cluster with the steps to be simulated on it.

use std::collections::BTreeSet;

use super::{Analysis, Assumptions, Built};
use crate::delivery::{Op, ToolRequest};
use crate::gc::{self, Cluster, ClusterError, Plan, SimulationOptions, Step};
use crate::kube::{Wait, kinds};
use crate::ownership::Implied;

/// Maximum number of states in the search for other outcomes of a removal: its requests race with each other, and
/// beyond this the search finds nothing new.
const REMOVAL_STATES: usize = 50_000;

/// Budget of objects for all waits of a removal: each wait visits the whole cluster.
const MAX_LOOKS: usize = 10_000_000;

/// A cluster with the steps to be simulated on it.
#[derive(Debug)]
pub struct Scenario {
    /// The cluster before the first step.
    pub cluster: Cluster,
    /// Assumptions about the cluster.
    pub assumptions: Assumptions,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Options of the simulation.
    pub options: SimulationOptions,
    /// Index of the first of the steps that are shown as one; `None` if each is shown alone.
    pub together: Option<usize>,
    /// Namespaces that exist without an object.
    pub namespaces: BTreeSet<String>,
    /// Whether a first step was inserted in which the cluster settles.
    pub settles_first: bool,
}

impl Scenario {
    /// Creates steps on the cluster of an analysis, with `namespaces` that exist without an object.
    ///
    /// # Errors
    /// Fails if the cluster is too large.
    pub fn of(
        analysis: &Analysis<'_>,
        implied: &Implied<'_>,
        namespaces: BTreeSet<String>,
        steps: Vec<Step>,
        options: SimulationOptions,
    ) -> Result<Self, ClusterError> {
        let Built {
            cluster,
            assumptions,
        } = analysis.with_implied(implied, &namespaces, options.kubelet)?;
        Ok(Self {
            cluster,
            assumptions,
            steps,
            options,
            together: None,
            namespaces,
            settles_first: false,
        })
    }

    /// Builds a scenario from the requests of a tool, as every plan of removed objects does. All
    /// requests are shown as one last step; its outcomes are the states once the cluster has
    /// settled. With `kubelet`, Pods run on nodes and finish when they are deleted.
    ///
    /// # Errors
    /// Fails if the cluster is too large.
    pub fn removal(
        analysis: &Analysis<'_>,
        implied: &Implied<'_>,
        requests: &[ToolRequest],
        kubelet: bool,
    ) -> Result<Self, ClusterError> {
        let namespaces = Self::absent_namespaces(analysis, requests);
        let options = SimulationOptions {
            kubelet,
            state_cap: REMOVAL_STATES,
            ..SimulationOptions::default()
        };
        let mut scenario = Self::of(analysis, implied, namespaces, steps_of(requests), options)?;
        scenario.together = Some(0);
        scenario.leave_out_waits();
        scenario.settle_first();
        Ok(scenario)
    }

    /// Drops waits beyond the budget: each is simulated until the cluster settles, and thousands are not realistic.
    fn leave_out_waits(&mut self) {
        let most = MAX_LOOKS / self.cluster.len().max(1);
        let waits = self.steps.iter_mut().filter_map(|step| match step {
            Step::Delete { wait, .. } if *wait != Wait::None => Some(wait),
            _ => None,
        });
        for wait in waits.skip(most) {
            *wait = Wait::None;
            self.assumptions.waits_left_out += 1;
        }
    }

    /// Returns the namespaces that a tool asks to delete although the input contains no Namespace object.
    fn absent_namespaces(analysis: &Analysis<'_>, requests: &[ToolRequest]) -> BTreeSet<String> {
        let inventory = analysis.inventory();
        requests
            .iter()
            .map(|request| &request.key)
            .filter(|key| key.is(kinds::NAMESPACE) && inventory.with_key(key).is_empty())
            .map(|key| key.name.to_string())
            .collect()
    }

    /// Lets the cluster settle before the first step, if that changes anything, so that a deletion
    /// is not blamed for objects that the collector would remove anyway [SIM-4].
    pub fn settle_first(&mut self) {
        if !self.settled().changes(0).is_empty() {
            self.steps.insert(0, Step::Settle);
            self.together = self.together.map(|first| first + 1);
            self.settles_first = true;
        }
    }

    /// Simulates what the collector does before anything is deleted.
    pub fn settled(&self) -> Plan<'_> {
        gc::simulate(&self.cluster, &[Step::Settle], &self.verdict_only())
    }

    /// Inserts the steps in which a tool removes finalizers of its own before its requests: the tool removes them as
    /// soon as possible, so they do not hold objects that it deletes.
    pub fn release(&mut self, finalizers: Vec<Step>) {
        let first = self.together.unwrap_or(0);
        self.steps.splice(first..first, finalizers);
    }

    /// Returns the steps that are shown as one, or else all steps.
    pub fn requests(&self) -> &[Step] {
        &self.steps[self.together.unwrap_or(0)..]
    }

    /// Simulates the steps.
    pub fn simulate(&self) -> Plan<'_> {
        self.simulate_with(&self.options)
    }

    /// Simulates the steps without a search for other outcomes.
    pub fn verdict(&self) -> Plan<'_> {
        self.simulate_with(&self.verdict_only())
    }

    /// Simulates other steps on the cluster, without a search for other outcomes.
    pub fn verdict_of(&self, steps: &[Step]) -> Plan<'_> {
        gc::simulate(&self.cluster, steps, &self.verdict_only())
    }

    fn simulate_with(&self, options: &SimulationOptions) -> Plan<'_> {
        let plan = gc::simulate(&self.cluster, &self.steps, options);
        match self.together {
            Some(first) => plan.together(first),
            None => plan,
        }
    }

    fn verdict_only(&self) -> SimulationOptions {
        SimulationOptions {
            state_cap: 0,
            ..self.options.clone()
        }
    }
}

/// Returns the steps of a tool's requests: one per DELETE. Creations and updates delete nothing; without any DELETE,
/// the cluster only settles.
pub fn steps_of(requests: &[ToolRequest]) -> Vec<Step> {
    let deletes = requests.iter().filter(|request| request.op == Op::Delete);
    let steps: Vec<Step> = deletes
        .map(|request| Step::Delete {
            targets: vec![request.key.clone()],
            policy: request.policy,
            wait: request.wait,
            client: request.client,
        })
        .collect();
    if steps.is_empty() {
        vec![Step::Settle]
    } else {
        steps
    }
}
