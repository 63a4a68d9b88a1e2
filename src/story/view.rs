//! Data of a plan besides the simulation.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::written::WrittenAt;
use crate::gc::{Plan, Step};
use crate::knowledge::KnownFinalizers;
use crate::kube::ObjectKey;

/// Data of a plan besides the simulation, for its presentation.
#[derive(Debug)]
pub struct PlanView<'a> {
    /// The finished simulation.
    pub plan: &'a Plan<'a>,
    /// The steps that were simulated.
    pub steps: &'a [Step],
    /// Objects of the simulated cluster whose deletion deletes data: what, after "deletes".
    pub data: BTreeMap<ObjectKey, String>,
    /// Objects of the simulated cluster that no manifest contains.
    pub implied: Vec<ImpliedDependent>,
    /// One line per step: what is done, as its user would say it.
    pub titles: Vec<String>,
    /// Per step: what the request names.
    pub targets: Vec<Vec<ObjectKey>>,
    /// Who removes which finalizer.
    pub known: &'a KnownFinalizers,
    /// Where the objects of the simulated cluster are written, if the format needs it.
    pub written: Option<&'a WrittenAt>,
    /// The assumptions; one sentence each.
    pub notes: Vec<String>,
    /// How many of the last steps nobody asked for: tools send them because of the others.
    pub follow_ups: usize,
    /// The removal of everything that a tool delivered, if that is what is planned.
    pub removal: Option<RemovalView>,
}

impl PlanView<'_> {
    /// Why a tool sends a step, if nobody asked for it: the title of that step.
    pub fn because(&self, step: usize) -> Option<&str> {
        let asked = self.titles.len().saturating_sub(self.follow_ups);
        let title = self.titles.get(step).filter(|_| step >= asked)?;
        Some(title)
    }
}

/// The removal of everything that a tool delivered: many requests, shown as one step.
#[derive(Debug, Clone)]
pub struct RemovalView {
    /// How many steps come before the tool's requests.
    pub first: usize,
    /// Objects that are not in the cluster when the removal begins, although they leave; in the order of the keys.
    pub absent: Vec<ObjectKey>,
    /// Objects that stay on purpose although they leave, and why; half a sentence each.
    pub kept: Vec<(ObjectKey, String)>,
    /// Preparations so that nothing gets stuck; `None` if nothing is known to help.
    pub safe_order: Option<Vec<SafeCommand>>,
    /// The command of the tool itself, or what is done instead of one.
    pub command: String,
}

/// One command of a safe order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeCommand {
    /// The line to paste.
    pub command: String,
    /// Why it helps, in a sentence.
    pub why: String,
}

/// An object that a controller would have created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpliedDependent {
    /// The object.
    pub key: ObjectKey,
    /// The object because of which it exists.
    pub owner: ObjectKey,
    /// The source: `DEP-1`, or the row of a table.
    pub rule: Cow<'static, str>,
}
