//! The input of the simulator about one object: plain strings, no spans, no files.

use smol_str::SmolStr;

use crate::names::{ObjectKey, finalizers};

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct OwnerReference {
    /// As written; it counts character by character when coordinates are compared.
    pub api_version: SmolStr,
    /// Kind of the owner.
    pub kind: SmolStr,
    /// Name of the owner.
    pub name: SmolStr,
    /// The uid: the collector's graph knows nothing else `[GC-4]`.
    pub uid: SmolStr,
    /// The text in the manifest in place of [`uid`](Self::uid), where the caller bound the reference: plans show it.
    pub written_uid: Option<SmolStr>,
    /// `controller`, absent is `None`. The collector ignores it `[GC-15]`.
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`, absent is `None`.
    pub block_owner_deletion: Option<bool>,
}

/// `metadata.deletionTimestamp` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deletion {
    /// `metadata.deletionGracePeriodSeconds`, 0 when absent: above 0 only the kubelet (or a forced delete) ends it `[DEL-10]`.
    pub grace_seconds: u64,
}

/// A controller outside of the control plane that removes finalizers of an object once it is Terminating: at any moment while it
/// runs and may, and never in a hurry.
///
/// If the cluster lacks one of the workloads from the start, or something of every alternative, the controller is none. Where an
/// object has several for one finalizer, one of them is its controller, and it is unknown which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciler {
    /// The finalizers that it removes; those that the object does not have are ignored.
    pub finalizers: Vec<String>,
    /// The workloads whose Pods run it.
    pub workloads: Vec<ObjectKey>,
    /// The authority of its requests, in alternatives of which each is enough: its ServiceAccount, a binding that names it, the
    /// binding's role. Empty if unknown.
    pub authority: Vec<Vec<ObjectKey>>,
}

/// An object of the cluster before the first step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Which object; the version it was written in does not matter.
    pub key: ObjectKey,
    /// `metadata.uid`. A rendering has none: the caller makes one up and rewrites the references it could bind `[SIM-6]`.
    pub uid: SmolStr,
    /// `metadata.ownerReferences`.
    pub owner_references: Vec<OwnerReference>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// Set when the object is already Terminating.
    pub deletion: Option<Deletion>,
    /// Who removes which of its finalizers, besides the control plane.
    pub reconcilers: Vec<Reconciler>,
    /// Facts for deletion that depend on the kind.
    pub facts: Facts,
    /// No input contains it, but a rendered reference names it: it takes part like all others, and plans do not show it.
    pub assumed: bool,
}

/// Fields of some kinds that the deletion controllers read. The large ones are boxed: most objects have none, and there may be a
/// million of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Facts {
    /// Nothing else matters.
    #[default]
    None,
    /// A Pod.
    Pod(Box<PodFacts>),
    /// A Namespace.
    Namespace(NamespaceFacts),
    /// A CustomResourceDefinition.
    Definition(Box<DefinitionFacts>),
    /// A PersistentVolume.
    Volume(Box<VolumeFacts>),
    /// A PersistentVolumeClaim: the VolumeAttributesClasses it names, in spec and status.
    Claim {
        /// Names of VolumeAttributesClasses.
        attributes_classes: Vec<String>,
    },
    /// A Secret of type `kubernetes.io/service-account-token`, deleted with its account `[DEP-19]`.
    TokenSecret {
        /// The account that its annotation names.
        service_account: String,
    },
    /// An IPAddress, which the API server's allocator deletes with the Service that its `spec.parentRef` names `[DEP-19]`.
    Address {
        /// The Service's namespace.
        namespace: String,
        /// Its name.
        service: String,
    },
    /// A webhook configuration: its webhooks that reject requests when they have no backend.
    Webhooks(Vec<WebhookFacts>),
    /// An APIService that a Service answers for.
    ApiService(Box<ApiServiceFacts>),
    /// A Job with an external `spec.managedBy`: its Pods are counted outside of the model `[FIN-5]`.
    ExternallyManagedJob,
}

/// Facts that the deletion of a Pod depends on (2.5 of the deletion semantics).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodFacts {
    /// `spec.nodeName` is set.
    pub scheduled: bool,
    /// `status.phase` is Succeeded or Failed.
    pub finished: bool,
    /// `spec.terminationGracePeriodSeconds`.
    pub grace_seconds: u64,
    /// Claims that its volumes mount, by name in its namespace.
    pub claims: Vec<String>,
    /// Claims of its generic ephemeral volumes (`<pod>-<volume>`) `[FIN-14]`.
    pub ephemeral_claims: Vec<String>,
    /// ResourceClaims it has reserved, by name in its namespace `[FIN-6]`.
    pub resource_claims: Vec<String>,
}

impl Default for PodFacts {
    fn default() -> Self {
        PodFacts {
            scheduled: false,
            finished: false,
            grace_seconds: 30,
            claims: Vec::new(),
            ephemeral_claims: Vec::new(),
            resource_claims: Vec::new(),
        }
    }
}

/// Facts that the deletion of a Namespace depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// `spec.finalizers`. The API server adds `kubernetes` to every new one `[VAL-26]`.
    pub spec_finalizers: Vec<String>,
}

impl Default for NamespaceFacts {
    fn default() -> Self {
        NamespaceFacts {
            spec_finalizers: vec![finalizers::KUBERNETES.to_owned()],
        }
    }
}

/// The declarations of a CustomResourceDefinition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFacts {
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// `spec.scope` is `Namespaced`.
    pub namespaced: bool,
    /// Names of the versions with `served: true`.
    pub served: Vec<String>,
    /// Condition Established; true unless the input says otherwise. Instances of one that never was are not purged `[CRD-3]`.
    pub established: bool,
}

/// Facts that the deletion of a PersistentVolume depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VolumeFacts {
    /// The claim it is bound to (`status.phase` Bound, or `spec.claimRef` of a claim that exists) `[FIN-2]`.
    pub bound_to: Option<ObjectKey>,
    /// `spec.volumeAttributesClassName` `[FIN-3]`.
    pub attributes_class: Option<String>,
}

/// A webhook with `failurePolicy: Fail`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookFacts {
    /// Its name.
    pub name: String,
    /// The URL that the API server calls: `https://hook.shop.svc:443/?timeout=10s`.
    pub url: String,
    /// Who answers.
    pub answered_by: Answerer,
    /// The requests that it is asked about for certain.
    pub requests: Vec<Requests>,
}

/// Requests that a webhook is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    /// All verbs of the requests.
    pub verbs: Vec<Verb>,
    /// To which objects.
    pub objects: Vec<ObjectKey>,
}

/// The API that an APIService announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServiceFacts {
    /// `metrics.k8s.io/v1beta1`.
    pub group_version: String,
    /// Who serves it.
    pub answered_by: Answerer,
}

/// The backend of a callout. If the cluster lacks the Service from the start, there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answerer {
    /// The Service.
    pub service: ObjectKey,
    /// The Pods that it selects, or the workloads that run them: it answers while one of them exists. `None`: they are
    /// unknown, so that the Service is enough.
    pub pods: Option<Vec<ObjectKey>>,
}

/// The effect of a request on an object, as far as webhooks distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// DELETE.
    Delete,
    /// A patch of the object: also every removal of a finalizer or an owner reference.
    Update,
    /// An update of its status: the clean-up of definitions and load balancers removes finalizers that way.
    UpdateStatus,
    /// The end of a namespace: an update of its `finalize`.
    Finalize,
}
