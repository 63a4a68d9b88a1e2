//! JSON as a text of lines.

use crate::text::plain;

/// `serde_json` fails only on maps with keys that are no strings and on writers that fail; there are none here.
pub(super) fn line(json: serde_json::Result<String>) -> String {
    let mut json = plain::visible_json(&json.unwrap_or_default()).into_owned();
    json.push('\n');
    json
}
