//! Objects that a change keeps and changes.

use crate::changes::{ChangeKind, Sides};
use crate::inventory::Member;
use crate::merge::Merge;

/// An object that both sides apply at one place and under one key, with another content.
#[derive(Clone, Copy)]
pub(super) struct KeptObject<'a> {
    pub(super) base: &'a Member,
    pub(super) head: &'a Member,
}

/// The objects of the part that the change keeps and changes. What moves to another destination may be in another cluster.
pub(super) fn kept<'a>(merge: &Merge<'a>) -> impl Iterator<Item = KeptObject<'a>> {
    let part = merge.part;
    part.changes.iter().filter_map(move |change| {
        let Sides::Both(was, is) = change.sides else {
            return None;
        };
        if change.kind == ChangeKind::Renamed || was.tree != part.at || is.tree != part.at {
            return None;
        }
        let (base, head) = (part.sides.of_base(was), part.sides.of_head(is));
        let (left, reached) = (
            part.base.destination(base.file),
            part.head?.destination(head.file),
        );
        let same = left == reached || left.name().is_none() && reached.name().is_none();
        (same && reached.is_applied() && base.key == head.key).then_some(KeptObject { base, head })
    })
}
