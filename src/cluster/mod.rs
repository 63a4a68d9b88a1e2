//! From an inventory to a cluster.
//!
//! *Dumps* are taken as they are: references bind by uid, and what the input does not hold does not exist. *Renderings*
//! have no uids: each object gets one made of its key, and a reference that ownership binds by name gets its owner's
//! `[SIM-6]`. A rendered reference that leads nowhere proves nothing, whatever uid it holds: its owner is *assumed* to
//! exist, so that its dependent stays. Made-up uids and assumed objects never show in a plan.
//!
//! Whatever had to be decided on the way stands in [`Assumptions`], for the reader of the plan.

mod analysis;
mod facts;
mod kinds;
mod members;
mod references;

use std::collections::{BTreeMap, BTreeSet};

pub use analysis::{Analysis, Verdicts};
use facts::Reader;
use members::Members;
use references::References;

use crate::gc::{Cluster, ClusterError, Facts, Kinds, NamespaceFacts, Object};
use crate::inventory::Inventory;
use crate::kube::{GroupKind, ObjectKey, kinds as well_known};
use crate::ownership::{Implied, ImpliedObject, Ownership};

/// What a cluster is built from.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The objects.
    pub inventory: &'a Inventory,
    /// Their written edges.
    pub ownership: &'a Ownership,
    /// What controllers create below them.
    pub implied: &'a Implied<'a>,
    /// Namespaces that exist without a Namespace object in the input.
    pub namespaces: &'a BTreeSet<String>,
    /// Whether a scheduler and kubelets run, so that rendered and implied Pods are bound to nodes.
    pub running: bool,
}

/// What was decided where the input does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// How many rendered references were bound by name.
    pub bound_by_name: usize,
    /// (dependent, owner): the owner of a rendered reference is not in the input and assumed to exist.
    pub assumed_owners: Vec<(ObjectKey, ObjectKey)>,
    /// (dependent, owner): the owner of a dumped reference is not in the input, so it does not exist.
    pub absent_owners: Vec<(ObjectKey, ObjectKey)>,
    /// Kinds of which nothing is known but objects: never collected, and owners that never resolve.
    pub unknown_kinds: BTreeSet<GroupKind>,
    /// Kinds without a definition in the input that objects of a dump prove to be served, in the versions they have.
    pub proven_kinds: BTreeSet<GroupKind>,
    /// Objects that stand in the input more than once; one was taken.
    pub duplicates: Vec<ObjectKey>,
    /// Objects whose uid another one has; they were given their own.
    pub shared_uids: Vec<ObjectKey>,
    /// Objects that no API server accepts: metadata of wrong types, or no name.
    pub refused: Vec<ObjectKey>,
}

/// A cluster, and what was assumed of it.
#[derive(Debug)]
pub struct Built {
    /// The cluster.
    pub cluster: Cluster,
    /// What the input does not say.
    pub assumptions: Assumptions,
}

/// Builds the cluster that `source` describes.
///
/// # Errors
/// [`ClusterError::TooLarge`]; doubled keys and uids are resolved here.
fn build(source: &Source<'_>) -> Result<Built, ClusterError> {
    let (kinds, proven_kinds) = kinds::kinds_of(source.inventory);
    let mut assumptions = Assumptions { proven_kinds, ..Assumptions::default() };
    let members = Members::choose(source, &mut assumptions);
    let mut references = References::new(source, &kinds, &members);
    let reader = Reader::new(source.inventory, source.running);
    let mut objects = Vec::with_capacity(members.chosen.len() + source.implied.objects.len());
    for (key, id) in &members.chosen {
        let member = source.inventory.member(*id);
        note_unknown_kind(&kinds, key, &mut assumptions.unknown_kinds);
        let owner_references = references.of_member(key, *id, &mut assumptions);
        let mut finalizers: Vec<String> =
            member.object.metadata.finalizers.iter().map(|finalizer| finalizer.value.clone()).collect();
        let deletion = facts::deletion(member);
        // Controllers give live objects their protection back, never Terminating ones [VAL-24].
        let spec = member.object.at(&["spec"]).filter(|_| !member.from_dump);
        if deletion.is_none() {
            protect(&mut finalizers, key.group_kind(), spec);
        }
        objects.push(Object {
            owner_references,
            finalizers,
            deletion,
            facts: reader.facts(member),
            ..object(key, members.uids[key].clone())
        });
    }
    for implied in &source.implied.objects {
        objects.extend(implied_object(implied, &members, &mut references, &reader, &mut assumptions));
    }
    for name in source.namespaces {
        objects.extend(references.namespace(name));
    }
    objects.extend(references.into_assumed());
    Ok(Built { cluster: Cluster::new(kinds, objects)?, assumptions })
}

fn note_unknown_kind(kinds: &Kinds, key: &ObjectKey, unknown: &mut BTreeSet<GroupKind>) {
    if kinds.find(key.group_kind()).is_none() {
        unknown.insert(key.group_kind().to_owned());
    }
}

fn protect(finalizers: &mut Vec<String>, kind: GroupKind<&str>, spec: Option<crate::yaml::Value<'_>>) {
    if let Some(protection) = facts::protection(kind, spec)
        && !finalizers.iter().any(|finalizer| finalizer == protection)
    {
        finalizers.push(protection.to_owned());
    }
}

/// `None` if the input has the object after all, under the key that made it drop a duplicate.
fn implied_object(
    implied: &ImpliedObject<'_>,
    members: &Members,
    references: &mut References<'_>,
    reader: &Reader<'_>,
    assumptions: &mut Assumptions,
) -> Option<Object> {
    let key = &implied.key;
    if members.uids.contains_key(key) {
        return None;
    }
    let mut finalizers = implied.finalizers.clone();
    protect(&mut finalizers, key.group_kind(), implied.spec);
    let owner_references = references.of_implied(key, implied, assumptions);
    let facts = reader.implied_facts(implied);
    Some(Object { owner_references, finalizers, facts, ..object(key, minted_uid(key)) })
}

/// An object with nothing but a name.
fn object(key: &ObjectKey, uid: String) -> Object {
    let facts = match key.is(well_known::NAMESPACE) {
        true => Facts::Namespace(NamespaceFacts::default()),
        false => Facts::None,
    };
    Object { key: key.clone(), uid, facts, ..Object::default() }
}

/// A uid for an object that has none: no uid of a cluster looks like this, and it is the same in every run.
fn minted_uid(key: &ObjectKey) -> String {
    format!("minted for {key}")
}

/// Uids by key.
type Uids = BTreeMap<ObjectKey, String>;
