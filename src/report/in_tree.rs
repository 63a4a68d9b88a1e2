//! The findings of a run for formats whose readers open the files that findings name: code hosts and editors.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt};

use super::relation::rendered_from;
use super::{Place, Report};
use crate::text::{ColumnUnit, FileId, Side, SourceFile, Sources, Span};

/// Moves each place in rendered text, which is not a file, to the template or delivery object that
/// produces the text. The message then names the rendered place.
pub(super) fn in_tree(report: &Report) -> Cow<'_, Report> {
    if !report.sources.iter().any(|(_, file)| file.is_made()) {
        return Cow::Borrowed(report);
    }
    let mut moved = report.clone();
    let mut places = TreePlaces::new(&report.sources);
    for reported in &mut moved.findings {
        let finding = &mut reported.finding;
        let primary = &mut finding.primary;
        if let Some(place) = places.of(&*primary) {
            let rendered = rendered_place(report, &*primary);
            let template = rendered_from(report, &*primary);
            finding.message.push_str(&template);
            if !finding.message.contains(&rendered) {
                finding.message.push_str(&format!(" (at {rendered})"));
            }
            (primary.file, primary.span) = (place.file, place.span);
        }
        for label in &mut finding.related {
            if let Some(place) = places.of(&*label) {
                let rendered = rendered_place(report, &*label);
                label.message.push_str(&format!(" (at {rendered})"));
                (label.file, label.span) = (place.file, place.span);
            }
        }
        for place in reported.chain_places.iter_mut().flatten() {
            *place = places.of(*place).unwrap_or(*place);
        }
        let fix = finding.fix.take();
        finding.fix = fix.filter(|fix| {
            let mut edits = fix.edits.iter();
            edits.all(|edit| !report.sources.file(edit.file).is_made())
        });
    }
    // Of a file that was not read, only the number of a line is known.
    for (path, last) in places.added {
        moved
            .sources
            .push(SourceFile::new(path, "\n".repeat(last - 1)));
    }
    Cow::Owned(moved)
}

fn rendered_place(report: &Report, place: impl Into<Place>) -> String {
    let at = report.region(place, ColumnUnit::Utf8);
    format!("{}:{}", at.path, at.start.line)
}

/// Finds the places in the tree that produce rendered text.
struct TreePlaces<'a> {
    sources: &'a Sources,
    /// The files by path; head takes precedence over base.
    known: HashMap<String, FileId>,
    /// Files that were not read, such as templates, each with the last line that is named: the files after those of
    /// `sources`.
    added: Vec<(String, usize)>,
}

impl<'a> TreePlaces<'a> {
    fn new(sources: &'a Sources) -> Self {
        let mut known = HashMap::new();
        for (id, file) in sources.iter() {
            if file.side() == Side::Base {
                known.entry(file.path().to_owned()).or_insert(id);
            } else {
                known.insert(file.path().to_owned(), id);
            }
        }
        Self {
            sources,
            known,
            added: Vec::new(),
        }
    }

    /// Returns the place that produces the text at `place`; `None` if `place` is in the tree.
    fn of(&mut self, place: impl Into<Place>) -> Option<Place> {
        let Place { file, span } = place.into();
        let (path, line) = self.sources.file(file).made_by(span.start)?;
        let known = self.known.get(path).copied();
        let file = known.unwrap_or_else(|| {
            self.added.push((path.to_owned(), 1));
            let id = FileId((self.sources.len() + self.added.len() - 1) as u32);
            self.known.insert(path.to_owned(), id);
            id
        });
        let start = match (file.0 as usize).checked_sub(self.sources.len()) {
            None => {
                let place = self.sources.file(file).line_span(line);
                place.map_or(0, |place| place.start)
            }
            Some(added) => {
                let last = &mut self.added[added].1;
                *last = line.max(*last);
                line.saturating_sub(1) as u32
            }
        };
        Some(Place {
            file,
            span: Span::new(start, start),
        })
    }
}
