//! Looking at the text. It ends with a line break, and has passed [`super::characters`].

/// What is found within so many times eight bytes is near.
const NEAR: usize = 3;

/// The text of one document. All places are bytes from its start; behind the end there are line breaks without end.
#[derive(Clone, Copy)]
pub(super) struct SourceText<'t> {
    pub(super) text: &'t str,
}

impl<'t> SourceText<'t> {
    #[inline]
    pub(super) fn byte(self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    pub(super) fn slice(self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn is_end(self, at: usize) -> bool {
        at >= self.text.len()
    }

    /// Whether the bytes at `at` are these.
    pub(super) fn has(self, at: usize, bytes: &[u8]) -> bool {
        self.text
            .as_bytes()
            .get(at..)
            .is_some_and(|rest| rest.starts_with(bytes))
    }

    #[inline]
    pub(super) fn is_blank(self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\t')
    }

    #[inline]
    pub(super) fn is_break(self, at: usize) -> bool {
        matches!(self.byte(at), b'\n' | b'\r')
    }

    #[inline]
    pub(super) fn is_blank_or_break(self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\t' | b'\n' | b'\r')
    }

    /// Whether a dash that begins an item is here.
    #[inline]
    pub(super) fn is_dash(self, at: usize) -> bool {
        self.byte(at) == b'-' && self.is_blank_or_break(at + 1)
    }

    /// The end of the name of the anchor or alias whose `&` or `*` is at `at`, if it has one.
    pub(super) fn name_end(self, at: usize) -> Option<usize> {
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = self
            .text
            .as_bytes()
            .get(at + 1..)?
            .iter()
            .take_while(is_word)
            .count();
        (length > 0).then_some(at + 1 + length)
    }

    /// The first byte from `at` on that is not a space.
    #[inline]
    pub(super) fn after_spaces(self, mut at: usize) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        for eight in rest.as_chunks::<8>().0 {
            let other = u64::from_le_bytes(*eight) ^ u64::from_le_bytes([b' '; 8]);
            if other != 0 {
                return at + other.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        while self.byte(at) == b' ' {
            at += 1;
        }
        at
    }

    /// The first byte from `at` on that is neither a space nor a tab.
    #[inline]
    pub(super) fn after_blanks(self, mut at: usize) -> usize {
        while self.is_blank(at) {
            at += 1;
        }
        at
    }

    /// The end of the text that precedes `end` without the blanks between; not left of `start`.
    #[inline]
    pub(super) fn before_blanks(self, start: usize, mut end: usize) -> usize {
        while end > start && self.is_blank(end - 1) {
            end -= 1;
        }
        end
    }

    /// The first of these bytes from `at` on, or the end. Eight bytes are looked at together: what is looked for is usually so near
    /// that finding it costs less than calling the function that looks at more.
    #[inline]
    pub(super) fn find(self, mut at: usize, bytes: [u8; 3]) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        for eight in rest.as_chunks::<8>().0.iter().take(NEAR) {
            let eight = u64::from_le_bytes(*eight);
            let found = bytes.map(|byte| zero_bytes(eight ^ u64::from_le_bytes([byte; 8])));
            let found = found[0] | found[1] | found[2];
            if found != 0 {
                return at + found.trailing_zeros() as usize / 8;
            }
            at += 8;
        }
        let [one, two, three] = bytes;
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        memchr::memchr3(one, two, three, rest).map_or(self.text.len(), |found| at + found)
    }

    /// The line break that ends the line of `at`.
    #[inline]
    pub(super) fn line_end(self, at: usize) -> usize {
        let bytes = self.text.as_bytes().get(at..).unwrap_or_default();
        self.before_return(
            at,
            memchr::memchr(b'\n', bytes).map_or(self.text.len(), |found| at + found),
        )
    }

    /// The place of the line break whose LF may be at `found`: that of its CR, if it has one. Nothing else has a CR before it.
    #[inline]
    pub(super) fn before_return(self, from: usize, found: usize) -> usize {
        found - usize::from(found > from && self.byte(found - 1) == b'\r')
    }

    /// The start of the line after the line break at `at`.
    #[inline]
    pub(super) fn after_break(self, at: usize) -> usize {
        at + if self.byte(at) == b'\r' { 2 } else { 1 }
    }
}

/// Marks the lowest byte of eight that is zero; what is marked above it means nothing.
#[inline]
fn zero_bytes(eight: u64) -> u64 {
    eight.wrapping_sub(u64::from_le_bytes([0x01; 8])) & !eight & u64::from_le_bytes([0x80; 8])
}
