//! A file's decoded text and its lazy line index.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::credentials;
use super::lengths::{BLOCK, BlockLengths};
use super::masked::masked;
use super::{ColumnUnit, Position, Span};

/// Which state of the files a text belongs to. Two texts of one path are two sources if their sides differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The state before a change.
    Base,
    /// The input of the run: files as they are, or the state after a change.
    #[default]
    Head,
    /// A text that an editor has not saved yet; it stands in for a file of [`Side::Head`].
    Unsaved,
}

/// A part of a rendered text: where it begins, and the name of its template, where a comment gives one.
pub type RenderedPart = (u32, Option<Span>);

/// One file: the name it is reported under, the side it belongs to, and its text, decoded to UTF-8. A clone shares the text.
///
/// Offsets count bytes of the decoded text. For the usual UTF-8 file that is the file itself, byte for byte, a byte order
/// mark included; a UTF-16 file is counted as if it had been saved as UTF-8, and bytes that are not UTF-8 as the three bytes
/// of the U+FFFD that replaces them.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: Arc<str>,
    side: Side,
    /// Not an `Arc<str>`, which would copy every text that is read.
    text: Arc<String>,
    /// Of most texts nothing.
    facts: Option<Arc<TextFacts>>,
    tables: Arc<PlaceTables>,
    /// Long lines of which something is hidden, as they are shown.
    long_lines: Arc<OnceLock<BTreeMap<usize, String>>>,
}

/// Where lines begin, and how long the text is up to some places: counted when a place is asked for.
#[derive(Debug, Default)]
struct PlaceTables {
    line_starts: OnceLock<Vec<u32>>,
    block_lengths: OnceLock<BlockLengths>,
}

/// Facts about a text besides itself.
#[derive(Clone, Debug, Default)]
struct TextFacts {
    generator: Option<Arc<str>>,
    replaced: Option<(Span, usize)>,
    hidden: Vec<Span>,
    rendered: Vec<RenderedPart>,
}

impl SourceFile {
    /// The largest file that is read, in bytes: offsets are `u32`, and no rendering comes near it.
    pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

