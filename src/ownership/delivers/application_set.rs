//! ApplicationSets of Argo CD, read from their templates. The Applications that a set generates are deliveries in the
//! delivery graph.

use super::application;
use super::object::{DeliveryKind, DeliveryObject, DeliverySource};
use crate::graph::argo::RESOURCES_FINALIZER;
use crate::inventory::Member;
use crate::text::glob::fixed_folder;
use crate::yaml::Value;

pub(super) fn read(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let template = spec.get("template")?;
    let application = template.get("spec")?;
    let mut sources = application::sources(application);
    sources.extend(spec.items_at("generators").flat_map(folders));
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

/// Returns the strings of a generator that may name a folder: git patterns, list elements.
fn folders(generator: Value<'_>) -> impl Iterator<Item = DeliverySource> {
    let entries = generator.entries_below().into_iter();
    entries.filter_map(|entry| {
        let path = entry.value.as_str()?;
        (!path.contains("://")).then(|| DeliverySource {
            repository: None,
            folder: Some(fixed_folder(path).to_owned()),
            span: entry.value.span(),
        })
    })
}

/// Whether the objects are deleted with a generated Application: it gets the resources finalizer, unless the template
/// lists finalizers or the set preserves resources (argo-cd
/// docs/operator-manual/applicationset/Application-Deletion.md).
fn cascades(spec: Value<'_>, template: Value<'_>, application: Value<'_>) -> bool {
    let finalizers = template.at(&["metadata", "finalizers"]).into_iter();
    let written = finalizers.flat_map(Value::items).filter_map(Value::as_str);
    let mut written = written.peekable();
    if written.peek().is_some() {
        return application::cascades(application, written);
    }
    !spec.is_true_at(&["syncPolicy", "preserveResourcesOnDeletion"])
        && application::cascades(application, std::iter::once(RESOURCES_FINALIZER))
}
