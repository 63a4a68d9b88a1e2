//! Applications of Argo CD.

use super::object::{
    DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, OnDeletion, SourceContent,
};
use crate::inventory::Member;
use crate::text::Span;
use crate::yaml::Value;

/// Without this finalizer, or one below it, deleting an Application deletes nothing else (argo-cd
/// docs/user-guide/app_deletion.md; pkg/apis/application/v1alpha1/application_defaults.go).
pub(super) const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// Fills in a text of an Application's spec; an ApplicationSet has parameters. `None`: the value is unknown.
pub(super) type Filled<'f> = &'f dyn Fn(&str) -> Option<String>;

pub(super) fn read(member: &Member) -> Option<DeliveryObject> {
    let spec = member.object.at(&["spec"])?;
    let finalizers = member
        .object
        .metadata()
        .finalizers()
        .iter()
        .map(|finalizer| finalizer.value.as_str());
    let as_written = |text: &str| Some(text.to_owned());
    let skips = member
        .object
        .metadata()
        .annotation("argocd.argoproj.io/skip-reconcile");
    Some(DeliveryObject {
        id: member.id,
        kind: DeliveryKind::Application,
        name: member.key.name.to_string(),
        sources: sources(spec, &as_written),
        destination: destination(spec, &as_written),
        prunes: prunes(spec),
        on_deletion: on_deletion(spec, finalizers),
        suspended: skips.is_some_and(|skips| skips.value == "true"),
    })
}

/// `spec.source`, or `spec.sources`, which then counts alone.
pub(super) fn sources(spec: Value<'_>, filled: Filled<'_>) -> Vec<DeliverySource> {
    let several = spec.get("sources").map(Value::items).into_iter().flatten();
    let mut sources: Vec<_> = several.filter_map(|one| source(one, filled)).collect();
    if sources.is_empty() {
        sources.extend(spec.get("source").and_then(|one| source(one, filled)));
    }
    sources
}

fn source(source: Value<'_>, filled: Filled<'_>) -> Option<DeliverySource> {
    let text = |key: &str| -> Option<(String, Span)> {
        let value = source.get(key)?;
        Some((filled(value.as_str()?)?, value.span())).filter(|(text, _)| !text.is_empty())
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

pub(super) fn destination(spec: Value<'_>, filled: Filled<'_>) -> DeliveryDestination {
    let text = |key: &str| -> Option<String> {
        let value = spec.at(&["destination", key])?.as_str()?;
        Some(filled(value)?).filter(|text| !text.is_empty())
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

/// Whether a sync option of the Application is the default for all of its objects.
fn has_option(spec: Value<'_>, option: &str) -> bool {
    let options = spec
        .at(&["syncPolicy", "syncOptions"])
        .into_iter()
        .flat_map(Value::items);
    options
        .filter_map(Value::as_str)
        .any(|written| written.trim() == option)
}

pub(super) fn on_deletion<'f>(
    spec: Value<'_>,
    finalizers: impl Iterator<Item = &'f str>,
) -> OnDeletion {
    let mut found = OnDeletion::Orphans;
    // It counts for every object that does not say otherwise (argo-cd controller/appcontroller.go, shouldBeDeleted).
    if has_option(spec, "Delete=false") {
        return found;
    }
    for finalizer in finalizers {
        match finalizer.strip_prefix(RESOURCES_FINALIZER) {
            Some("" | "/foreground") => return OnDeletion::Deletes { background: false },
            Some("/background") => found = OnDeletion::Deletes { background: true },
            _ => {}
        }
    }
    found
}
