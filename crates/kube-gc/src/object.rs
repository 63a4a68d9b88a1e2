//! Simulator input that describes one object: plain strings, without spans or files.

use smol_str::SmolStr;

use crate::names::{ObjectKey, finalizers};

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct OwnerReference {
    /// As written. Coordinates are compared as text, so spelling matters.
    pub api_version: SmolStr,
    /// Kind of the owner.
    pub kind: SmolStr,
    /// Name of the owner.
    pub name: SmolStr,
    /// uid of the owner. The collector's graph identifies owners by uid alone `[GC-4]`.
    pub uid: SmolStr,
    /// The uid in the manifest, where the caller replaced [`uid`](Self::uid) to bind the reference; shown in plans.
    pub written_uid: Option<SmolStr>,
    /// `controller`; `None` if absent. The collector ignores it `[GC-15]`.
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; `None` if absent.
    pub block_owner_deletion: Option<bool>,
}

/// A deletion under way: `metadata.deletionTimestamp` is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deletion {
    /// `metadata.deletionGracePeriodSeconds`, 0 if absent. Above 0, only the kubelet or a forced delete ends the grace
    /// period `[DEL-10]`.
    pub grace_seconds: u64,
}

/// A controller outside of the control plane that removes finalizers of a Terminating object. It may do so at any
/// moment while it runs and is authorized, but nothing forces it to be quick.
///
/// The controller is ignored if the cluster lacks, from the start, one of its workloads or a part
/// of every set in [`authority`](Self::authority). If an object has several reconcilers for one
/// finalizer, one of them removes it, and it is unknown which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciler {
    /// The finalizers that it removes; those that the object does not have are ignored.
    pub finalizers: Vec<String>,
    /// The workloads whose Pods run it.
    pub workloads: Vec<ObjectKey>,
    /// Sets of objects that authorize its requests, each of which is sufficient: its ServiceAccount, a binding that
    /// names it, and the binding's role. Empty if unknown.
    pub authority: Vec<Vec<ObjectKey>>,
}

/// An object of the cluster before the first step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// Identity of the object, without its API version.
    pub key: ObjectKey,
    /// `metadata.uid`. A rendered manifest has none: the caller invents one and rewrites references to it `[SIM-6]`.
    pub uid: SmolStr,
    /// `metadata.ownerReferences`.
    pub owner_references: Vec<OwnerReference>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// Set when the object is already Terminating.
    pub deletion: Option<Deletion>,
    /// Controllers outside of the control plane that remove its finalizers.
    pub reconcilers: Vec<Reconciler>,
    /// Kind-specific facts that its deletion depends on.
    pub facts: Facts,
    /// Whether no input contains it: a rendered reference names it. It is simulated; plans hide it.
    pub assumed: bool,
}

/// Kind-specific fields that the deletion controllers read. Large variants are boxed because most objects have `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Facts {
    /// No kind-specific facts.
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
    /// A Secret of type `kubernetes.io/service-account-token`, deleted with its ServiceAccount `[DEP-19]`.
    TokenSecret {
        /// The ServiceAccount that its annotation names.
        service_account: String,
    },
    /// An IPAddress, deleted with the Service that its `spec.parentRef` names `[DEP-19]`.
    Address {
        /// The Service's namespace.
        namespace: String,
        /// Its name.
        service: String,
    },
    /// A webhook configuration: its webhooks that reject requests when they have no backend.
    Webhooks(Vec<WebhookFacts>),
    /// An APIService that a Service serves (an aggregated API).
    ApiService(Box<ApiServiceFacts>),
    /// A Job with an external `spec.managedBy`: the controller that counts its Pods is not modelled `[FIN-5]`.
    ExternallyManagedJob,
}

/// Facts that the deletion of a Pod depends on.
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
    /// ResourceClaims that are reserved for it, by name in its namespace `[FIN-6]`.
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
    /// `spec.finalizers`. The API server adds `kubernetes` to every new Namespace `[VAL-26]`.
    pub spec_finalizers: Vec<String>,
}

impl Default for NamespaceFacts {
    fn default() -> Self {
        NamespaceFacts {
            spec_finalizers: vec![finalizers::KUBERNETES.to_owned()],
        }
    }
}

/// Facts that the deletion of a CustomResourceDefinition and its instances depends on.
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
    /// Condition Established; true unless the input says otherwise. If false, instances are not purged `[CRD-3]`.
    pub established: bool,
}

/// Facts that the deletion of a PersistentVolume depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VolumeFacts {
    /// The claim it is bound to, which holds it while the claim exists `[FIN-2]`.
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
    /// Its backend.
    pub backend: ServiceBackend,
    /// The requests that are certain to be sent to it.
    pub requests: Vec<WebhookRequests>,
}

/// Requests that are sent to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookRequests {
    /// Verbs of the requests; each verb is requested for each object.
    pub verbs: Vec<Verb>,
    /// Objects of the requests.
    pub objects: Vec<ObjectKey>,
}

/// An aggregated API, as its APIService registers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiServiceFacts {
    /// Group and version, such as `metrics.k8s.io/v1beta1`.
    pub group_version: String,
    /// Its backend.
    pub backend: ServiceBackend,
}

/// The backend of a webhook or an aggregated API. If the cluster lacks the Service from the start, there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceBackend {
    /// The Service.
    pub service: ObjectKey,
    /// The Pods that the Service selects, or the workloads that run them; the backend answers while one of them exists.
    /// `None` if unknown: the Service is then sufficient.
    pub pods: Option<Vec<ObjectKey>>,
}

/// A kind of request, as far as webhooks distinguish it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// DELETE.
    Delete,
    /// A patch of the object, such as the removal of a finalizer or an owner reference.
    Update,
    /// An update of its status. The clean-up finalizers of definitions and load balancers are removed this way.
    UpdateStatus,
    /// An update of the `finalize` subresource of a Namespace, which ends its deletion.
    Finalize,
}
