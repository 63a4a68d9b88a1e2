//! Labels and annotations by which delivery tools mark their objects, and by which users tell a tool how to treat an
//! object.

/// The tool that manages an object, by Helm's conventions. Helm writes `Helm`.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The chart that an object was rendered from, by Helm's conventions.
pub const HELM_CHART: &str = "helm.sh/chart";
/// The release of an object, by Helm's conventions. Also the label by which Argo CD tracks its objects, if it uses a
/// label and is not given another one (`application.instanceLabelKey`).
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// The name of [`MANAGED_BY`] before Helm 3.
pub const HERITAGE: &str = "heritage";
/// The name of [`HELM_CHART`] before Helm 3.
pub const CHART: &str = "chart";
/// Helm 3 writes it onto every live object of a release: the release's name.
pub const HELM_RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// Helm 3 writes it onto every live object of a release: the release's namespace.
pub const HELM_RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// Keeps an object: `helm uninstall` leaves it whatever the value, `helm upgrade` only if that is exactly `keep`.
pub const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";
/// Makes an object a hook, which is not part of the release. Argo CD reads it, too.
pub const HELM_HOOK: &str = "helm.sh/hook";
/// When Helm deletes a hook, such as `before-hook-creation`.
pub const HELM_HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";

/// The order of a hook among the hooks of its event. Argo CD uses it as the sync wave of an object that has none.
pub const HELM_HOOK_WEIGHT: &str = "helm.sh/hook-weight";

/// The annotation with which Argo CD tracks its objects, unless it is configured to use a label.
pub const ARGOCD_TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
/// The tracking label that is commonly configured instead of [`INSTANCE`].
pub const ARGOCD_INSTANCE: &str = "argocd.argoproj.io/instance";
/// Comma-separated sync options of one object.
pub const ARGOCD_SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
/// The sync wave of an object. Waves are applied in ascending order, and deleted in descending order.
pub const ARGOCD_SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";
/// Makes an object a hook of Argo CD.
pub const ARGOCD_HOOK: &str = "argocd.argoproj.io/hook";
/// When Argo CD deletes a hook, such as `BeforeHookCreation`.
pub const ARGOCD_HOOK_DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
/// The annotations by which users tell Argo CD how to treat an object.
pub const ARGOCD_OPTIONS: [&str; 5] = [
    ARGOCD_SYNC_OPTIONS,
    "argocd.argoproj.io/compare-options",
    ARGOCD_SYNC_WAVE,
    ARGOCD_HOOK,
    ARGOCD_HOOK_DELETE_POLICY,
];

/// The Kustomization that applied an object; a label.
pub const FLUX_KUSTOMIZATION_NAME: &str = "kustomize.toolkit.fluxcd.io/name";
/// The namespace of that Kustomization; a label.
pub const FLUX_KUSTOMIZATION_NAMESPACE: &str = "kustomize.toolkit.fluxcd.io/namespace";
/// The HelmRelease that installed an object; a label.
pub const FLUX_HELM_RELEASE_NAME: &str = "helm.toolkit.fluxcd.io/name";
/// The namespace of that HelmRelease; a label.
pub const FLUX_HELM_RELEASE_NAMESPACE: &str = "helm.toolkit.fluxcd.io/namespace";
/// `disabled`: the object is not pruned.
pub const FLUX_PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
/// `disabled`: the object is neither applied nor pruned.
pub const FLUX_RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
/// `Ignore`: the object is neither applied nor pruned.
pub const FLUX_SSA: &str = "kustomize.toolkit.fluxcd.io/ssa";
/// The marks with which Flux does not change an existing object.
pub const FLUX_SKIPS: [(&str, &str); 3] = [
    (FLUX_SSA, "Ignore"),
    (FLUX_SSA, "IfNotPresent"),
    (FLUX_RECONCILE, "disabled"),
];
/// `enabled`: the object is deleted and created again when a field cannot be changed.
pub const FLUX_FORCE: &str = "kustomize.toolkit.fluxcd.io/force";
/// The labels and annotations by which users tell Flux how to treat an object of a Kustomization.
pub const FLUX_OPTIONS: [&str; 5] = [
    FLUX_PRUNE,
    FLUX_RECONCILE,
    FLUX_SSA,
    FLUX_FORCE,
    "kustomize.toolkit.fluxcd.io/substitute",
];

/// Returns the Application of a tracking id, which has the form `app:group/Kind:namespace/name`.
pub fn tracked_application(tracking_id: &str) -> Option<&str> {
    let (application, _) = tracking_id.split_once(':')?;
    Some(application)
}

/// Splits an annotation with a comma-separated list as Argo CD does: items are trimmed, and empty ones dropped (argo-cd
/// gitops-engine/pkg/sync/resource/annotations.go, GetAnnotationCSVs). Argo CD compares the items exactly.
pub fn sync_options(annotation: &str) -> impl Iterator<Item = &str> {
    annotation
        .split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty())
}
