//! CustomResourceDefinitions that leave.

use super::places::on_base;
use super::recipe::keep;
use super::words::{leaving, shown, stuck, toll, tool};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::kinds;
use crate::merge::{CascadeKind, Merge, MergeCascade};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};

pub(in crate::rules) static CRD_REMOVED: Rule = rule!(
    "crd-removed",
    Error,
    Collected,
    "A CustomResourceDefinition leaves, and all of its objects are deleted with it",
    change crd_removed
);

fn crd_removed(merge: &Merge<'_>, sink: &mut Sink) {
    sink.extend(merge.of_kind(CascadeKind::Definition).map(|cascade| draft(merge, cascade)));
}

fn draft(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let crd = cascade.culprit;
    let taken = match toll(cascade) {
        nothing if nothing.is_empty() => "every object of its kind".to_owned(),
        toll => toll,
    };
    let regime = merge.tool_of(crd);
    let unrendered = all_vanish(merge, crd);
    let caution = match unrendered {
        true => {
            " Every CustomResourceDefinition that base was rendered with is missing in head, and nothing else is: if head was rendered \
             without them (`helm template` needs `--include-crds`), nothing is deleted."
        }
        false => "",
    };
    let severity = if unrendered { cascade.severity.min(Severity::Warning) } else { cascade.severity };
    let draft = on_base(merge, crd, crd.object.name_span(), format!("{} deletes {taken}", leaving(merge, crd)))
        .label("defines what is deleted")
        .reason(format!(
            "{} deletes the CustomResourceDefinition. The API server then deletes every object of its kind, in all namespaces and \
             whoever created it, and the garbage collector what these own.{}{caution}",
            tool(regime),
            stuck(cascade)
        ))
        .help(keep(regime, "the definition"))
        .field("metadata.name")
        .severity(severity);
    shown(draft, merge, cascade)
}

/// Whether all CustomResourceDefinitions that one rendering had are gone at once, while head has the rest of it: the sign of a
/// rendering without them.
fn all_vanish(merge: &Merge<'_>, crd: &Member) -> bool {
    let part = merge.part;
    let destination = part.base.destination(crd.file);
    let deliveries = part.analysis.deliveries();
    let rendered = |member: &&Member| {
        part.base.destination(member.file) == destination && deliveries.template(&part.base.inventory, member).is_some()
    };
    let is_definition = |member: &&Member| member.object.is(kinds::CUSTOM_RESOURCE_DEFINITION);
    let mut definitions = part.base.inventory.members.iter().filter(rendered).filter(is_definition);
    let gone = definitions.clone().all(|member| part.leaving.contains(&member.id));
    let others = part.base.inventory.members.iter().filter(rendered).filter(|member| !is_definition(member));
    let mut others = others.peekable();
    definitions.nth(1).is_some()
        && gone
        && others.peek().is_some()
        && others.all(|member| part.still_applied(member).is_some())
}
