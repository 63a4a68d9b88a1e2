//! Builds the cluster of the model from an inventory.
//!
//! *Dumps* are taken as they are: references bind by uid, and objects that the input does not
//! contain do not exist. *Renderings* have no uids: each object gets a minted one, and a reference
//! that ownership binds by name gets its owner's `[SIM-6]`. If the input lacks the owner of a
//! rendered reference, it is *assumed* to exist, whatever its uid, so the dependent stays. Plans
//! never show minted uids or assumed objects.
//!
//! [`Assumptions`] lists every assumption for the reader of the plan.

mod analysis;
mod callouts;
mod facts;
mod harm;
mod kinds;
mod members;
mod object;
mod reclaim;
mod reconcilers;
mod references;
mod safe_order;
mod scenario;
mod source;

pub use analysis::{Analysis, Nearness, PlanCache};
use callouts::add_callouts;
use facts::Reader;
use members::Members;
use object::{minted_uid, object};
pub use reclaim::Reclaims;
use reconcilers::Reconcilers;
use references::ReferenceBinder;
pub use safe_order::{Preparation, SafeOrder, safe_order};
pub use scenario::{Scenario, steps_of};
pub use source::{Assumptions, Source};

use crate::gc::{Behaviour, Cluster, ClusterError, KindTable, Object};
use crate::inventory::Release;
use crate::kube::GroupKind;
use crate::ownership::ImpliedObject;

/// A cluster, and the assumptions about it.
#[derive(Debug)]
pub struct Built {
    /// The cluster.
    pub cluster: Cluster,
    /// Assumptions where the input is silent.
    pub assumptions: Assumptions,
}

/// Builds the cluster that `source` describes.
///
/// # Errors
/// [`ClusterError::TooLarge`]. Duplicate keys and uids are resolved here.
fn build(source: &Source<'_>) -> Result<Built, ClusterError> {
    let (kinds, shown) = kinds::kinds_of(source.inventory);
    let mut assumptions = Assumptions {
        proven_kinds: shown.proven,
        expected_kinds: shown.expected,
        retired_kinds: shown.retired,
        ..Assumptions::default()
    };
    let objects = objects_of(source, &kinds, &mut assumptions);
    let behaviour = behaviour(source.inventory.kinds.release());
    Ok(Built {
        cluster: Cluster::behaving(behaviour, kinds, objects)?,
        assumptions,
    })
}

/// Builds the objects of the cluster, unordered.
fn objects_of(
    source: &Source<'_>,
    kinds: &KindTable,
    assumptions: &mut Assumptions,
) -> Vec<Object> {
    let members = Members::choose(source, assumptions);
    let mut references = ReferenceBinder::new(source, kinds, &members);
    let mut reconcilers = Reconcilers::new(source, &members);
    let reader = Reader::new(source.inventory, source.running);
    let chosen = members.in_order();
    let mut objects = Vec::with_capacity(chosen.len() + source.implied.objects.len());
    for (key, id) in chosen {
        let member = source.inventory.member(id);
        let kind = key.group_kind();
        if kinds.find(kind).is_none() {
            assumptions.unknown_kinds.insert(kind.to_owned());
        }
        let owner_references = references.of_member(key, id, assumptions);
        let mut finalizers: Vec<String> = member
            .object
            .metadata()
            .finalizer_names()
            .map(str::to_owned)
            .collect();
        let deletion = facts::deletion(member);
        // Controllers restore the protection finalizers of live objects, but not of Terminating ones [VAL-24].
        let spec = member.object.at(&["spec"]).filter(|_| !member.from_dump);
        if deletion.is_none() {
            protect(&mut finalizers, kind, spec);
        }
        let reconcilers = reconcilers.of_member(member);
        let added = reconcilers.iter().flat_map(|one| &one.finalizers);
        for finalizer in added {
            if !finalizers.contains(finalizer) {
                finalizers.push(finalizer.clone());
                assumptions
                    .added_finalizers
                    .insert((kind.to_owned(), finalizer.clone()));
            }
        }
        objects.push(Object {
            owner_references,
            finalizers,
            reconcilers,
            deletion,
            facts: reader.facts(member),
            ..object(key, members.uid_of(id))
        });
    }
    for implied in &source.implied.objects {
        objects.extend(implied_object(
            implied,
            &members,
            &mut references,
            &reader,
            assumptions,
        ));
    }
    for name in source.namespaces {
        objects.extend(references.namespace(name));
    }
    objects.extend(references.into_assumed());
    add_callouts(source, kinds, &members, &mut objects, assumptions);
    objects
}

fn behaviour(release: Release) -> Behaviour {
    Behaviour {
        pods_first: release >= Release::new(33),
        absence_by_uid: release < Release::new(20),
    }
}

fn protect(
    finalizers: &mut Vec<String>,
    kind: GroupKind<&str>,
    spec: Option<crate::yaml::Value<'_>>,
) {
    if let Some(protection) = facts::protection(kind, spec)
        && !finalizers.iter().any(|finalizer| finalizer == protection)
    {
        finalizers.push(protection.to_owned());
    }
}

/// Builds an implied object; `None` if the input has an object with that key after all.
fn implied_object(
    implied: &ImpliedObject<'_>,
    members: &Members<'_>,
    references: &mut ReferenceBinder<'_>,
    reader: &Reader<'_>,
    assumptions: &mut Assumptions,
) -> Option<Object> {
    let key = &implied.key;
    if members.has(key) {
        return None;
    }
    let mut finalizers = implied.finalizers.clone();
    protect(&mut finalizers, key.group_kind(), implied.spec);
    Some(Object {
        owner_references: references.of_implied(key, implied, assumptions),
        finalizers,
        facts: reader.implied_facts(implied),
        ..object(key, minted_uid(key))
    })
}
