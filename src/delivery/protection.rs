//! Objects that a tool spares when others are removed. Rules and requests share this one implementation.

use super::marks;
use crate::charts::in_crds_folder;
use crate::kube::kinds;
use crate::manifest::{Metadata, Object, Spanned};
use crate::text::Span;

/// An action that deletes objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// `helm uninstall`, and the deletion of a Flux HelmRelease.
    HelmUninstall,
    /// `helm upgrade` to a release without the object, and the reconciliation of a Flux HelmRelease.
    HelmUpgrade,
    /// `kubectl delete`.
    Kubectl,
    /// Argo CD prunes objects that left the sources, CustomResourceDefinitions excepted.
    ArgoCdPrune,
    /// An Application with the resources finalizer is deleted.
    ArgoCdApplication,
    /// A Flux Kustomization prunes objects that left its sources, or is deleted.
    FluxPrune,
    /// The namespace is deleted, by any tool.
    Namespace,
}

/// The reason why an object stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exemption<'a> {
    /// `helm.sh/resource-policy: keep`. Helm reports the object as kept.
    Keep,
    /// `helm.sh/resource-policy` with another value: `helm uninstall` neither deletes nor reports the object
    /// (helm pkg/action/resource_policy.go, filterManifestsToKeep; helm/helm#12048).
    UnknownPolicy(&'a str),
    /// A hook is not part of a release (helm/helm#9206).
    Hook,
    /// From the `crds/` folder of a chart, which Helm installs and never touches again.
    CrdsFolder,
    /// Argo CD deletes no CustomResourceDefinition: neither when it prunes nor with an Application (recorded in
    /// fixtures/conformance/argocd-definitions.json; argo-cd controller/appcontroller.go, shouldBeDeleted).
    Definition,
    /// A sync option of the object: `Prune=false`, `Delete=confirm`.
    SyncOption(&'a str),
    /// Argo CD treats an object with an owner as the owner's, and never deletes it (gitops-engine pkg/cache/cluster.go,
    /// GetManagedLiveObjs; argo-cd#4764).
    Owned,
    /// A label or annotation of Flux's kustomize-controller, such as `kustomize.toolkit.fluxcd.io/prune`.
    FluxOptOut(&'static str),
}

impl Exemption<'_> {
    /// Whether a tool does not apply an object with this mark, so that the mark never reaches the cluster.
    pub fn is_never_applied(&self) -> bool {
        matches!(self, Self::FluxOptOut(key) if *key != marks::FLUX_PRUNE)
    }
}

/// The reason why an object stays, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exempted<'a> {
    /// The reason.
    pub by: Exemption<'a>,
    /// The place of the mark; `None` if the tool spares every such object.
    pub place: Option<Span>,
}

impl<'a> Exempted<'a> {
    /// Creates the reason for an object with a mark.
    pub(super) fn marked(by: Exemption<'a>, place: Span) -> Self {
        Self {
            by,
            place: Some(place),
        }
    }

    /// Returns whether the object stays only until its deletion is approved (`argocd.argoproj.io/deletion-approved`).
    pub fn until_confirmed(&self) -> bool {
        matches!(self.by, Exemption::SyncOption(option) if option.ends_with("=confirm"))
    }
}

/// Returns why `removal` spares an object, if it does. `template` is the path in its `# Source:` comment.
///
/// The object is the copy that the tool reads: the stored release for `helm uninstall`, the one in the cluster for all
/// others. For a removal by a change, it is thus the object before that change.
pub fn spared<'a>(
    object: &'a Object,
    template: Option<&str>,
    removal: Removal,
) -> Option<Exempted<'a>> {
    let metadata = object.metadata();
    match removal {
        Removal::Kubectl | Removal::Namespace => None,
        Removal::HelmUninstall => {
            unreleased(object, template).or_else(|| resource_policy(metadata))
        }
        Removal::HelmUpgrade => unreleased(object, template).or_else(|| {
            let kept = kept_by_upgrade(metadata)?;
            Some(Exempted::marked(Exemption::Keep, kept.key_span))
        }),
        Removal::ArgoCdPrune => definition(object)
            .or_else(|| sync_option(metadata, &["Prune=false", "Prune=confirm"]))
            .or_else(|| argo_cd_hook(metadata)),
        Removal::ArgoCdApplication => definition(object)
            .or_else(|| sync_option(metadata, &["Delete=false", "Delete=confirm"]))
            .or_else(|| argo_cd_keep(metadata)),
        Removal::FluxPrune => flux_opt_out(metadata),
    }
}

