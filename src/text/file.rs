//! A file's decoded text and its lazy line index.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::credentials;
use super::lengths::{BLOCK, BlockLengths};
use super::line_table::{LineStart, LineTable};
use super::masked::masked;
use super::thinned::{Recall, ThinnedText};
use super::{ColumnUnit, Position, Span};

/// Which state of the files a text belongs to. Two texts of one path are two sources if their sides differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// What a change starts from.
    Base,
    /// What the run is about: files as they are, or what a change leads to.
    #[default]
    Head,
    /// A text that an editor has not saved yet; it stands in for a file of [`Side::Head`].
    Unsaved,
}

/// A part of a rendered text: where it begins, and the name of what it was rendered from, where a comment gives one.
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
    text: FileText,
    /// Of most texts nothing.
    facts: Option<Arc<TextFacts>>,
    tables: Arc<PlaceTables>,
    /// Long lines of which something is hidden, as they are shown.
    long_lines: Arc<OnceLock<BTreeMap<usize, String>>>,
}

/// A text, or what is kept of it.
#[derive(Clone, Debug)]
enum FileText {
    /// Not an `Arc<str>`, which would copy every text that is read.
    Whole(Arc<String>),
    Thinned(Arc<ThinnedText>),
}

/// Where lines begin, and how long the text is up to some places: counted when somebody asks.
#[derive(Debug, Default)]
struct PlaceTables {
    lines: LineTable,
    block_lengths: OnceLock<BlockLengths>,
}

