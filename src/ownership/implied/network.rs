//! Services, endpoints, namespaces and nodes: `[DEP-9]`, `[DEP-10]`, `[DEP-15]`, `[DEP-16]`, `[DEP-19]`.

use super::builder::{Builder, dependent, text};
use super::object::{ImpliedObject, ImpliedReference};
use crate::inventory::Member;
use crate::kube::{Namespace, ObjectKey, kinds};

/// The reference to a controller of the core group.
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
    if !builder.has_written(member, SLICE.1) {
        builder.add(dependent(
            "DEP-9",
            SLICE,
            format!("{}-<hash>", member.key.name),
            &member.key,
            CONTROLLER_V1,
        ));
    }
    builder.add(untied(
        "Endpoints",
        &member.key,
        member.key.namespace.clone(),
        member.key.name.to_string(),
    ));
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
    // The last one is applied last.
    let mirrored = services
        .next_back()
        .is_some_and(|service| !has_selector(service))
        && member
            .object
            .metadata()
            .label(SKIP_MIRROR)
            .is_none_or(|label| label.value != "true");
    if mirrored && !builder.has_written(member, SLICE.1) {
        builder.add(dependent(
            "DEP-10",
            SLICE,
            format!("{}-<hash>", member.key.name),
            &member.key,
            CONTROLLER_V1,
        ));
    }
}

/// Adds the ServiceAccount `default` and the ConfigMap with the root certificate, which every namespace gets.
pub(super) fn namespace(builder: &mut Builder<'_>, member: &Member) {
    let inside = Namespace::Named(member.key.name.clone());
    builder.add(untied(
        "ServiceAccount",
        &member.key,
        inside.clone(),
        "default".to_owned(),
    ));
    builder.add(untied(
        "ConfigMap",
        &member.key,
        inside,
        "kube-root-ca.crt".to_owned(),
    ));
}

/// Adds the Lease and the CSINode that the kubelet creates, which its Node owns.
pub(super) fn node(builder: &mut Builder<'_>, member: &Member) {
    let reference = ImpliedReference::plain("v1");
    let mut lease = dependent(
        "DEP-15",
        ("coordination.k8s.io/v1", "Lease"),
        member.key.name.to_string(),
        &member.key,
        reference,
    );
    lease.key.namespace = Namespace::Named("kube-node-lease".into());
    builder.add(lease);
    builder.add(dependent(
        "DEP-16",
        ("storage.k8s.io/v1", "CSINode"),
        member.key.name.to_string(),
        &member.key,
        reference,
    ));
}

/// Creates an object without a reference to the one that it is created for `[DEP-19]`.
fn untied<'a>(
    kind: &str,
    owner: &ObjectKey,
    namespace: Namespace,
    name: String,
) -> ImpliedObject<'a> {
    let mut object = dependent("DEP-19", ("v1", kind), name, owner, CONTROLLER_V1);
    object.key.namespace = namespace;
    ImpliedObject {
        reference: None,
        ..object
    }
}
