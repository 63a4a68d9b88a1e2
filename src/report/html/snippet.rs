//! The lines that a finding refers to: its own place and the related ones, file by file.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::finding::Label;
use crate::report::excerpt::{InLine, by_file, in_line, window};
use crate::report::{Report, Reported};
use crate::text::{Side, SourceFile, plain};

/// Lines before and after each place.
const CONTEXT: usize = 1;
/// The maximum number of characters of a line; a manifest in JSON may be one line.
const WIDTH: usize = 200;

/// Lines of one file.
#[derive(Debug, Serialize)]
pub(super) struct SnippetDocument<'a> {
    file: &'a str,
    /// `base` or `head`, in a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'static str>,
    lines: Vec<SnippetLine<'a>>,
}

#[derive(Debug, Serialize)]
struct SnippetLine<'a> {
    number: usize,
    /// The pieces of the line, some of them with a message.
    pieces: Vec<LinePiece<'a>>,
}

/// A piece of a line. `mark` is the message of a place, which may be empty for the finding's own place.
#[derive(Debug, Serialize)]
struct LinePiece<'a> {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<&'a str>,
}

impl<'a> LinePiece<'a> {
    /// Returns the piece at these bytes of a line; `None` if it is empty and not a place.
    fn of(line: &str, bytes: Range<usize>, mark: Option<&'a str>) -> Option<Self> {
        let text = line.get(bytes).unwrap_or_default();
        (!text.is_empty() || mark.is_some()).then(|| Self {
            text: plain::visible(text).into_owned(),
            mark,
        })
    }
}

impl<'a> SnippetDocument<'a> {
    /// Returns the lines around the places of a finding, those in the file of its own place first.
    pub(super) fn of(report: &'a Report, reported: &'a Reported) -> Vec<Self> {
        let files = by_file(reported.finding.labels()).into_iter();
        files
            .map(|(file, labels)| Self::lines(report.sources.file(file), &labels))
            .collect()
    }

    fn lines(file: &'a SourceFile, labels: &[&'a Label]) -> Self {
        let side = match file.side() {
            Side::Base => Some("base"),
            Side::Head => Some("head"),
            _ => None,
        };
        // The lines, with the range of bytes and the message of each place on them.
        let mut lines: BTreeMap<usize, Vec<(usize, usize, &'a str)>> = BTreeMap::new();
        for label in labels {
            let InLine { line, bytes } = in_line(file, label.span);
            let last = (line + CONTEXT).min(file.line_count());
            for near in line.saturating_sub(CONTEXT).max(1)..=last {
                lines.entry(near).or_default();
            }
            let mark = (bytes.start, bytes.end, label.message.as_str());
            lines.entry(line).or_default().push(mark);
        }
        let lines = lines
            .into_iter()
            .map(|(number, marks)| SnippetLine::new(file, number, marks));
        Self {
            file: file.path(),
            side,
            lines: lines.collect(),
        }
    }
}

impl<'a> SnippetLine<'a> {
    fn new(file: &SourceFile, number: usize, mut marks: Vec<(usize, usize, &'a str)>) -> Self {
        let line = file.shown_line(number);
        // If places overlap, only the first is marked; the messages of the others follow it.
        marks.sort_unstable();
        let focus = marks.first().map_or(0, |mark| mark.0);
        let window = window(&line, focus, WIDTH);
        let (from, to) = (window.start, window.end);
        let mut pieces = Vec::new();
        let mut at = from;
        for (start, end, mark) in marks {
            let (start, end) = (start.clamp(from, to), end.clamp(from, to));
            if start >= at {
                pieces.extend(LinePiece::of(&line, at..start, None));
                pieces.extend(LinePiece::of(&line, start..end, Some(mark)));
                at = end;
            } else if !mark.is_empty() {
                pieces.extend(LinePiece::of(&line, at..at, Some(mark)));
            }
        }
        pieces.extend(LinePiece::of(&line, at..to, None));
        if from > 0
            && let Some(first) = pieces.first_mut()
        {
            first.text.insert(0, '…');
        }
        if to < line.len()
            && let Some(last) = pieces.last_mut()
        {
            last.text.push('…');
        }
        Self { number, pieces }
    }
}
