//! Applications of Argo CD.

use super::object::{DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource};
use crate::graph::argo::{OWN_NAME, OWN_SERVER, SKIP_RECONCILE, deletion_policy, is_true};
use crate::inventory::Member;
use crate::text::glob::fixed_folder;
use crate::yaml::Value;

pub(super) fn read(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let finalizers = member.object.metadata().finalizer_names();
    let skips = member.object.metadata().annotation(SKIP_RECONCILE);
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Application,
        sources: sources(spec),
        destination: destination(spec),
        prunes: prunes(spec),
        cascades: cascades(spec, finalizers),
        suspended: skips.is_some_and(|skips| is_true(skips.value)),
    })
}

/// Returns the sources in `spec.sources`, unless it is empty, else `spec.source`.
pub(super) fn sources(spec: Value<'_>) -> Vec<DeliverySource> {
    let mut all: Vec<Value<'_>> = spec.items_at("sources").collect();
    if all.is_empty() {
        all.extend(spec.get("source"));
    }
    all.into_iter().filter_map(source).collect()
}

/// Returns `None` for a source that only provides values for the others.
fn source(source: Value<'_>) -> Option<DeliverySource> {
    let [chart, path] =
        ["chart", "path"].map(|key| source.get(key).filter(|value| value.as_str() != Some("")));
    let (folder, value) = match (chart, path) {
        (Some(chart), _) => (None, chart),
        (None, Some(path)) => (Some(fixed_folder(path.as_str()?).to_owned()), path),
        (None, None) => return None,
    };
    Some(DeliverySource {
        repository: source.str_at(&["repoURL"]).map(str::to_owned),
        folder,
        span: value.span(),
    })
}

pub(super) fn destination(spec: Value<'_>) -> DeliveryDestination {
    let [server, name, namespace] = ["server", "name", "namespace"]
        .map(|key| spec.text_at(&["destination", key]).map(str::to_owned));
    DeliveryDestination {
        cluster: server
            .or(name)
            .filter(|cluster| ![OWN_SERVER, OWN_NAME].contains(&cluster.as_str())),
        namespace,
    }
}

/// Whether Argo CD deletes objects that left the sources: only if it syncs automatically and may prune.
pub(super) fn prunes(spec: Value<'_>) -> bool {
    let enabled = spec.at(&["syncPolicy", "automated", "enabled"]);
    spec.is_true_at(&["syncPolicy", "automated", "prune"])
        && enabled.and_then(Value::as_bool) != Some(false)
        && !has_option(spec, "Prune=false")
}

/// Whether the Application sets a sync option, which is the default for its objects.
fn has_option(spec: Value<'_>, option: &str) -> bool {
    let options = spec.at(&["syncPolicy", "syncOptions"]).into_iter();
    let mut options = options.flat_map(Value::items).filter_map(Value::as_str);
    options.any(|written| written.trim() == option)
}

/// Whether the objects are deleted with the Application. A single object may override `Delete=false` (argo-cd
/// controller/appcontroller.go, shouldBeDeleted).
pub(super) fn cascades<'f>(spec: Value<'_>, finalizers: impl Iterator<Item = &'f str>) -> bool {
    !has_option(spec, "Delete=false") && deletion_policy(finalizers).is_some()
}
