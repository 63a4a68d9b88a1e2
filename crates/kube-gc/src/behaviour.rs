//! Deletion behaviour of older control planes that differs from the newest release.

/// Deletion behaviour that differs between releases of Kubernetes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// Whether a namespace deletes its Pods, and waits for them, before everything else in it `[NS-17]`: since
    /// Kubernetes 1.33 (feature gate OrderedNamespaceDeletion, KEP-5080). Older releases delete in no fixed order.
    pub pods_first: bool,
    /// Whether the collector caches absent owners by uid alone: before Kubernetes 1.20. It looks for a namespaced owner
    /// in the dependent's namespace (in none for a cluster-scoped dependent), and treats an owner that it does not find
    /// there as absent for every other reference too (kubernetes/kubernetes#65200, #88097; fixed by #92743).
    pub absence_by_uid: bool,
}

impl Behaviour {
    /// Behaviour of the newest release.
    pub const NEWEST: Behaviour = Behaviour {
        pods_first: true,
        absence_by_uid: false,
    };
}
