//! Pieces of Markdown that a stranger's text cannot break out of, and a document that never outgrows its size.

use crate::text::plain;

/// Characters of one cell.
pub(super) const MAX_CELL: usize = 400;
/// Bytes kept free for what says that something was left out.
pub(super) const RESERVE: usize = 200;

/// A document that takes whole blocks or nothing.
pub(super) struct MarkdownText {
    pub(super) text: String,
    pub(super) limit: usize,
}

impl MarkdownText {
    /// Appends `block` if it fits, and says whether it did. After the first that does not, nothing fits any more.
    pub(super) fn push(&mut self, block: &str) -> bool {
        let fits = self.text.len() + block.len() <= self.limit;
        if fits {
            self.text.push_str(block);
        } else {
            self.limit = 0;
        }
        fits
    }

    /// Appends a folded part with at most `most` of `rows` below `head`, and says whether all of it fits. It is closed even
    /// where the page ends inside it.
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

/// A name as code, in one line, at most [`MAX_CELL`] characters.
pub(super) fn code(name: &str) -> String {
    format!(
        "<code>{}</code>",
        text(&plain::shortened(&plain::one_line(name), MAX_CELL))
    )
}

/// `text` as text: nothing in it is Markdown, HTML, the end of a cell, an address or a mention.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain::visible(text).chars() {
        match c {
            // GitHub looks for mentions in the finished page: only a character between hides one.
            '@' => out.push_str("@&#8203;"),
            '&' | '<' | '>' | '|' | '`' | '[' | ']' | '*' | '_' | '~' | '\\' | '#' | '$' => {
                out.push_str(&format!("&#{};", c as u32));
            }
            _ => out.push(c),
        }
    }
    out.replace("://", "&#58;//").replace("www.", "www&#46;")
}
