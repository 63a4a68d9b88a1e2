//! A file's decoded text and its index of lines, which is built on first use.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::credentials;
use super::lengths::{BLOCK, BlockLengths};
use super::{ColumnUnit, Position, Span, disjoint, floor};

/// The state of the files to which a text belongs. Two texts of one path are two sources if their sides differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The state before a change.
    Base,
    /// The input of the run: files as they are, or the state after a change.
    #[default]
    Head,
    /// A text that an editor has not saved yet; it replaces a file of [`Side::Head`].
    Unsaved,
}

/// A part of a rendered text: its offset, and the place of its template's name if a comment contains it.
pub type TemplateMark = (u32, Option<Span>);

/// A part of a text that a program rendered: its first line, and its source file and line.
pub type RenderedPart = (usize, Arc<str>, usize);

/// One file: its reported path, its side, and its text, decoded to UTF-8. A clone shares the text.
///
/// Offsets count bytes of the decoded text. In a UTF-8 file these are the bytes of the file, with
/// its byte order mark, except that invalid bytes count as the three bytes of the U+FFFD that
/// replaces them. A UTF-16 file is counted as if it had been saved as UTF-8.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: Arc<str>,
    side: Side,
    /// Creating an `Arc<str>` would copy the text.
    text: Arc<String>,
    /// `None` for most texts.
    facts: Option<Arc<TextFacts>>,
    tables: Arc<PlaceTables>,
    /// Long lines with hidden parts, as they are shown.
    long_lines: Arc<OnceLock<BTreeMap<usize, String>>>,
}

/// Tables for lines and columns, computed on first use.
#[derive(Debug, Default)]
struct PlaceTables {
    line_starts: OnceLock<Vec<u32>>,
    block_lengths: OnceLock<BlockLengths>,
}

/// Facts about a text that the text itself does not contain.
#[derive(Clone, Debug, Default)]
struct TextFacts {
    generator: Option<Generator>,
    replaced: Vec<u32>,
    hidden: Vec<Span>,
    template_marks: Vec<TemplateMark>,
    rendered: Vec<RenderedPart>,
}

/// The file of the tree that generates the objects of a text.
#[derive(Clone, Debug)]
struct Generator {
    path: Arc<str>,
    /// Lines of the text, in order, each with the line of the generator that generates the text from there on.
    lines: Vec<(usize, usize)>,
}

impl SourceFile {
    /// The largest file that is read, in bytes. Offsets are `u32`.
    pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

    /// Creates a file reported as `path` (as given on the command line, forward slashes, `-` for standard input).
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

    /// Records that some bytes of the file were not UTF-8: the offsets of each U+FFFD that replaces such bytes, ascending.
    pub fn with_replaced(self, replaced: Vec<u32>) -> Self {
        self.with(!replaced.is_empty(), |facts| facts.replaced = replaced)
    }

    /// Records that the file at `path` generates the text. `lines` are lines of the text, in order,
    /// each with the line of that file that generates the text from there on.
    pub fn with_generator(self, path: &str, lines: Vec<(usize, usize)>) -> Self {
        let path = path.into();
        self.with(true, |facts| {
            facts.generator = Some(Generator { path, lines });
        })
    }

    /// Records the parts of a text that a program rendered, in order.
    pub fn with_rendered(self, parts: Vec<RenderedPart>) -> Self {
        self.with(!parts.is_empty(), |facts| facts.rendered = parts)
    }

    /// Hides parts of the text from every excerpt: sorted spans without overlaps.
    pub fn with_hidden(mut self, hidden: Vec<Span>) -> Self {
        self.long_lines = Arc::default();
        self.with(!hidden.is_empty(), |facts| facts.hidden = hidden)
    }

    /// Records the parts of a text that comments mark as rendered, in order.
    pub fn with_template_marks(self, parts: Vec<TemplateMark>) -> Self {
        self.with(!parts.is_empty(), |facts| facts.template_marks = parts)
    }

