//! Removed objects that owner references in manifests name as owners.

use super::places::on_base;
use super::recipe::keep;
use super::words::{leaving, shown, stuck, taking, tool};
use crate::merge::{CascadeKind, Merge, MergeCascade};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};

pub(in crate::rules) static OWNER_REMOVED: Rule = rule!(
    Change,
    "owner-removed",
    Error,
    Collected,
    "An owner is removed, and its dependents are deleted with it",
    change owner_removed
);

fn owner_removed(merge: &Merge<'_>, sink: &mut Sink) {
    sink.extend(
        merge
            .of_kind(CascadeKind::Owner)
            .map(|cascade| draft(merge, cascade)),
    );
}

fn draft(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let owner = cascade.culprit;
    let regime = merge.tool_of(owner);
    let draft = on_base(merge, owner, owner.object.name_span(), format!("{} {}", leaving(merge, owner), taking(merge, cascade)))
        .label("owns the deleted objects")
        .reason(format!(
            "{} deletes it, and the garbage collector then deletes every dependent that has no other owner.{}",
            tool(merge, owner),
            stuck(cascade)
        ))
        .help(format!(
            "remove the owner reference from objects that must stay, and merge that first; or {}",
            keep(regime, "the owner")
        ))
        .field("metadata.name")
        .severity(cascade.severity);
    shown(draft, merge, cascade)
}
