//! Services, endpoints, namespaces and nodes: `[DEP-9]`, `[DEP-10]`, `[DEP-15]`, `[DEP-16]`, `[DEP-19]`.

use super::builder::{Builder, dependent, text};
use super::object::ImpliedReference;
use crate::inventory::Member;
use crate::kube::{Namespace, ObjectKey, kinds};

/// The reference to a controlling owner of the core group.
const CONTROLLER_V1: ImpliedReference<'_> = ImpliedReference::controller("v1");
const SLICE: (&str, &str) = ("discovery.k8s.io/v1", "EndpointSlice");
/// The label that excludes an Endpoints object from mirroring.
const SKIP_MIRROR: &str = "endpointslice.kubernetes.io/skip-mirror";

/// Adds the EndpointSlice that a Service with a selector owns, and its Endpoints object, tied to it only by name.
pub(super) fn service<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    let is_external = text(member.object.at(&["spec"]), &["type"]) == Some("ExternalName");
    if is_external || !has_selector(member) {
        return;
    }
    builder.add_hashed("DEP-9", SLICE, member, CONTROLLER_V1);
    let namespace = member.key.namespace.clone();
    add_untied(builder, "Endpoints", member, namespace, &member.key.name);
}

fn has_selector(service: &Member) -> bool {
    let selector = service.object.at(&["spec", "selector"]);
    selector.is_some_and(|selector| selector.entries().next().is_some())
}

/// Adds the mirrored EndpointSlice of Endpoints that are written by hand, for a Service without a selector.
pub(super) fn endpoints<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    let service = ObjectKey::new(
        kinds::SERVICE,
        member.key.namespace.clone(),
        member.key.name.clone(),
    );
    let mut services = builder
        .inventory
        .with_key(&service)
        .iter()
        .map(|id| builder.inventory.member(*id));
    // If there are several, the last one is applied last, and stays.
    let mirrored = services
        .next_back()
        .is_some_and(|service| !has_selector(service))
        && member
            .object
            .metadata()
            .label(SKIP_MIRROR)
            .is_none_or(|label| label.value != "true");
    if mirrored {
        builder.add_hashed("DEP-10", SLICE, member, CONTROLLER_V1);
    }
}

/// Adds the ServiceAccount `default` and the ConfigMap with the root certificate, which every namespace gets.
pub(super) fn namespace(builder: &mut Builder<'_>, member: &Member) {
    let inside = Namespace::Named(member.key.name.clone());
    add_untied(builder, "ServiceAccount", member, inside.clone(), "default");
    add_untied(builder, "ConfigMap", member, inside, "kube-root-ca.crt");
}

/// Adds the Lease and the CSINode that the kubelet creates, which its Node owns.
pub(super) fn node(builder: &mut Builder<'_>, member: &Member) {
    let name = member.key.name.to_string();
    let reference = ImpliedReference::plain("v1");
    let kind = ("coordination.k8s.io/v1", "Lease");
    let mut lease = dependent("DEP-15", kind, name.clone(), &member.key, reference);
    lease.key.namespace = Namespace::Named("kube-node-lease".into());
    builder.add(lease);
    let kind = ("storage.k8s.io/v1", "CSINode");
    builder.add(dependent("DEP-16", kind, name, &member.key, reference));
}

/// Adds an object without a reference to `owner`, for which it is created `[DEP-19]`.
fn add_untied(
    builder: &mut Builder<'_>,
    kind: &'static str,
    owner: &Member,
    namespace: Namespace,
    name: &str,
) {
    let kind = ("v1", kind);
    let mut object = dependent("DEP-19", kind, name.to_owned(), &owner.key, CONTROLLER_V1);
    object.key.namespace = namespace;
    object.reference = None;
    builder.add(object);
}
