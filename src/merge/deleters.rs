//! The tools that delete removed objects: several if several tools deliver an object.

use std::collections::BTreeSet;

use super::Merge;
use super::withdraw::PartWithdrawal;
use crate::delivery::{Leaving, Op, Regime, Withdrawal};
use crate::inventory::Member;
use crate::kube::ObjectKey;

impl PartWithdrawal {
    /// Returns the objects that tools delete.
    pub(super) fn deleted(&self) -> BTreeSet<&ObjectKey> {
        let requests = self.requests.iter();
        let deletes = requests.filter(|request| request.op == Op::Delete);
        deletes.map(|request| &request.key).collect()
    }

    /// Records the objects that a tool deletes. The first tool that deletes an object counts as its tool.
    pub(super) fn add_deleter(
        &mut self,
        leaving: &Leaving<'_>,
        tool: (Regime, bool),
        withdrawal: &Withdrawal<'_>,
    ) {
        let requests = withdrawal.requests.iter();
        let deleted = requests.filter(|request| request.op == Op::Delete);
        let deleted: BTreeSet<&ObjectKey> = deleted.map(|request| &request.key).collect();
        let members = leaving.members.iter();
        for member in members.filter(|member| deleted.contains(&member.key)) {
            let deleters = self.deleters.entry(member.key.clone()).or_default();
            deleters.push((tool.0, member.id));
            if deleters.len() == 1 {
                self.regimes.insert(member.key.clone(), tool);
            }
        }
    }

    /// Returns the tool of the first of some objects, and whether there is evidence for it.
    pub(super) fn tool_of_first(&self, because: &[ObjectKey]) -> Option<(Regime, bool)> {
        self.regimes.get(because.first()?).copied()
    }
}

impl Merge<'_> {
    /// Returns the tools that delete a removed object, or else the tool that delivers it; empty if there is none.
    pub fn tools_of(&self, member: &Member) -> Vec<Regime> {
        let mut tools: Vec<Regime> = Vec::new();
        let deleters = self.withdrawn.deleters.get(&member.key).into_iter();
        for (regime, _) in deleters.flatten() {
            if !tools.contains(regime) {
                tools.push(*regime);
            }
        }
        if tools.is_empty() {
            tools.extend(self.tool_of(member));
        }
        tools
    }
}
