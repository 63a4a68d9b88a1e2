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
        let (start, end) = (
            file.position(span.start, unit),
            file.position(span.end, unit),
        );
        Region {
            path: file.path(),
            start,
            end,
            span,
        }
    }

    /// Locates the part of `place` on its first line. A code host shows a finding on a pull request only if the change
    /// touches every line of its region, and a snippet prints every line of it.
    pub(super) fn first_line(&self, place: impl Into<Place>, unit: ColumnUnit) -> Region<'_> {
        let place = place.into();
        self.region(
            Place {
                span: self.first_line_span(place),
                ..place
            },
            unit,
        )
    }

    /// Returns the bytes of `place` on its first line, without the line break.
    pub(super) fn first_line_span(&self, place: Place) -> Span {
        let file = self.sources.file(place.file);
        let line = file.position(place.span.start, ColumnUnit::Utf8).line;
        let end = file
            .line_span(line)
            .map_or(place.span.end, |line| line.end.max(place.span.start));
        Span::new(place.span.start, place.span.end.min(end))
    }
}
