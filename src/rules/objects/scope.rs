//! The namespace of an object whose kind is cluster-scoped.

use crate::finding::Applicability;
use crate::kube::Scope;
use crate::rules::draft::Draft;
use crate::rules::proposal::Proposal;
use crate::rules::references::scope::definition_of_scope;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static NAMESPACE_ON_CLUSTER_SCOPED: Rule = rule!(
    Objects,
    "namespace-on-cluster-scoped",
    Info,
    Ignored,
    "A cluster-scoped object has a namespace",
    namespace_on_cluster_scoped
)
.once_per_files()
.fixes(&[Applicability::Safe]);

/// [VAL-34], [L-6].
fn namespace_on_cluster_scoped(context: &Context<'_>, sink: &mut Sink) {
    for member in &context.inventory.members {
        if member.scope() != Some(Scope::Cluster) {
            continue;
        }
        let written = member.object.metadata().namespace();
        let Some(namespace) = written.filter(|written| !written.value.is_empty()) else {
            continue;
        };
        sink.push_with(|| {
            let (kind, name) = (member.object.kind(), &namespace.value);
            let message = format!("cluster-scoped {} has a namespace, `{name}`", named(member));
            let draft = Draft::on(member, namespace.span, message)
                .label("silently cleared")
                .reason(format!(
                    "A {kind} has no namespace, so clients and the API server silently clear the \
                     field. Deleting namespace `{name}` does not delete this object, and a \
                     manifest with the same name and another namespace means the same object."
                ))
                .help("remove `metadata.namespace`")
                .fix(Proposal::safe("remove the namespace").remove(member, "metadata.namespace"))
                .field("metadata.namespace");
            match definition_of_scope(context.inventory, member.resolution.source) {
                Some((file, span)) => draft.related(file, span, "the scope is defined here"),
                None => draft,
            }
        });
    }
}
