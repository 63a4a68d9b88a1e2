//! What a caller tells the simulator about one object: plain strings, no spans, no files.

use std::fmt;
use std::str::FromStr;

/// Identity of an object, written `Kind[.group]/namespace/name`, the namespace empty for cluster-scoped kinds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// API group, empty for core.
    pub group: String,
    /// Kind, as in manifests.
    pub kind: String,
    /// Namespace, empty for cluster-scoped kinds.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        write!(f, "/{}/{}", self.namespace, self.name)
    }
}

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key of the form Kind[.group]/namespace/name")]
pub struct NotAKey(pub String);

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut parts = text.splitn(3, '/');
        let (Some(kind), Some(namespace), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NotAKey(text.to_owned()));
        };
        let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
        if kind.is_empty() || name.is_empty() {
            return Err(NotAKey(text.to_owned()));
        }
        Ok(Key { group: group.into(), kind: kind.into(), namespace: namespace.into(), name: name.into() })
    }
}

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct OwnerReference {
    /// As written; it counts character by character when coordinates are compared.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// The uid: the collector's graph knows nothing else `[GC-4]`.
    pub uid: String,
    /// `controller`, absent is `None`. Without meaning to the collector `[GC-15]`.
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

/// An object of the cluster before the first step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Object {
    /// `apiVersion`; the group counts, the version is whatever the dump was written in.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.namespace`, empty for cluster-scoped kinds.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`. A rendering has none: the caller mints one and rewrites the references it could bind `[SIM-6]`.
    pub uid: String,
    /// `metadata.ownerReferences`.
    pub owner_references: Vec<OwnerReference>,
    /// `metadata.finalizers`.
    pub finalizers: Vec<String>,
    /// Set when the object is already Terminating.
    pub deletion: Option<Deletion>,
    /// What else matters for deletion, by kind.
    pub facts: Facts,
}

/// Fields of some kinds that the deletion controllers read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Facts {
    /// Nothing else matters.
    #[default]
    None,
    /// A Pod.
    Pod(PodFacts),
    /// A Namespace.
    Namespace(NamespaceFacts),
    /// A CustomResourceDefinition.
    Definition(DefinitionFacts),
    /// A PersistentVolume.
    Volume(VolumeFacts),
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
    /// A Job with an external `spec.managedBy`: nobody here counts its Pods `[FIN-5]`.
    ExternallyManagedJob,
}

/// What deleting a Pod depends on (2.5 of the deletion semantics).
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

/// What deleting a Namespace depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// `spec.finalizers`. The API server adds `kubernetes` to every new one `[VAL-26]`.
    pub spec_finalizers: Vec<String>,
}

impl Default for NamespaceFacts {
    fn default() -> Self {
        NamespaceFacts { spec_finalizers: vec!["kubernetes".to_owned()] }
    }
}

/// What a CustomResourceDefinition declares.
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

/// What deleting a PersistentVolume depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VolumeFacts {
    /// Namespace and name of the claim it is bound to (`status.phase` Bound, or `spec.claimRef` of a claim that exists) `[FIN-2]`.
    pub bound_to: Option<(String, String)>,
    /// `spec.volumeAttributesClassName` `[FIN-3]`.
    pub attributes_class: Option<String>,
}
