//! The language server protocol: one `PublishDiagnosticsParams` per file of the run, in an array.
//!
//! A file without findings has an empty list, which clears its old diagnostics in the editor.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{Place, Report, Reported, Roots, paths, suggestion};
use crate::finding::{Applicability, Fix, Label, Severity};
use crate::text::{ColumnUnit, FileId, Position, Span, plain};

/// The maximum number of related places of one diagnostic; an editor lists them all below it.
const MAX_RELATED: usize = 1_000;

#[derive(Serialize)]
struct FileDiagnostics<D> {
    uri: String,
    diagnostics: D,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Diagnostic<'a> {
    range: Range,
    severity: u8,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code_description: Option<CodeDescription<'a>>,
    source: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_information: Vec<RelatedInformation>,
    data: DiagnosticData<'a>,
}

#[derive(Serialize)]
struct CodeDescription<'a> {
    href: &'a str,
}

#[derive(Serialize)]
struct RelatedInformation {
    location: Location,
    message: String,
}

#[derive(Serialize)]
struct Location {
    uri: String,
    range: Range,
}

#[derive(Serialize)]
struct DiagnosticData<'a> {
    fingerprint: String,
    actions: Vec<CodeAction<'a>>,
}

/// A `CodeAction` that an editor can offer for the diagnostic.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeAction<'a> {
    title: String,
    kind: &'static str,
    is_preferred: bool,
    edit: WorkspaceEdit<'a>,
}

#[derive(Serialize)]
struct WorkspaceEdit<'a> {
    /// The edits of each file, by its URI.
    changes: IndexMap<String, Vec<TextEdit<'a>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit<'a> {
    range: Range,
    new_text: &'a str,
}

#[derive(Serialize)]
struct Range {
    start: LinePosition,
    end: LinePosition,
}

/// A 0-based position.
#[derive(Serialize)]
struct LinePosition {
    line: usize,
    character: usize,
}

/// Renders every file of the run, in the order of the sources.
pub(super) fn render(report: &Report, unit: ColumnUnit, roots: &Roots) -> String {
    let by_file: Vec<_> = report.by_file().collect();
    let files = by_file.iter().map(|(file, own)| {
        let own = own.iter();
        FileDiagnostics {
            uri: paths::absolute_uri(file.path(), roots),
            diagnostics: Each(own.map(|reported| Diagnostic::new(report, reported, unit, roots))),
        }
    });
    line(serde_json::to_string_pretty(&Each(files)))
}

/// Returns the diagnostics of the file at an absolute path, only those that touch `part` if it is given.
pub fn diagnostics_of(
    report: &Report,
    path: &str,
    part: Option<Span>,
    unit: ColumnUnit,
    roots: &Roots,
) -> Vec<Value> {
    report
        .findings
        .iter()
        .filter(|reported| {
            let Label { file, span, .. } = &reported.finding.primary;
            part.is_none_or(|part| part.start <= span.end && span.start <= part.end)
                && paths::is_at(report.path(*file), path, roots)
        })
        .map(|reported| Diagnostic::new(report, reported, unit, roots))
        // Serialization fails only on maps whose keys are not strings; there are none.
        .filter_map(|diagnostic| serde_json::to_value(diagnostic).ok())
        .collect()
}

impl<'a> Diagnostic<'a> {
    fn new(report: &'a Report, reported: &'a Reported, unit: ColumnUnit, roots: &Roots) -> Self {
        let finding = &reported.finding;
        let related = finding.related.iter().take(MAX_RELATED);
        let related = related.map(|label| RelatedInformation {
            location: Location {
                uri: paths::absolute_uri(report.path(label.file), roots),
                range: Range::new(report, label, unit),
            },
            message: plain::visible_in_place(&label.message),
        });
        let fix = suggestion::shown(finding).into_iter();
        Self {
            range: Range::new(report, &finding.primary, unit),
            severity: match finding.severity {
                Severity::Error => 1,
                Severity::Warning => 2,
                Severity::Info => 3,
            },
            code: finding.rule,
            code_description: reported.url.as_deref().map(|href| CodeDescription { href }),
            source: &report.tool.name,
            message: message(report, reported),
            related_information: related.collect(),
            data: DiagnosticData {
                fingerprint: reported.fingerprint.to_string(),
                actions: fix
                    .map(|fix| CodeAction::new(report, fix, unit, roots))
                    .collect(),
            },
        }
    }
}

/// Joins message, reason and help. Control characters are replaced: an editor may interpret them.
fn message(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let from = rendered_from(report, &finding.primary);
    let message = format!("{}{from}", finding.message);
    let text = [&message, &finding.reason, &finding.help].map(|part| plain::visible_in_place(part));
    let text = text.into_iter().filter(|part| !part.trim().is_empty());
    text.collect::<Vec<_>>().join("\n\n")
}

impl<'a> CodeAction<'a> {
    fn new(report: &Report, fix: &'a Fix, unit: ColumnUnit, roots: &Roots) -> Self {
        let changes = suggestion::by_file(fix).into_iter().map(|(file, edits)| {
            let uri = paths::absolute_uri(report.path(file), roots);
            let edits = edits.into_iter().map(|edit| TextEdit {
                range: Range::new(report, edit, unit),
                new_text: &edit.replacement,
            });
            (uri, edits.collect())
        });
        Self {
            title: suggestion::title(fix),
            kind: "quickfix",
            is_preferred: fix.applicability == Applicability::Safe,
            edit: WorkspaceEdit {
                changes: changes.collect(),
            },
        }
    }
}

impl Range {
    fn new(report: &Report, place: impl Into<Place>, unit: ColumnUnit) -> Self {
        let place = place.into();
        let region = report.region(place, unit);
        let mark = mark(report, place.file, unit);
        Self {
            start: LinePosition::new(region.start, mark),
            end: LinePosition::new(region.end, mark),
        }
    }
}

impl LinePosition {
    /// Converts a position. Editors do not count the byte order mark, of length `mark`.
    fn new(at: Position, mark: usize) -> Self {
        let mark = if at.line == 1 { mark } else { 0 };
        Self {
            line: at.line - 1,
            character: (at.column - 1).saturating_sub(mark),
        }
    }
}

/// Returns the length of the file's byte order mark, 0 if there is none.
fn mark(report: &Report, file: FileId, unit: ColumnUnit) -> usize {
    const MARK: &str = "\u{feff}";
    let has_mark = report.sources.file(file).text().starts_with(MARK);
    if has_mark { unit.length(MARK) } else { 0 }
}
