//! Dependents that controllers create and no manifest contains (section 7 of the deletion semantics; the table of
//! generators).
//!
//! A rendering contains no ReplicaSets, Pods or EndpointSlices, yet a deletion deletes them too.
//! This module implements each row of that section that manifests decide: the created object, its
//! name, and its owner reference. Names that a controller generates contain a placeholder:
//! `web-<hash>-<1>`. Nothing is implied if the input already contains the dependents, nor below an
//! object that is also in a dump: the dump would contain them.
//!
//! Not included, because no manifest decides them: objects of features that are off by default (`[DEP-8]`, `[DEP-13]`,
//! `[DEP-14]`), and static Pods and ResourceSlices of a node (`[DEP-17]`, `[DEP-18]`).

mod adopted;
mod builder;
mod network;
mod object;
mod products;
mod workloads;

use builder::Builder;
pub use object::{Implied, ImpliedObject, ImpliedReference};
pub use products::Products;

use super::{Ownership, Ties};
use crate::inventory::{Inventory, Member, Serving};
use crate::knowledge::Tables;

/// Finds the objects that built-in controllers, and operators according to the tables, create below the rendered
/// objects of `inventory`.
pub fn implied<'a>(
    inventory: &'a Inventory,
    ownership: &Ownership,
    ties: &Ties,
    tables: &Tables,
    products: Products,
) -> Implied<'a> {
    let mut builder = Builder::new(inventory, ownership);
    let live = inventory.live();
    for member in inventory
        .members
        .iter()
        .filter(|member| !live.contains_key(&member.key))
    {
        if is_reconciled(member) {
            built_in(&mut builder, member);
        }
        if !member.from_dump {
            products::of(&mut builder, member, ties, products);
        }
    }
    Implied {
        adopted: adopted::of(inventory, tables),
        ..builder.finish()
    }
}

/// Adds the objects that built-in controllers create for one object.
fn built_in<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    match (member.object.group(), member.object.kind()) {
        ("apps", "Deployment") => workloads::deployment(builder, member),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => {
            workloads::replica_set(builder, member);
        }
        ("apps", "StatefulSet") => workloads::stateful_set(builder, member),
        ("apps", "DaemonSet") => workloads::daemon_set(builder, member),
        ("batch", "CronJob") => workloads::cron_job(builder, member),
        ("batch", "Job") => workloads::job(builder, member),
        ("", "Pod") => workloads::pod(builder, member),
        ("", "Service") => network::service(builder, member),
        ("", "Endpoints") => network::endpoints(builder, member),
        ("", "Namespace") => network::namespace(builder, member),
        ("", "Node") => network::node(builder, member),
        _ => {}
    }
}

/// Whether controllers will process the object as written.
fn is_reconciled(member: &Member) -> bool {
    !member.from_dump
        && member.decodes()
        && !member.key.name.is_empty()
        && matches!(
            member.resolution.serving,
            Serving::Yes | Serving::OffByDefault { .. }
        )
}
