//! The few lines of a file that a snippet shows, as a source for miette.
//!
//! miette's own sources scan from the start of the file for every label. Here the lines come from the line index, and only
//! they are copied: made harmless for a terminal, and cut around what matters, since a manifest in JSON may be one line.

use std::collections::BTreeMap;
use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::text::plain;
use crate::text::{ColumnUnit, SourceFile, Span};

/// What miette writes before the line and the column of a snippet. No text holds it, so what is written there can be replaced.
pub(super) const NAME: &str = "\u{1}";

/// How much of a file is shown around each place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Lines before and after.
    pub context: usize,
    /// Characters of one line.
    pub width: usize,
    /// What stands for the part of a line that is not shown.
    pub ellipsis: char,
}

/// Lines of one file, with their numbers.
#[derive(Debug)]
pub(super) struct Excerpt {
    name: String,
    text: String,
    rows: Vec<ExcerptRow>,
}

/// One line of an excerpt.
#[derive(Debug)]
struct ExcerptRow {
    /// The 1-based number of the line in its file.
    number: usize,
    /// Where the line starts in the excerpt's text.
    start: usize,
    /// How many columns of the line are missing on the left.
    hidden: usize,
    /// The bytes of the line that are shown.
    window: Range<usize>,
    /// Where they start in the excerpt's text.
    shown: usize,
}

/// A place as a line and the bytes in it, the end of the line included; what goes on behind that line is left out.
pub(super) struct InLine {
    pub(super) line: usize,
    pub(super) bytes: Range<usize>,
}

impl Excerpt {
    /// The lines of `file` around `spans`, and where each span lies in the excerpt. `None`: its line had to be cut, and
    /// this span lies in the part that is not shown. The first span is always shown.
    pub(super) fn new(
        file: &SourceFile,
        spans: &[Span],
        frame: Frame,
    ) -> (Self, Vec<Option<Range<usize>>>) {
        let places: Vec<InLine> = spans.iter().map(|&span| in_line(file, span)).collect();
        let mut focus: BTreeMap<usize, usize> = BTreeMap::new();
        for place in &places {
            focus.entry(place.line).or_insert(place.bytes.start);
        }
        for place in &places {
            let last = (place.line + frame.context).min(file.line_count());
            for line in place.line.saturating_sub(frame.context).max(1)..=last {
                focus.entry(line).or_insert(0);
            }
        }
        let mut excerpt = Self {
            name: NAME.to_owned(),
            text: String::new(),
            rows: Vec::with_capacity(focus.len()),
        };
        for (line, focus) in focus {
            excerpt.push(file, line, focus, frame);
        }
        let ranges = places
            .iter()
            .map(|place| excerpt.locate(file, place))
            .collect();
        (excerpt, ranges)
    }

    fn push(&mut self, file: &SourceFile, number: usize, focus: usize, frame: Frame) {
        let line = &*file.shown_line(number);
        let window = window(line, focus, frame.width);
        let start = self.text.len();
        if window.start > 0 {
            self.text.push(frame.ellipsis);
        }
        let shown = self.text.len();
        self.text.push_str(&plain::visible(&line[window.clone()]));
        if window.end < line.len() {
            self.text.push(frame.ellipsis);
        }
        self.text.push('\n');
        // The ellipsis takes the place of one of the characters that it stands for.
        let line_start = file.line_span(number).map_or(0, |line| line.start as usize);
        let hidden = file
            .length(line_start..line_start + window.start, ColumnUnit::Chars)
            .saturating_sub(1);
        self.rows.push(ExcerptRow {
            number,
            start,
            hidden,
            window,
            shown,
        });
    }

    fn locate(&self, file: &SourceFile, place: &InLine) -> Option<Range<usize>> {
        let row = &self.rows[self
            .rows
            .binary_search_by_key(&place.line, |row| row.number)
            .ok()?];
        if place.bytes.start < row.window.start || place.bytes.start > row.window.end {
            return None;
        }
        let line = file.shown_line(row.number);
        let shown = |to: usize| {
            row.shown + plain::visible(&line[row.window.start..to.min(row.window.end)]).len()
        };
        Some(shown(place.bytes.start)..shown(place.bytes.end))
    }

    fn row_of(&self, offset: usize) -> usize {
        self.rows
            .partition_point(|row| row.start <= offset)
            .saturating_sub(1)
    }

    fn row_end(&self, row: usize) -> usize {
        self.rows
            .get(row + 1)
            .map_or(self.text.len(), |next| next.start)
    }

