//! The sources of a cluster, and the assumptions made when it is built.

use std::collections::BTreeSet;

use crate::inventory::{Inventory, ObjectId};
use crate::kube::{GroupKind, ObjectKey};
use crate::ownership::{Implied, Ownership};

/// The sources of a cluster.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The objects.
    pub inventory: &'a Inventory,
    /// Objects of the inventory that are not in the cluster.
    pub absent: &'a BTreeSet<ObjectId>,
    /// Their edges to owners, controllers that remove their finalizers, and Services.
    pub ownership: &'a Ownership,
    /// The objects that controllers create below those of the input.
    pub implied: &'a Implied<'a>,
    /// Namespaces that exist without a Namespace object in the input.
    pub namespaces: &'a BTreeSet<String>,
    /// Whether a scheduler and kubelets run, so rendered and implied Pods are bound to nodes.
    pub running: bool,
    /// Whether the input is treated as the whole cluster: an absent backend then does not exist elsewhere.
    pub closed: bool,
}

/// The assumptions made where the input is silent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Number of rendered references that were bound by name.
    pub bound_by_name: usize,
    /// (dependent, owner): the owner of a rendered reference is not in the input and assumed to exist.
    pub assumed_owners: Vec<(ObjectKey, ObjectKey)>,
    /// (dependent, owner): the owner of a dumped reference is not in the input, so it does not exist.
    pub absent_owners: Vec<(ObjectKey, ObjectKey)>,
    /// Unknown kinds: their objects are never collected, and never resolve as owners.
    pub unknown_kinds: BTreeSet<GroupKind>,
    /// Kinds without a definition in the input that are served in some versions, as objects of a dump prove.
    pub proven_kinds: BTreeSet<GroupKind>,
    /// Kinds of rendered objects without a definition in the input: assumed to be installed before the objects are
    /// applied, and to serve their versions.
    pub expected_kinds: BTreeSet<GroupKind>,
    /// Kinds of rendered objects that only older releases serve: assumed to be served, as the objects are applied.
    pub retired_kinds: BTreeSet<GroupKind>,
    /// Kinds of rendered objects, with the finalizers that a controller in the input adds to every object of the kind.
    pub added_finalizers: BTreeSet<(GroupKind, String)>,
    /// Objects that the input contains more than once; one was chosen.
    pub duplicates: Vec<ObjectKey>,
    /// Objects with the uid of another object, or with one that looks minted; each was given a new one.
    pub shared_uids: Vec<ObjectKey>,
    /// (configuration or APIService, Service): the Service is not in the input and is assumed to answer.
    pub answered_elsewhere: Vec<(ObjectKey, ObjectKey)>,
    /// (configuration or APIService, Service): there is no backend from the start, because the Service does not exist
    /// or selects nothing.
    pub unanswered: Vec<(ObjectKey, ObjectKey)>,
    /// (configuration or APIService, Service): assumed to answer, because evaluating it would exceed the budget.
    pub not_looked_at: Vec<(ObjectKey, ObjectKey)>,
    /// Number of waits of the tool between its requests that are not simulated, because there are too many.
    pub waits_left_out: usize,
    /// Objects that no API server accepts: metadata of wrong types, or no name.
    pub rejected: Vec<ObjectKey>,
}
