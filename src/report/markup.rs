//! Pieces of Markdown that text from the input cannot break out of, and a document with a size limit.

use crate::text::plain;

/// The maximum number of characters of one cell.
pub(super) const MAX_CELL: usize = 400;
/// Bytes reserved for the note that something was left out.
pub(super) const RESERVE: usize = 200;

/// A document to which only whole blocks are added, up to a size limit.
pub(super) struct MarkdownText {
    pub(super) text: String,
    pub(super) limit: usize,
}

impl MarkdownText {
    /// Appends `block` and returns `true` if it fits. After the first block that does not fit, none is accepted.
    pub(super) fn push(&mut self, block: &str) -> bool {
        let fits = self.text.len() + block.len() <= self.limit;
        if fits {
            self.text.push_str(block);
        } else {
            self.limit = 0;
        }
        fits
    }

    /// Appends a collapsed section (`<details>`) with at most `most` of `rows` below `head`, and
    /// returns whether it fits. The section is closed even if the limit is reached inside it.
    pub(super) fn folded(
        &mut self,
        title: &str,
        head: &str,
        rows: impl ExactSizeIterator<Item = String>,
        most: usize,
    ) -> bool {
        const TAIL: &str = "\n</details>\n";
        let more = rows.len().saturating_sub(most);
        if !self.push(&format!("\n<details><summary>{title}</summary>\n\n{head}")) {
            return false;
        }
        self.limit = self.limit.saturating_sub(TAIL.len());
        let fits = rows.take(most).all(|row| self.push(&row))
            && (more == 0 || self.push(&format!("\nand {more} more\n")));
        self.text.push_str(TAIL);
        self.limit += if fits { TAIL.len() } else { 0 };
        fits
    }
}

/// Formats a name as code, in one line of at most [`MAX_CELL`] characters.
pub(super) fn code(name: &str) -> String {
    format!(
        "<code>{}</code>",
        text(&plain::shortened(&plain::one_line(name), MAX_CELL))
    )
}

/// Escapes `text`, so that nothing in it is Markdown, HTML, the end of a cell, a link or a mention.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain::visible(text).chars() {
        match c {
            // GitHub looks for mentions after rendering: only a character in between prevents one.
            '@' => out.push_str("@&#8203;"),
            '&' | '<' | '>' | '|' | '`' | '[' | ']' | '*' | '_' | '~' | '\\' | '#' | '$' => {
                out.push_str(&format!("&#{};", c as u32));
            }
            _ => out.push(c),
        }
    }
    out.replace("://", "&#58;//").replace("www.", "www&#46;")
}
