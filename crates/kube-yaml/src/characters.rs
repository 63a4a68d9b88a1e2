//! Checks the characters of a document once, before it is scanned.

/// The number of bytes that are checked together.
const BLOCK: usize = 64;

/// A text with facts about its characters. Unless it is [`unchecked`](Self::unchecked), go-yaml's reader rejects none
/// of them.
#[derive(Clone, Copy)]
pub(super) struct CheckedText<'t> {
    pub(super) text: &'t str,
    /// The length of the text up to the first character that is not ASCII.
    pub(super) ascii_length: usize,
    /// Whether every line break is LF or CR LF, so that each line ends at the next LF.
    pub(super) has_plain_breaks: bool,
}

impl<'t> CheckedText<'t> {
    /// Checks a text.
    ///
    /// # Errors
    /// Returns the first character that go-yaml always rejects, with its offset.
    pub(super) fn new(text: &'t str) -> Result<Self, (usize, char)> {
        let mut checked = Self {
            text,
            ascii_length: text.len(),
            has_plain_breaks: true,
        };
        for (at, found) in unusual(text) {
            if is_forbidden(found) {
                return Err((at, found));
            }
            checked.record(at, found);
        }
        Ok(checked)
    }

    /// Accepts a text with any characters.
    pub(super) fn unchecked(text: &'t str) -> Self {
        let mut checked = Self {
            text,
            ascii_length: text.len(),
            has_plain_breaks: true,
        };
        unusual(text).for_each(|(at, found)| checked.record(at, found));
        checked
    }

    fn record(&mut self, at: usize, found: char) {
        if !found.is_ascii() {
            self.ascii_length = self.ascii_length.min(at);
        }
        self.has_plain_breaks &= match found {
            '\r' => self.text.as_bytes().get(at + 1) == Some(&b'\n'),
            '\u{85}' | '\u{2028}' | '\u{2029}' => false,
            _ => true,
        };
    }
}

fn is_forbidden(found: char) -> bool {
    !matches!(found, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{A0}'..='\u{D7FF}'
        | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Returns the characters of all blocks that contain more than tabs, line feeds and printable ASCII.
fn unusual(text: &str) -> impl Iterator<Item = (usize, char)> {
    let blocks = text.as_bytes().chunks(BLOCK).enumerate();
    // Without an early exit, this compiles to a few vector instructions.
    let unusual = blocks.filter(move |(_, block)| {
        !block.iter().fold(true, |ordinary, byte| {
            ordinary & matches!(byte, b'\t' | b'\n' | b' '..=b'~')
        })
    });
    unusual.flat_map(|(number, _)| {
        let start = boundary_from(text, number * BLOCK);
        let end = boundary_from(text, (number + 1) * BLOCK);
        let characters = text[start..end].char_indices();
        characters.map(move |(at, found)| (start + at, found))
    })
}

/// Returns the first character boundary from `at` on.
fn boundary_from(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}
