//! The data for the presentation of a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::written::WrittenAt;
use crate::gc::{Plan, Step};
use crate::knowledge::KnownFinalizers;
use crate::kube::ObjectKey;

/// A finished simulation, with the data for its presentation.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The finished simulation.
    pub plan: &'a Plan<'a>,
    /// The steps that were simulated.
    pub steps: &'a [Step],
    /// Objects of the simulated cluster whose deletion deletes data, with the data as worded after "deletes".
    pub data: BTreeMap<ObjectKey, String>,
    /// Objects of the simulated cluster that no manifest contains.
    pub implied: Vec<ImpliedDependent>,
    /// A title for each step, of one line.
    pub titles: Vec<String>,
    /// The objects that the requests of each step name.
    pub targets: Vec<Vec<ObjectKey>>,
    /// The controllers that remove finalizers.
    pub known: &'a KnownFinalizers,
    /// The places of the objects of the simulated cluster in files, if the format needs them.
    pub written: Option<&'a WrittenAt>,
    /// The assumptions; one sentence each.
    pub notes: Vec<String>,
    /// The deleted delivery objects whose tools may delete further objects, which are not known.
    pub unread: &'a [ObjectKey],
    /// The number of last steps that were not requested: tools send them as a result of the others.
    pub follow_ups: usize,
    /// The removal of everything that a tool delivered, if the plan is one.
    pub removal: Option<RemovalView>,
}

impl PlanView<'_> {
    /// Returns the title of a step that a tool sends because of others; `None` for a requested step.
    pub fn because(&self, step: usize) -> Option<&str> {
        let asked = self.titles.len().saturating_sub(self.follow_ups);
        let title = self.titles.get(step).filter(|_| step >= asked)?;
        Some(title)
    }
}

/// The removal of everything that a tool delivered: many requests, shown as one step.
#[derive(Debug, Clone)]
pub struct RemovalView {
    /// The number of steps before the tool's requests.
    pub first: usize,
    /// Delivered objects that are not in the cluster when the removal begins, in the order of their keys.
    pub absent: Vec<ObjectKey>,
    /// Delivered objects that stay on purpose, each with the reason as half a sentence.
    pub kept: Vec<(ObjectKey, String)>,
    /// Preparations so that nothing gets stuck; `None` if no order is known that helps.
    pub safe_order: Option<Vec<SafeCommand>>,
    /// The command of the tool itself, or the action in place of one.
    pub command: String,
}

/// One command of a safe order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeCommand {
    /// The line to paste.
    pub command: String,
    /// The reason why it helps, as a sentence.
    pub why: String,
}

/// An object that a controller would have created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpliedDependent {
    /// The object.
    pub key: ObjectKey,
    /// Its owner.
    pub owner: ObjectKey,
    /// The source: `DEP-1`, or the row of a table.
    pub rule: Cow<'static, str>,
}
