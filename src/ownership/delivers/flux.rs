//! Kustomizations and HelmReleases of Flux.

use super::object::{
    DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, SourceContent,
};
use crate::inventory::Member;
use crate::yaml::Value;

pub(super) fn kustomization(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let prunes = spec.get("prune").and_then(Value::as_bool) == Some(true);
    // fluxcd/kustomize-controller docs/spec/v1/kustomizations.md: MirrorPrune follows `spec.prune`.
    let cascades = match text(spec, &["deletionPolicy"]) {
        Some("Delete" | "WaitForTermination") => true,
        Some("Orphan") => false,
        _ => prunes,
    };
    let path = spec.get("path");
    let folder = path.and_then(Value::as_str).unwrap_or_default();
    let source = DeliverySource {
        repository: source_of(member, spec.get("sourceRef")),
        content: SourceContent::Folder(folder.to_owned()),
        span: path.map_or(member.object.name_span(), Value::span),
    };
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Kustomization,
        name: member.key.name.to_string(),
        sources: vec![source],
        destination: DeliveryDestination {
            cluster: remote(spec),
            namespace: text(spec, &["targetNamespace"]).map(str::to_owned),
        },
        prunes,
        cascades,
        suspended: is_suspended(spec),
    })
}

pub(super) fn helm_release(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let chart = spec.at(&["chart", "spec"]);
    let named = chart.and_then(|chart| chart.get("chart"));
    let reference = spec.get("chartRef");
    let content = match (named.and_then(Value::as_str), reference) {
        // A path of a repository, not a name of a chart repository.
        (Some(path), _) if path.starts_with('.') => SourceContent::Folder(path.to_owned()),
        (Some(name), _) => SourceContent::Chart(name.to_owned()),
        (None, Some(reference)) => {
            SourceContent::Chart(text(reference, &["name"]).unwrap_or_default().to_owned())
        }
        (None, None) => SourceContent::Chart(String::new()),
    };
    let repository = chart.and_then(|chart| chart.get("sourceRef")).or(reference);
    let source = DeliverySource {
        repository: source_of(member, repository),
        content,
        span: named.map_or(member.object.name_span(), Value::span),
    };
    let policy = text(spec, &["uninstall", "deletionPropagation"]);
    let target = text(spec, &["targetNamespace"]);
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::HelmRelease,
        name: release_name(member, spec, target),
        sources: vec![source],
        destination: DeliveryDestination {
            cluster: remote(spec),
            namespace: target.or(member.key.namespace.name()).map(str::to_owned),
        },
        // An upgrade deletes what left the chart.
        prunes: true,
        cascades: policy != Some("orphan"),
        suspended: is_suspended(spec),
    })
}

/// The name of the release: `spec.releaseName`, else the object's name, after that of the target namespace
/// (fluxcd/helm-controller docs/spec/v2/helmreleases.md).
fn release_name(member: &Member, spec: Value<'_>, target: Option<&str>) -> String {
    let name = &member.key.name;
    match (text(spec, &["releaseName"]), target) {
        (Some(written), _) => written.to_owned(),
        (None, Some(target)) => format!("{target}-{name}"),
        (None, None) => name.to_string(),
    }
}

/// Another cluster than the one in which Flux runs.
fn remote(spec: Value<'_>) -> Option<String> {
    let reference = spec.get("kubeConfig")?;
    let name =
        text(reference, &["secretRef", "name"]).or(text(reference, &["configMapRef", "name"]));
    Some(name.unwrap_or("kubeConfig").to_owned())
}

/// `Kind/namespace/name` of the source that a reference names.
fn source_of(member: &Member, reference: Option<Value<'_>>) -> Option<String> {
    let reference = reference?;
    let namespace = text(reference, &["namespace"]).map(str::to_owned);
    let namespace = namespace.unwrap_or_else(|| member.key.namespace.to_string());
    Some(format!(
        "{}/{namespace}/{}",
        text(reference, &["kind"])?,
        text(reference, &["name"])?
    ))
}

fn is_suspended(spec: Value<'_>) -> bool {
    spec.get("suspend").and_then(Value::as_bool) == Some(true)
}

fn text<'a>(value: Value<'a>, path: &[&str]) -> Option<&'a str> {
    value.at(path)?.as_str().filter(|text| !text.is_empty())
}
