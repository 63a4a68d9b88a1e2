//! The places of objects, and the meaning of the text at a position in an object.

use super::OwnerLookup;
use crate::engine::input::Bundle;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::report::RowInfo;
use crate::text::{SourceFile, Span};

/// The place of an object.
#[derive(Clone, Debug)]
pub struct ObjectPlace {
    /// The key of the object.
    pub key: ObjectKey,
    /// Its file.
    pub file: SourceFile,
    /// The span of its name or generateName, or of its kind if it has neither.
    pub name: Span,
    /// The span of the whole object.
    pub whole: Span,
    pub(super) bundle: usize,
    pub(super) id: ObjectId,
}

impl ObjectPlace {
    /// Returns its Namespace, if the object has a namespace written.
    pub(super) fn namespace(&self) -> Option<ObjectKey> {
        Some(ObjectKey::of_namespace(self.key.namespace.name()?))
    }
}

/// The meaning of the text at a position in an object.
#[derive(Clone, Debug)]
pub enum Spot {
    /// Its apiVersion, kind or name.
    Identity,
    /// An owner reference.
    Owner {
        /// The owner as the reference names it, such as `Deployment web`.
        named: String,
        /// The place of the owner, if the input contains it.
        place: Option<ObjectPlace>,
        /// How the garbage collector looks it up.
        lookup: OwnerLookup,
        /// Whether a Foreground deletion of the owner waits for the object.
        blocks: bool,
        /// Whether the object names other owners too.
        has_others: bool,
        /// Whether the lookup of another owner keeps the collector from deciding.
        is_undecided: bool,
    },
    /// A finalizer.
    Finalizer {
        /// The finalizer.
        finalizer: String,
        /// The rows of the tables about its controllers.
        rows: Vec<RowInfo>,
    },
    /// The name of an object that it uses, or that a controller creates for it.
    Use {
        /// The other object.
        named: ObjectKey,
        /// The place of the other object, if the input contains it.
        place: Option<ObjectPlace>,
        /// Whether a controller creates it.
        is_created: bool,
    },
    /// Its namespace.
    Namespace,
    /// Anything else.
    Other,
}

/// An object, and the meaning of the text at a position in it.
#[derive(Clone, Debug)]
pub struct ObjectSpot {
    /// The object.
    pub object: ObjectPlace,
    /// The meaning of the text.
    pub spot: Spot,
}

/// Returns the place of an object of the bundle at index `at`.
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

/// Whether a span contains an offset. Its end counts too, because an editor's caret is between characters.
pub(super) fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
