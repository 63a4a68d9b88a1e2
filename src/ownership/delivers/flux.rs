//! Kustomizations and HelmReleases of Flux.

use super::object::{DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource};
use crate::inventory::Member;
use crate::yaml::Value;

pub(super) fn kustomization(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let prunes = spec.is_true_at(&["prune"]);
    // fluxcd/kustomize-controller docs/spec/v1/kustomizations.md: MirrorPrune follows `spec.prune`.
    let cascades = match spec.text_at(&["deletionPolicy"]) {
        Some("Delete" | "WaitForTermination") => true,
        Some("Orphan") => false,
        _ => prunes,
    };
    let path = spec.get("path");
    let folder = path.and_then(Value::as_str).unwrap_or_default();
    let source = DeliverySource {
        repository: source_of(member, spec.get("sourceRef")),
        folder: Some(folder.to_owned()),
        span: path.map_or(member.object.name_span(), Value::span),
    };
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Kustomization,
        sources: vec![source],
        destination: DeliveryDestination {
            cluster: remote(spec),
            namespace: spec.text_at(&["targetNamespace"]).map(str::to_owned),
        },
        prunes,
        cascades,
        suspended: spec.is_true_at(&["suspend"]),
    })
}

pub(super) fn helm_release(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let chart = spec.at(&["chart", "spec"]);
    let named = chart.and_then(|chart| chart.get("chart"));
    let reference = spec.get("chartRef");
    // A name that begins with a dot is a path of a repository, not a chart of a chart repository.
    let folder = named
        .and_then(Value::as_str)
        .filter(|name| name.starts_with('.'));
    let repository = chart.and_then(|chart| chart.get("sourceRef")).or(reference);
    let source = DeliverySource {
        repository: source_of(member, repository),
        folder: folder.map(str::to_owned),
        span: named.map_or(member.object.name_span(), Value::span),
    };
    let target = spec.text_at(&["targetNamespace"]);
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::HelmRelease,
        sources: vec![source],
        destination: DeliveryDestination {
            cluster: remote(spec),
            namespace: target.or(member.key.namespace.name()).map(str::to_owned),
        },
        // An upgrade deletes objects that left the chart.
        prunes: true,
        // Even with `uninstall.deletionPropagation: orphan`, which only keeps dependents of
        // objects.
        cascades: true,
        suspended: spec.is_true_at(&["suspend"]),
    })
}

/// Returns the target cluster, if it is not the one in which Flux runs.
fn remote(spec: Value<'_>) -> Option<String> {
    let reference = spec.get("kubeConfig")?;
    let name = reference
        .text_at(&["secretRef", "name"])
        .or(reference.text_at(&["configMapRef", "name"]));
    Some(name.unwrap_or("kubeConfig").to_owned())
}

/// Returns `Kind/namespace/name` of the source that a reference names.
fn source_of(member: &Member, reference: Option<Value<'_>>) -> Option<String> {
    let reference = reference?;
    let namespace = reference.text_at(&["namespace"]).map(str::to_owned);
    let namespace = namespace.unwrap_or_else(|| member.key.namespace.to_string());
    let (kind, name) = (reference.text_at(&["kind"])?, reference.text_at(&["name"])?);
    Some(format!("{kind}/{namespace}/{name}"))
}
