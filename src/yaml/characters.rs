//! The characters of a document, looked at once before it is scanned.

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// A text without characters that go-yaml's reader rejects.
#[derive(Clone, Copy)]
pub(super) struct CheckedText<'t> {
    pub(super) text: &'t str,
    /// How long the text is up to the first character that is not ASCII.
    pub(super) ascii_length: usize,
    /// Whether every line break is LF or CR LF, so that a line ends at the next LF.
    pub(super) has_plain_breaks: bool,
}

impl<'t> CheckedText<'t> {
    /// # Errors
    /// The first character that go-yaml rejects wherever it is.
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
            checked.see(at, found);
        }
        Ok(checked)
    }

    /// A text that may have any characters.
    pub(super) fn unchecked(text: &'t str) -> Self {
        let mut checked = Self {
            text,
            ascii_length: text.len(),
            has_plain_breaks: true,
        };
        unusual(text).for_each(|(at, found)| checked.see(at, found));
        checked
    }

    fn see(&mut self, at: usize, found: char) {
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

/// The characters of those blocks that do not consist of tabs, line feeds and printable ASCII.
fn unusual(text: &str) -> impl Iterator<Item = (usize, char)> {
    let is_ordinary = |byte: &u8| matches!(byte, b'\t' | b'\n' | b' '..=b'~');
    let blocks = text.as_bytes().chunks(BLOCK).enumerate();
    // Without a way out early, this is a few vector instructions.
    let unusual = blocks.filter(move |(_, block)| {
        !block
            .iter()
            .fold(true, |ordinary, byte| ordinary & is_ordinary(byte))
    });
    unusual.flat_map(|(number, _)| {
        let start = boundary_from(text, number * BLOCK);
        let end = boundary_from(text, (number + 1) * BLOCK);
        let characters = text[start..end].char_indices();
        characters.map(move |(at, found)| (start + at, found))
    })
}

/// The first place from `at` on that is between two characters.
fn boundary_from(text: &str, at: usize) -> usize {
    (at..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}
