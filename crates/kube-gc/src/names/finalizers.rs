//! Finalizers of Kubernetes' own controllers.

/// Makes the collector orphan the dependents before the object is removed ([FIN-13]).
pub const ORPHAN: &str = "orphan";
/// Makes the collector delete the dependents before the object is removed ([FIN-13]).
pub const FOREGROUND: &str = "foregroundDeletion";
/// In `spec.finalizers`: keeps a Namespace until its content is gone ([FIN-12], [VAL-26]).
pub const KUBERNETES: &str = "kubernetes";
/// The API server adds it to a CustomResourceDefinition that is being deleted, and removes it once the instances are
/// gone ([CRD-1]).
pub const CUSTOM_RESOURCE_CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Keeps a PersistentVolumeClaim that a Pod uses ([FIN-1]).
pub const PVC_PROTECTION: &str = "kubernetes.io/pvc-protection";
/// Keeps a PersistentVolume that is bound ([FIN-2]).
pub const PV_PROTECTION: &str = "kubernetes.io/pv-protection";
/// Keeps a VolumeAttributesClass that a volume or claim names ([FIN-3]).
pub const VAC_PROTECTION: &str = "kubernetes.io/vac-protection";
/// Keeps a Service until its cloud load balancer is gone ([FIN-4]).
pub const LOAD_BALANCER_CLEANUP: &str = "service.kubernetes.io/load-balancer-cleanup";
/// Keeps a Pod until its Job has counted it ([FIN-5]).
pub const JOB_TRACKING: &str = "batch.kubernetes.io/job-tracking";
/// Keeps a ResourceClaim that is reserved for a Pod ([FIN-6]).
pub const RESOURCE_CLAIM_PROTECTION: &str = "resource.kubernetes.io/delete-protection";

/// Whether it is a finalizer of the garbage collector, set only on objects that are being deleted ([FIN-13]).
pub fn is_collectors(finalizer: &str) -> bool {
    matches!(finalizer, ORPHAN | FOREGROUND)
}

/// Returns the damage of removing a finalizer by hand, as a clause; `None` if only the clean-up of its controller is
/// lost.
pub fn removal_breaks(finalizer: &str) -> Option<&'static str> {
    match finalizer {
        PVC_PROTECTION => Some("on a claim in use, this breaks the Pods that use its data"),
        PV_PROTECTION => {
            Some("on a bound volume, this takes the volume from a claim that still uses it")
        }
        VAC_PROTECTION => {
            Some("on a class in use, this leaves volumes with a class that does not exist")
        }
        RESOURCE_CLAIM_PROTECTION => {
            Some("on a claim in use, this takes the devices from the Pods that use them")
        }
        LOAD_BALANCER_CLEANUP => Some("the cloud's load balancer remains, and is billed"),
        JOB_TRACKING => Some("its Job may count the Pod wrongly"),
        _ if finalizer.starts_with("kubernetes.io/") => {
            Some("this bypasses a protection of Kubernetes itself")
        }
        _ => None,
    }
}

/// Whether the name is one of the three that need no domain ([VAL-20]).
pub fn is_standard(finalizer: &str) -> bool {
    is_collectors(finalizer) || finalizer == KUBERNETES
}
