//! Lines of a mapping that is left out. Most are a key with a word after it, or with nothing: these need little of what others
//! need. Every other line is read as it is everywhere.

use super::limits::MAX_KEY;
use super::plain::{self, PlainStop};
use super::refused::Refused;
use super::source::SourceText;
use super::structure::{BlockCollection, BlockParser, OpenCollection};

/// A key, and the unquoted text after it if there is any. All of it is on one line, and the text ends there.
struct SimpleEntry {
    key_end: usize,
    value: Option<(usize, usize)>,
    /// The next line, and where its text begins if that is known.
    next: usize,
    next_text: usize,
}

impl BlockParser<'_> {
    /// Passes over the line that begins in `column`, if it is a simple entry of a mapping that is left out.
    pub(super) fn pass_over(&mut self, column: usize) -> Result<bool, Refused> {
        self.close_from(column + 1);
        let Some(&OpenCollection {
            collection,
            column: indent,
        }) = self.open.last()
        else {
            return Ok(false);
        };
        let begins_mapping = match indent < column {
            true => self.awaited.is_some(),
            false => collection != BlockCollection::Mapping,
        };
        // The lines that were closed may have been the last of what is left out.
        if !self.writer.is_passing() || (indent == column) == begins_mapping {
            return Ok(false);
        }
        let Some(entry) = SimpleEntry::read(self.source, self.at, column) else {
            return Ok(false);
        };
        if begins_mapping {
            self.awaited = None;
            self.open(BlockCollection::Mapping, column)?;
        } else {
            self.leave_out();
        }
        self.writer
            .pass_entry((self.at, entry.key_end), entry.value);
        if entry.value.is_none() {
            self.awaited = Some(entry.key_end + 1);
        }
        (self.at, self.text_at) = (entry.next, entry.next_text);
        Ok(true)
    }
}

impl SimpleEntry {
    /// The one that begins at `start`, in the column `indent`.
    fn read(source: SourceText<'_>, start: usize, indent: usize) -> Option<Self> {
        if !is_simple(source.byte(start)) {
            return None;
        }
        let key_end = source.find(start, [b':', b'#', b'\n']);
        if source.byte(key_end) != b':' || source.is_blank(key_end - 1) || key_end - start > MAX_KEY
        {
            return None;
        }
        match source.byte(key_end + 1) {
            b'\n' => Some(Self {
                key_end,
                value: None,
                next: key_end + 2,
                next_text: 0,
            }),
            b' ' => {
                let value = source.after_spaces(key_end + 1);
                if !is_simple(source.byte(value)) {
                    return None;
                }
                let line = plain::read_line(source, value);
                if line.stop != PlainStop::Line {
                    return None;
                }
                let next = source.after_break(line.stop_at);
                let next_text = plain::next_entry(source, next, indent)?;
                Some(Self {
                    key_end,
                    value: Some((value, line.end)),
                    next,
                    next_text,
                })
            }
            _ => None,
        }
    }
}

/// Whether unquoted text that begins so can be nothing else.
#[inline]
fn is_simple(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}
