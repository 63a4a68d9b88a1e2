//! Reviewdog's diagnostic format: comments on a review, wherever the code is hosted.
//!
//! Paths are those of the run, since reviewdog resolves them in its own working directory. Readers
//! reject members that they do not know, so the message lists the related places.

use serde::Serialize;

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{Place, Report, Reported, suggestion};
use crate::finding::Severity;
use crate::text::{ColumnUnit, Position, plain};

#[derive(Serialize)]
struct DiagnosticResult<'a, D> {
    source: Source<'a>,
    diagnostics: D,
}

#[derive(Serialize)]
struct Source<'a> {
    name: &'a str,
    url: &'a str,
}

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: String,
    location: Location<'a>,
    severity: &'static str,
    code: Code<'a>,
    /// A suggestion names no file: it applies to the file of its diagnostic.
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestions: Option<Vec<Suggestion<'a>>>,
}

#[derive(Serialize)]
struct Location<'a> {
    path: &'a str,
    range: Range,
}

#[derive(Serialize)]
struct Code<'a> {
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    range: Range,
    text: &'a str,
}

#[derive(Serialize)]
struct Range {
    start: LineAndColumn,
    end: LineAndColumn,
}

#[derive(Serialize)]
struct LineAndColumn {
    line: usize,
    column: usize,
}

/// Renders one document with a severity for each diagnostic.
pub(super) fn render(report: &Report) -> String {
    let findings = report.findings.iter();
    let document = DiagnosticResult {
        source: Source {
            name: &report.tool.name,
            url: &report.tool.url,
        },
        diagnostics: Each(findings.map(|reported| Diagnostic::new(report, reported))),
    };
    line(serde_json::to_string_pretty(&document))
}

impl<'a> Diagnostic<'a> {
    fn new(report: &'a Report, reported: &'a Reported) -> Self {
        let finding = &reported.finding;
        let edits = suggestion::shown(finding)
            .and_then(|fix| suggestion::only_in(fix, finding.primary.file));
        Self {
            message: message(report, reported),
            location: Location {
                path: report.path(finding.primary.file),
                range: Range::new(report, &finding.primary),
            },
            severity: match finding.severity {
                Severity::Error => "ERROR",
                Severity::Warning => "WARNING",
                Severity::Info => "INFO",
            },
            code: Code {
                value: finding.rule,
                url: reported.url.as_deref(),
            },
            suggestions: edits.map(|edits| {
                let edits = edits.into_iter().map(|edit| Suggestion {
                    range: Range::new(report, edit),
                    text: &edit.replacement,
                });
                edits.collect()
            }),
        }
    }
}

impl Range {
    fn new(report: &Report, place: impl Into<Place>) -> Self {
        let at = report.region(place, ColumnUnit::Utf8);
        Self {
            start: at.start.into(),
            end: at.end.into(),
        }
    }
}

impl From<Position> for LineAndColumn {
    fn from(at: Position) -> Self {
        Self {
            line: at.line,
            column: at.column,
        }
    }
}

fn message(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let related = finding.related.iter().map(|label| {
        let at = report.region(label, ColumnUnit::Utf8);
        let from = rendered_from(report, label);
        let Position { line, column } = at.start;
        let role = plain::one_line(&label.message);
        format!("{}:{line}:{column}{from}: {role}", at.path)
    });
    let related = related.collect::<Vec<_>>().join("\n");
    let message = plain::one_line(&finding.message) + &rendered_from(report, &finding.primary);
    let mut parts = vec![&*message, &finding.reason, &finding.help, &related];
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}
