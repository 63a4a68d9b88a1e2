//! Why the control plane did something to an object, or left it as it is.
//!
//! Code matches on a [`Cause`], never on its citations, which are for users and appear only here.

/// Why something happened to an object, or why it is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A step asks for its deletion.
    Requested,
    /// A step removes the last thing that held it, or nothing held it from the start.
    Unheld,
    /// No object has the uid of its owner.
    OwnerUnknown,
    /// Its owner is gone.
    OwnerGone,
    /// Its owner is deleted in the foreground, and nothing depends on the object itself.
    OwnerWaits,
    /// Its owner is deleted in the foreground, and so is the object itself, because it has dependents of its own.
    OwnerWaitsInTurn {
        /// Whether a dependent of it waits in turn, so that it first stops blocking its owners.
        unblocked: bool,
    },
    /// Its owner is in another namespace.
    OwnerElsewhere,
    /// Before Kubernetes 1.20: it is cluster-scoped, and its owner is not.
    OwnerNamespaced,
    /// Before Kubernetes 1.20: another dependent looked for its owner in the wrong place.
    OwnerMistaken,
    /// The object with the uid of its owner has another name or kind.
    OwnerMismatch,
    /// No owner is left, and its own finalizer `orphan` decides how it is deleted.
    OwnersGoneOrphaning,
    /// It has another owner, so it only loses its reference.
    OtherOwner {
        /// Whether the owner that it loses waits for its dependents.
        waiting: bool,
    },
    /// The blocking dependents that its foreground deletion waited for are gone.
    DependentsGone,
    /// Its owner orphans it.
    Orphaned,
    /// Its dependents are orphaned.
    DependentsOrphaned,
    /// Its namespace is being deleted.
    NamespaceDeleted,
    /// It is a namespace, and empty.
    NamespaceEmpty,
    /// Its definition is being deleted.
    DefinitionDeleted,
    /// It is a definition without remaining instances.
    InstancesGone,
    /// A controller deletes it along with the object that it belongs to.
    LeaderGone,
    /// Its kubelet confirms that its containers have stopped.
    PodStopped,
    /// Nothing needs its protection any more.
    Unused(Protection),
    /// Its controller removes its finalizers.
    ControllerRemovesFinalizers,
    /// It is spared: the kind of its owner does not resolve.
    OwnerKindUnserved,
    /// It is spared: it is cluster-scoped, and its owner is not.
    OwnerOutOfScope,
    /// It is spared until its owner, which is Terminating, is gone.
    OwnerTerminating,
    /// It waits for its kubelet.
    AwaitsKubelet,
    /// Its foreground deletion waits for blocking dependents.
    AwaitsDependents,
    /// Its foreground deletion waits for itself.
    AwaitsItself,
    /// It waits until its finalizers are removed.
    AwaitsFinalizers,
    /// It is a namespace, and waits until its Pods are gone.
    AwaitsPods,
    /// It is a namespace, and waits until it is empty.
    AwaitsContent,
    /// It is a definition, and waits until its instances are gone.
    AwaitsInstances,
    /// It is a namespace, and waits until every aggregated API answers.
    AwaitsDiscovery,
    /// A webhook without a backend rejects the request.
    WebhookRejects,
}

impl Cause {
    /// Returns the rules of the deletion semantics behind the cause, in the order in which they apply.
    pub fn citations(self) -> &'static [&'static str] {
        match self {
            Self::Requested => &["DEL-7"],
            Self::Unheld => &["DEL-10"],
            Self::OwnerUnknown => &["GC-48", "GC-22"],
            Self::OwnerGone => &["GC-12", "GC-22"],
            Self::OwnerWaits => &["GC-10", "GC-22"],
            Self::OwnerWaitsInTurn { unblocked: false } => &["GC-22", "GC-26"],
            Self::OwnerWaitsInTurn { unblocked: true } => &["GC-22", "GC-22a", "GC-41"],
            Self::OwnerElsewhere => &["GC-17", "GC-22"],
            Self::OwnerNamespaced => &["GC-20a", "GC-22"],
            Self::OwnerMistaken => &["GC-17a", "GC-22"],
            Self::OwnerMismatch => &["GC-18", "GC-22"],
            Self::OwnersGoneOrphaning => &["GC-22", "GC-27"],
            Self::OtherOwner { waiting: false } => &["GC-22"],
            Self::OtherOwner { waiting: true } => &["GC-22", "GC-35"],
            Self::DependentsGone => &["GC-31"],
            Self::Orphaned | Self::DependentsOrphaned => &["GC-36"],
            Self::NamespaceDeleted | Self::AwaitsContent => &["NS-9"],
            Self::NamespaceEmpty => &["NS-3"],
            Self::DefinitionDeleted => &["CRD-3"],
            Self::InstancesGone => &["CRD-3", "CRD-4"],
            Self::LeaderGone => &["DEP-19"],
            Self::PodStopped | Self::AwaitsKubelet => &["DEL-15"],
            Self::Unused(protection) => protection.release_citations(),
            Self::OwnerKindUnserved => &["GC-16"],
            Self::OwnerOutOfScope => &["GC-20"],
            Self::OwnerTerminating => &["GC-46"],
            Self::AwaitsDependents => &["GC-33"],
            Self::AwaitsItself => &["GC-44"],
            Self::ControllerRemovesFinalizers | Self::AwaitsFinalizers => &["FIN-17"],
            Self::AwaitsPods => &["NS-17"],
            Self::AwaitsInstances => &["CRD-4"],
            Self::AwaitsDiscovery => &["NS-11"],
            Self::WebhookRejects => &["GC-29"],
        }
    }

    /// Returns the citations of several causes, deduplicated, in the order of the causes.
    pub fn all_citations(causes: &[Self]) -> Vec<&'static str> {
        let mut all = Vec::new();
        for citation in causes.iter().flat_map(|cause| cause.citations()) {
            if !all.contains(citation) {
                all.push(*citation);
            }
        }
        all
    }
}

/// A finalizer that the control plane removes once nothing needs it any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protection {
    /// `kubernetes.io/pvc-protection`: Pods use the claim.
    Claim,
    /// `kubernetes.io/pv-protection`: a claim is bound to the volume.
    Volume,
    /// `kubernetes.io/vac-protection`: claims and volumes name the class.
    VolumeAttributesClass,
    /// `service.kubernetes.io/load-balancer-cleanup`.
    LoadBalancer,
    /// `batch.kubernetes.io/job-tracking`: a Job has not counted the Pod yet.
    JobTracking,
    /// `resource.kubernetes.io/delete-protection`: Pods have the claim reserved.
    ResourceClaim,
}

impl Protection {
    /// Returns the rules that define the protection.
    pub fn citations(self) -> &'static [&'static str] {
        match self {
            Self::Claim => &["FIN-1"],
            Self::Volume => &["FIN-2"],
            Self::VolumeAttributesClass => &["FIN-3"],
            Self::LoadBalancer => &["FIN-4"],
            Self::JobTracking => &["FIN-5"],
            Self::ResourceClaim => &["FIN-6"],
        }
    }

    /// Returns the rules for the removal of the finalizer.
    fn release_citations(self) -> &'static [&'static str] {
        match self {
            Self::Claim => &["SIM-7", "FIN-1", "FIN-14"],
            Self::Volume => &["SIM-7", "FIN-2"],
            Self::VolumeAttributesClass => &["SIM-7", "FIN-3"],
            Self::LoadBalancer => &["SIM-7", "FIN-4"],
            Self::JobTracking => &["SIM-7", "FIN-5"],
            Self::ResourceClaim => &["SIM-7", "FIN-6"],
        }
    }
}
