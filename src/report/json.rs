//! The contract `ownerlint.report/1`, and its findings one per line.
//!
//! `rules/schema/report.schema.json` describes it; a field is only ever added within the major version.

use serde::Serialize;

use super::{Place, Report, Reported, Summary};
use crate::kube::ObjectKey;
use crate::text::ColumnUnit;

/// The document, indented: people read it too.
pub(super) fn render(report: &Report) -> String {
    let document = ReportDocument {
        schema: "ownerlint.report/1",
        tool: ToolJson { name: &report.tool.name, version: &report.tool.version },
        summary: report.summary,
        findings: report.findings.iter().map(|reported| FindingDocument::new(report, reported)).collect(),
    };
    line(serde_json::to_string_pretty(&document))
}

/// One finding per line.
pub(super) fn render_lines(report: &Report) -> String {
    let findings = report.findings.iter();
    findings.map(|reported| line(serde_json::to_string(&FindingDocument::new(report, reported)))).collect()
}

/// `serde_json` fails only on maps with keys that are no strings and on writers that fail; there are none here.
pub(super) fn line(json: serde_json::Result<String>) -> String {
    let mut json = json.unwrap_or_default();
    json.push('\n');
    json
}

#[derive(Serialize)]
struct ReportDocument<'a> {
    schema: &'static str,
    tool: ToolJson<'a>,
    summary: Summary,
    findings: Vec<FindingDocument<'a>>,
}

#[derive(Serialize)]
struct ToolJson<'a> {
    name: &'a str,
    version: &'a str,
}

#[derive(Serialize)]
struct FindingDocument<'a> {
    rule: &'a str,
    severity: &'a str,
    consequence: &'a str,
    message: &'a str,
    reason: &'a str,
    help: &'a str,
    url: Option<&'a str>,
    object: Option<&'a ObjectKey>,
    field: Option<&'a str>,
    location: LocationJson<'a>,
    related: Vec<RelatedJson<'a>>,
    chain: &'a [ObjectKey],
    fingerprint: String,
}

#[derive(Serialize)]
struct RelatedJson<'a> {
    message: &'a str,
    location: LocationJson<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LocationJson<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    byte_start: u32,
    byte_end: u32,
}

impl<'a> FindingDocument<'a> {
    fn new(report: &'a Report, reported: &'a Reported) -> Self {
        let finding = &reported.finding;
        let related = finding.related.iter();
        Self {
            rule: finding.rule,
            severity: finding.severity.as_str(),
            consequence: finding.consequence.as_str(),
            message: &finding.message,
            reason: &finding.reason,
            help: &finding.help,
            url: reported.url.as_deref(),
            object: finding.object.as_ref(),
            field: finding.field.as_deref(),
            location: LocationJson::new(report, &finding.primary),
            related: related
                .map(|label| RelatedJson { message: &label.message, location: LocationJson::new(report, label) })
                .collect(),
            chain: &finding.chain.objects,
            fingerprint: reported.fingerprint.to_string(),
        }
    }
}

impl<'a> LocationJson<'a> {
    fn new(report: &'a Report, place: impl Into<Place>) -> Self {
        let region = report.region(place, ColumnUnit::Utf8);
        Self {
            file: region.path,
            line: region.start.line,
            column: region.start.column,
            end_line: region.end.line,
            end_column: region.end.column,
            byte_start: region.span.start,
            byte_end: region.span.end,
        }
    }
}
