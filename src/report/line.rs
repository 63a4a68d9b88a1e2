//! JSON as text that ends in a line break.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::text::plain;

/// An array whose elements are converted while it is written, so that they are never all in memory.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// Ends JSON in a line break. `serde_json` fails only on maps whose keys are not strings and on failing writers.
pub(super) fn line(json: serde_json::Result<String>) -> String {
    let json = json.unwrap_or_default();
    // There is rarely anything to replace, and then the text is not copied.
    let replaced = match plain::visible_json(&json) {
        Cow::Owned(replaced) => Some(replaced),
        Cow::Borrowed(_) => None,
    };
    let mut json = replaced.unwrap_or(json);
    json.push('\n');
    json
}
