//! The labels and annotations by which delivery tools know their objects, and by which people talk to them.

/// Helm and tools that follow its conventions: the tool that manages an object. Helm writes `Helm`.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// The chart that an object was rendered from, by Helm's conventions.
pub const HELM_CHART: &str = "helm.sh/chart";
/// Helm's conventions: the release that an object belongs to; and Argo CD's label by which it recognises its objects
/// where it uses a label, unless it is given another.
pub const INSTANCE: &str = "app.kubernetes.io/instance";
/// The name of [`MANAGED_BY`] before Helm 3.
pub const HERITAGE: &str = "heritage";
/// The name of [`HELM_CHART`] before Helm 3.
pub const CHART: &str = "chart";
/// Helm 3 writes it onto every live object of a release: the release's name.
pub const HELM_RELEASE_NAME: &str = "meta.helm.sh/release-name";
/// Helm 3 writes it onto every live object of a release: the release's namespace.
pub const HELM_RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// Objects that Helm does not delete.
pub const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";
/// Makes an object a hook: no part of the release.
pub const HELM_HOOK: &str = "helm.sh/hook";
/// When Helm deletes a hook.
pub const HELM_HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";

/// The place of a hook among the hooks of its event; Argo CD reads it where there is no wave.
pub const HELM_HOOK_WEIGHT: &str = "helm.sh/hook-weight";

/// Argo CD's way to recognise its objects, unless it is configured to use a label.
pub const ARGOCD_TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
/// The label by which Argo CD recognises its objects where people moved it off `app.kubernetes.io/instance`.
pub const ARGOCD_INSTANCE: &str = "argocd.argoproj.io/instance";
/// Comma-separated options of single objects.
pub const ARGOCD_SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
/// The wave of a sync in which an object is applied, and in reverse deleted.
pub const ARGOCD_SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";
/// Makes an object a hook of Argo CD.
pub const ARGOCD_HOOK: &str = "argocd.argoproj.io/hook";
/// When Argo CD deletes a hook.
pub const ARGOCD_HOOK_DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
/// The annotations by which people tell Argo CD what to do with an object that it delivers.
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
/// `enabled`: the object is deleted and created again when a field cannot be changed.
pub const FLUX_FORCE: &str = "kustomize.toolkit.fluxcd.io/force";
/// The labels and annotations by which people tell Flux what to do with an object that a Kustomization delivers.
pub const FLUX_OPTIONS: [&str; 5] = [
    FLUX_PRUNE,
    FLUX_RECONCILE,
    FLUX_SSA,
    FLUX_FORCE,
    "kustomize.toolkit.fluxcd.io/substitute",
];

/// The Application that `argocd.argoproj.io/tracking-id` names: `app:group/Kind:namespace/name`.
pub fn tracked_application(tracking_id: &str) -> Option<&str> {
    tracking_id
        .split_once(':')
        .map(|(application, _)| application)
}

/// The options of `argocd.argoproj.io/sync-options`, as Argo CD reads them: between commas, blanks around them ignored,
/// compared exactly (argo-cd gitops-engine/pkg/sync/resource/annotations.go, GetAnnotationCSVs).
pub fn sync_options(annotation: &str) -> impl Iterator<Item = &str> {
    annotation
        .split(',')
        .map(str::trim)
        .filter(|option| !option.is_empty())
}
