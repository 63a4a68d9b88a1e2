//! Edges in manifests: `metadata.ownerReferences`, each bound to the object it means, if the input has it.

use std::sync::Arc;

use super::{Removers, Serves};
use crate::inventory::{Inventory, Member, ObjectId, table};
use crate::knowledge::{KnownFinalizers, Tables};
use crate::kube::{GroupKind, Namespace, ObjectKey};
use crate::manifest::OwnerReference;

/// The target of an owner reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An object in the input has the uid. The collector binds by uid alone ([GC-4]), so this is certain, whether or
    /// not the other coordinates agree.
    ByUid(ObjectId),
    /// No uid matched. The reference is assumed to mean an object in the input with its group, kind
    /// and name that is or may be in the namespace where the collector looks ([SIM-6]).
    ByName(ObjectId),
    /// Objects of that group, kind and name exist ([`Inventory::with_name`]), but only in other namespaces.
    Elsewhere,
    /// The input contains no such object.
    Absent,
}

/// One owner reference of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerEdge {
    /// The object that contains the reference.
    pub dependent: ObjectId,
    /// The index of the reference among the entries of `metadata.ownerReferences` that decode.
    pub entry: usize,
    /// Its target.
    pub owner: Owner,
}

impl OwnerEdge {
    /// Returns the object that the reference is bound to.
    pub fn bound(&self) -> Option<ObjectId> {
        match self.owner {
            Owner::ByUid(id) | Owner::ByName(id) => Some(id),
            Owner::Elsewhere | Owner::Absent => None,
        }
    }

    /// Returns the object that contains the reference.
    pub fn dependent<'a>(&self, inventory: &'a Inventory) -> &'a Member {
        inventory.member(self.dependent)
    }

    /// Returns the reference itself.
    pub fn reference<'a>(&self, inventory: &'a Inventory) -> &'a OwnerReference {
        let metadata = self.dependent(inventory).object.metadata();
        &metadata.owner_references().entries[self.entry]
    }
}

/// All edges of a bundle, in the order of their dependents.
#[derive(Debug)]
pub struct Ownership {
    /// Edges of owner references in manifests.
    pub written: Vec<OwnerEdge>,
    /// Workloads that remove finalizers.
    pub removers: Removers,
    /// Webhooks, APIServices and conversions, with the Services behind them.
    pub serves: Serves,
}

impl Ownership {
    /// Returns the edges of one object to its owners.
    pub fn edges_of(&self, dependent: ObjectId) -> &[OwnerEdge] {
        let start = self
            .written
            .partition_point(|edge| edge.dependent < dependent);
        let end = self
            .written
            .partition_point(|edge| edge.dependent <= dependent);
        &self.written[start..end]
    }

    /// Finds every edge of `inventory`, with the bundled table of known finalizers.
    pub fn of(inventory: &Inventory) -> Self {
        Self::with_finalizers(inventory, Arc::clone(&Tables::bundled().finalizers))
    }

    /// Finds every edge of `inventory`, with another table of known finalizers.
    pub fn with_finalizers(inventory: &Inventory, known: Arc<KnownFinalizers>) -> Self {
        Self {
            written: owner_edges(inventory),
            removers: Removers::of(inventory, known),
            serves: Serves::of(inventory),
        }
    }

    /// Finds every edge of `inventory` like [`Self::with_finalizers`], on several threads.
    pub fn in_parallel(inventory: &Inventory, known: Arc<KnownFinalizers>) -> Self {
        let (removers, (serves, written)) = rayon::join(
            || Removers::of(inventory, known),
            || rayon::join(|| Serves::of(inventory), || owner_edges(inventory)),
        );
        Self {
            written,
            removers,
            serves,
        }
    }
}

/// Finds every edge of `inventory`, in the order of the dependents.
pub fn owner_edges(inventory: &Inventory) -> Vec<OwnerEdge> {
    let dependents = inventory.with_rare_fields();
    dependents
        .flat_map(|dependent| owner_edges_of(inventory, dependent))
        .collect()
}

/// Finds the edges of one object to its owners.
pub fn owner_edges_of<'a>(
    inventory: &'a Inventory,
    dependent: &'a Member,
) -> impl Iterator<Item = OwnerEdge> + use<'a> {
    let references = dependent.object.metadata().owner_references();
    let entries = references.entries.iter().enumerate();
    entries.map(|(entry, reference)| OwnerEdge {
        dependent: dependent.id,
        entry,
        owner: bind(inventory, dependent, reference),
    })
}

fn bind(inventory: &Inventory, dependent: &Member, reference: &OwnerReference) -> Owner {
    if !reference.uid().is_empty()
        && let Some(&owner) = inventory.with_uid(reference.uid()).first()
    {
        return Owner::ByUid(owner);
    }
    if reference.name().is_empty() || reference.kind().is_empty() {
        return Owner::Absent;
    }
    let key = inventory.owner_key(dependent, reference);
    let named = key.as_ref().map_or(&[][..], |key| inventory.with_key(key));
    // An object with another uid is another object; the uid of a rendered object is unknown.
    if let Some(&owner) = named.first()
        && (!dependent.from_dump || inventory.member(owner).object.uid().is_none())
    {
        return Owner::ByName(owner);
    }
    if dependent.from_dump {
        return unplaced(inventory, dependent, reference)
            .filter(|_| named.is_empty())
            .map_or(Owner::Absent, Owner::ByName);
    }
    by_name_elsewhere(inventory, dependent, reference)
}

/// Returns the rendered object without a written namespace that a reference in a dump may mean: it
/// may be in the dependent's namespace.
fn unplaced(
    inventory: &Inventory,
    dependent: &Member,
    reference: &OwnerReference,
) -> Option<ObjectId> {
    dependent.key.namespace.name()?;
    let group = table().identity(reference.group_version().group, reference.kind());
    let kind = GroupKind::new(group, reference.kind());
    let key = ObjectKey::new(kind, Namespace::Unwritten, reference.name());
    let owner = inventory.with_key(&key).first().copied()?;
    let has_uid = inventory.member(owner).object.uid().is_some();
    (!has_uid).then_some(owner)
}

/// Resolves a reference whose owner is not in the namespace where the collector looks for it. An object of the same
/// kind and name counts as the owner if it may be in that namespace: it or the dependent has no written namespace, or
/// the scope is unknown.
fn by_name_elsewhere(
    inventory: &Inventory,
    dependent: &Member,
    reference: &OwnerReference,
) -> Owner {
    let group = reference.group_version().group;
    let (kind, name) = (GroupKind::new(group, reference.kind()), reference.name());
    let mut near = inventory.with_name_near(kind, name, &dependent.key.namespace);
    if let Some(owner) = near.next() {
        Owner::ByName(owner)
    } else if inventory.with_name(group, kind.kind, name).is_empty() {
        Owner::Absent
    } else {
        Owner::Elsewhere
    }
}
