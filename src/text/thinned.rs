//! A text of which only some lines are kept, and that is read again when somebody asks for others.
//!
//! Most bytes of many repositories are schemas of custom resources. They are checked once, and nobody looks into them again, but
//! for the lines around a finding.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use memchr::memchr_iter;

use super::Span;
use super::line_table::LineTable;

/// Fewer bytes than this are kept, whoever asks for them.
const SHORT: usize = 1024;

/// How a text is read again; `None` where that fails.
#[derive(Clone)]
pub(crate) struct Recall(Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl Recall {
    /// By a function that reads the text from where it came.
    pub(crate) fn by(read: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl fmt::Debug for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recall")
    }
}

/// Some lines of a text, or of a part of it. Places are those in the whole text.
#[derive(Clone, Debug)]
pub(crate) struct KeptLines {
    /// One stretch of lines after the other.
    kept: String,
    /// At least the one at the beginning.
    stretches: Vec<LineRun>,
}

/// Lines that are kept, up to the next gap.
#[derive(Clone, Copy, Debug)]
struct LineRun {
    /// Where it begins, in the whole text and in what is kept.
    start: usize,
    kept: usize,
}

impl KeptLines {
    /// The lines of `part` of a text that are not wholly inside one of `gaps`, which come in order.
    pub(crate) fn of(text: &str, part: Span, gaps: impl IntoIterator<Item = Span>) -> Self {
        let (mut start, end) = (part.start as usize, part.end as usize);
        let mut lines = Self {
            kept: String::new(),
            stretches: vec![LineRun { start, kept: 0 }],
        };
        for gap in gaps {
            let Some(inside) = text
                .get(gap.range())
                .filter(|_| gap.start as usize >= start)
            else {
                continue;
            };
            let (Some(first), Some(last)) = (inside.find('\n'), inside.rfind('\n')) else {
                continue;
            };
            if last - first < SHORT {
                continue;
            }
            let (from, to) = (
                gap.start as usize + first + 1,
                gap.start as usize + last + 1,
            );
            lines.kept.push_str(&text[start..from]);
            lines.stretches.push(LineRun {
                start: to,
                kept: lines.kept.len(),
            });
            start = to;
        }
        lines
            .kept
            .push_str(text.get(start..end).unwrap_or_default());
        lines.kept.shrink_to_fit();
        lines.stretches.shrink_to_fit();
        lines
    }

    /// A part of the text, if it is in one stretch.
    pub(crate) fn get(&self, part: Range<usize>) -> Option<&str> {
        let at = self.stretch_at(part.start)?;
        let LineRun { start, kept, .. } = self.stretches[at];
        let inside = part.start - start + kept..part.end.checked_sub(start)? + kept;
        if inside.end <= self.end(at) {
            self.kept.get(inside)
        } else {
            None
        }
    }

    /// The last stretch that begins at a place or before it.
    fn stretch_at(&self, offset: usize) -> Option<usize> {
        self.stretches
            .partition_point(|stretch| stretch.start <= offset)
            .checked_sub(1)
    }

    fn stretch(&self, at: usize) -> &str {
        &self.kept[self.stretches[at].kept..self.end(at)]
    }

    /// Where a stretch ends in what is kept.
    fn end(&self, at: usize) -> usize {
        self.stretches
            .get(at + 1)
            .map_or(self.kept.len(), |next| next.kept)
    }
}

/// A line that is kept.
pub(super) struct KeptLine<'t> {
    /// Counted from 1.
    pub(super) number: usize,
    /// Where it begins in the whole text.
    pub(super) start: usize,
    /// With its line break.
    pub(super) text: &'t str,
}

/// A text without some of its lines, which are read again when somebody asks for them.
#[derive(Debug)]
pub(super) struct ThinnedText {
    lines: KeptLines,
    /// How many lines there are before each stretch.
    before: Vec<usize>,
    /// Of what is kept.
    table: LineTable,
    recall: Recall,
    whole: OnceLock<Arc<String>>,
}

