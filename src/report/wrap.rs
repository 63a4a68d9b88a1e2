//! Wraps prose to the width of a terminal so that copied text still works: names are never broken,
//! and kubectl commands and short text in square brackets stay on one line.

/// Replaces a space at which no line may break. Visible text contains no control characters.
const NO_BREAK_SPACE: &str = "\u{1}";

/// The maximum number of characters in square brackets that stay on one line: a few citations.
const BRACKETS: usize = 40;

/// Wraps `text` to lines of `width` columns, including the indents.
pub(super) fn fill(text: &str, width: usize, first_indent: &str, indent: &str) -> String {
    if first_indent.len() + text.len() <= width && !text.contains('\n') && !text.ends_with(' ') {
        return format!("{first_indent}{text}");
    }
    let parts = text.split('`').enumerate();
    let held = parts.map(|(index, part)| match index % 2 {
        1 if part.starts_with("kubectl ") => part.replace(' ', NO_BREAK_SPACE),
        _ => part.to_owned(),
    });
    let held: Vec<String> = held.collect();
    let options = textwrap::Options::new(width.max(40))
        .initial_indent(first_indent)
        .subsequent_indent(indent)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .word_separator(textwrap::WordSeparator::AsciiSpace);
    textwrap::fill(&hold_brackets(&held.join("`")), options).replace(NO_BREAK_SPACE, " ")
}

/// Keeps `[GC-22, GC-31]` on one line.
fn hold_brackets(text: &str) -> String {
    let mut parts = text.split('[');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('[');
        match part.split_once(']') {
            Some((inside, after))
                if inside.chars().count() <= BRACKETS && !inside.contains('\n') =>
            {
                out.push_str(&inside.replace(' ', NO_BREAK_SPACE));
                out.push(']');
                out.push_str(after);
            }
            _ => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_not_broken() {
        let lines = fill(
            "the collector deletes the dependents of it [GC-22, GC-31, SIM-5]",
            50,
            "",
            "",
        );
        assert_eq!(
            lines,
            "the collector deletes the dependents of it\n[GC-22, GC-31, SIM-5]"
        );
        assert_eq!(fill("[never closed", 50, "", ""), "[never closed");
    }

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
