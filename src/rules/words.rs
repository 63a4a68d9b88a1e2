//! How rules name objects, references and places, so that all messages speak alike.

use crate::inventory::{Member, Scope};
use crate::manifest::OwnerReference;
use crate::text::Span;

/// Where to point when a reference as a whole is meant: the kind or name it gives, else the entry.
pub(super) fn place(reference: &OwnerReference) -> Span {
    let part = reference.kind.as_ref().or(reference.name.as_ref());
    part.map_or(reference.span, |part| part.span)
}

/// The path of the entry: `metadata.ownerReferences[0]`.
pub(super) fn field(reference: &OwnerReference) -> String {
    format!("metadata.ownerReferences[{}]", reference.index)
}

/// What tells one reference of an object from another.
pub(super) fn target(reference: &OwnerReference) -> String {
    format!("{}/{}/{}", reference.api_version(), reference.kind(), reference.name())
}

/// An object in a sentence: ``CSIDriver `rook` ``.
pub(super) fn named(member: &Member) -> String {
    match member.key.name.is_empty() {
        true => format!("an unnamed {}", member.object.kind.value),
        false => format!("{} `{}`", member.object.kind.value, member.key.name),
    }
}

/// The owner that a reference names, in a sentence.
pub(super) fn reference_name(reference: &OwnerReference) -> String {
    format!("{} `{}`", reference.kind(), reference.name())
}

/// Where an object lives, in a few words.
pub(super) fn whereabouts(member: &Member) -> String {
    match (member.key.namespace.name(), member.scope()) {
        (Some(namespace), _) => format!("in namespace `{namespace}`"),
        (None, Some(Scope::Cluster)) => "cluster-scoped".to_owned(),
        (None, _) => "its namespace is not written".to_owned(),
    }
}
