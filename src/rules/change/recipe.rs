//! How to remove an object from Git and keep it in the cluster, in terms of the tool that delivers it.

use crate::delivery::Regime;
use crate::kustomize::Deliverer;
use crate::text::plain;

/// Explains how to remove an object from Git without its deletion: first protect it in the cluster, then remove it.
pub(super) fn keep(regime: Option<Regime>, what: &str) -> String {
    let first = match regime {
        Some(Regime::Helm) => {
            "annotate {} with `helm.sh/resource-policy: keep`, upgrade the release"
        }
        Some(regime) if regime.is_release() => {
            "annotate {} with `helm.sh/resource-policy: keep`, merge that and wait until the HelmRelease is upgraded"
        }
        Some(Regime::Flux(_)) => {
            "annotate {} with `kustomize.toolkit.fluxcd.io/prune: disabled`, merge that and wait until Flux has applied it"
        }
        Some(Regime::ArgoCd) => {
            "annotate {} with `argocd.argoproj.io/sync-options: Prune=false,Delete=false`, merge that and wait until it is synced"
        }
        Some(Regime::Kubectl) | None => "tell the delivery tool to keep {}, apply that",
    };
    format!(
        "{}, and remove it in a second change",
        first.replace("{}", what)
    )
}

/// Explains how to make an ApplicationSet leave the objects of an Application that it no longer generates.
pub(super) fn preserve_in_set(set: &Deliverer) -> String {
    format!(
        "in ApplicationSet `{}` set `spec.syncPolicy.preserveResourcesOnDeletion: true`, and take the finalizer \
         `resources-finalizer.argocd.argoproj.io` out of its template if that has it. Merge that and wait until it is synced",
        plain::one_line(&set.name)
    )
}
