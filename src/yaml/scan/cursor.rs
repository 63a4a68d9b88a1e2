//! A place in the text of one document, counted as go-yaml counts: bytes, lines, and columns in characters.

/// A place to come back to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// Byte in the document's text.
    pub(super) pos: usize,
    /// 0-based line.
    pub(super) line: u32,
    /// 0-based column in characters.
    pub(super) column: i32,
    /// Characters since the start.
    pub(super) index: u32,
}

/// The reading position. Looking past the end gives NUL, which the text itself never contains.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) mark: Mark,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            mark: Mark::default(),
        }
    }

    /// The byte `ahead` of the current one.
    pub(super) fn at(&self, ahead: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.mark.pos + ahead)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn is_end(&self, ahead: usize) -> bool {
        self.mark.pos + ahead >= self.text.len()
    }

    pub(super) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.at(ahead), b' ' | b'\t')
    }

    /// CR, LF, NEL, LS or PS: go-yaml follows YAML 1.1, where all of them break lines.
    pub(super) fn is_break(&self, ahead: usize) -> bool {
        match self.at(ahead) {
            b'\n' | b'\r' => true,
            0xC2 => self.at(ahead + 1) == 0x85,
            0xE2 => self.at(ahead + 1) == 0x80 && matches!(self.at(ahead + 2), 0xA8 | 0xA9),
            _ => false,
        }
    }

    pub(super) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.is_end(ahead) || self.is_break(ahead)
    }

    pub(super) fn is_blank_or_end(&self, ahead: usize) -> bool {
        self.is_blank(ahead) || self.is_break_or_end(ahead)
    }

    /// A letter, a digit, `_` or `-`: what go-yaml allows in anchors and tag handles.
    pub(super) fn is_word(&self, ahead: usize) -> bool {
        matches!(self.at(ahead), b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'-')
    }

    /// `---` or `...` at the start of a line, followed by a blank or the end.
    pub(super) fn is_document_indicator(&self) -> bool {
        let same = |byte| (0..3).all(|ahead| self.at(ahead) == byte);
        self.mark.column == 0 && (same(b'-') || same(b'.')) && self.is_blank_or_end(3)
    }

    /// Steps over one character that is not a line break.
    pub(super) fn skip(&mut self) {
        let width = match self.at(0) {
            _ if self.is_end(0) => return,
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        self.mark.pos += width;
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Steps over one character and appends it.
    pub(super) fn read(&mut self, into: &mut String) {
        let start = self.mark.pos;
        self.skip();
        into.push_str(self.text.get(start..self.mark.pos).unwrap_or_default());
    }

    /// Steps over one line break, if there is one.
    pub(super) fn skip_line(&mut self) {
        let width = match self.at(0) {
            _ if !self.is_break(0) => return,
            // Kubernetes' line reader strips CR LF from each line before go-yaml sees it, so CR CR LF is CR LF, one
            // break.
            b'\r' if self.at(1) == b'\r' && self.at(2) == b'\n' => 3,
            b'\r' if self.at(1) == b'\n' => 2,
            b'\r' | b'\n' => 1,
            0xC2 => 2,
            _ => 3,
        };
        self.mark.pos += width;
        self.mark.index += 1;
        self.mark.column = 0;
        self.mark.line += 1;
    }

    /// Steps over one line break and appends it: LS and PS stay themselves, every other break becomes LF.
    pub(super) fn read_line(&mut self, into: &mut String) {
        let start = self.mark.pos;
        let separator = self.at(0) == 0xE2;
        self.skip_line();
        match separator {
            true => into.push_str(self.text.get(start..self.mark.pos).unwrap_or_default()),
            false => into.push('\n'),
        }
    }
}
