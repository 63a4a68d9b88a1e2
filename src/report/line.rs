//! JSON as a text of lines.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::text::plain;

/// An array whose elements are made while it is written: all of them together may take many times as much memory as what they
/// are made of.
pub(super) struct Each<I>(pub(super) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.clone())
    }
}

/// `serde_json` fails only on maps with keys that are no strings and on writers that fail; there are none here.
pub(super) fn line(json: serde_json::Result<String>) -> String {
    let json = json.unwrap_or_default();
    // Nearly always there is nothing to replace, and a report may be many times as long as the input.
    let replaced = match plain::visible_json(&json) {
        Cow::Owned(replaced) => Some(replaced),
        Cow::Borrowed(_) => None,
    };
    let mut json = replaced.unwrap_or(json);
    json.push('\n');
    json
}
