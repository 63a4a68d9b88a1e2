//! Edges that nobody writes: dependents that built-in controllers create (section 7 of the deletion semantics).
//!
//! A rendering holds no ReplicaSets, Pods or EndpointSlices, yet they are what a deletion takes along. Each row of the
//! section that a manifest alone decides is followed here: what is created, under which name, with which owner reference.
//! Names that a controller makes up hold a placeholder: `web-<hash>-<1>`. Nothing is implied below an object that was read
//! from a cluster (its dependents were there to be read), nor where the input holds the dependents itself.
//!
//! Left out, because no manifest decides them: what off-by-default features create (`[DEP-8]`, `[DEP-13]`, `[DEP-14]`), and
//! static Pods and ResourceSlices of a node (`[DEP-17]`, `[DEP-18]`).

mod builder;
mod network;
mod workloads;

use builder::Builder;

use super::Ownership;
use crate::inventory::{Inventory, Member, Serving};
use crate::kube::ObjectKey;
use crate::manifest::OwnerReference;
use crate::yaml::Value;

/// Most Pods that are implied below one workload, and most claims below one template of it: a larger set behaves alike.
pub const MOST_REPLICAS: i64 = 100;

/// An object that a built-in controller creates.
#[derive(Clone, Debug)]
pub struct ImpliedObject<'a> {
    /// `apiVersion`.
    pub api_version: &'static str,
    /// Its name within the cluster.
    pub key: ObjectKey,
    /// The object it is created for.
    pub owner: ObjectKey,
    /// The reference to that object; `None` where the controller writes none `[DEP-19]`, `[DEP-20]`.
    pub reference: Option<ImpliedReference>,
    /// `metadata.finalizers`, those of the template included `[VAL-35]`, `[VAL-36]`.
    pub finalizers: Vec<String>,
    /// Further owner references, copied from the template of a claim `[VAL-36]`.
    pub copied_references: Vec<OwnerReference>,
    /// `spec`, where a template gives it.
    pub spec: Option<Value<'a>>,
    /// Claims of a Pod that its StatefulSet adds to the volumes of the template.
    pub claims: Vec<String>,
    /// The row of section 7: `DEP-1`.
    pub rule: &'static str,
}

/// The owner reference of an implied object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpliedReference {
    /// `apiVersion` as the controller writes it.
    pub api_version: &'static str,
    /// `controller`; absent is `None`.
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; absent is `None`.
    pub block_owner_deletion: Option<bool>,
}

impl ImpliedReference {
    /// What `NewControllerRef` writes (apimachinery `controller_ref.go`).
    pub const fn controller(api_version: &'static str) -> Self {
        Self { api_version, controller: Some(true), block_owner_deletion: Some(true) }
    }

    /// A reference without the blocking flag `[DEP-12]`.
    pub const fn unblocking_controller(api_version: &'static str) -> Self {
        Self { api_version, controller: Some(true), block_owner_deletion: None }
    }

    /// A reference with neither flag `[DEP-15]`.
    pub const fn plain(api_version: &'static str) -> Self {
        Self { api_version, controller: None, block_owner_deletion: None }
    }
}

/// Everything that the input implies.
#[derive(Clone, Debug, Default)]
pub struct Implied<'a> {
    /// In the order of the objects that they are created for; an owner stands before what it owns in turn.
    pub objects: Vec<ImpliedObject<'a>>,
    /// Workloads with more than [`MOST_REPLICAS`].
    pub capped: Vec<ObjectKey>,
}

/// What built-in controllers create below the rendered objects of `inventory`.
pub fn implied<'a>(inventory: &'a Inventory, ownership: &Ownership) -> Implied<'a> {
    let mut builder = Builder::new(inventory, ownership);
    for member in inventory.members.iter().filter(|member| is_reconciled(member)) {
        match (member.object.group(), member.object.kind.value.as_str()) {
            ("apps", "Deployment") => workloads::deployment(&mut builder, member),
            ("apps", "ReplicaSet") | ("", "ReplicationController") => workloads::replica_set(&mut builder, member),
            ("apps", "StatefulSet") => workloads::stateful_set(&mut builder, member),
            ("apps", "DaemonSet") => workloads::daemon_set(&mut builder, member),
            ("batch", "CronJob") => workloads::cron_job(&mut builder, member),
            ("batch", "Job") => workloads::job(&mut builder, member),
            ("", "Pod") => workloads::pod(&mut builder, member),
            ("", "Service") => network::service(&mut builder, member),
            ("", "Endpoints") => network::endpoints(&mut builder, member),
            ("", "Namespace") => network::namespace(&mut builder, member),
            ("", "Node") => network::node(&mut builder, member),
            _ => {}
        }
    }
    builder.finish()
}

/// Whether controllers will see the object as it is written.
fn is_reconciled(member: &Member) -> bool {
    !member.from_dump
        && member.decodes()
        && !member.key.name.is_empty()
        && matches!(member.resolution.serving, Serving::Yes | Serving::OffByDefault { .. })
}
