//! How to remove an object from Git and keep it in the cluster, in terms of the tool that delivers it.

use crate::delivery::Regime;

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
