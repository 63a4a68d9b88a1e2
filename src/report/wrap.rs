//! Prose in the width of a terminal, so that what a reader copies out of it still works: a name is never broken, and a
//! kubectl command stays on one line however long it is.

/// Wraps `text`, one line of output per entry of the result's lines. The indents are part of the width.
pub(super) fn fill(text: &str, width: usize, first_indent: &str, indent: &str) -> String {
    // A character that no text has: visible text holds no control characters.
    const HELD: &str = "\u{1}";
    let held: Vec<String> = text
        .split('`')
        .enumerate()
        .map(|(index, part)| match index % 2 == 1 && part.starts_with("kubectl ") {
            true => part.replace(' ', HELD),
            false => part.to_owned(),
        })
        .collect();
    let options = textwrap::Options::new(width.max(40))
        .initial_indent(first_indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::fill(&held.join("`"), options).replace(HELD, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_names_are_not_broken() {
        let text = "remove the entry, and free it by `kubectl patch Service shop-front -n shop --type=merge` or not";
        let lines = fill(text, 40, "> ", "  ");
        assert_eq!(
            lines,
            "> remove the entry, and free it by\n  `kubectl patch Service shop-front -n shop --type=merge`\n  or not"
        );
    }
}
