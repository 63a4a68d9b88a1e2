//! Kinds that the deletion controllers treat specially, and kinds of objects through which tools deliver others.

use super::GroupKind;

const fn core(kind: &'static str) -> GroupKind<&'static str> {
    GroupKind::new("", kind)
}

/// `ConfigMap`.
pub const CONFIG_MAP: GroupKind<&str> = core("ConfigMap");
/// `Endpoints`.
pub const ENDPOINTS: GroupKind<&str> = core("Endpoints");
/// `Namespace`.
pub const NAMESPACE: GroupKind<&str> = core("Namespace");
/// `PersistentVolume`.
pub const PERSISTENT_VOLUME: GroupKind<&str> = core("PersistentVolume");
/// `PersistentVolumeClaim`.
pub const PERSISTENT_VOLUME_CLAIM: GroupKind<&str> = core("PersistentVolumeClaim");
/// `Pod`.
pub const POD: GroupKind<&str> = core("Pod");
/// `Secret`.
pub const SECRET: GroupKind<&str> = core("Secret");
/// `Service`.
pub const SERVICE: GroupKind<&str> = core("Service");
/// `ServiceAccount`.
pub const SERVICE_ACCOUNT: GroupKind<&str> = core("ServiceAccount");
/// `IPAddress.networking.k8s.io`.
pub const IP_ADDRESS: GroupKind<&str> = GroupKind::new("networking.k8s.io", "IPAddress");
/// `Job.batch`.
pub const JOB: GroupKind<&str> = GroupKind::new("batch", "Job");
/// `StatefulSet.apps`.
pub const STATEFUL_SET: GroupKind<&str> = GroupKind::new("apps", "StatefulSet");
/// `CustomResourceDefinition.apiextensions.k8s.io`.
pub const CUSTOM_RESOURCE_DEFINITION: GroupKind<&str> =
    GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition");
/// `VolumeAttributesClass.storage.k8s.io`.
pub const VOLUME_ATTRIBUTES_CLASS: GroupKind<&str> =
    GroupKind::new("storage.k8s.io", "VolumeAttributesClass");
/// `ResourceClaim.resource.k8s.io`.
pub const RESOURCE_CLAIM: GroupKind<&str> = GroupKind::new("resource.k8s.io", "ResourceClaim");
/// `APIService.apiregistration.k8s.io`.
pub const API_SERVICE: GroupKind<&str> = GroupKind::new("apiregistration.k8s.io", "APIService");
/// `MutatingWebhookConfiguration.admissionregistration.k8s.io`.
pub const MUTATING_WEBHOOK_CONFIGURATION: GroupKind<&str> = GroupKind::new(
    "admissionregistration.k8s.io",
    "MutatingWebhookConfiguration",
);
/// `ValidatingWebhookConfiguration.admissionregistration.k8s.io`.
pub const VALIDATING_WEBHOOK_CONFIGURATION: GroupKind<&str> = GroupKind::new(
    "admissionregistration.k8s.io",
    "ValidatingWebhookConfiguration",
);
/// Kinds whose objects make the API server call Services.
pub const CALLOUTS: [GroupKind<&str>; 3] = [
    API_SERVICE,
    MUTATING_WEBHOOK_CONFIGURATION,
    VALIDATING_WEBHOOK_CONFIGURATION,
];
/// `Application.argoproj.io`, of Argo CD.
pub const APPLICATION: GroupKind<&str> = GroupKind::new("argoproj.io", "Application");
/// `ApplicationSet.argoproj.io`, of Argo CD.
pub const APPLICATION_SET: GroupKind<&str> = GroupKind::new("argoproj.io", "ApplicationSet");
/// `Kustomization.kustomize.toolkit.fluxcd.io`, of Flux; a `kustomization.yaml` of kustomize is not an object.
pub const FLUX_KUSTOMIZATION: GroupKind<&str> =
    GroupKind::new("kustomize.toolkit.fluxcd.io", "Kustomization");
/// `HelmRelease.helm.toolkit.fluxcd.io`, of Flux.
pub const HELM_RELEASE: GroupKind<&str> = GroupKind::new("helm.toolkit.fluxcd.io", "HelmRelease");
/// `FluxInstance.fluxcd.controlplane.io`, of the Flux Operator.
pub const FLUX_INSTANCE: GroupKind<&str> = GroupKind::new("fluxcd.controlplane.io", "FluxInstance");
