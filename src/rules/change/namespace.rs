//! Namespaces that a change removes.

use super::places::on_base;
use super::recipe::keep;
use super::words::{deletes, leaving, shown, stuck, toll, tool};
use crate::merge::{CascadeKind, Merge, MergeCascade};
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
    sink.extend(
        merge
            .of_kind(CascadeKind::Namespace)
            .map(|cascade| draft(merge, cascade)),
    );
}

fn draft(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let namespace = cascade.culprit;
    let own = cascade.losses.iter().find(|loss| loss.key == namespace.key);
    let taken = match (toll(cascade), own.is_some_and(|own| !own.users.is_empty())) {
        (nothing, true) if nothing.is_empty() => {
            "everything in it, and head still delivers into it".to_owned()
        }
        (nothing, false) if nothing.is_empty() => "everything in it".to_owned(),
        (toll, _) => toll,
    };
    let regime = merge.tool_of(namespace);
    let message = format!(
        "{} {} {taken}",
        leaving(merge, namespace),
        deletes(merge, namespace)
    );
    let draft = on_base(merge, namespace, namespace.object.name_span(), message)
        .label("contains the deleted objects")
        .reason(format!(
            "{} deletes the Namespace, and the namespace controller then deletes everything in it, even objects that were \
             never in git. Protections of single objects have no effect.{}",
            tool(merge, namespace),
            stuck(cascade)
        ))
        .help(keep(regime, "the Namespace"))
        .field("metadata.name")
        .severity(cascade.severity);
    shown(draft, merge, cascade)
}
