//! The contract `ownerlint.report/1`, and its findings one per line.
//!
//! `rules/schema/report.schema.json` describes it; a field is only ever added within the major version.

use serde::{Serialize, Serializer};

use super::line::{Each, line};
use super::{
    ListedSkip, Note, Place, Report, Reported, RuleInfo, RunInfo, Summary, SuppressedFinding, Tool,
    suggestion,
};
use crate::finding::{Fix, Label};
use crate::kube::ObjectKey;
use crate::text::ColumnUnit;

/// The document, indented: people read it too.
pub(super) fn render(report: &Report) -> String {
    line(serde_json::to_string_pretty(&document(report)))
}

/// The whole contract of a report.
pub(super) fn document(report: &Report) -> impl Serialize + '_ {
    ReportDocument {
        schema: "ownerlint.report/1",
        tool: ToolJson::new(&report.tool),
        run: &report.run,
        summary: report.summary,
        rules: report.rules.iter().map(RuleSummary::new).collect(),
        findings: Each(findings(report)),
        suppressed: report
            .suppressed
            .iter()
            .map(|suppressed| SuppressedJson::new(report, suppressed))
            .collect(),
        notes: report.notes.iter().map(NoteJson::new).collect(),
        skipped: &report.skipped,
    }
}

/// The findings, as every document has them.
pub(super) fn findings(report: &Report) -> impl Iterator<Item = FindingDocument<'_>> + Clone {
    report
        .findings
        .iter()
        .map(|reported| FindingDocument::new(report, reported))
}

/// One finding per line.
pub(super) fn render_lines(report: &Report) -> String {
    findings(report)
        .map(|finding| line(serde_json::to_string(&finding)))
        .collect()
}

#[derive(Serialize)]
struct ReportDocument<'a, F> {
    schema: &'static str,
    tool: ToolJson<'a>,
    run: &'a RunInfo,
    summary: Summary,
    rules: Vec<RuleSummary<'a>>,
    findings: F,
    suppressed: Vec<SuppressedJson<'a>>,
    notes: Vec<NoteJson<'a>>,
    skipped: &'a [ListedSkip],
}

#[derive(Serialize)]
struct RuleSummary<'a> {
    id: &'a str,
    severity: &'a str,
    consequence: &'a str,
    summary: &'a str,
    url: &'a str,
}

impl<'a> RuleSummary<'a> {
    fn new(rule: &'a RuleInfo) -> Self {
        let RuleInfo {
            id,
            summary,
            severity,
            consequence,
            url,
            ..
        } = rule;
        Self {
            id,
            severity: severity.as_str(),
            consequence: consequence.as_str(),
            summary,
            url,
        }
    }
}

#[derive(Serialize)]
struct SuppressedJson<'a> {
    finding: FindingDocument<'a>,
    reason: Option<&'a str>,
}

impl<'a> SuppressedJson<'a> {
    fn new(report: &'a Report, suppressed: &'a SuppressedFinding) -> Self {
        let SuppressedFinding { reported, reason } = suppressed;
        Self {
            finding: FindingDocument::new(report, reported),
            reason: reason.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct NoteJson<'a> {
    severity: &'a str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<usize>,
}

impl<'a> NoteJson<'a> {
    fn new(note: &'a Note) -> Self {
        let Note {
            severity,
            message,
            path,
            line,
        } = note;
        Self {
            severity: severity.as_str(),
            message,
            file: path.as_deref(),
            line: *line,
        }
    }
}

/// The program, as documents name it.
#[derive(Serialize)]
pub(super) struct ToolJson<'a> {
    name: &'a str,
    version: &'a str,
}

impl<'a> ToolJson<'a> {
    pub(super) fn new(tool: &'a Tool) -> Self {
        Self {
            name: &tool.name,
            version: &tool.version,
        }
    }
}

/// A finding of a report.
#[derive(Serialize)]
pub(super) struct FindingDocument<'a> {
    rule: &'a str,
    severity: &'a str,
    certainty: &'a str,
    consequence: &'a str,
    message: &'a str,
    reason: &'a str,
    help: &'a str,
    url: Option<&'a str>,
    object: Option<&'a ObjectKey>,
    field: Option<&'a str>,
    location: LocationJson<'a>,
    related: RelatedPlaces<'a>,
    chain: &'a [ObjectKey],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tables: &'a [String],
    fixes: Vec<FixJson<'a>>,
    fingerprint: String,
}

#[derive(Serialize)]
struct FixJson<'a> {
    title: &'a str,
    applicability: &'a str,
    edits: FixEdits<'a>,
}

/// The edits of a fix: there may be several for each document of a file.
struct FixEdits<'a> {
    report: &'a Report,
    fix: &'a Fix,
}

#[derive(Serialize)]
struct EditJson<'a> {
    location: LocationJson<'a>,
    replacement: &'a str,
}

impl<'a> FixJson<'a> {
    fn new(report: &'a Report, fix: &'a Fix) -> Self {
        Self {
            title: &fix.title,
            applicability: fix.applicability.as_str(),
            edits: FixEdits { report, fix },
        }
    }
}

impl Serialize for FixEdits<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let edits = suggestion::by_file(self.fix)
            .into_iter()
            .flat_map(|(_, edits)| edits);
        to.collect_seq(edits.map(|edit| EditJson {
            location: LocationJson::new(
                self.report,
                Place {
                    file: edit.file,
                    span: edit.span,
                },
            ),
            replacement: &edit.replacement,
        }))
    }
}

/// The other places of a finding.
struct RelatedPlaces<'a> {
    report: &'a Report,
    labels: &'a [Label],
}

impl Serialize for RelatedPlaces<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.labels.iter().map(|label| RelatedJson {
            message: &label.message,
            location: LocationJson::new(self.report, label),
        }))
    }
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
    template: Option<&'a str>,
}

impl<'a> FindingDocument<'a> {
    fn new(report: &'a Report, reported: &'a Reported) -> Self {
        let finding = &reported.finding;
        Self {
            rule: finding.rule,
            severity: finding.severity.as_str(),
            certainty: reported.certainty.as_str(),
            consequence: finding.consequence.as_str(),
            message: &finding.message,
            reason: &finding.reason,
            help: &finding.help,
            url: reported.url.as_deref(),
            object: finding.object.as_ref(),
            field: finding.field.as_deref(),
            location: LocationJson::new(report, &finding.primary),
            related: RelatedPlaces {
                report,
                labels: &finding.related,
            },
            chain: &finding.chain.objects,
            tables: &finding.tables,
            fixes: finding
                .fix
                .iter()
                .map(|fix| FixJson::new(report, fix))
                .collect(),
            fingerprint: reported.fingerprint.to_string(),
        }
    }
}

impl<'a> LocationJson<'a> {
    fn new(report: &'a Report, place: impl Into<Place>) -> Self {
        let place = place.into();
        let region = report.region(place, ColumnUnit::Utf8);
        Self {
            file: region.path,
            line: region.start.line,
            column: region.start.column,
            end_line: region.end.line,
            end_column: region.end.column,
            byte_start: region.span.start,
            byte_end: region.span.end,
            template: report.template(place),
        }
    }
}
