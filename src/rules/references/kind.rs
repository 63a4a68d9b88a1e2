//! Owners of a kind that is not served.

use crate::kube::GroupKind;
use crate::rules::draft::Draft;
use crate::rules::objects::serving::{Unserved, with_crd};
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{field, named, target};

pub(in crate::rules) static OWNER_KIND_UNRESOLVABLE: Rule = rule!(
    References,
    "owner-kind-unresolvable",
    Error,
    NeverCollected,
    "An owner reference names a kind that is not served",
    owner_kind_unresolvable
);

/// [GC-16], [L-14], [L-28].
fn owner_kind_unresolvable(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for (_, dependent, reference) in context.references() {
        let version = reference.group_version().version;
        // The API server rejects missing parts, which `owner-missing-field` reports.
        if version.is_empty() || reference.kind().is_empty() {
            continue;
        }
        let resolution = inventory.owner_kind(reference);
        let Some(unserved) = Unserved::of(
            inventory,
            &resolution.serving,
            reference.kind(),
            reference.api_version(),
        ) else {
            continue;
        };
        let group = &reference.group_version().group;
        let unserved = unserved.beside(
            context.analysis,
            dependent,
            GroupKind::new(group, reference.kind()),
        );
        let kind = dependent.object.kind();
        let span = reference
            .api_version
            .as_ref()
            .map_or(reference.span, |api_version| api_version.span);
        let draft = Draft::on(
            dependent,
            span,
            format!(
                "{} names an owner of kind {} in `{}`: {}",
                named(dependent),
                reference.kind(),
                reference.api_version(),
                unserved.what
            ),
        )
        .severity(unserved.severity)
        .label(unserved.label)
        .reason(format!(
            "The garbage collector cannot resolve the owner's kind, so it retries forever and never decides: this \
             {kind} is kept, even when all its owners are gone. {}",
            unserved.reason
        ))
        .help(unserved.help)
        .field(format!("{}.apiVersion", field(reference)))
        .target(target(reference));
        sink.push(with_crd(draft, inventory, &resolution.serving));
    }
}
