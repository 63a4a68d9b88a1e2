//! Owner references, resolved once when the cluster is built: by uid, which gives the edge in the
//! collector's graph `[GC-4]`, and by kind, name and implied namespace, which gives the object that
//! the collector's GET finds. The implied namespace is the dependent's, or none for a cluster-scoped
//! kind.
//!
//! The fields that a simulation reads are in [`Ref`], which is small for the sake of the CPU cache.
//! The text is in [`Written`].

use typed_index_collections::{TiSlice, TiVec};

use crate::ids::{NONE, Numbers, ObjectId, RefId};
use crate::kinds::KindId;
use crate::object::OwnerReference;
use crate::symbols::{Interner, Symbol};

/// The part of an owner reference that the collector reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ref {
    pub(super) holder: ObjectId,
    /// The object with this uid, or [`NONE`].
    pub(super) by_uid: ObjectId,
    pub(super) lookup: Lookup,
    /// Whether it also has the name and implied namespace of `by_uid`, and the apiVersion in which
    /// the collector watches that kind. If so, the absent-owner cache answers without a GET once
    /// the owner is gone `[CRD-7]`.
    pub(super) exact: bool,
}

/// The result of looking up a reference by kind, implied namespace and name before anything is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// apiVersion and kind do not resolve `[GC-16]`.
    Unresolvable,
    /// A cluster-scoped object refers to a namespaced kind `[GC-20]`.
    OutOfScope,
    /// No object, or one with another uid.
    Elsewhere,
    /// The object with the uid.
    Owner,
}

/// Ids of references of one object: nearly always one or two.
pub(super) type ReferenceTable = smallvec::SmallVec<[RefId; 4]>;

/// The text of an owner reference, and its resolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) api_version: Symbol,
    pub(super) kind_name: Symbol,
    pub(super) name: Symbol,
    pub(super) uid: Symbol,
    /// The object that a GET of the coordinates finds, whatever its uid, or [`NONE`].
    pub(super) named: ObjectId,
    /// The resolved apiVersion and kind.
    pub(super) kind: Option<KindId>,
    pub(super) controller: Option<bool>,
    pub(super) block: Option<bool>,
}

impl Written {
    /// Interns the text of a reference. `named` and `kind` are filled in once all objects are known.
    pub(super) fn new(reference: &OwnerReference, text: &mut Interner) -> Written {
        Written {
            api_version: text.intern(&reference.api_version),
            kind_name: text.intern(&reference.kind),
            name: text.intern(&reference.name),
            uid: text.intern(&reference.uid),
            named: NONE,
            kind: None,
            controller: reference.controller,
            block: reference.block_owner_deletion,
        }
    }

    /// Returns apiVersion, kind and name as written.
    pub(super) fn coordinates(&self) -> (Symbol, Symbol, Symbol) {
        (self.api_version, self.kind_name, self.name)
    }
}

/// An object that names another by its uid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dependent {
    pub(super) holder: ObjectId,
    pub(super) reference: RefId,
}

/// The dependents of each object, in the order of their references.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependents {
    /// The dependents of owner `o` are `entries[starts[o]..starts[o + 1]]`.
    starts: TiVec<ObjectId, u32>,
    entries: Vec<Dependent>,
}

impl Dependents {
    pub(super) fn new(objects: usize, references: &TiSlice<RefId, Ref>) -> Self {
        let bound = references
            .iter_enumerated()
            .filter(|(_, reference)| reference.by_uid != NONE);
        let mut starts: TiVec<ObjectId, u32> = vec![0; objects + 1].into();
        for (_, reference) in bound.clone() {
            starts[reference.by_uid.next()] += 1;
        }
        for owner in Numbers::new(ObjectId::FIRST, objects.into()) {
            starts[owner.next()] += starts[owner];
        }
        let mut next = starts.clone();
        let bindings = starts.last().map_or(0, |end| *end as usize);
        let mut entries = vec![
            Dependent {
                holder: NONE,
                reference: RefId::from(0)
            };
            bindings
        ];
        for (index, reference) in bound {
            let slot = &mut next[reference.by_uid];
            entries[*slot as usize] = Dependent {
                holder: reference.holder,
                reference: index,
            };
            *slot += 1;
        }
        Dependents { starts, entries }
    }

    pub(super) fn of(&self, owner: ObjectId) -> &[Dependent] {
        &self.entries[self.starts[owner] as usize..self.starts[owner.next()] as usize]
    }
}
