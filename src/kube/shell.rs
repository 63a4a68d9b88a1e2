//! Lines of shell that readers paste.
//!
//! Names come from the manifests of strangers: every word is quoted for a POSIX shell, and none can end the line. No
//! name that the API server accepts contains a character that would do that, or control a terminal; such characters are
//! replaced by pictures, and the command finds nothing.

use crate::text::plain;

/// Words as a line of shell.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    // An option like `--type=json` is our own text; shlex would quote its equals sign.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '=');
    let quoted = words.into_iter().map(|word| {
        if word.starts_with("--") && word.chars().all(is_plain) {
            return word.to_owned();
        }
        let word = plain::visible(word).replace('\t', "␉");
        // Fails for NUL only, which is a picture by now.
        shlex::try_quote(&word)
            .map(|word| word.into_owned())
            .unwrap_or_default()
    });
    quoted.collect::<Vec<_>>().join(" ")
}
