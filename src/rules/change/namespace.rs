//! Namespaces that a change removes.

use super::recipe::keep;
use super::words::{deletes, describe_losses, leaving, on_culprit, stuck, tool};
use crate::merge::{Cascade, CascadeKind, Merge};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};

pub(in crate::rules) static NAMESPACE_REMOVED: Rule = rule!(
    Change,
    "namespace-removed",
    Error,
    Collected,
    "A Namespace is removed, and everything in it is deleted with it",
    change namespace_removed
);

fn namespace_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for cascade in merge.of_kind(CascadeKind::Namespace) {
        sink.push(draft(merge, cascade));
    }
}

fn draft(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Draft {
    let namespace = cascade.culprit;
    let own = cascade.losses.iter().find(|loss| loss.key == namespace.key);
    let mut taken = describe_losses(cascade);
    if taken.is_empty() && own.is_some_and(|own| !own.users.is_empty()) {
        taken = "everything in it, and head still delivers into it".to_owned();
    } else if taken.is_empty() {
        taken = "everything in it".to_owned();
    }
    let (leaving, deletes) = (leaving(merge, namespace), deletes(merge, namespace));
    on_culprit(merge, cascade, format!("{leaving} {deletes} {taken}"))
        .label("contains the deleted objects")
        .reason(format!(
            "{} deletes the Namespace, and the namespace controller then deletes everything in it, even objects that were \
             never in Git. Protections of single objects have no effect.{}",
            tool(merge, namespace),
            stuck(cascade)
        ))
        .help(keep(&merge.tools_of(namespace), "the Namespace"))
}
