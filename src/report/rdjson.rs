//! Reviewdog's diagnostic format: comments on a review, wherever the code is hosted.
//!
//! Paths are those of the run, since reviewdog resolves them in its own working directory. Readers reject members that
//! they do not know, so related places stand in the message.

use serde::Serialize;
use serde_json::{Value, json};

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{Place, Report, Reported, suggestion};
use crate::finding::Severity;
use crate::text::plain;
use crate::text::{ColumnUnit, Position};

#[derive(Serialize)]
struct DiagnosticResult<D> {
    source: Value,
    diagnostics: D,
}

/// One document with a severity for each diagnostic.
pub(super) fn render(report: &Report) -> String {
    let document = DiagnosticResult {
        source: json!({"name": report.tool.name, "url": report.tool.url}),
        diagnostics: Each(
            report
                .findings
                .iter()
                .map(|reported| diagnostic(report, reported)),
        ),
    };
    line(serde_json::to_string_pretty(&document))
}

fn diagnostic(report: &Report, reported: &Reported) -> Value {
    let finding = &reported.finding;
    let at = report.region(&finding.primary, ColumnUnit::Utf8);
    let mut code = json!({"value": finding.rule});
    if let Some(url) = &reported.url {
        code["url"] = json!(url);
    }
    let mut diagnostic = json!({
        "message": message(report, reported),
        "location": {"path": at.path, "range": {"start": position(at.start), "end": position(at.end)}},
        "severity": match finding.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
            Severity::Info => "INFO",
        },
        "code": code,
    });
    // A suggestion names no file: it is for the file of its diagnostic.
    let edits = suggestion::shown(finding)
        .and_then(|fix| suggestion::in_file_of(fix, finding.primary.file));
    if let Some(edits) = edits {
        let range = |file, span| {
            let at = report.region(Place { file, span }, ColumnUnit::Utf8);
            json!({"start": position(at.start), "end": position(at.end)})
        };
        diagnostic["suggestions"] = json!(suggestion::texts(&edits, "text", range));
    }
    diagnostic
}

fn message(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let related = finding.related.iter().map(|label| {
        let at = report.region(label, ColumnUnit::Utf8);
        let from = rendered_from(report, label);
        format!(
            "{}:{}:{}{from}: {}",
            at.path,
            at.start.line,
            at.start.column,
            plain::one_line(&label.message)
        )
    });
    let related = related.collect::<Vec<_>>().join("\n");
    let message = plain::one_line(&finding.message) + &rendered_from(report, &finding.primary);
    let parts = [&message, &finding.reason, &finding.help, &related];
    parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn position(at: Position) -> Value {
    json!({"line": at.line, "column": at.column})
}
