//! Objects that a change removes although head still refers to them by name.

use super::recipe::keep;
use super::words::{leaving, on_culprit, stuck, tool};
use crate::finding::{Certainty, Severity};
use crate::inventory::Member;
use crate::merge::{Cascade, CascadeKind, Merge};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::plain;

pub(in crate::rules) static REFERRED_REMOVED: Rule = rule!(
    Change,
    "referred-removed",
    Warning,
    Collected,
    "An object is removed and deleted although other objects of head refer to it",
    change referred_removed
);

fn referred_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for cascade in merge.of_kind(CascadeKind::Used) {
        sink.extend(draft(merge, cascade));
    }
}

fn draft(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Option<Draft> {
    let member = cascade.culprit;
    // A source that head adds and that is not in the tree may contain the object.
    if cascade.instead.is_some() {
        return None;
    }
    let own = cascade.losses.iter().find(|loss| loss.key == member.key)?;
    let first = *own.users.first()?;
    let severity = if is_certain(merge, member) {
        Severity::Warning
    } else {
        Severity::Info
    };
    let others = match own.users.len() {
        1 => String::new(),
        n => format!(" and {}", plain::count(n - 1, "other object")),
    };
    let verb = if merge.is_tool_known(member) {
        "leaves"
    } else {
        "may leave"
    };
    let leaving = leaving(merge, member);
    let first = named(first);
    let draft = on_culprit(merge, cascade, format!("{leaving} {verb} {first}{others} without it"))
        .label("head still names it")
        .reason(format!(
            "{} deletes {}, and nothing in head creates it. Running Pods and controllers may continue with what they have read; \
             anything that is started or reconciled later does not find it.{}",
            tool(merge, member),
            named(member),
            stuck(cascade)
        ))
        .help(format!(
            "remove or change what refers to it in the same change; or {}",
            keep(&merge.tools_of(member), "it")
        ))
        .severity(severity.min(cascade.severity));
    Some(draft)
}

/// Whether an object of head certainly refers to `member`.
fn is_certain(merge: &Merge<'_>, member: &Member) -> bool {
    merge.part.outlook.as_ref().is_some_and(|outlook| {
        let mut users = outlook.ties().users_of(&member.key);
        users.any(|tie| tie.certainty == Certainty::Certain)
    })
}