impl ThinnedText {
    /// `text` without the lines that are wholly inside one of `gaps`, which come in order. `None`: that spares too little.
    pub(super) fn new(
        text: &str,
        gaps: impl IntoIterator<Item = Span>,
        recall: Recall,
    ) -> Option<Self> {
        let lines = KeptLines::of(text, Span::new(0, text.len() as u32), gaps);
        if lines.kept.len() > text.len() / 2 {
            return None;
        }
        let (mut end, mut count) = (0, 0);
        let before = lines.stretches.iter().enumerate().map(|(at, stretch)| {
            count += line_breaks(&text[end..stretch.start]);
            let before = count;
            end = stretch.start + lines.stretch(at).len();
            count += line_breaks(lines.stretch(at));
            before
        });
        let before = before.collect();
        Some(Self {
            lines,
            before,
            table: LineTable::default(),
            recall,
            whole: OnceLock::new(),
        })
    }

    /// The whole text. Where it cannot be read again as it was, the lines that are missing are blank: whatever became of the file,
    /// everything else is where it was.
    pub(super) fn whole(&self) -> &Arc<String> {
        self.whole.get_or_init(|| {
            let again = (self.recall.0)().filter(|text| self.fits(text));
            Arc::new(again.unwrap_or_else(|| self.with_blank_lines()))
        })
    }

    /// A part of the text, if it is in one stretch of those that are kept.
    pub(super) fn get(&self, part: Range<usize>) -> Option<&str> {
        self.lines.get(part)
    }

    /// The line around a place, if it is kept.
    pub(super) fn line_at(&self, offset: usize) -> Option<KeptLine<'_>> {
        let at = self.lines.stretch_at(offset)?;
        let LineRun { start, kept } = self.lines.stretches[at];
        let place = offset - start + kept;
        (place < self.lines.end(at))
            .then(|| self.kept_line(at, self.table.at(&self.lines.kept, place).index))
    }

    /// A line by its number, counted from 1, if it is kept.
    pub(super) fn line(&self, number: usize) -> Option<KeptLine<'_>> {
        let before = number.checked_sub(1)?;
        let at = self
            .before
            .partition_point(|lines| *lines <= before)
            .checked_sub(1)?;
        let index = self.first_line(at) + before - self.before[at];
        let end = if at + 1 < self.before.len() {
            self.first_line(at + 1)
        } else {
            self.kept_count()
        };
        (index < end).then(|| self.kept_line(at, index))
    }

    /// How many lines there are, kept or not; the empty one after a line break at the end counts.
    pub(super) fn line_count(&self) -> usize {
        let last = self.before.len() - 1;
        self.before[last] + self.kept_count() - self.first_line(last)
    }

    /// Whether the last line has a line break.
    pub(super) fn ends_in_break(&self) -> bool {
        self.lines.kept.ends_with('\n')
    }

    /// A line of a stretch, by its number among those that are kept.
    fn kept_line(&self, at: usize, index: usize) -> KeptLine<'_> {
        let start = |index| {
            self.table
                .start(&self.lines.kept, index)
                .unwrap_or(self.lines.kept.len())
        };
        let (run, line, end) = (self.lines.stretches[at], start(index), start(index + 1));
        KeptLine {
            number: self.before[at] + index - self.first_line(at) + 1,
            start: run.start + line - run.kept,
            text: &self.lines.kept[line..end],
        }
    }

    /// The first line of a stretch, by its number among those that are kept.
    fn first_line(&self, at: usize) -> usize {
        self.table
            .at(&self.lines.kept, self.lines.stretches[at].kept)
            .index
    }

    /// How many lines are kept; the empty one after a line break at the end counts.
    fn kept_count(&self) -> usize {
        self.table.count(&self.lines.kept)
    }

    /// The stretches in order, each with the length of the gap before it and how many lines that has.
    fn with_gaps(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let (mut end, mut count) = (0, 0);
        self.lines
            .stretches
            .iter()
            .zip(&self.before)
            .enumerate()
            .map(move |(at, (stretch, before))| {
                let (text, gap, lines) =
                    (self.lines.stretch(at), stretch.start - end, before - count);
                (end, count) = (stretch.start + text.len(), before + line_breaks(text));
                (text, gap, lines)
            })
    }

    /// Whether all lines that are kept are at their places in `text`.
    fn fits(&self, text: &str) -> bool {
        let mut rest = text;
        let fits = self.with_gaps().all(|(kept, gap, lines)| {
            let Some((missing, after)) = rest.split_at_checked(gap) else {
                return false;
            };
            let Some(after) = after.strip_prefix(kept) else {
                return false;
            };
            rest = after;
            line_breaks(missing) == lines && (gap == 0 || missing.ends_with('\n'))
        });
        fits && rest.is_empty()
    }

    fn with_blank_lines(&self) -> String {
        let mut text = String::new();
        for (kept, gap, lines) in self.with_gaps() {
            // As many lines, of about the same length each.
            for line in 0..lines {
                let blanks = gap - lines;
                text.extend(std::iter::repeat_n(
                    ' ',
                    blanks * (line + 1) / lines - blanks * line / lines,
                ));
                text.push('\n');
            }
            text.push_str(kept);
        }
        text
    }
}

