//! Shell command lines that readers paste.
//!
//! Names come from untrusted manifests: every word is quoted for a POSIX shell, and none can end the line. No name that
//! the API server accepts contains a line break or a control character; such characters are replaced by visible
//! symbols, and the command then finds nothing.

use crate::text::plain;

/// Joins and quotes words as a command line.
pub fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|word| {
        // Options like `--type=json` are not from manifests, and shlex would quote the equals sign.
        if word.starts_with("--")
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '='))
        {
            return word.to_owned();
        }
        let word = plain::visible(word).replace('\t', "␉");
        // Fails only for NUL, which was replaced above.
        shlex::try_quote(&word)
            .map(|word| word.into_owned())
            .unwrap_or_default()
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Returns a name from a manifest as an argument. Returns `placeholder` if there is no name, or if it begins with a
/// dash: a program would read it as an option, and the API server accepts no such name.
pub fn operand<'a>(name: Option<&'a str>, placeholder: &'a str) -> &'a str {
    let name = name.filter(|name| !name.starts_with('-'));
    name.unwrap_or(placeholder)
}