/// What is known of a text besides itself.
#[derive(Clone, Debug, Default)]
struct TextFacts {
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
            text: FileText::Whole(Arc::new(text.into())),
            facts: None,
            tables: Arc::default(),
            long_lines: Arc::default(),
        }
    }

    /// The same file, whose text was decoded from bytes that are not all UTF-8: the first U+FFFD that replaces some, and how
    /// many there are.
    pub fn with_replaced(self, replaced: Option<(Span, usize)>) -> Self {
        self.with(replaced.is_some(), |facts| facts.replaced = replaced)
    }

    /// The same file, of which `hidden` is never shown: spans in order, without overlaps.
    pub fn with_hidden(mut self, hidden: Vec<Span>) -> Self {
        self.long_lines = Arc::default();
        self.with(!hidden.is_empty(), |facts| facts.hidden = hidden)
    }

    /// The same file, which was rendered from others: its parts in order.
    pub fn with_rendered(self, parts: Vec<RenderedPart>) -> Self {
        self.with(!parts.is_empty(), |facts| facts.rendered = parts)
    }

    /// The same file, of which the lines inside `gaps`, which come in order, are not kept if that spares much. Whoever asks for them has
    /// the text read again.
    pub(crate) fn thinned(self, gaps: Vec<Span>, recall: &dyn Fn() -> Recall) -> Self {
        let FileText::Whole(text) = &self.text else {
            return self;
        };
        let thinned = if gaps.is_empty() {
            None
        } else {
            ThinnedText::new(text, gaps, recall())
        };
        match thinned {
            Some(thinned) => Self {
                text: FileText::Thinned(Arc::new(thinned)),
                ..self
            },
            None => self,
        }
    }

    /// The same file, of which one fact is another. Most texts have none: `is_said` is false for what need not be kept.
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

    /// A 1-based line as people may see it: an asterisk takes the place of each byte that is hidden or likely a credential, so places
    /// stay right. Empty when the file has no such line.
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
        let whole = || self.line_span(line).map_or("", |span| self.slice(span));
        Cow::Borrowed(long_lines.get(&line).map_or_else(whole, String::as_str))
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
        let of_file = |range: Range<usize>| {
            Span::new(
                span.start + range.start as u32,
                span.start + range.end as u32,
            )
        };
        let found: Vec<Span> = credentials::credentials(&near)
            .into_iter()
            .map(of_file)
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

    /// The same text under another name, or on another side.
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

    /// The state of the files that the text belongs to.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The decoded text. If not all of it was kept, it is read again; should the file be another one by then, the lines that were not
    /// kept are blank.
    pub fn text(&self) -> &str {
        self.whole()
    }

    /// The decoded text, to be kept by what points into it.
    pub(crate) fn shared_text(&self) -> Arc<String> {
        Arc::clone(self.whole())
    }

    fn whole(&self) -> &Arc<String> {
        match &self.text {
            FileText::Whole(text) => text,
            FileText::Thinned(text) => text.whole(),
        }
    }

    /// The decoded text, if all of it was kept.
    pub(crate) fn kept_text(&self) -> Option<&str> {
        match &self.text {
            FileText::Whole(text) => Some(text),
            FileText::Thinned(_) => None,
        }
    }

    /// The text under `span`; clamped to the file and to character boundaries, so it never fails.
    pub fn slice(&self, span: Span) -> &str {
        if let FileText::Thinned(text) = &self.text
            && let Some(kept) = text.get(span.range())
        {
            return kept;
        }
        let start = self.floor(span.start as usize);
        let end = self.floor(span.end as usize).max(start);
        &self.text()[start..end]
    }

    /// Line and column of a byte offset. Offsets past the end give the end of the file.
    pub fn position(&self, offset: u32, unit: ColumnUnit) -> Position {
        if let FileText::Thinned(text) = &self.text
            && let Some(line) = text.line_at(offset as usize)
            && let Some(before) = line
                .text
                .get(..offset as usize - line.start)
                .filter(|before| before.len() < BLOCK)
        {
            return Position {
                line: line.number,
                column: unit.length(before) + 1,
            };
        }
        let offset = self.floor(offset as usize);
        let LineStart { index, start } = self.tables.lines.at(self.text(), offset);
        Position {
            line: index + 1,
            column: self.length(start..offset, unit) + 1,
        }
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

    /// The span of a 1-based line without its line break; `None` when the file has no such line.
    pub fn line_span(&self, line: usize) -> Option<Span> {
        let span = |start: usize, text: &str| {
            let length = text.trim_end_matches(['\n', '\r']).len();
            Span::new(start as u32, (start + length) as u32)
        };
        if let FileText::Thinned(text) = &self.text {
            match text.line(line) {
                Some(kept) => return Some(span(kept.start, kept.text)),
                None if line > text.line_count() => return None,
                None => {}
            }
        }
        let (lines, text) = (&self.tables.lines, self.text());
        let start = lines.start(text, line.checked_sub(1)?)?;
        let end = lines.start(text, line).unwrap_or(text.len());
        Some(span(start, &text[start..end]))
    }

    /// How many lines the file has; a text that ends in a line break has no further empty line.
    pub fn line_count(&self) -> usize {
        let (starts, ends_in_break) = match &self.text {
            FileText::Whole(text) => (self.tables.lines.count(text), text.ends_with('\n')),
            FileText::Thinned(text) => (text.line_count(), text.ends_in_break()),
        };
        starts - usize::from(ends_in_break)
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

    /// A text of two long gaps, and where they are.
    fn text_with_gaps() -> (String, Vec<Span>) {
        let mut text = String::from("first: é\nschema:\n");
        let mut gaps = Vec::new();
        for key in ["a", "b"] {
            let start = text.len() as u32;
            (0..200).for_each(|at| text.push_str(&format!("  {key}{at}: ö\n")));
            // A mapping ends with its last value, which is in the middle of a line that is kept.
            gaps.push(Span::new(start + 2, text.len() as u32 - 1));
            text.push_str("next: 1\n");
        }
        (text, gaps)
    }

    fn thinned(
        becomes: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> (String, SourceFile) {
        let (text, gaps) = text_with_gaps();
        let before = text.clone();
        let file = SourceFile::new("f", text.as_str());
        let file = file.thinned(gaps, &|| {
            let (before, becomes) = (before.clone(), &becomes);
            let becomes = becomes(&before);
            Recall::by(move || becomes.clone())
        });
        (text, file)
    }

    fn line_of(file: &SourceFile, at: usize) -> usize {
        file.position(at as u32, ColumnUnit::Utf8).line
    }

    #[test]
    fn every_place_is_where_it_was_whether_the_text_can_be_read_again_or_not() {
        let changed = |text: &str| Some(text.replace("next", "text"));
        let longer = |text: &str| Some(format!("{text}more: 1\n"));
        let other_lines = |text: &str| Some(text.replacen("  a5: ö\n", "  a5: ö ", 1));
        let same = |text: &str| Some(text.to_owned());
        let becomes: [fn(&str) -> Option<String>; 5] =
            [same, |_| None, changed, longer, other_lines];
        for becomes in becomes {
            let (text, file) = thinned(becomes);
            assert!(file.kept_text().is_none());
            let whole = SourceFile::new("f", text.as_str());
            let marks = ["first", "é", "schema", "a0", "a9", "next", "next: 1\n  b0"];
            for (offset, mark) in marks
                .into_iter()
                .filter_map(|mark| Some((text.find(mark)?, mark)))
            {
                let place = |file: &SourceFile| file.position(offset as u32, ColumnUnit::Chars);
                let span = Span::new(offset as u32, (offset + mark.len()) as u32);
                let same = (place(&file), file.slice(span)) == (place(&whole), whole.slice(span));
                assert_eq!(same, mark != "a9" || file.text() == text, "{mark}");
            }
            assert_eq!(file.line_count(), whole.line_count());
            // Before the text is read again, and after.
            for _ in 0..2 {
                for line in 0..whole.line_count() + 3 {
                    let shown = whole.shown_line(line);
                    if !shown.starts_with("  ") {
                        assert_eq!(file.line_span(line), whole.line_span(line), "{line}");
                        assert_eq!(file.shown_line(line), shown);
                    }
                }
                let kept = text
                    .char_indices()
                    .filter(|(at, _)| !whole.shown_line(line_of(&whole, *at)).starts_with("  "));
                for at in kept.map(|(at, _)| at as u32) {
                    let place = |file: &SourceFile| file.position(at, ColumnUnit::Utf16);
                    assert_eq!(place(&file), place(&whole));
                }
                assert_eq!(file.text().len(), whole.text().len());
            }
            let last = Position {
                line: whole.line_count(),
                column: 3,
            };
            assert_eq!(
                file.offset(last, ColumnUnit::Chars),
                whole.offset(last, ColumnUnit::Chars)
            );
            assert_eq!(file.shown_line(last.line), "next: 1");
        }
    }

    #[test]
    fn a_text_that_is_read_again_is_whole() {
        let (text, file) = thinned(|text| Some(text.to_owned()));
        assert_eq!(file.text(), text);
        assert_eq!(file.shown_line(3), "  a0: ö");
    }

    #[test]
    fn what_is_missing_of_a_text_that_changed_is_blank() {
        let (_, file) = thinned(|_| None);
        assert_eq!(
            (&*file.shown_line(1), &*file.shown_line(2)),
            ("first: é", "schema:")
        );
        assert_eq!(file.shown_line(5).trim(), "");
        assert_eq!(file.text().matches("next: 1\n").count(), 2);
    }

    #[test]
    fn short_gaps_are_kept() {
        let (text, gaps) = text_with_gaps();
        let few = gaps
            .iter()
            .map(|gap| Span::new(gap.start, gap.start + 500))
            .collect();
        let file = SourceFile::new("f", text.as_str()).thinned(few, &|| Recall::by(|| None));
        assert_eq!(file.kept_text(), Some(text.as_str()));
    }
}
