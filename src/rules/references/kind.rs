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
        let (version, owner_kind) = (reference.group_version(), reference.kind());
        // The API server rejects missing parts, which `owner-missing-field` reports.
        if version.version.is_empty() || owner_kind.is_empty() {
            continue;
        }
        let resolution = inventory.owner_kind(reference);
        let (serving, api_version) = (&resolution.serving, reference.api_version());
        let Some(unserved) = Unserved::of(inventory, serving, owner_kind, api_version) else {
            continue;
        };
        let owner_kind = GroupKind::new(version.group, owner_kind);
        let unserved = unserved.beside(context.analysis, dependent, owner_kind);
        let kind = dependent.object.kind();
        let written = reference.api_version.as_ref();
        let span = written.map_or(reference.span, |api_version| api_version.span);
        let message = format!(
            "{} names an owner of kind {} in `{}`: {}",
            named(dependent),
            reference.kind(),
            reference.api_version(),
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
