//! Removed objects that owner references in manifests name as owners.

use super::recipe::keep;
use super::words::{leaving, on_culprit, stuck, taking, tool};
use crate::merge::{Cascade, CascadeKind, Merge};
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
    for cascade in merge.of_kind(CascadeKind::Owner) {
        sink.push(draft(merge, cascade));
    }
}

fn draft(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Draft {
    let owner = cascade.culprit;
    let message = format!("{} {}", leaving(merge, owner), taking(merge, cascade));
    on_culprit(merge, cascade, message)
        .label("owns the deleted objects")
        .reason(format!(
            "{} deletes it, and the garbage collector then deletes every dependent without another owner that exists.{}",
            tool(merge, owner),
            stuck(cascade)
        ))
        .help(format!(
            "remove the owner reference from objects that must stay, and merge that first; or {}",
            keep(&merge.tools_of(owner), "the owner")
        ))
}
