//! How to remove an object from Git and keep it in the cluster, in terms of the tool that delivers it.

use crate::delivery::Regime;
use crate::inventory::Member;
use crate::kube::{ObjectKey, kinds};
use crate::kustomize::Deliverer;
use crate::merge::Merge;
use crate::rules::words::named;
use crate::text::plain;

/// Explains how to remove an object from Git without its deletion: first protect it in the cluster, then remove it.
pub(super) fn keep(tools: &[Regime], what: &str) -> String {
    keep_all(tools, what, "it")
}

/// Explains how to remove `member`, named as `what`, without its deletion. A Namespace that is removed with it has to
/// stay, too.
pub(super) fn keep_contained(merge: &Merge<'_>, member: &Member, what: &str) -> String {
    let tools = merge.tools_of(member);
    let Some(namespace) = deleted_namespace(merge, member) else {
        return keep(&tools, what);
    };
    let above = merge.tools_of(namespace);
    let namespace = named(namespace);
    if goes_with_namespace(merge, member) {
        keep(&above, &namespace)
    } else if above == tools {
        keep_all(&tools, &format!("{what} and {namespace}"), "them")
    } else {
        format!("{}; and {}", keep(&tools, what), keep(&above, &namespace))
    }
}

/// Returns the Namespace of `member` if it is deleted.
pub(super) fn deleted_namespace<'a>(merge: &Merge<'a>, member: &Member) -> Option<&'a Member> {
    let namespace = ObjectKey::of_namespace(member.key.namespace.name()?);
    merge.end_of(&namespace)?;
    merge.part.applied_before(&namespace)
}

/// Whether no tool deletes `member` itself: it is deleted only with its Namespace.
pub(super) fn goes_with_namespace(merge: &Merge<'_>, member: &Member) -> bool {
    let end = merge.end_of(&member.key);
    let cause = end.and_then(|end| end.because.first());
    cause.is_some_and(|cause| cause.is(kinds::NAMESPACE))
}

/// Explains how to remove objects, named as `what` and then `it`, if these tools delete them.
pub(super) fn keep_all(tools: &[Regime], what: &str, it: &str) -> String {
    let steps = match tools {
        [] => protection(None, what),
        [first, others @ ..] => others
            .iter()
            .fold(protection(Some(*first), what), |steps, tool| {
                format!("{steps}; then {}", protection(Some(*tool), it))
            }),
    };
    // After "the release", the pronoun would mean the release.
    let removed = match tools.last() {
        Some(tool) if tool.is_release() => what,
        _ => it,
    };
    format!("{steps}, and remove {removed} in a second change")
}

/// Explains how to make a tool keep the objects that are named as `what`.
fn protection(tool: Option<Regime>, what: &str) -> String {
    let steps = match tool {
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
    steps.replace("{}", what)
}

/// Explains how to make an ApplicationSet leave the objects of an Application that it no longer generates.
pub(super) fn preserve_in_set(set: &Deliverer) -> String {
    format!(
        "in ApplicationSet `{}` set `spec.syncPolicy.preserveResourcesOnDeletion: true`, and \
         remove the finalizer `resources-finalizer.argocd.argoproj.io` from its template if \
         present. Merge that and wait until it is synced",
        plain::one_line(&set.name)
    )
}