    /// Calls `learn` with the facts, unless `is_said` is false and there are none yet.
    fn with(mut self, is_said: bool, learn: impl FnOnce(&mut TextFacts)) -> Self {
        if is_said || self.facts.is_some() {
            learn(Arc::make_mut(self.facts.get_or_insert_default()));
        }
        self
    }

    fn hidden(&self) -> &[Span] {
        self.facts.as_ref().map_or(&[], |facts| &facts.hidden)
    }

    /// Returns the parts of a rendered text, in order; empty if no comment says that it was rendered.
    pub fn template_marks(&self) -> &[TemplateMark] {
        self.facts
            .as_ref()
            .map_or(&[], |facts| &facts.template_marks)
    }

    /// Returns a 1-based line as it may be shown: every byte that is hidden or likely a credential is an asterisk, so
    /// offsets stay right. Empty if the file has no such line.
    pub fn shown_line(&self, line: usize) -> Cow<'_, str> {
        if !self.is_long_line(line) {
            return self.masked_line(line);
        }
        // Many findings may be in one long line, so it is masked once.
        let long_lines = self.long_lines.get_or_init(|| {
            let long = (1..=self.line_count()).filter(|line| self.is_long_line(*line));
            let masked = long.filter_map(|line| match self.masked_line(line) {
                Cow::Owned(text) => Some((line, text)),
                Cow::Borrowed(_) => None,
            });
            masked.collect()
        });
        Cow::Borrowed(long_lines.get(&line).map_or_else(
            || self.line_span(line).map_or("", |span| self.slice(span)),
            String::as_str,
        ))
    }

    fn is_long_line(&self, line: usize) -> bool {
        self.line_span(line)
            .is_some_and(|span| span.len() > credentials::LONGEST)
    }

    /// Masks the hidden parts of a line and likely credentials with asterisks.
    fn masked_line(&self, line: usize) -> Cow<'_, str> {
        let Some(span) = self.line_span(line) else {
            return Cow::Borrowed("");
        };
        let text = masked(self.slice(span), span.start, self.hidden());
        let found = credentials::credentials(&|below| {
            let near = self.line_span(line.checked_add_signed(below)?)?;
            let end = if below == 0 {
                near.end
            } else {
                near.end.min(near.start + credentials::LONGEST)
            };
            Some(self.slice(Span::new(near.start, end)))
        });
        if found.is_empty() {
            return text;
        }
        let found = found.into_iter().map(|range| {
            Span::new(
                span.start + range.start as u32,
                span.start + range.end as u32,
            )
        });
        let found = disjoint(found.collect());
        Cow::Owned(masked(&text, span.start, &found).into_owned())
    }

    /// Returns the offsets of each U+FFFD that replaces bytes which are not UTF-8, ascending.
    pub fn replaced(&self) -> &[u32] {
        self.facts.as_ref().map_or(&[], |facts| &facts.replaced)
    }

    /// Returns the first U+FFFD in `part` that replaces bytes which are not UTF-8, and the number
    /// of all of them.
    pub fn replaced_in(&self, part: Span) -> Option<(Span, usize)> {
        let all = self.replaced();
        let start = all.partition_point(|at| *at < part.start);
        let count = all[start..].partition_point(|at| *at < part.end);
        let first = *all[start..start + count].first()?;
        let end = first + char::REPLACEMENT_CHARACTER.len_utf8() as u32;
        Some((Span::new(first, end), count))
    }

    /// Returns the file under another path, or on another side; the text is shared.
    pub fn seen_as(&self, path: impl Into<Arc<str>>, side: Side) -> Self {
        Self {
            path: path.into(),
            side,
            ..self.clone()
        }
    }

    /// Returns the reported path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the path of the file in the tree: for generated objects, that of the file that generates them.
    pub fn path_in_tree(&self) -> &str {
        self.generator()
            .map_or(&self.path, |generator| &generator.path)
    }

    /// Returns the line in [`Self::path_in_tree`] that leads to the place at `offset` of this text.
    pub fn line_in_tree(&self, offset: u32) -> usize {
        let line = self.position(offset, ColumnUnit::Utf8).line;
        let Some(Generator { lines, .. }) = self.generator() else {
            return line;
        };
        let after = lines.partition_point(|(start, _)| *start <= line);
        after.checked_sub(1).map_or(1, |at| lines[at].1)
    }

    /// Returns the file and line that the text at `offset` is made from; `None` for a text of the
    /// tree.
    pub fn made_by(&self, offset: u32) -> Option<(&str, usize)> {
        if let Some(generator) = self.generator() {
            return Some((&generator.path, self.line_in_tree(offset)));
        }
        let rendered = &self.facts.as_ref()?.rendered;
        let line = self.position(offset, ColumnUnit::Utf8).line;
        let after = rendered.partition_point(|(start, ..)| *start <= line);
        let (_, path, line) = rendered.get(after.saturating_sub(1))?;
        Some((path, *line))
    }

    /// Whether the text is not in the tree, but rendered or generated from other files.
    pub fn is_made(&self) -> bool {
        self.is_rendered() || self.generator().is_some()
    }

    /// Whether a program rendered the text in this run.
    pub fn is_rendered(&self) -> bool {
        let facts = self.facts.as_ref();
        facts.is_some_and(|facts| !facts.rendered.is_empty())
    }

    fn generator(&self) -> Option<&Generator> {
        self.facts.as_ref()?.generator.as_ref()
    }

    /// Returns the state of the files to which the text belongs.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Returns the decoded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the decoded text, to be shared by values that point into it.
    pub fn shared_text(&self) -> &Arc<String> {
        &self.text
    }

    /// Returns the text under `span`, clamped to the file and to character boundaries, so it never fails.
    pub fn slice(&self, span: Span) -> &str {
        let start = floor(self.text(), span.start as usize);
        let end = floor(self.text(), span.end as usize).max(start);
        &self.text()[start..end]
    }

    /// Returns the part of a place on its first line, without trailing space: a place may cover the whole file.
    pub(crate) fn first_line(&self, span: Span) -> Span {
        let line = self.slice(span).lines().next().unwrap_or_default();
        Span::new(span.start, span.start + line.trim_end().len() as u32)
    }

    /// Returns the line and column of a byte offset. Offsets past the end give the end of the file.
    pub fn position(&self, offset: u32, unit: ColumnUnit) -> Position {
        let offset = floor(self.text(), offset as usize);
        let starts = self.line_starts();
        let line = starts.partition_point(|start| *start as usize <= offset);
        let start = starts[line - 1] as usize;
        Position {
            line,
            column: self.length(start..offset, unit) + 1,
        }
    }

    /// Returns the offset of each line's start. A line break at the end is followed by an empty line.
    fn line_starts(&self) -> &[u32] {
        self.tables.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', self.text.as_bytes());
            let after = breaks.map(|at| at as u32 + 1);
            std::iter::once(0).chain(after).collect()
        })
    }

    /// Returns the length of `part` of the text, whose bounds are character boundaries. In a long
    /// part, as in a manifest of one line, the lengths of whole blocks are cached.
    pub(crate) fn length(&self, part: Range<usize>, unit: ColumnUnit) -> usize {
        if unit == ColumnUnit::Utf8 || part.len() < 2 * BLOCK {
            return unit.length(&self.text()[part]);
        }
        let before = self
            .tables
            .block_lengths
            .get_or_init(|| BlockLengths::new(self.text()));
        let whole = part.start.div_ceil(BLOCK)..part.end / BLOCK;
        let first = floor(self.text(), whole.start * BLOCK);
        let last = floor(self.text(), whole.end * BLOCK);
        let between = before.up_to(whole.end, unit) - before.up_to(whole.start, unit);
        unit.length(&self.text()[part.start..first])
            + between
            + unit.length(&self.text()[last..part.end])
    }

    /// Returns the byte offset of a place. A column past the end of its line is the end of the line, a line past the
    /// last one is the end of the file.
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

    /// Returns the bytes of a 1-based line without the spaces around them; empty if there is no such line.
    pub(crate) fn written_part(&self, line: usize) -> Span {
        let span = self.line_span(line).unwrap_or_default();
        let text = self.slice(span);
        let start = span.start + (text.len() - text.trim_start().len()) as u32;
        Span::new(start, start + text.trim().len() as u32)
    }

    /// Returns the span of a 1-based line without its line break; `None` if the file has no such line.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let starts = self.line_starts();
        let start = *starts.get(line.checked_sub(1)?)? as usize;
        let end = starts
            .get(line)
            .map_or(self.text.len(), |next| *next as usize);
        let length = self.text[start..end].trim_end_matches(['\n', '\r']).len();
        Some(Span::new(start as u32, (start + length) as u32))
    }

    /// Returns the number of lines. A line break at the end is not followed by an empty line.
    pub fn line_count(&self) -> usize {
        self.line_starts().len() - usize::from(self.text.ends_with('\n'))
    }
}

