//! The few lines of a file that a finding shows.
//!
//! Only the shown lines are copied. They are made safe for a terminal and cut around the places,
//! since a manifest in JSON may be one line of many megabytes.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::finding::Label;
use crate::text::{ColumnUnit, FileId, SourceFile, Span, plain};

/// Lines of context before and after each place.
const CONTEXT: usize = 2;

/// The maximum number of characters of a line. The renderer cuts it further to the width of the terminal.
const WIDTH: usize = 2_000;

/// Consecutive lines of a file.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// The 1-based number of the first line.
    pub(super) first_line: usize,
    /// The lines, each with its line break.
    pub(super) text: String,
    /// Ranges in `text`, each with the index of its span in the argument of [`excerpts`].
    pub(super) places: Vec<(usize, Range<usize>)>,
}

/// The part of a span on its first line, as bytes of that line. Empty if the span begins with the line break.
pub(super) struct InLine {
    pub(super) line: usize,
    pub(super) bytes: Range<usize>,
}

/// Returns the lines of `file` around `spans`: the excerpt of the first span, then the others in
/// the order of the file. Long lines are cut around their first span; a span in a part that is cut
/// off is in no excerpt. Places beyond column `width` have no context.
pub(super) fn excerpts(file: &SourceFile, spans: &[Span], width: usize) -> Vec<Excerpt> {
    let places: Vec<InLine> = spans.iter().map(|&span| in_line(file, span)).collect();
    let mut lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, place) in places.iter().enumerate() {
        // The renderer shifts all lines to the left until the place is visible; nothing would be left of the context.
        let context = if place.bytes.end < width { CONTEXT } else { 0 };
        let last = (place.line + context).min(file.line_count());
        for near in place.line.saturating_sub(context).max(1)..=last {
            lines.entry(near).or_default();
        }
        lines.entry(place.line).or_default().push(index);
    }
    let mut excerpts: Vec<Excerpt> = Vec::new();
    let mut last = 0;
    for (number, indices) in lines {
        if excerpts.is_empty() || number > last + 1 {
            excerpts.push(Excerpt {
                first_line: number,
                ..Excerpt::default()
            });
        }
        last = number;
        if let Some(excerpt) = excerpts.last_mut() {
            excerpt.push(&file.shown_line(number), &indices, &places);
        }
    }
    excerpts.sort_by_key(|excerpt| excerpt.places.iter().all(|(index, _)| *index != 0));
    excerpts
}

impl Excerpt {
    /// Returns the number of the last line.
    pub(super) fn last_line(&self) -> usize {
        (self.first_line + self.text.lines().count()).saturating_sub(1)
    }

    fn push(&mut self, line: &str, indices: &[usize], places: &[InLine]) {
        let first = indices.first();
        let focus = first.map_or(0, |&index| places[index].bytes.start);
        let window = window(line, focus, WIDTH);
        if window.start > 0 {
            self.text.push_str("...");
        }
        let shift = self.text.len();
        for &index in indices {
            let Range { start, end } = places[index].bytes;
            if window.start <= start && start <= window.end {
                let [start, end] = [start, end].map(|to| {
                    let to = to.clamp(window.start, window.end);
                    shift + plain::visible(&line[window.start..to]).len()
                });
                self.places.push((index, start..end));
            }
        }
        self.text.push_str(&plain::visible(&line[window.clone()]));
        let is_cut = window.end < line.len();
        self.text.push_str(if is_cut { "...\n" } else { "\n" });
    }
}

/// Groups labels by file, in the order of the first label of each file.
pub(super) fn by_file<'l>(
    labels: impl Iterator<Item = &'l Label>,
) -> Vec<(FileId, Vec<&'l Label>)> {
    let mut files: Vec<(FileId, Vec<&Label>)> = Vec::new();
    for label in labels {
        match files.iter_mut().find(|(file, _)| *file == label.file) {
            Some((_, labels)) => labels.push(label),
            None => files.push((label.file, vec![label])),
        }
    }
    files
}

