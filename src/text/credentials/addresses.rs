//! Users and passwords in URLs.

use std::ops::Range;

/// Removes the users and passwords from the URLs in a text. The user `git` stays: every repository has it.
pub(crate) fn without_credentials(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = 0;
    for user in users(text).filter(|user| &text[user.clone()] != "git") {
        shown.push_str(&text[rest..user.start]);
        rest = user.end + 1;
    }
    shown.push_str(&text[rest..]);
    shown
}

/// Returns the passwords in URLs: `scheme://user:password@host`.
pub(super) fn in_addresses(text: &str) -> Vec<Range<usize>> {
    let passwords = users(text).filter_map(|user| {
        let password = user.start + text[user.clone()].find(':')? + 1;
        let is_written = password < user.end && !text[password..].starts_with('$');
        is_written.then_some(password..user.end)
    });
    passwords.collect()
}

/// Returns the parts of URLs between `://` and the last `@` before the path.
fn users(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").filter_map(|(at, mark)| {
        let start = at + mark.len();
        let authority = text[start..]
            .find(['/', ' ', '"', '\'', '?', '#'])
            .map_or(text.len(), |end| start + end);
        Some(start..start + text[start..authority].rfind('@')?)
    })
}