    /// Whether the excerpt continues from `row` to the next without leaving a line out.
    fn continues(&self, row: usize) -> bool {
        self.rows
            .get(row + 1)
            .is_some_and(|next| next.number == self.rows[row].number + 1)
    }
}

impl SourceCode for Excerpt {
    /// Lines are never joined over a gap: what is read has consecutive numbers.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        context_lines_before: usize,
        context_lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let end = span.offset() + span.len();
        if end > self.text.len() || self.rows.is_empty() {
            return Err(MietteError::OutOfBounds);
        }
        let (mut first, mut last) = (
            self.row_of(span.offset()),
            self.row_of(end.max(span.offset() + 1) - 1),
        );
        let mut column = 0;
        let mut from = self.rows[first].start;
        if context_lines_before == 0 {
            column =
                self.rows[first].hidden + ColumnUnit::Chars.length(&self.text[from..span.offset()]);
            from = span.offset();
        }
        for _ in 0..context_lines_before {
            if first > 0 && self.continues(first - 1) {
                first -= 1;
                from = self.rows[first].start;
            }
        }
        for _ in 0..context_lines_after {
            last += usize::from(self.continues(last));
        }
        let to = self.row_end(last);
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            &self.text.as_bytes()[from..to],
            (from, to - from).into(),
            self.rows[first].number - 1,
            column,
            last - first + 1,
        )))
    }
}

/// Where `span` starts, and its bytes on that line. Past the last line is the end of the last line.
pub(super) fn in_line(file: &SourceFile, span: Span) -> InLine {
    let line = file
        .position(span.start, ColumnUnit::Utf8)
        .line
        .min(file.line_count());
    let bytes = file.line_span(line).unwrap_or_default();
    let local = |offset: u32| {
        file.slice(Span::new(bytes.start, offset.min(bytes.end)))
            .len()
    };
    InLine {
        line,
        bytes: local(span.start)..local(span.end),
    }
}

/// The bytes of `line` to show: all, or `width` characters around `focus`.
pub(super) fn window(line: &str, focus: usize, width: usize) -> Range<usize> {
    if line.chars().nth(width).is_none() {
        return 0..line.len();
    }
    let start = line[..focus]
        .char_indices()
        .rev()
        .nth(width / 3)
        .map_or(0, |(at, _)| at);
    match line[start..].char_indices().nth(width) {
        Some((end, _)) => start..start + end,
        // The rest is short: there is room for more on the left.
        None => {
            line.char_indices()
                .rev()
                .nth(width - 1)
                .map_or(0, |(at, _)| at)..line.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        context: 1,
        width: 20,
        ellipsis: '…',
    };

    fn shown(text: &str, spans: &[(u32, u32)]) -> (String, Vec<Option<String>>) {
        let spans: Vec<_> = spans
            .iter()
            .map(|&(start, end)| Span::new(start, end))
            .collect();
        let (excerpt, ranges) = Excerpt::new(&SourceFile::new("f", text), &spans, FRAME);
        let texts = ranges
            .into_iter()
            .map(|range| range.map(|range| excerpt.text[range].to_owned()))
            .collect();
        (excerpt.text, texts)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn only_the_lines_around_the_places_are_copied() {
        let (text, spans) = shown(
            "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\n",
            &[(5, 8), (29, 32)],
        );
        assert_eq!(text, "one\ntwo\nthree\nfive\nsix\n");
        assert_eq!(spans, [some("two"), some("six")]);
    }

    #[test]
    fn a_long_line_is_cut_around_the_first_place() {
        let line = format!("{}key{}far", "a".repeat(100), "b".repeat(100));
        let (text, spans) = shown(&line, &[(100, 103), (203, 206)]);
        assert_eq!(text, "…aaaaaaakeybbbbbbbbbb…\n");
        assert_eq!(spans, [some("key"), None]);
    }

    #[test]
    fn a_place_behind_the_last_line_is_shown_at_its_end() {
        assert_eq!(
            shown("a: b\n", &[(5, 5)]),
            ("a: b\n".to_owned(), vec![some("")])
        );
        assert_eq!(shown("", &[(0, 0)]), ("\n".to_owned(), vec![some("")]));
    }

    #[test]
    fn positions_are_those_of_the_file() -> Result<(), MietteError> {
        let file = SourceFile::new("f", format!("x\n{}key", "é".repeat(100)));
        let (excerpt, ranges) = Excerpt::new(&file, &[Span::new(202, 205)], FRAME);
        let range = ranges[0].clone().unwrap_or_default();
        let contents = excerpt.read_span(&(range.start, range.len()).into(), 0, 0)?;
        assert_eq!((contents.line(), contents.column()), (1, 100));
        Ok(())
    }
}