    /// A file reported as `path` (as given on the command line, forward slashes, `-` for standard input).
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            side: Side::default(),
            text: Arc::new(text.into()),
            facts: None,
            tables: Arc::default(),
            long_lines: Arc::default(),
        }
    }

    /// Notes that the text was decoded from bytes that are not all UTF-8: the first U+FFFD that replaces some, and how many there
    /// are.
    pub fn with_replaced(self, replaced: Option<(Span, usize)>) -> Self {
        self.with(replaced.is_some(), |facts| facts.replaced = replaced)
    }

    /// Notes that the text is none of the tree: the file at `generator` generates its objects, each on the line that
    /// leads to it.
    pub fn with_generator(self, generator: &str) -> Self {
        self.with(true, |facts| facts.generator = Some(generator.into()))
    }

    /// Hides parts of the text from every excerpt: spans in order, without overlaps.
    pub fn with_hidden(mut self, hidden: Vec<Span>) -> Self {
        self.long_lines = Arc::default();
        self.with(!hidden.is_empty(), |facts| facts.hidden = hidden)
    }

    /// Notes the parts of a text that was rendered, in order.
    pub fn with_rendered(self, parts: Vec<RenderedPart>) -> Self {
        self.with(!parts.is_empty(), |facts| facts.rendered = parts)
    }

    /// Changes a fact. Most texts have none: `is_said` is false for one that need not be stored.
    fn with(mut self, is_said: bool, learn: impl FnOnce(&mut TextFacts)) -> Self {
        if is_said || self.facts.is_some() {
            learn(Arc::make_mut(self.facts.get_or_insert_default()));
        }
        self
    }

    fn hidden(&self) -> &[Span] {
        self.facts.as_ref().map_or(&[], |facts| &facts.hidden)
    }

    /// The parts of a rendered text, in order; none where no comment says that it was rendered.
    pub fn rendered_parts(&self) -> &[RenderedPart] {
        self.facts.as_ref().map_or(&[], |facts| &facts.rendered)
    }

    /// A 1-based line as people may see it: an asterisk takes the place of each byte that is hidden or likely a
    /// credential, so places stay right. Empty when the file has no such line.
    pub fn shown_line(&self, line: usize) -> Cow<'_, str> {
        let is_long = |line: usize| {
            self.line_span(line)
                .is_some_and(|span| span.end - span.start > credentials::LONGEST)
        };
        if !is_long(line) {
            return self.masked_line(line);
        }
        // Many findings may be in one long line: it is searched and copied once.
        let long_lines = self.long_lines.get_or_init(|| {
            let masked = (1..=self.line_count())
                .filter(|line| is_long(*line))
                .map(|line| (line, self.masked_line(line)));
            masked
                .filter_map(|(line, text)| {
                    matches!(text, Cow::Owned(_)).then(|| (line, text.into_owned()))
                })
                .collect()
        });
        Cow::Borrowed(long_lines.get(&line).map_or_else(
            || self.line_span(line).map_or("", |span| self.slice(span)),
            String::as_str,
        ))
    }

    /// A line with what is hidden in it, and likely credentials, as asterisks.
    fn masked_line(&self, line: usize) -> Cow<'_, str> {
        let Some(span) = self.line_span(line) else {
            return Cow::Borrowed("");
        };
        let text = masked(self.slice(span), span.start, self.hidden());
        let near = |below: isize| {
            let near = self.line_span(line.checked_add_signed(below)?)?;
            let length = if below == 0 {
                near.end - near.start
            } else {
                (near.end - near.start).min(credentials::LONGEST)
            };
            Some(self.slice(Span::new(near.start, near.start + length)))
        };
        let found: Vec<Span> = credentials::credentials(&near)
            .into_iter()
            .map(|range| {
                Span::new(
                    span.start + range.start as u32,
                    span.start + range.end as u32,
                )
            })
            .collect();
        if found.is_empty() {
            text
        } else {
            Cow::Owned(masked(&text, span.start, &found).into_owned())
        }
    }

    /// The first U+FFFD that replaces bytes which are not UTF-8, and how many there are.
    pub fn replaced(&self) -> Option<(Span, usize)> {
        self.facts.as_ref()?.replaced
    }

    /// Shares the text under another name, or on another side.
    pub fn seen_as(&self, path: impl Into<Arc<str>>, side: Side) -> Self {
        Self {
            path: path.into(),
            side,
            ..self.clone()
        }
    }

    /// The name the file is reported under.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The path of the file of the tree: of what generates the objects, if the file has only generated ones.
    pub fn path_in_tree(&self) -> &str {
        let generator = self
            .facts
            .as_ref()
            .and_then(|facts| facts.generator.as_ref());
        generator.unwrap_or(&self.path)
    }

    /// The state of the files that the text belongs to.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The decoded text, to be shared by values that point into it.
    pub(crate) fn shared_text(&self) -> &Arc<String> {
        &self.text
    }

    /// The text under `span`; clamped to the file and to character boundaries, so it never fails.
    pub fn slice(&self, span: Span) -> &str {
        let start = self.floor(span.start as usize);
        let end = self.floor(span.end as usize).max(start);
        &self.text()[start..end]
    }

    /// Line and column of a byte offset. Offsets past the end give the end of the file.
    pub fn position(&self, offset: u32, unit: ColumnUnit) -> Position {
        let offset = self.floor(offset as usize);
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start as usize <= offset);
        let start = starts[line - 1] as usize;
        Position {
            line,
            column: self.length(start..offset, unit) + 1,
        }
    }

    /// Where each line begins. After a line break at the end there is an empty one.
    fn line_starts(&self) -> &[u32] {
        self.tables.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            let after = breaks.map(|at| at as u32 + 1);
            std::iter::once(0).chain(after).collect()
        })
    }

    /// The length of a part of the text, whose bounds are between characters. A long part, of a manifest in one line, is counted
    /// by blocks that are counted once.
    pub(crate) fn length(&self, part: Range<usize>, unit: ColumnUnit) -> usize {
        if unit == ColumnUnit::Utf8 || part.len() < 2 * BLOCK {
            return unit.length(&self.text()[part]);
        }
        let before = self
            .tables
            .block_lengths
            .get_or_init(|| BlockLengths::of(self.text()));
        let whole = part.start.div_ceil(BLOCK)..part.end / BLOCK;
        let (first, last) = (
            self.floor(whole.start * BLOCK),
            self.floor(whole.end * BLOCK),
        );
        let between = before.up_to(whole.end, unit) - before.up_to(whole.start, unit);
        unit.length(&self.text()[part.start..first])
            + between
            + unit.length(&self.text()[last..part.end])
    }

    /// The byte offset of a place. A column past the end of its line is the end of the line, a line past the last the end of the
    /// file.
    pub fn offset(&self, at: Position, unit: ColumnUnit) -> u32 {
        let Some(line) = self.line_span(at.line) else {
            return self.text().len() as u32;
        };
        let mut left = at.column.saturating_sub(1);
        let mut offset = line.start;
        for character in self.slice(line).chars() {
            let length = unit.length(character.encode_utf8(&mut [0; 4]));
            if left < length {
                break;
            }
            left -= length;
            offset += character.len_utf8() as u32;
        }
        offset
    }

    /// The bytes of a 1-based line without the spaces around them; nothing where there is no such line.
    pub(crate) fn written_part(&self, line: usize) -> Span {
        let span = self.line_span(line).unwrap_or_default();
        let text = self.slice(span);
        let start = span.start + (text.len() - text.trim_start().len()) as u32;
        Span::new(start, start + text.trim().len() as u32)
    }

    /// The span of a 1-based line without its line break; `None` when the file has no such line.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let starts = self.line_starts();
        let start = *starts.get(line.checked_sub(1)?)? as usize;
        let end = starts
            .get(line)
            .map_or(self.text.len(), |next| *next as usize);
        let length = self.text[start..end].trim_end_matches(['\n', '\r']).len();
        Some(Span::new(start as u32, (start + length) as u32))
    }

    /// How many lines the file has; a text that ends in a line break has no further empty line.
    pub fn line_count(&self) -> usize {
        self.line_starts().len() - usize::from(self.text.ends_with('\n'))
    }

    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text().len());
        while !self.text().is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_bytes_characters_and_utf16_units() {
        let file = SourceFile::new("f", "a\nx😀é: y\n");
        let offset = "a\nx😀é".len() as u32;
        let at = |unit| file.position(offset, unit);
        assert_eq!(at(ColumnUnit::Utf8), Position { line: 2, column: 8 });
        assert_eq!(at(ColumnUnit::Chars), Position { line: 2, column: 4 });
        assert_eq!(at(ColumnUnit::Utf16), Position { line: 2, column: 5 });
    }

    #[test]
    fn a_place_is_an_offset_again() {
        let file = SourceFile::new("f", "a\nx😀é: y\n");
        for unit in [ColumnUnit::Utf8, ColumnUnit::Chars, ColumnUnit::Utf16] {
            for offset in [0, 2, 3, 7, 9, 12, 13] {
                assert_eq!(
                    file.offset(file.position(offset, unit), unit),
                    offset,
                    "{unit:?}"
                );
            }
        }
        assert_eq!(
            file.offset(
                Position {
                    line: 2,
                    column: 99
                },
                ColumnUnit::Utf16
            ),
            12
        );
        assert_eq!(
            file.offset(Position { line: 9, column: 1 }, ColumnUnit::Utf16),
            13
        );
    }

    #[test]
    fn offsets_past_the_end_or_inside_a_character_are_clamped() {
        let file = SourceFile::new("f", "é");
        assert_eq!(
            file.position(1, ColumnUnit::Utf8),
            Position { line: 1, column: 1 }
        );
        assert_eq!(
            file.position(99, ColumnUnit::Utf8),
            Position { line: 1, column: 3 }
        );
        assert_eq!(file.slice(Span::new(1, 99)), "é");
    }

    #[test]
    fn a_long_line_has_the_columns_of_a_short_one() {
        let text: String = (0..9_000)
            .map(|at| ["a", "é", "😀", "€"][at * at % 4])
            .collect();
        let file = SourceFile::new("f", text.as_str());
        for unit in [ColumnUnit::Utf8, ColumnUnit::Chars, ColumnUnit::Utf16] {
            for (at, _) in text.char_indices().step_by(97) {
                assert_eq!(
                    file.position(at as u32, unit).column,
                    unit.length(&text[..at]) + 1,
                    "{at}"
                );
                assert_eq!(
                    file.length(at..text.len(), unit),
                    unit.length(&text[at..]),
                    "{at}"
                );
            }
        }
    }

    #[test]
    fn lines_come_without_their_breaks() {
        let file = SourceFile::new("f", "one\r\ntwo\n");
        assert_eq!(
            file.line_span(1).map(|s| file.slice(s).to_owned()),
            Some("one".to_owned())
        );
        assert_eq!(
            file.line_span(2).map(|s| file.slice(s).to_owned()),
            Some("two".to_owned())
        );
        assert_eq!(file.line_count(), 2);
        assert_eq!(file.line_span(9), None);
    }
}
