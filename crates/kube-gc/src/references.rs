//! Owner references, resolved once: which object has the uid (the edge of the collector's graph
//! `[GC-4]`), and which one a GET by kind, implied namespace and name would find (the lookup of 3.3).
//!
//! Fields that the collector reads repeatedly are apart from the text, and small: in a large
//! cluster every look at a reference is a cache miss.

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
    /// Whether it names `by_uid` by the coordinates under which the collector watches it, in the
    /// implied namespace: then the absent-owner cache answers once the owner is gone `[CRD-7]`.
    pub(super) exact: bool,
}

/// Where the coordinates of a reference lead while everything exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// apiVersion and kind do not resolve `[GC-16]`.
    Unresolvable,
    /// To a namespaced kind, from a cluster-scoped object `[GC-20]`.
    OutOfScope,
    /// To no object, or to one with another uid.
    Elsewhere,
    /// To the object with the uid.
    Owner,
}

/// Numbers of references of one object: nearly always one or two.
pub(super) type ReferenceTable = smallvec::SmallVec<[RefId; 4]>;

/// The text of an owner reference, and what it resolves to.
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
    /// Not resolved yet.
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

    /// apiVersion, kind and name as written.
    pub(super) fn coordinates(&self) -> (Symbol, Symbol, Symbol) {
        (self.api_version, self.kind_name, self.name)
    }
}

/// An object that names another by its uid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dependent {
    pub(super) holder: ObjectId,
    /// Number of its reference.
    pub(super) reference: RefId,
}

/// The references by the object that has their uid; those of one owner keep their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependents {
    /// Those of owner `o` are `entries[starts[o]..starts[o + 1]]`.
    starts: TiVec<ObjectId, u32>,
    entries: Vec<Dependent>,
}

impl Dependents {
    pub(super) fn new(objects: usize, references: &TiSlice<RefId, Ref>) -> Self {
        let bound = || {
            references
                .iter_enumerated()
                .filter(|(_, reference)| reference.by_uid != NONE)
        };
        let mut starts: TiVec<ObjectId, u32> = vec![0; objects + 1].into();
        for (_, reference) in bound() {
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
        for (index, reference) in bound() {
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
