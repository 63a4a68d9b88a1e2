//! A place as formats describe it: path, lines and columns.

use super::{Place, Report};
use crate::finding::Label;
use crate::text::{ColumnUnit, Position, Span};

/// A place with lines and columns.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Region<'a> {
    /// The path as reported.
    pub path: &'a str,
    /// The position of the first character.
    pub start: Position,
    /// The position one past the last character.
    pub end: Position,
    /// The bytes.
    pub span: Span,
}

impl Report {
    /// Locates a label, with columns counted in `unit`.
    pub fn locate(&self, label: &Label, unit: ColumnUnit) -> Region<'_> {
        self.region(label, unit)
    }

    /// Locates all of `place`, with columns counted in `unit`.
    pub(super) fn region(&self, place: impl Into<Place>, unit: ColumnUnit) -> Region<'_> {
        let Place { file, span } = place.into();
        let file = self.sources.file(file);
        Region {
            path: file.path(),
            start: file.position(span.start, unit),
            end: file.position(span.end, unit),
            span,
        }
    }

    /// Locates the part of `place` on its first line. A code host shows a finding on a pull request only if the change
    /// touches every line of its region, and a snippet prints every line of it.
    pub(super) fn first_line(&self, place: impl Into<Place>, unit: ColumnUnit) -> Region<'_> {
        let Place { file, span } = place.into();
        let source = self.sources.file(file);
        let line = source.position(span.start, ColumnUnit::Utf8).line;
        let line = source.line_span(line);
        let end = line.map_or(span.end, |line| line.end.max(span.start));
        let span = Span::new(span.start, span.end.min(end));
        self.region(Place { file, span }, unit)
    }
}
