//! Edges between objects that are not owner references in manifests.

use std::sync::Arc;

use crate::finding::Certainty;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::RowName;
use crate::kube::{ApiVersion, Namespace, ObjectKey};
use crate::text::Span;

/// An edge between two objects, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tie {
    /// The generator or the consumer. Its manifest contains the evidence.
    pub from: ObjectId,
    /// The other object.
    pub to: TieEnd,
    /// The relation.
    pub kind: TieKind,
    /// The evidence.
    pub evidence: TieEvidence,
    /// The certainty of the tie.
    pub certainty: Certainty,
}

/// The relation of one object to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TieKind {
    /// A controller creates the other object for this one.
    Generates {
        /// Whether the product is deleted with the generator.
        owned: bool,
    },
    /// This object mounts or reads the other, or serves with it (a TLS certificate).
    Uses,
}

/// The far end of a tie. The input need not contain it: objects that controllers create are in no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TieEnd {
    /// Its key.
    pub key: ObjectKey,
    /// The object, if the input contains it; the first of several.
    pub id: Option<ObjectId>,
}

/// The evidence of a tie: a field of the manifest of [`Tie::from`] and, if it generates, a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TieEvidence {
    /// The field, such as `spec.target.name`. Interned: all ties of one field share it.
    pub field: Arc<str>,
    /// The span of its value in the file of [`Tie::from`].
    pub span: Span,
    /// The row of the table of generators; `None` for [`TieKind::Uses`].
    pub row: Option<RowName>,
}

impl Tie {
    /// Whether the collector deletes the other end with this one.
    pub fn owns(&self) -> bool {
        matches!(self.kind, TieKind::Generates { owned: true })
    }
}

impl TieEnd {
    /// Creates the end for `key`, in the input or not; a cluster-scoped `key` has no namespace. If
    /// the scope is unknown to the input, its object may have another key, which the end gets.
    pub(super) fn of(inventory: &Inventory, key: ObjectKey) -> Self {
        if let Some(id) = inventory.with_key(&key).first() {
            return Self { key, id: Some(*id) };
        }
        match of_unknown_scope(inventory, &key) {
            Some(member) => Self {
                key: member.key.clone(),
                id: Some(member.id),
            },
            None => Self { key, id: None },
        }
    }
}

/// Finds the object that a cluster-scoped `key` names if the input does not define the scope of its
/// kind: the object's own key then has a named or unwritten namespace.
fn of_unknown_scope<'a>(inventory: &'a Inventory, key: &ObjectKey) -> Option<&'a Member> {
    let version = ApiVersion {
        group: key.group(),
        version: "",
    };
    // Finding an object by its name needs an index, which most inputs do not need otherwise.
    if key.namespace != Namespace::None
        || inventory.kinds.resolve(version, key.kind()).scope.is_some()
    {
        return None;
    }
    let named = inventory.with_name(key.group(), key.kind(), &key.name);
    Some(inventory.member(*named.first()?))
}
