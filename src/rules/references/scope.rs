//! Owner references between scopes and namespaces.

use crate::finding::{Applicability, Severity};
use crate::inventory::{Inventory, Member, ObjectId, Release, ScopeSource};
use crate::kube::Scope;
use crate::manifest::OwnerReference;
use crate::ownership::Owner;
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::words::{field, named, place, reference_name, target, whereabouts};
use crate::text::{FileId, Span};

pub(in crate::rules) static OWNER_OF_CLUSTER_SCOPED: Rule = rule!(
    References,
    "owner-of-cluster-scoped",
    Error,
    NeverCollected,
    "A cluster-scoped object names a namespaced owner",
    owner_of_cluster_scoped
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static OWNER_CROSS_NAMESPACE: Rule = rule!(
    References,
    "owner-cross-namespace",
    Warning,
    Collected,
    "The owner and its dependent are in different namespaces",
    owner_cross_namespace
);

/// [GC-20], [L-13]: found in manifests of Rook.
fn owner_of_cluster_scoped(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for (edge, dependent, reference) in context.references() {
        let owner_kind = inventory.owner_kind(reference);
        let scopes = (dependent.scope(), owner_kind.scope);
        if scopes != (Some(Scope::Cluster), Some(Scope::Namespaced)) {
            continue;
        }
        let (kind, owner) = (dependent.object.kind(), reference.kind());
        let misleads = inventory.kinds.release() < Release::new(20);
        let fate = if misleads {
            format!(
                "Before Kubernetes 1.20, it treats the owner as absent and deletes the {kind} and every other dependent \
                 of that owner, wherever they are."
            )
        } else if reference.is_blocking() {
            format!(
                "{} Because the reference blocks, a Foreground deletion of that {owner} would wait for this {kind} \
                 forever.",
                outlives(kind)
            )
        } else {
            outlives(kind)
        };
        let draft = Draft::on(
            dependent,
            place(reference),
            format!("cluster-scoped {} has a namespaced owner, {}", named(dependent), reference_name(reference)),
        )
        .label(format!("{owner} is namespaced, {kind} is not"))
        .reason(format!(
            "An owner reference has no namespace: the collector looks for an owner of a cluster-scoped object outside \
             all namespaces and never finds a {owner} there. {fate}"
        ))
        .help(format!(
            "remove the reference and let the tool that installs the {kind} delete it, or name a cluster-scoped owner \
             (a CRD's instance, a ClusterRole, a Namespace)"
        ))
        .fix(Proposal::suggested("remove the reference").remove(dependent, &field(reference)))
        .field(field(reference))
        .target(target(reference));
        sink.push(with_declarations(
            draft,
            inventory,
            dependent,
            edge.bound(),
            owner_kind.source,
        ));
    }
}

fn outlives(kind: &str) -> String {
    format!(
        "It gives up on the object, so this {kind} outlives its owner forever. Before Kubernetes 1.20, the collector \
         treated the owner as absent and deleted the {kind} and other dependents of that owner."
    )
}

/// Adds the declaration of the owner, and the CRDs that define the scopes, as related places.
fn with_declarations(
    mut draft: Draft,
    inventory: &Inventory,
    dependent: &Member,
    owner: Option<ObjectId>,
    owner_source: ScopeSource,
) -> Draft {
    if let Some(owner) = owner.map(|id| inventory.member(id)) {
        let words = format!("owner declared here, {}", whereabouts(owner));
        draft = draft.related_object(owner, words);
    }
    for (source, whose) in [
        (dependent.resolution.source, "the dependent's kind"),
        (owner_source, "the owner's kind"),
    ] {
        if let Some((file, span)) = definition_of_scope(inventory, source) {
            draft = draft.related(file, span, format!("the scope of {whose} is defined here"));
        }
    }
    draft
}

/// Returns the place where a CRD in the input defines a scope.
pub(in crate::rules) fn definition_of_scope(
    inventory: &Inventory,
    source: ScopeSource,
) -> Option<(FileId, Span)> {
    let ScopeSource::Crd(crd) = source else {
        return None;
    };
    let crd = inventory.member(crd);
    Some((crd.file, crd.object.at(&["spec", "scope"])?.span()))
}

/// [GC-17], [L-15].
fn owner_cross_namespace(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for (edge, dependent, reference) in context.references() {
        let scopes = (dependent.scope(), inventory.owner_kind(reference).scope);
        if scopes != (Some(Scope::Namespaced), Some(Scope::Namespaced)) {
            continue;
        }
        let here = &dependent.key.namespace;
        let (owners, proven) = match &edge.owner {
            Owner::ByUid(owner) => (std::slice::from_ref(owner), true),
            Owner::Elsewhere => (namesakes(inventory, reference), false),
            Owner::ByName(_) | Owner::Absent => continue,
        };
        let Some(first) = owners.first().map(|id| inventory.member(*id)) else {
            continue;
        };
        if !here.certainly_differs(&first.key.namespace) {
            continue;
        }
        let there = &first.key.namespace;
        let certain = proven || context.world == World::Closed;
        let doubt = if certain {
            ""
        } else {
            " This assumes that the reference means that object: the input may not contain all of the dependent's \
             namespace."
        };
        let mut draft = Draft::on(
            dependent,
            place(reference),
            format!("{} names an owner that is in namespace `{there}`, not in `{here}`", named(dependent)),
        )
        .severity(if certain { Severity::Error } else { Severity::Warning })
        .label(format!("looked up in namespace `{here}`"))
        .reason(format!(
            "An owner reference has no namespace: the collector looks for {} in the dependent's \
             own namespace, `{here}`, and does not find it. It treats the owner as deleted and \
             deletes this {} with an OwnerRefInvalidNamespace event.{doubt}",
            reference_name(reference),
            dependent.object.kind(),
        ))
        .help(format!(
            "put both objects into the same namespace, make a cluster-scoped object the owner, or remove the \
             reference and delete the {} with the tool that installs it",
            dependent.object.kind()
        ))
        .field(field(reference))
        .target(target(reference));
        let (which, key) = match owners.len() {
            _ if proven => ("the", "uid"),
            1 => ("the only", "name"),
            _ => ("a", "name"),
        };
        for owner in owners.iter().take(MAX_RELATED) {
            let owner = inventory.member(*owner);
            let (kind, place) = (owner.object.kind(), whereabouts(owner));
            draft = draft.related_object(owner, format!("{which} {kind} with that {key}, {place}"));
        }
        if let Some(written) = dependent.object.metadata().namespace() {
            draft = draft.related(dependent.file, written.span, "the dependent's namespace");
        }
        sink.push(draft);
    }
}

/// Returns the objects in any namespace that a reference may mean.
fn namesakes<'a>(inventory: &'a Inventory, reference: &OwnerReference) -> &'a [ObjectId] {
    inventory.with_name(
        reference.group_version().group,
        reference.kind(),
        reference.name(),
    )
}
