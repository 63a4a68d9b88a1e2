//! Edges that no manifest contains: dependents that built-in controllers create (section 7 of the deletion semantics).
//!
//! A rendering contains no ReplicaSets, Pods or EndpointSlices, yet a deletion deletes them too. Each row of the
//! section that a manifest alone decides is followed here: what is created, under which name, with which owner
//! reference. Names that a controller generates contain a placeholder: `web-<hash>-<1>`. Nothing is implied below an
//! object that was read from a cluster (its dependents were there to be read), nor where the input already contains the
//! dependents.
//!
//! Left out, because no manifest decides them: what off-by-default features create (`[DEP-8]`, `[DEP-13]`, `[DEP-14]`), and
//! static Pods and ResourceSlices of a node (`[DEP-17]`, `[DEP-18]`).

mod builder;
mod network;
mod object;
mod workloads;

use builder::Builder;
pub use object::{Implied, ImpliedObject, ImpliedReference, MOST_REPLICAS};

use super::Ownership;
use crate::inventory::{Inventory, Member, Serving};

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