/// Returns the part of `span` on its first line; the end of the last line if `span` is behind it.
pub(super) fn in_line(file: &SourceFile, span: Span) -> InLine {
    let line = file.position(span.start, ColumnUnit::Utf8).line;
    let line = line.min(file.line_count());
    let bytes = file.line_span(line).unwrap_or_default();
    let [start, end] = [span.start, span.end].map(|offset| {
        let before = Span::new(bytes.start, offset.min(bytes.end));
        file.slice(before).len()
    });
    InLine {
        line,
        bytes: start..end,
    }
}

/// Returns the bytes of `line` to show: the whole line, or `width` characters around `focus`.
pub(super) fn window(line: &str, focus: usize, width: usize) -> Range<usize> {
    if line.chars().nth(width).is_none() {
        return 0..line.len();
    }
    let start = line[..focus].char_indices().rev().nth(width / 3);
    let start = start.map_or(0, |(at, _)| at);
    if let Some((end, _)) = line[start..].char_indices().nth(width) {
        return start..start + end;
    }
    // The rest of the line is short: there is room for more on the left.
    let start = line.char_indices().rev().nth(width - 1);
    start.map_or(0, |(at, _)| at)..line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An excerpt: its first line, its text, and the places in it with their texts.
    type Shown = (usize, String, Vec<(usize, String)>);

    fn shown(text: &str, spans: &[(u32, u32)]) -> Vec<Shown> {
        let spans = spans.iter().map(|&(start, end)| Span::new(start, end));
        let spans: Vec<_> = spans.collect();
        let excerpts = excerpts(&SourceFile::new("f", text), &spans, 100).into_iter();
        let shown = excerpts.map(|excerpt| {
            let places = excerpt.places.into_iter();
            let places = places.map(|(index, range)| (index, excerpt.text[range].to_owned()));
            (excerpt.first_line, excerpt.text.clone(), places.collect())
        });
        shown.collect()
    }

    fn place(index: usize, text: &str) -> (usize, String) {
        (index, text.to_owned())
    }

    #[test]
    fn excerpts_have_context_lines_and_first_place_comes_first() {
        let text: String = (1..=20).map(|line| format!("line {line}\r\n")).collect();
        let spans = ["line 18", "line 2", "line 6"].map(|needle| {
            let start = text.find(needle).unwrap_or_default() as u32;
            (start, start + needle.len() as u32)
        });
        assert_eq!(
            shown(&text, &spans),
            [
                (
                    16,
                    "line 16\nline 17\nline 18\nline 19\nline 20\n".to_owned(),
                    vec![place(0, "line 18")]
                ),
                (
                    1,
                    "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n".to_owned(),
                    vec![place(1, "line 2"), place(2, "line 6")]
                ),
            ]
        );
    }

    #[test]
    fn excerpt_of_long_line_is_cut_around_first_place() {
        let line = format!("{}key{}far", "a".repeat(10_000), "b".repeat(10_000));
        let excerpts = shown(&line, &[(10_000, 10_003), (20_003, 20_006)]);
        let [(1, text, places)] = excerpts.as_slice() else {
            panic!("one excerpt: {excerpts:?}");
        };
        assert_eq!(places, &[place(0, "key")]);
        assert_eq!(text.chars().count(), WIDTH + "...".len() * 2 + 1);
        assert!(
            text.starts_with("...a") && text.ends_with("b...\n"),
            "{text}"
        );
    }

    #[test]
    fn excerpt_of_offset_past_the_end_shows_the_last_line() {
        assert_eq!(
            shown("a: b\n", &[(5, 5)]),
            [(1, "a: b\n".to_owned(), vec![place(0, "")])]
        );
        assert_eq!(
            shown("", &[(0, 0)]),
            [(1, "\n".to_owned(), vec![place(0, "")])]
        );
    }
}
