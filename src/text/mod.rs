//! Source files, byte spans and positions.
//!
//! Everything that points into a file does so with a [`Span`] of bytes (of `kube-yaml`) and the [`FileId`] of a [`SourceFile`]. Lines
//! and columns are computed from offsets on demand, so files without findings need no index of lines.
//!
//! `plain` makes text from manifests safe to print, `runner` disables workflow commands in it; `near` suggests words
//! for misspelt ones; `credentials` finds likely passwords in lines that are shown; `rewritten` writes texts that
//! are too large for memory; `limits` bounds the work of a run. Knows nothing of YAML.

mod credentials;
mod decode;
mod file;
pub(crate) mod glob;
mod lengths;
mod limits;
pub(crate) mod near;
pub(crate) mod plain;
mod position;
mod rewritten;
pub mod runner;
mod sources;

pub use kube_yaml::{Span, replaced};

pub(crate) use credentials::without_credentials;
pub use decode::{Decoded, decode, decode_manifest};
pub use file::{RenderedPart, Side, SourceFile, TemplateMark};
pub use limits::Limits;
pub use position::{ColumnUnit, Position};
pub(crate) use rewritten::RewrittenLines;
pub use sources::{FileId, Sources};

/// Sorts spans, and joins those that touch or overlap.
pub(crate) fn disjoint(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    spans
}

/// Returns the nearest character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut boundary = at.min(text.len());
    while !text.is_char_boundary(boundary) {
        boundary -= 1;
    }
    boundary
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
