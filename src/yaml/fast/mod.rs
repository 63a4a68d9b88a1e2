//! The fast parser: documents as rendered manifests are written, to the same tape as the exact parser, many times as fast.
//!
//! **The subset.** Block mappings and sequences of short implicit keys; plain and quoted scalars on one line or several;
//! block scalars; flow collections of scalars and of each other; anchors of values, and aliases as values; comments; LF or CR LF.
//! Everything else is *refused*: tags, anchors and aliases of keys, directives, document markers inside, `? ` keys, a root that is
//! no collection unless it is one line, tabs as indentation, Unicode's own line breaks, what go-yaml accepts and YAML does not, and
//! every mistake.
//!
//! **A refusal is always safe.** It means that the exact parser reads the document instead, from its start. So nothing here
//! reports an error, and nothing here needs to know whether what it refuses is right: in doubt, refuse. What is accepted must
//! be exactly what the exact parser reads: the same events with the same places and texts, and the same comments. `super::verify`
//! compares them, over every fixture and corpus and over millions of mutants.
//!
//! **Invariants.** The text ends with a line break, and `characters` has passed it, so a place is a byte and a line break is LF or
//! CR LF. Each byte is looked at a bounded number of times, nothing recurses, and nesting is bounded.
//!
//! `characters` looks at the whole text once. `structure` goes from line to line; `plain`, `quoted`, `block_scalar` and `flow` read
//! values; `writer` writes the tape. `pass_over` is what `structure` does with most lines of what is left out, in fewer steps. What a scalar means, escapes, and headers of block scalars are shared with the exact parser.

mod block_scalar;
mod characters;
mod flow;
mod limits;
mod pass_over;
mod plain;
mod quoted;
mod refused;
mod source;
mod structure;
mod writer;

pub(super) use refused::Refused;

use self::source::SourceText;
use self::structure::BlockParser;
use self::writer::{IN_DOUBT, TapeWriter};
use super::tape::Tape;

/// Parses the document `text`, whose first byte is at `base` of the file, to `tape`, which is empty. Mappings under the keys
/// `left_out` are checked and not on the tape, if there is nothing to say of them. False: there is no content at all, not even
/// a null.
///
/// # Errors
/// The document is for the exact parser; what is on the tape means nothing.
pub(super) fn parse(
    text: &str,
    base: u32,
    left_out: &[&str],
    tape: &mut Tape,
) -> Result<bool, Refused> {
    if !text.ends_with('\n') {
        return Err(Refused("a last line without a line break"));
    }
    characters::check(text.as_bytes())?;
    let source = SourceText { text };
    let found = BlockParser::new(source, TapeWriter::new(source, base, left_out, tape)).document();
    if found != Err(IN_DOUBT) {
        return found;
    }
    tape.clear();
    BlockParser::new(source, TapeWriter::new(source, base, &[], tape)).document()
}