/// Replaces each byte of `hidden` in a part of a text by an asterisk, so that offsets stay right; blanks stay. `part`
/// begins at `start`, and `hidden` are sorted spans of the text without overlaps.
fn masked<'t>(part: &'t str, start: u32, hidden: &[Span]) -> Cow<'t, str> {
    let end = start + part.len() as u32;
    let first = hidden.partition_point(|hidden| hidden.end <= start);
    let mut hidden = hidden[first..]
        .iter()
        .take_while(|hidden| hidden.start < end)
        .peekable();
    if hidden.peek().is_none() {
        return Cow::Borrowed(part);
    }
    let mut shown = String::with_capacity(part.len());
    for (at, c) in part.char_indices().map(|(at, c)| (start + at as u32, c)) {
        while hidden.next_if(|hidden| hidden.end <= at).is_some() {}
        match hidden.peek() {
            Some(hidden) if hidden.start <= at && !c.is_whitespace() => {
                shown.extend(std::iter::repeat_n('*', c.len_utf8()));
            }
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_bytes_characters_and_utf16_units() {
        let file = SourceFile::new("f", "a\nx😀é: y\n");
        let offset = "a\nx😀é".len() as u32;
        for (unit, column) in [
            (ColumnUnit::Utf8, 8),
            (ColumnUnit::Chars, 4),
            (ColumnUnit::Utf16, 5),
        ] {
            assert_eq!(file.position(offset, unit), Position { line: 2, column });
        }
    }

    #[test]
    fn positions_convert_back_to_offsets() {
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
        for (line, column, offset) in [(2, 99, 12), (9, 1, 13)] {
            let place = Position { line, column };
            assert_eq!(file.offset(place, ColumnUnit::Utf16), offset);
        }
    }

    #[test]
    fn offsets_past_the_end_or_inside_a_character_are_clamped() {
        let file = SourceFile::new("f", "é");
        for (offset, column) in [(1, 1), (99, 3)] {
            let clamped = file.position(offset, ColumnUnit::Utf8);
            assert_eq!(clamped, Position { line: 1, column });
        }
        assert_eq!(file.slice(Span::new(1, 99)), "é");
    }

    #[test]
    fn columns_in_long_lines_are_exact() {
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
    fn line_spans_exclude_line_breaks() {
        let file = SourceFile::new("f", "one\r\ntwo\n");
        for (line, text) in [(1, "one"), (2, "two")] {
            assert_eq!(file.line_span(line).map(|s| file.slice(s)), Some(text));
        }
        assert_eq!(file.line_count(), 2);
        assert_eq!(file.line_span(9), None);
    }
}