fn line_breaks(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of some lengths, and which of them are in gaps: `.` is kept, letters are gaps.
    fn checked(layout: &str, ends_in_break: bool) {
        let line = |at: usize| format!("{at} é {}\n", "x".repeat(at * 37 % 300));
        let mut text: String = (0..10 * layout.len()).map(line).collect();
        if !ends_in_break {
            text.pop();
        }
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let start_of = |part: usize| starts.get(10 * part).copied().unwrap_or(text.len());
        let parts: Vec<char> = layout.chars().collect();
        let mut gaps = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if *part != '.' && (at == 0 || parts[at - 1] != *part) {
                let length = parts[at..]
                    .iter()
                    .take_while(|other| *other == part)
                    .count();
                // A gap may begin and end inside lines, which are kept then.
                gaps.push(Span::new(
                    start_of(at) as u32 + 1,
                    start_of(at + length) as u32,
                ));
            }
        }
        let again = text.clone();
        let Some(thinned) =
            ThinnedText::new(&text, gaps.clone(), Recall::by(move || Some(again.clone())))
        else {
            panic!("{layout}: hardly anything is kept");
        };
        let in_gap = |at: usize| {
            gaps.iter().any(|gap| {
                let first = text[gap.start as usize..]
                    .find('\n')
                    .map_or(text.len(), |end| gap.start as usize + end + 1);
                let end = text[..gap.end as usize]
                    .rfind('\n')
                    .map_or(0, |end| end + 1);
                (first..end).contains(&at) && end - first > SHORT
            })
        };
        assert_eq!(thinned.line_count(), starts.len(), "{layout}");
        for (at, start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(text.len());
            let found = thinned
                .line(at + 1)
                .map(|line| (line.number, line.start, line.text));
            let kept = !in_gap(*start);
            assert_eq!(
                found,
                kept.then(|| (at + 1, *start, &text[*start..end])),
                "{layout}: line {at}"
            );
            for place in *start..end {
                let found = thinned
                    .line_at(place)
                    .map(|line| (line.number, line.start, line.text));
                assert_eq!(
                    found,
                    kept.then(|| (at + 1, *start, &text[*start..end])),
                    "{layout}: {place}"
                );
            }
            let part = thinned.get(*start..end);
            assert!(
                part.is_none_or(|part| part == &text[*start..end])
                    && (part.is_some() || !kept || *start == end)
            );
        }
        assert!(thinned.line(0).is_none() && thinned.line(starts.len() + 1).is_none());
        assert!(thinned.lines.kept.len() < text.len() && thinned.fits(&text));
        assert_eq!(thinned.with_blank_lines().len(), text.len());
        assert_eq!(**thinned.whole(), text);
    }

    #[test]
    fn lines_are_found_wherever_gaps_are() {
        for ends_in_break in [true, false] {
            for layout in [
                "aaa.",
                "aa.bb.",
                ".aaaa.",
                "aabb..cc",
                ".aa.bbb",
                "aaaa",
                "aabbcc",
                "..aaabbb.c",
            ] {
                checked(layout, ends_in_break);
            }
        }
    }
}
