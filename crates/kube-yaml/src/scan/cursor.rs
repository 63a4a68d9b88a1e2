//! A position in the text of one document, counted as in go-yaml: bytes, lines, and columns in characters.

use memchr::{memchr, memchr_iter, memchr3};

/// A position in the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// The byte in the document's text.
    pub(super) pos: usize,
    /// 0-based line.
    pub(super) line: u32,
    /// 0-based column in characters.
    pub(super) column: i32,
}

/// The reading position. Past the end, the cursor reads NUL, which the text itself never contains.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) mark: Mark,
    is_ascii: bool,
    /// Whether every line break is LF or CR LF, so that each line ends at the next LF.
    has_plain_breaks: bool,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            mark: Mark::default(),
            is_ascii: text.is_ascii(),
            has_plain_breaks: !has_rare_breaks(text),
        }
    }

    /// Returns the byte that is `ahead` bytes after the current one.
    #[inline]
    pub(super) fn at(&self, ahead: usize) -> u8 {
        self.byte(self.mark.pos + ahead)
    }

    #[inline]
    fn byte(&self, pos: usize) -> u8 {
        self.text.as_bytes().get(pos).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn is_end(&self) -> bool {
        self.mark.pos >= self.text.len()
    }

    #[inline]
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.at(0), b' ' | b'\t')
    }

    #[inline]
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        self.is_break_at(self.mark.pos + ahead)
    }

    /// Whether there is a CR, LF, NEL, LS or PS: go-yaml follows YAML 1.1, where all of them are line breaks.
    #[inline]
    fn is_break_at(&self, pos: usize) -> bool {
        match self.byte(pos) {
            b'\n' | b'\r' => true,
            0xC2 => self.byte(pos + 1) == 0x85,
            0xE2 => self.byte(pos + 1) == 0x80 && matches!(self.byte(pos + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    #[inline]
    pub(super) fn is_break_or_end(&self) -> bool {
        self.is_end() || self.is_break(0)
    }

    #[inline]
    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        self.is_blank_or_end_at(self.mark.pos + ahead)
    }

    #[inline]
    pub(super) fn is_blank_or_end_at(&self, pos: usize) -> bool {
        matches!(self.byte(pos), b' ' | b'\t') || pos >= self.text.len() || self.is_break_at(pos)
    }

    /// Whether there is a letter, a digit, `_` or `-`, which go-yaml allows in anchors and tag handles.
    pub(super) fn is_word(&self, ahead: usize) -> bool {
        matches!(self.at(ahead), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-')
    }

    /// Whether there is `---` or `...` at the start of a line, followed by a blank or the end.
    #[inline]
    pub(super) fn is_document_indicator(&self) -> bool {
        self.mark.column == 0
            && matches!(self.at(0), b'-' | b'.')
            && self.at(1) == self.at(0)
            && self.at(2) == self.at(0)
            && self.is_blank_or_end(3)
    }

    /// Returns the text from `start` to the current position.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.mark.pos).unwrap_or_default()
    }

    /// Skips one character that is not a line break.
    pub(super) fn skip(&mut self) {
        let width = match self.at(0) {
            _ if self.is_end() => return,
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        self.mark.pos += width;
        self.mark.column += 1;
    }

    /// Moves to `pos`, which is on the same line.
    #[inline]
    pub(super) fn advance(&mut self, pos: usize) {
        self.mark.column += if self.is_ascii {
            (pos - self.mark.pos) as i32
        } else {
            let passed = self.text.as_bytes().get(self.mark.pos..pos);
            let starts = |byte: &&u8| !matches!(byte, 0x80..=0xBF);
            passed.unwrap_or_default().iter().filter(starts).count() as i32
        };
        self.mark.pos = pos;
    }

    #[inline]
    pub(super) fn skip_spaces(&mut self) {
        let start = self.mark.pos;
        while self.at(0) == b' ' {
            self.mark.pos += 1;
        }
        self.mark.column += (self.mark.pos - start) as i32;
    }

    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while self.is_blank() {
            self.mark.pos += 1;
            self.mark.column += 1;
        }
    }

    /// Skips one line break, if there is one.
    #[inline]
    pub(super) fn skip_line(&mut self) {
        let width = match self.at(0) {
            b'\n' => 1,
            _ if !self.is_break(0) => return,
            // Kubernetes' line reader strips CR LF from each line before go-yaml sees it, so CR CR LF is CR LF, one
            // break.
            b'\r' if self.at(1) == b'\r' && self.at(2) == b'\n' => 3,
            b'\r' if self.at(1) == b'\n' => 2,
            b'\r' => 1,
            0xC2 => 2,
            _ => 3,
        };
        self.mark.pos += width;
        self.mark.column = 0;
        self.mark.line += 1;
    }

    /// Skips one line break and returns its value: LS and PS stay the same, every other break becomes LF.
    pub(super) fn read_line(&mut self) -> &'t str {
        let start = self.mark.pos;
        let is_separator = self.at(0) == 0xE2;
        self.skip_line();
        if is_separator {
            self.since(start)
        } else {
            "\n"
        }
    }

    /// Returns the offset of the line break after the current position, or of the end of the text.
    pub(super) fn line_end(&self) -> usize {
        let start = self.mark.pos;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        if self.has_plain_breaks {
            let end = memchr(b'\n', rest).map_or(self.text.len(), |length| start + length);
            return self.before_return(start, end);
        }
        self.find_by(start, |_| false)
    }

    /// Returns the offset of the next wanted ASCII character from `start` on, or of the line break before it.
    #[inline]
    pub(super) fn find(&self, start: usize, wanted: [u8; 2]) -> usize {
        if self.has_plain_breaks {
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let found = memchr3(wanted[0], wanted[1], b'\n', rest);
            let end = found.map_or(self.text.len(), |length| start + length);
            return self.before_return(start, end);
        }
        self.find_by(start, |byte| wanted.contains(&byte))
    }

    /// Returns the offset of the next wanted byte from `start` on, or of the line break before it.
    pub(super) fn find_by(&self, start: usize, is_wanted: impl Fn(u8) -> bool) -> usize {
        let mut pos = start;
        while pos < self.text.len() && !is_wanted(self.byte(pos)) && !self.is_break_at(pos) {
            pos += 1;
        }
        pos
    }

    /// Returns the offset of the CR before an LF at `end`, if there is one, else `end`.
    #[inline]
    fn before_return(&self, start: usize, end: usize) -> usize {
        end - usize::from(end > start && self.byte(end) == b'\n' && self.byte(end - 1) == b'\r')
    }

    /// Returns the end of the text before `end` without trailing blanks, at least `start`.
    #[inline]
    pub(super) fn before_blanks(&self, start: usize, mut end: usize) -> usize {
        while end > start && matches!(self.byte(end - 1), b' ' | b'\t') {
            end -= 1;
        }
        end
    }
}

/// Whether a text has line breaks other than LF and CR LF.
fn has_rare_breaks(text: &str) -> bool {
    let mut returns = memchr_iter(b'\r', text.as_bytes());
    returns.any(|at| text.as_bytes().get(at + 1) != Some(&b'\n'))
        || !text.is_ascii() && text.contains(['\u{85}', '\u{2028}', '\u{2029}'])
}
