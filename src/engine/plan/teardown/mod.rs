//! A tool's removal of everything that it delivered: its requests, their effects, the objects that stay on purpose, and
//! preparations so that nothing gets stuck.
//!
//! * `request`: the request
//! * `tool`: the tool, if the request names none
//! * `withdraw`: the requests of the tool, and the command that makes it send them
//! * `kept`: the objects that stay, with the reasons
//! * `prepare`: a safe order, as commands

mod kept;
mod prepare;
mod request;
mod tool;
mod withdraw;

use std::collections::BTreeSet;

use super::clusters::PlannedCluster;
use super::planner::Planner;
use super::question::PlanError;
use crate::cluster::SafeOrder;
use crate::gc::Plan;
use crate::kube::ObjectKey;
use crate::ownership::Products;
use crate::story::{PlanView, RemovalView, SafeCommand, words};
pub(in crate::engine::plan) use kept::spared_one_by_one;
pub use request::{TeardownBy, TeardownRequest};

/// A removal, ready to be simulated.
#[derive(Debug)]
pub struct Teardown {
    planner: Planner,
    /// Hooks of Helm that are not in the cluster when the removal begins.
    absent: BTreeSet<ObjectKey>,
    /// Objects that the tool spares, with the reasons.
    spared: Vec<(ObjectKey, String)>,
    safe_order: Option<Vec<SafeCommand>>,
    /// The command that follows the safe order.
    command: String,
}

impl Teardown {
    /// Plans the removal of the selected objects of a cluster.
    pub(in crate::engine) fn new(
        cluster: PlannedCluster<'_>,
        request: &TeardownRequest,
    ) -> Result<Self, PlanError> {
        let whole = cluster.analysis();
        let (by, detected) = if let Some(by) = request.by {
            (by, None)
        } else {
            let (by, note) = tool::detected(cluster, &whole)?;
            (by, Some(note))
        };
        let transient = withdraw::transient(cluster, &whole, by);
        let absent = transient.iter().map(|member| member.key.clone()).collect();
        let analysis = &whole.without(transient.iter().map(|member| member.id).collect());
        let implied = &analysis.implied(Products::Owned);
        let removal = withdraw::withdraw(cluster, analysis, (by, request))?;
        let scenario = removal.scenario(analysis, implied, request.kubelet)?;
        let mut planner = Planner::of(scenario, analysis, implied, Some(removal.command.clone()));
        planner.set_unread(removal.unread.clone());
        planner.note(removal.notes.clone());
        planner.note(detected.into_iter().collect());
        let leaving = cluster
            .asked_for()
            .map(|member| member.key.clone())
            .collect();
        let search = planner.safe_order(&leaving, removal.policy);
        let safe_order = match search {
            SafeOrder::Unneeded => Some(Vec::new()),
            SafeOrder::Found(preparations) => Some(prepare::commands(
                &preparations,
                &planner,
                by,
                (cluster, analysis),
                &removal,
            )),
            SafeOrder::Unknown => None,
        };
        let spared = kept::spared(cluster, &removal);
        Ok(Self {
            planner,
            absent,
            spared,
            safe_order,
            command: removal.after_preparations(),
        })
    }

    /// Simulates the removal; its requests are one step.
    pub fn simulate(&self) -> Plan<'_> {
        self.planner.simulate()
    }

    /// Returns its view, for formats.
    pub fn view<'a>(&'a self, plan: &'a Plan<'a>) -> PlanView<'a> {
        let mut view = self.planner.view(plan);
        let spared = self
            .spared
            .iter()
            .filter(|(key, _)| !self.absent.contains(key))
            .cloned();
        let keeps = plan.keeps();
        let (mut kept, lost): (Vec<_>, Vec<_>) = spared.partition(|(key, _)| keeps(key));
        kept.extend(kept::claims(&view.implied, keeps));
        view.notes.extend(lost.into_iter().map(|(key, why)| {
            format!("Deleted all the same, because what contains or defines it is deleted: {key} ({why}).")
        }));
        if self.safe_order.is_none() {
            view.notes
                .push("No order is known in which nothing gets stuck.".to_owned());
        }
        if !self.absent.is_empty() {
            view.notes.push(format!(
                "No longer in the cluster, because Helm deletes these hooks after they have run: \
                 {}.",
                words::keys(self.absent.iter())
            ));
        }
        view.removal = Some(RemovalView {
            // An object in the cluster may have the key of one that is absent.
            absent: self
                .absent
                .iter()
                .filter(|key| plan.cluster().find(key).is_none())
                .cloned()
                .collect(),
            first: plan.steps.len().saturating_sub(1),
            kept,
            safe_order: self.safe_order.clone(),
            command: self.command.clone(),
        });
        view
    }

    /// Whether a request of the removal was rejected.
    pub fn is_rejected(&self, plan: &Plan<'_>) -> bool {
        withdraw::is_rejected(plan)
    }
}
