//! An edge between two objects, written or implied.

use std::sync::Arc;

use crate::finding::Certainty;
use crate::inventory::{Inventory, ObjectId};
use crate::knowledge::RowName;
use crate::kube::ObjectKey;
use crate::text::Span;

/// An edge between two objects, with what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The object whose manifest, or whose kind's controller, makes the edge: a generator, a consumer.
    pub from: ObjectId,
    /// The other object.
    pub to: TieEnd,
    /// The relation.
    pub kind: TieKind,
    /// The evidence.
    pub evidence: TieEvidence,
    /// How sure it is.
    pub certainty: Certainty,
}

/// The relation of one object to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TieKind {
    /// A controller creates the other for this one. `owned`: as its dependent, so the collector deletes it with this one.
    Generates {
        /// Whether the product is deleted with the generator.
        owned: bool,
    },
    /// This one needs the other: it mounts it, reads it, serves with it.
    Uses,
}

/// The far end of a tie. The input need not contain it: no file contains what a controller creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TieEnd {
    /// Its key.
    pub key: ObjectKey,
    /// The object, if the input contains it; of several the first.
    pub id: Option<ObjectId>,
}

/// The evidence of a tie: a field of the manifest that it begins at, a row of a table, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TieEvidence {
    /// The field: `spec.target.name`. Few differ, and all ties of one field share it.
    pub field: Arc<str>,
    /// Where its value is written, in the file of [`Tie::from`].
    pub span: Span,
    /// The row.
    pub row: Option<RowName>,
}

impl Tie {
    /// Whether the collector deletes the other end with this one.
    pub fn owns(&self) -> bool {
        matches!(self.kind, TieKind::Generates { owned: true })
    }
}

impl TieEnd {
    /// The object of a key, in the input or not.
    pub(super) fn of(inventory: &Inventory, key: ObjectKey) -> Self {
        let id = inventory.with_key(&key).first().copied();
        Self { key, id }
    }
}
