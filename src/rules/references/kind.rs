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
        let written = reference.group_version();
        let kind_name = reference.kind();
        // The API server rejects missing parts, which `owner-missing-field` reports.
        if written.version.is_empty() || kind_name.is_empty() {
            continue;
        }
        let resolution = inventory.owner_kind(reference);
        let serving = &resolution.serving;
        let api_version = reference.api_version();
        let Some(unserved) = Unserved::of(inventory, serving, kind_name, api_version) else {
            continue;
        };
        let owner_kind = GroupKind::new(written.group, kind_name);
        let unserved = unserved.beside(context.analysis, dependent, owner_kind);
        let kind = dependent.object.kind();
        let span = reference
            .api_version
            .as_ref()
            .map_or(reference.span, |value| value.span);
        let message = format!(
            "{} names an owner of kind {kind_name} in `{api_version}`: {}",
            named(dependent),
            unserved.what
        );
        let draft = Draft::on(dependent, span, message)
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
        sink.push(with_crd(draft, inventory, serving));
    }
}
