//! Places of findings on changes.

use crate::inventory::Member;
use crate::merge::{CauseInHead, Merge};
use crate::rules::draft::Draft;
use crate::text::Span;

/// Creates a finding at a place of an object of base.
pub(super) fn on_base(
    merge: &Merge<'_>,
    member: &Member,
    span: Span,
    message: impl Into<String>,
) -> Draft {
    let file = merge.part.sides.base_file(merge.part.at, member.file);
    Draft::in_file(file, span, message).about(member)
}

/// Creates a finding at the name of an object of base.
pub(super) fn on_name(merge: &Merge<'_>, member: &Member, message: impl Into<String>) -> Draft {
    on_base(merge, member, member.object.name_span(), message).field("metadata.name")
}

/// Adds a related object of base, shown at its name.
pub(super) fn related_in_base(
    draft: Draft,
    merge: &Merge<'_>,
    member: &Member,
    words: impl Into<String>,
) -> Draft {
    let file = merge.part.sides.base_file(merge.part.at, member.file);
    draft.related(file, member.object.name_span(), words)
}

/// Shows the place of head that caused the removal of an object of base, if that is known.
pub(super) fn left_in_head(draft: Draft, merge: &Merge<'_>, member: &Member) -> Draft {
    match merge.part.cause_in_head(member) {
        Some(CauseInHead { file, span, label }) => draft.caused(file, span, label),
        None => draft,
    }
}

/// Adds a place of an object of head as the cause.
pub(super) fn changed_in_head(
    draft: Draft,
    merge: &Merge<'_>,
    member: &Member,
    span: Span,
    words: &str,
) -> Draft {
    let file = merge.part.sides.head_file(merge.part.at, member.file);
    draft.caused(file, span, words)
}

/// Adds a related object of head, shown at its name.
pub(super) fn related_in_head(
    draft: Draft,
    merge: &Merge<'_>,
    member: &Member,
    words: impl Into<String>,
) -> Draft {
    let file = merge.part.sides.head_file(merge.part.at, member.file);
    draft.related(file, member.object.name_span(), words)
}
