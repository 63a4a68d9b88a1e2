//! The tools that delete removed objects: several if several tools deliver an object.

use std::collections::BTreeSet;

use super::Merge;
use super::withdraw::PartWithdrawal;
use crate::delivery::{Leaving, Op, Regime, ToolRequest, Withdrawal};
use crate::inventory::Member;
use crate::kube::ObjectKey;

impl PartWithdrawal {
    /// Returns the objects that tools delete.
    pub(super) fn deleted(&self) -> BTreeSet<&ObjectKey> {
        deleted(&self.requests).collect()
    }

    /// Records the tool of removed objects. If objects of two destinations have one key, the first
    /// tool that deletes one counts, or else the last one with evidence.
    pub(super) fn add_tool(
        &mut self,
        leaving: &Leaving<'_>,
        tool: (Regime, bool),
        withdrawal: &Withdrawal<'_>,
    ) {
        let (regime, is_known) = tool;
        let deleted: BTreeSet<&ObjectKey> = deleted(&withdrawal.requests).collect();
        for member in &leaving.members {
            let counted = self.regimes.entry(member.key.clone()).or_insert(tool);
            let is_deleted = deleted.contains(&member.key);
            if (is_deleted || is_known) && !self.deleters.contains_key(&member.key) {
                *counted = tool;
            }
            if is_deleted {
                let deleters = self.deleters.entry(member.key.clone()).or_default();
                deleters.push((regime, member.id));
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

/// Returns the objects that requests delete.
pub(super) fn deleted(requests: &[ToolRequest]) -> impl Iterator<Item = &ObjectKey> {
    let deletes = requests.iter().filter(|request| request.op == Op::Delete);
    deletes.map(|request| &request.key)
}
