//! CustomResourceDefinitions that leave.

use super::places::on_base;
use super::recipe::keep;
use super::words::{grave, shown, toll};
use crate::merge::{CascadeKind, Merge, MergeCascade};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static CRD_REMOVED: Rule = rule!(
    "crd-removed",
    Error,
    Collected,
    "A CustomResourceDefinition leaves, and all of its objects are deleted with it",
    change crd_removed
);

fn crd_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let definitions = merge.cascades.iter().filter(|cascade| cascade.kind == CascadeKind::Definition);
    sink.extend(definitions.map(|cascade| draft(merge, cascade)));
}

fn draft(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let crd = cascade.culprit;
    let toll = toll(cascade);
    let message = match toll.is_empty() {
        true => format!("removing {} deletes every object of its kind", named(crd)),
        false => format!("removing {} deletes {toll}", named(crd)),
    };
    let tool = merge.tool_of(crd);
    let reason = format!(
        "{} deletes the CustomResourceDefinition, and the API server then deletes every object of its kind in every namespace, whoever \
         created it.{}",
        tool.map_or("The delivery tool", |regime| regime.tool()),
        grave(cascade)
    );
    let draft = on_base(merge, crd, crd.object.name_span(), message)
        .label("defines what is deleted")
        .reason(reason)
        .help(keep(tool, "the definition"))
        .field("metadata.name")
        .severity(cascade.severity);
    shown(draft, merge, cascade)
}
