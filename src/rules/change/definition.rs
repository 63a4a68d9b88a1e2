//! CustomResourceDefinitions that a change removes.

use std::collections::{BTreeMap, BTreeSet};

use super::places::related_in_base;
use super::recipe::keep_all;
use super::words::{deletes, describe_losses, leaving, on_culprit, stuck, tool};
use crate::changes::Destination;
use crate::charts::in_crds_folder;
use crate::finding::Severity;
use crate::merge::{Cascade, CascadeKind, Merge, Standing};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::{Rule, Sink, rule};

pub(in crate::rules) static CRD_REMOVED: Rule = rule!(
    Change,
    "crd-removed",
    Error,
    Collected,
    "A CustomResourceDefinition is removed, and all of its objects are deleted with it",
    change crd_removed
);

fn crd_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let unrendered = without_definitions(merge);
    let mut together: BTreeMap<_, Vec<&Cascade<'_>>> = BTreeMap::new();
    for cascade in merge.of_kind(CascadeKind::Definition) {
        if is_bare(cascade) {
            let destination = merge.part.base.destination(cascade.culprit.file);
            together.entry(destination).or_default().push(cascade);
        } else {
            sink.push(draft(merge, cascade, &[], &unrendered));
        }
    }
    for alike in together.values() {
        sink.push(draft(merge, alike[0], &alike[1..], &unrendered));
    }
}

/// Whether it is unknown what is deleted with the definition, because Git has no object of its kind.
fn is_bare(cascade: &Cascade<'_>) -> bool {
    let [loss] = cascade.losses.as_slice() else {
        return false;
    };
    loss.key == cascade.culprit.key
        && !loss.stuck
        && loss.users.is_empty()
        && loss.standing == Standing::Removed
}

/// Builds the finding for `cascade`, and for the definitions `alike`, which are removed as well and have no object in
/// Git. `unrendered` are the destinations that head may have rendered without definitions.
fn draft(
    merge: &Merge<'_>,
    cascade: &Cascade<'_>,
    alike: &[&Cascade<'_>],
    unrendered: &BTreeSet<&Destination>,
) -> Draft {
    let crd = cascade.culprit;
    let (them, definition, it, kind) = if alike.is_empty() {
        (
            "the CustomResourceDefinition",
            "the definition",
            "it",
            "its kind",
        )
    } else {
        (
            "the CustomResourceDefinitions",
            "the definitions",
            "them",
            "their kinds",
        )
    };
    let mut taken = describe_losses(cascade);
    if taken.is_empty() {
        taken = format!("every object of {kind}");
    }
    let leaving = match alike.len() {
        0 => leaving(merge, crd),
        more => format!("{} and {more} more", leaving(merge, crd)),
    };
    let unrendered = unrendered.contains(merge.part.base.destination(crd.file));
    let caution = if unrendered {
        " Every CustomResourceDefinition that base was rendered with is missing in head, and nothing else is: if head was rendered \
         without them (`helm template` needs `--include-crds`), nothing is deleted."
    } else {
        ""
    };
    let severity = if unrendered {
        cascade.severity.min(Severity::Warning)
    } else {
        cascade.severity
    };
    let message = format!("{leaving} {} {taken}", deletes(merge, crd));
    let draft = on_culprit(merge, cascade, message)
        .label("defines the deleted objects")
        .reason(format!(
            "{} deletes {them}. The API server then deletes every object of {kind}, in all namespaces, in Git or not, and \
             the garbage collector deletes their dependents.{}{caution}",
            tool(merge, crd),
            stuck(cascade)
        ))
        .help(keep_all(&merge.tools_of(crd), definition, it))
        .severity(severity);
    let draft = draft.alike(alike.iter().map(|other| other.culprit));
    alike.iter().take(MAX_RELATED).fold(draft, |draft, other| {
        related_in_base(draft, merge, other.culprit, "is removed with it")
    })
}

/// Returns the destinations where the change removes all definitions of `crds` folders and no
/// template: a sign that head was rendered without the folder `crds` of its charts.
fn without_definitions<'m>(merge: &Merge<'m>) -> BTreeSet<&'m Destination> {
    let removed = merge.of_kind(CascadeKind::Definition);
    let destinations = removed.map(|cascade| merge.part.base.destination(cascade.culprit.file));
    let mut destinations: BTreeSet<_> = destinations.collect();
    destinations.retain(|destination| all_vanish(merge, destination));
    destinations
}

fn all_vanish(merge: &Merge<'_>, destination: &Destination) -> bool {
    let part = merge.part;
    let deliveries = part.analysis.deliveries();
    let members = part.base.members_at(destination);
    let templates = members.filter_map(|member| {
        let template = deliveries.template(&part.base.inventory, member)?;
        Some((member, template))
    });
    let (definitions, others): (Vec<_>, Vec<_>) =
        templates.partition(|(_, template)| in_crds_folder(template));
    let mut ids = definitions.iter().map(|(member, _)| member.id);
    let mut others_after = others.iter().map(|(member, _)| part.still_applied(member));
    definitions.len() > 1
        && !others.is_empty()
        && ids.all(|id| part.leaving.binary_search(&id).is_ok())
        && others_after.all(|after| after.is_some())
}
