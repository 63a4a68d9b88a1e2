//! Where objects are written, and what of them is written at a place.

use super::OwnerLookup;
use crate::engine::input::Bundle;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::report::RowInfo;
use crate::text::{SourceFile, Span};

/// Where an object is written.
#[derive(Clone, Debug)]
pub struct ObjectPlace {
    /// Its name within the cluster.
    pub key: ObjectKey,
    /// Its file.
    pub file: SourceFile,
    /// Its name, or its kind if it has none.
    pub name: Span,
    /// All of it.
    pub whole: Span,
    pub(super) bundle: usize,
    pub(super) id: ObjectId,
}

impl ObjectPlace {
    /// The Namespace that it is in, if it says which.
    pub(super) fn namespace(&self) -> Option<ObjectKey> {
        Some(ObjectKey::of_namespace(self.key.namespace.name()?))
    }
}

/// The text at a place of an object.
#[derive(Clone, Debug)]
pub enum Spot {
    /// Its kind or its name.
    Identity,
    /// An owner reference.
    Owner {
        /// The owner as the reference names it: `Deployment web`.
        named: String,
        /// Where the owner is written, if the input contains it.
        place: Option<ObjectPlace>,
        /// How the garbage collector looks it up.
        lookup: OwnerLookup,
        /// Whether a Foreground deletion of the owner waits for the object.
        blocks: bool,
        /// Whether the object names other owners, too.
        has_others: bool,
        /// Whether the lookup of another owner keeps the collector from deciding.
        is_undecided: bool,
    },
    /// A finalizer.
    Finalizer {
        /// The finalizer.
        finalizer: String,
        /// The known rows about its controllers.
        rows: Vec<RowInfo>,
    },
    /// The name of an object that it uses, or that a controller creates for it.
    Use {
        /// The other object.
        named: ObjectKey,
        /// Where the other object is written, if the input contains it.
        place: Option<ObjectPlace>,
        /// Whether a controller creates it.
        is_created: bool,
    },
    /// Its namespace.
    Namespace,
    /// Anything else.
    Other,
}

/// An object, and what of it is written at a place.
#[derive(Clone, Debug)]
pub struct ObjectSpot {
    /// The object.
    pub object: ObjectPlace,
    /// The text there.
    pub spot: Spot,
}

/// Where an object of the bundle at that place is written.
pub(super) fn place((at, bundle): (usize, &Bundle), member: &Member) -> ObjectPlace {
    ObjectPlace {
        key: member.key.clone(),
        file: bundle.inventory.sources.file(member.file).clone(),
        name: member.object.name_span(),
        whole: member.object.value().span(),
        bundle: at,
        id: member.id,
    }
}

/// Whether a span holds a byte; an end counts, as an editor's caret stands between characters.
pub(super) fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
