//! The language server protocol: one `PublishDiagnosticsParams` per file of the run, in an array.
//!
//! A file without findings has an empty list, which is how an editor learns that the old ones are gone.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{LspOptions, Place, Report, Reported, Roots, paths, suggestion};
use crate::finding::{Applicability, Fix, Label, Severity};
use crate::text::{ColumnUnit, FileId, Position, SourceFile, Span, plain};

/// Related places of one diagnostic. An editor lists them all below it.
const MAX_RELATED: usize = 1_000;

#[derive(Serialize)]
struct FileDiagnostics<D> {
    uri: String,
    diagnostics: D,
}

/// Every file of the run, in the order of the sources.
pub(super) fn render(report: &Report, options: &LspOptions, roots: &Roots) -> String {
    let by_file = report.by_file();
    let files = report
        .sources
        .iter()
        .zip(&by_file)
        .map(|((_, file), own)| FileDiagnostics {
            uri: paths::absolute_uri(file.path(), roots),
            diagnostics: Each(
                own.iter()
                    .map(|reported| diagnostic(report, reported, options, roots)),
            ),
        });
    line(serde_json::to_string_pretty(&Each(files)))
}

/// The diagnostics of the file at an absolute path, or those of them that touch a part of it.
pub fn diagnostics_of(
    report: &Report,
    path: &str,
    part: Option<Span>,
    options: &LspOptions,
    roots: &Roots,
) -> Vec<Value> {
    let touches = |one: Span, other: Span| one.start <= other.end && other.start <= one.end;
    let own = |reported: &&Reported| {
        let Label { file, span, .. } = &reported.finding.primary;
        part.is_none_or(|part| touches(part, *span))
            && paths::is_at(report.path(*file), path, roots)
    };
    report
        .findings
        .iter()
        .filter(own)
        .map(|reported| diagnostic(report, reported, options, roots))
        .collect()
}

fn diagnostic(report: &Report, reported: &Reported, options: &LspOptions, roots: &Roots) -> Value {
    let finding = &reported.finding;
    let mut members = Map::new();
    members.insert(
        "range".to_owned(),
        range(report, (&finding.primary).into(), options),
    );
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Info => 3,
    };
    members.insert("severity".to_owned(), json!(severity));
    members.insert("code".to_owned(), json!(finding.rule));
    if let Some(url) = &reported.url {
        members.insert("codeDescription".to_owned(), json!({"href": url}));
    }
    members.insert("source".to_owned(), json!(report.tool.name));
    let message = format!(
        "{}{}",
        finding.message,
        rendered_from(report, &finding.primary)
    );
    // An editor shows what it gets: in a terminal, or on a page that turns text around.
    let text = [&message, &finding.reason, &finding.help].map(|part| plain::visible_in_place(part));
    let text: Vec<_> = text
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    members.insert("message".to_owned(), json!(text.join("\n\n")));
    if !finding.related.is_empty() {
        let related = finding.related.iter().take(MAX_RELATED).map(|label| {
            let uri = paths::absolute_uri(report.path(label.file), roots);
            let location = json!({"uri": uri, "range": range(report, label.into(), options)});
            json!({"location": location, "message": plain::visible_in_place(&label.message)})
        });
        members.insert("relatedInformation".to_owned(), related.collect());
    }
    let actions = suggestion::shown(finding)
        .into_iter()
        .map(|fix| action(report, fix, options, roots));
    let fingerprint = reported.fingerprint.to_string();
    members.insert(
        "data".to_owned(),
        json!({"fingerprint": fingerprint, "actions": actions.collect::<Vec<_>>()}),
    );
    Value::Object(members)
}

/// A `CodeAction` that an editor can offer for the diagnostic.
fn action(report: &Report, fix: &Fix, options: &LspOptions, roots: &Roots) -> Value {
    let range = |file, span| range(report, Place { file, span }, options);
    let changes: Map<String, Value> = suggestion::by_file(fix)
        .into_iter()
        .map(|(file, edits)| {
            let uri = paths::absolute_uri(report.path(file), roots);
            (uri, json!(suggestion::texts(&edits, "newText", range)))
        })
        .collect();
    json!({
        "title": suggestion::title(fix),
        "kind": "quickfix",
        "isPreferred": fix.applicability == Applicability::Safe,
        "edit": {"changes": changes},
    })
}

fn range(report: &Report, place: Place, options: &LspOptions) -> Value {
    let unit = options.position_encoding;
    let region = report.region(place, unit);
    let mark = mark(report, place.file, unit);
    json!({"start": position(region.start, mark), "end": position(region.end, mark)})
}

/// 0-based; editors keep the byte order mark out of the text that they show.
fn position(at: Position, mark: usize) -> Value {
    let mark = if at.line == 1 { mark } else { 0 };
    json!({"line": at.line - 1, "character": (at.column - 1).saturating_sub(mark)})
}

/// The length of the file's byte order mark.
fn mark(report: &Report, file: FileId, unit: ColumnUnit) -> usize {
    let file: &SourceFile = report.sources.file(file);
    file.text()
        .chars()
        .next()
        .filter(|&first| first == '\u{feff}')
        .map_or(0, |first| unit.length(first.encode_utf8(&mut [0; 4])))
}
