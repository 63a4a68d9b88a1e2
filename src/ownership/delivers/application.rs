//! Applications of Argo CD.

use super::object::{
    DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, SourceContent,
};
use crate::graph::argo::{SKIP_RECONCILE, deletion_policy, is_true};
use crate::inventory::Member;
use crate::text::Span;
use crate::yaml::Value;

/// Replaces the parameters in a text of an Application's spec, which only one of an ApplicationSet has. `None`: the value is unknown.
pub(super) type Fill<'f> = &'f dyn Fn(&str) -> Option<String>;

pub(super) fn read(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let finalizers = member
        .object
        .metadata()
        .finalizers()
        .iter()
        .map(|finalizer| finalizer.value.as_str());
    let as_written = |text: &str| Some(text.to_owned());
    let skips = member.object.metadata().annotation(SKIP_RECONCILE);
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Application,
        name: member.key.name.to_string(),
        sources: sources(spec, &as_written),
        destination: destination(spec, &as_written),
        prunes: prunes(spec),
        cascades: cascades(spec, finalizers),
        suspended: skips.is_some_and(|skips| is_true(skips.value)),
    })
}

/// Those of `spec.sources`, unless it is empty, else `spec.source`.
pub(super) fn sources(spec: Value<'_>, fill: Fill<'_>) -> Vec<DeliverySource> {
    let several = spec.get("sources").map(Value::items).into_iter().flatten();
    let mut all: Vec<Value<'_>> = several.collect();
    if all.is_empty() {
        all.extend(spec.get("source"));
    }
    all.into_iter()
        .filter_map(|one| source(one, fill))
        .collect()
}

fn source(source: Value<'_>, fill: Fill<'_>) -> Option<DeliverySource> {
    let text = |key: &str| -> Option<(String, Span)> {
        let value = source.get(key)?;
        Some((fill(value.as_str()?)?, value.span())).filter(|(text, _)| !text.is_empty())
    };
    let repository = text("repoURL").map(|(url, _)| url);
    let (content, span) = match (text("chart"), text("path")) {
        (Some((chart, span)), _) => (SourceContent::Chart(chart), span),
        (None, Some((path, span))) => (SourceContent::Folder(path), span),
        // A source that others take values from.
        (None, None) => return None,
    };
    Some(DeliverySource {
        repository,
        content,
        span,
    })
}

pub(super) fn destination(spec: Value<'_>, fill: Fill<'_>) -> DeliveryDestination {
    let text = |key: &str| -> Option<String> {
        let value = spec.at(&["destination", key])?.as_str()?;
        Some(fill(value)?).filter(|text| !text.is_empty())
    };
    // The cluster in which Argo CD runs has these names (argo-cd docs/operator-manual/declarative-setup.md).
    let here =
        |cluster: &String| cluster == "https://kubernetes.default.svc" || cluster == "in-cluster";
    DeliveryDestination {
        cluster: text("server")
            .or_else(|| text("name"))
            .filter(|cluster| !here(cluster)),
        namespace: text("namespace"),
    }
}

/// Argo CD deletes what left the sources only where it syncs by itself and may prune.
pub(super) fn prunes(spec: Value<'_>) -> bool {
    let automated = spec.at(&["syncPolicy", "automated"]);
    let is = |key: &str| {
        automated
            .and_then(|automated| automated.get(key))
            .and_then(Value::as_bool)
    };
    is("prune") == Some(true) && is("enabled") != Some(false) && !has_option(spec, "Prune=false")
}

/// Whether the Application sets a sync option, which is the default of its objects.
fn has_option(spec: Value<'_>, option: &str) -> bool {
    let options = spec
        .at(&["syncPolicy", "syncOptions"])
        .into_iter()
        .flat_map(Value::items);
    options
        .filter_map(Value::as_str)
        .any(|written| written.trim() == option)
}

/// Whether the objects are deleted with the Application. An object may say something else than `Delete=false` (argo-cd
/// controller/appcontroller.go, shouldBeDeleted).
pub(super) fn cascades<'f>(spec: Value<'_>, finalizers: impl Iterator<Item = &'f str>) -> bool {
    !has_option(spec, "Delete=false") && deletion_policy(finalizers).is_some()
}
