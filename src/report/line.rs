//! JSON as text that ends in a line break.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::text::{RewrittenLines, plain};

/// An array whose elements are converted while it is written, so that they are never all in memory.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// Writes a document as indented JSON that ends in a line break.
pub(super) fn write(document: &impl Serialize, out: impl Write) -> io::Result<()> {
    let mut lines = RewrittenLines::new(out, plain::visible_json);
    serde_json::to_writer_pretty(&mut lines, document)?;
    lines.write_all(b"\n")?;
    lines.flush()
}

/// Ends JSON in a line break. `serde_json` fails only on maps whose keys are not strings and on failing writers.
pub(super) fn line(json: serde_json::Result<String>) -> String {
    let json = json.unwrap_or_default();
    // There is rarely anything to replace; if there is nothing, the text is not copied.
    let replaced = match plain::visible_json(&json) {
        Cow::Owned(replaced) => Some(replaced),
        Cow::Borrowed(_) => None,
    };
    let mut json = replaced.unwrap_or(json);
    json.push('\n');
    json
}
