//! Users and passwords in URLs.

use std::ops::Range;

use super::names::is_credential;

/// Names of URL parameters that contain credentials, besides those for which [`is_credential`] holds.
const PARAMETERS: [&str; 6] = [
    "sig",
    "signature",
    "sshkey",
    "key",
    "x-amz-credential",
    "x-amz-signature",
];

/// Characters at the end of a part of a URL, or of the URL.
const ENDS: [char; 6] = ['?', '&', ' ', '"', '\'', '#'];

/// Removes the users and passwords from the URLs in a text, and replaces credentials in their parameters by `…`. The
/// user `git` stays: every repository has it.
pub(crate) fn without_credentials(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = 0;
    for user in users(text).filter(|user| &text[user.clone()] != "git") {
        shown.push_str(&text[rest..user.start]);
        rest = user.end + 1;
    }
    shown.push_str(&text[rest..]);
    without_parameters(&shown)
}

fn without_parameters(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut is_address = false;
    for part in text.split_inclusive(ENDS) {
        let end = part.trim_end_matches(ENDS).len();
        match part[..end].split_once('=') {
            Some((name, value)) if is_address && is_secret(name) && !value.is_empty() => {
                shown.push_str(&format!("{name}=…{}", &part[end..]));
            }
            _ => shown.push_str(part),
        }
        is_address |= part.contains("://");
        is_address &= part.ends_with(['?', '&']);
    }
    shown
}

fn is_secret(parameter: &str) -> bool {
    is_credential(parameter) || PARAMETERS.contains(&parameter.to_ascii_lowercase().as_str())
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