/// Spares CustomResourceDefinitions: Argo CD writes no tracking onto one, so that it is never removed from an
/// Application.
fn definition(object: &Object) -> Option<Exempted<'static>> {
    object
        .is(kinds::CUSTOM_RESOURCE_DEFINITION)
        .then_some(Exempted {
            by: Exemption::Definition,
            place: None,
        })
}

/// Returns the annotation that keeps an object at an upgrade: that of the live object, compared exactly (helm
/// pkg/kube/client.go, Update).
pub fn kept_by_upgrade(metadata: Metadata<'_>) -> Option<Spanned<&str>> {
    let policy = metadata.annotation(marks::HELM_RESOURCE_POLICY);
    policy.filter(|policy| policy.value == "keep")
}

/// Whether Helm creates an object outside of the release: a hook, or an object of `crds/`.
pub(super) fn outside_of_release(object: &Object, template: Option<&str>) -> bool {
    unreleased(object, template).is_some()
}

/// Returns why an object that Helm creates is not part of the release.
fn unreleased(object: &Object, template: Option<&str>) -> Option<Exempted<'static>> {
    if let Some(hook) = object.metadata().annotation(marks::HELM_HOOK) {
        return Some(Exempted::marked(Exemption::Hook, hook.key_span));
    }
    template.is_some_and(in_crds_folder).then_some(Exempted {
        by: Exemption::CrdsFolder,
        place: None,
    })
}

/// Reads the policy as `helm uninstall` reads it from the stored release: any value protects.
fn resource_policy(metadata: Metadata<'_>) -> Option<Exempted<'_>> {
    let policy = metadata.annotation(marks::HELM_RESOURCE_POLICY)?;
    let by = if policy.value.trim().eq_ignore_ascii_case("keep") {
        Exemption::Keep
    } else {
        Exemption::UnknownPolicy(policy.value)
    };
    Some(Exempted::marked(by, policy.key_span))
}

/// Spares hooks: Argo CD runs them, and never prunes one (gitops-engine pkg/sync/sync_context.go).
fn argo_cd_hook(metadata: Metadata<'_>) -> Option<Exempted<'_>> {
    let mut keys = [marks::ARGOCD_HOOK, marks::HELM_HOOK].into_iter();
    let hook = keys.find_map(|key| metadata.annotation(key))?;
    Some(Exempted::marked(Exemption::Hook, hook.key_span))
}

/// Reads Helm's annotation as Argo CD reads one of its own: as a list, compared exactly.
fn argo_cd_keep(metadata: Metadata<'_>) -> Option<Exempted<'_>> {
    let policy = metadata.annotation(marks::HELM_RESOURCE_POLICY)?;
    let keeps = marks::sync_options(policy.value).any(|option| option == "keep");
    keeps.then_some(Exempted::marked(Exemption::Keep, policy.key_span))
}

fn sync_option<'a>(metadata: Metadata<'a>, spares: &[&str]) -> Option<Exempted<'a>> {
    let options = metadata.annotation(marks::ARGOCD_SYNC_OPTIONS)?;
    let option = marks::sync_options(options.value).find(|option| spares.contains(option))?;
    let by = Exemption::SyncOption(option);
    Some(Exempted::marked(by, options.key_span))
}

/// Reads Flux's labels and annotations, ignoring case (fluxcd/pkg ssa/manager_delete.go, ssa/utils
/// AnyInMetadata).
fn flux_opt_out(metadata: Metadata<'_>) -> Option<Exempted<'static>> {
    let opt_outs = [
        (marks::FLUX_PRUNE, "disabled"),
        (marks::FLUX_RECONCILE, "disabled"),
        (marks::FLUX_SSA, "Ignore"),
    ];
    opt_outs.into_iter().find_map(|(key, disabled)| {
        let written = [metadata.label(key), metadata.annotation(key)];
        let mut written = written.into_iter().flatten();
        let mark = written.find(|mark| mark.value.eq_ignore_ascii_case(disabled))?;
        Some(Exempted::marked(Exemption::FluxOptOut(key), mark.key_span))
    })
}
