//! ApplicationSets of Argo CD, as their templates say. The Applications that a set generates are deliveries of the graph.

use super::application;
use super::object::{DeliveryKind, DeliveryObject, DeliverySource};
use crate::graph::argo::RESOURCES_FINALIZER;
use crate::inventory::Member;
use crate::yaml::Value;

pub(super) fn read(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let template = spec.get("template")?;
    let application = template.get("spec")?;
    let mut sources = application::sources(application);
    sources.extend(spec.get("generators").into_iter().flat_map(folders));
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::ApplicationSet,
        sources,
        destination: application::destination(application),
        prunes: application::prunes(application),
        cascades: cascades(spec, template, application),
        suspended: false,
    })
}

/// The texts of generators that may name a folder: patterns of git generators, elements of lists.
fn folders(generators: Value<'_>) -> impl Iterator<Item = DeliverySource> {
    let entries = generators.items().flat_map(Value::entries_below);
    entries.filter_map(|entry| {
        let path = entry.value.as_str()?;
        (!path.contains("://")).then(|| DeliverySource {
            repository: None,
            folder: Some(application::literal(path).to_owned()),
            span: entry.value.span(),
        })
    })
}

/// Every generated Application gets the resources finalizer, unless the set preserves resources (argo-cd
/// docs/operator-manual/applicationset/Application-Deletion.md).
fn cascades(spec: Value<'_>, template: Value<'_>, application: Value<'_>) -> bool {
    let preserves = spec
        .at(&["syncPolicy", "preserveResourcesOnDeletion"])
        .and_then(Value::as_bool);
    let written = template
        .at(&["metadata", "finalizers"])
        .into_iter()
        .flat_map(Value::items);
    let written: Vec<&str> = written.filter_map(Value::as_str).collect();
    match (preserves, written.is_empty()) {
        (Some(true), true) => false,
        (_, true) => application::cascades(application, std::iter::once(RESOURCES_FINALIZER)),
        (_, false) => application::cascades(application, written.into_iter()),
    }
}
