//! The places of objects, and the meaning of the text at a position in an object.

use super::OwnerLookup;
use super::asked::Instance;
use crate::inventory::ObjectId;
use crate::kube::ObjectKey;
use crate::report::RowInfo;
use crate::text::{SourceFile, Span};

/// The place of an object.
#[derive(Clone, Debug)]
pub struct ObjectPlace {
    /// The key of the object in its cluster.
    pub key: ObjectKey,
    /// Its file.
    pub file: SourceFile,
    /// The span of its name or generateName, or of its kind if it has neither.
    pub name: Span,
    /// The span of the whole object.
    pub whole: Span,
    pub(super) bundle: usize,
    /// The index of its cluster; `None` if no cluster has it.
    pub(super) cluster: Option<usize>,
    /// Its id in that cluster, or in the bundle.
    pub(super) id: ObjectId,
}

impl ObjectPlace {
    /// Returns the place of an object of the bundle at index `bundle`.
    pub(super) fn new(bundle: usize, instance: Instance<'_>) -> Self {
        let Instance { view, member } = instance;
        Self {
            key: member.key.clone(),
            file: view.inventory().sources.file(member.file).clone(),
            name: member.object.name_span(),
            whole: member.object.value().span(),
            bundle,
            cluster: view.at,
            id: member.id,
        }
    }

    /// Returns the path of its file and its offset, by which places are sorted.
    pub(super) fn written_at(&self) -> (&str, u32) {
        (self.file.path(), self.whole.start)
    }

    /// Returns its Namespace, if its namespace is known.
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
        /// The places of the owner; several if builds differ. Empty if the input does not contain it.
        places: Vec<ObjectPlace>,
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
        /// The places of the other object; several if builds differ. Empty if the input does not contain it.
        places: Vec<ObjectPlace>,
        /// If the input does not contain it: the objects for which controllers create it.
        makers: Vec<ObjectPlace>,
        /// Whether a controller creates it for this object.
        is_created: bool,
    },
    /// Its namespace.
    Namespace {
        /// The places of the Namespace; several if builds differ. Empty if the input does not contain it.
        places: Vec<ObjectPlace>,
    },
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

impl Spot {
    /// Returns the places of the object that the text names.
    pub fn places(&self) -> &[ObjectPlace] {
        match self {
            Self::Owner { places, .. } | Self::Use { places, .. } | Self::Namespace { places } => {
                places
            }
            Self::Identity | Self::Finalizer { .. } | Self::Other => &[],
        }
    }

    /// Returns the places of the object that the text names, to add those of other builds; `None` if it names none.
    pub(super) fn places_mut(&mut self) -> Option<&mut Vec<ObjectPlace>> {
        match self {
            Self::Owner { places, .. } | Self::Use { places, .. } | Self::Namespace { places } => {
                Some(places)
            }
            Self::Identity | Self::Finalizer { .. } | Self::Other => None,
        }
    }
}

/// Whether a span contains an offset. Its end counts too, because an editor's caret is between characters.
pub(super) fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}
