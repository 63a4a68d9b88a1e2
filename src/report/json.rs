//! The contract `ownerlint.report/1`, and its findings one per line.
//!
//! The published schema is derived from these types. Within a major version, fields are only ever added.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::line::line;
use super::{
    ListedSkip, Place, Report, Reported, RuleStatistics, RunInfo, Summary, Tool, suggestion,
};
use crate::finding::{Applicability, Certainty, Consequence, Fix, Severity};
use crate::kube::ObjectKey;
use crate::text::ColumnUnit;

/// The document of `ownerlint check --output json`. Within a major version, members are only ever added. Missing strings
/// are null, lists are never null.
#[derive(Serialize, JsonSchema)]
pub(super) struct ReportDocument<'a> {
    #[schemars(extend("const" = "ownerlint.report/1"))]
    schema: &'static str,
    tool: ToolDocument<'a>,
    run: &'a RunInfo,
    summary: Summary,
    /// All rules that ran, in a fixed order.
    rules: Vec<RuleDocument<'a>>,
    /// Sorted by path, offset and rule.
    #[schemars(with = "Vec<FindingDocument>")]
    findings: Findings<'a>,
    /// Findings suppressed by a comment, an annotation or the configuration, or in test data that nothing delivers;
    /// sorted like `findings`.
    suppressed: Vec<SuppressedDocument<'a>>,
    /// The number of findings of each rule; only with `--statistics`.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<&'a [RuleStatistics]>,
    /// Notes on the run besides the findings.
    notes: Vec<NoteDocument<'a>>,
    /// Documents and list items that were not checked, as in `ownerlint.list/1`.
    skipped: &'a [ListedSkip],
}

/// The findings of a report. Each one is converted while it is written, so that they are never all in memory.
pub(super) struct Findings<'a>(pub(super) &'a Report);

/// The program.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "tool")]
pub(super) struct ToolDocument<'a> {
    #[schemars(extend("const" = "ownerlint"))]
    name: &'a str,
    /// The released version.
    #[schemars(length(min = 1))]
    version: &'a str,
}

/// A rule that ran.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "rule")]
struct RuleDocument<'a> {
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"))]
    id: &'a str,
    /// In this run.
    severity: Severity,
    /// Of most of its findings; a finding has its own.
    consequence: Consequence,
    /// The summary of the rule.
    summary: &'a str,
    /// The published page for the rule.
    url: &'a str,
}

/// A finding that was suppressed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "suppressed")]
struct SuppressedDocument<'a> {
    finding: FindingDocument<'a>,
    /// The reason that was given.
    reason: Option<&'a str>,
}

/// A note on the run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "note")]
struct NoteDocument<'a> {
    /// `error`: part of the input was not analysed.
    severity: Severity,
    message: &'a str,
    /// A file or folder.
    file: Option<&'a str>,
    #[schemars(range(min = 1))]
    line: Option<usize>,
}

/// A defect at one place.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "finding")]
pub(super) struct FindingDocument<'a> {
    /// The rule's id; `ownerlint explain` shows its page.
    #[schemars(regex(pattern = "^[a-z][a-z0-9-]*$"))]
    rule: &'a str,
    severity: Severity,
    certainty: Certainty,
    consequence: Consequence,
    /// The defect: one sentence without a full stop.
    message: &'a str,
    /// Why it matters: what the cluster will do and when.
    reason: &'a str,
    /// How to fix it.
    help: &'a str,
    /// The published page for the rule.
    url: Option<&'a str>,
    object: Option<&'a ObjectKey>,
    /// The field, as `metadata.ownerReferences[0].uid`.
    field: Option<&'a str>,
    location: LocationDocument<'a>,
    /// Other relevant places, possibly in other files.
    related: Vec<RelatedDocument<'a>>,
    /// The objects involved in the defect: from a dependent up to its owners or, for
    /// deleted-on-arrival, the object and those that are deleted with it. Empty when there are
    /// none.
    chain: &'a [ObjectKey],
    /// The rows of tables on which the finding is based; `ownerlint explain` shows them. Left out
    /// when there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tables: &'a [String],
    /// Ways to remove the defect, each complete by itself; empty if there is none. Each was
    /// verified to change nothing else.
    fixes: Vec<FixDocument<'a>>,
    /// The finding's identity across runs; it survives reformatting, reordering and moved lines.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    fingerprint: String,
}

/// Another place of a finding.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "related")]
struct RelatedDocument<'a> {
    /// The role of this place in the finding.
    message: &'a str,
    location: LocationDocument<'a>,
}

/// Edits that remove a defect.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "fix")]
struct FixDocument<'a> {
    /// The effect of the fix: `remove the namespace`.
    #[schemars(length(min = 1))]
    title: &'a str,
    applicability: Applicability,
    /// They belong together and do not overlap; sorted by file and place.
    #[schemars(length(min = 1))]
    edits: Vec<EditDocument<'a>>,
}

/// A replacement of a text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "edit")]
struct EditDocument<'a> {
    /// The text that is replaced; empty where text is added.
    location: LocationDocument<'a>,
    /// The text that takes its place; empty where text is removed.
    replacement: &'a str,
}

/// Lines and columns start at 1, columns and bytes count bytes of UTF-8, ends are exclusive.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "location")]
struct LocationDocument<'a> {
    /// The path given on the command line, joined with the path below it, with forward slashes; `-` for standard input.
    file: &'a str,
    #[schemars(range(min = 1))]
    line: usize,
    #[schemars(range(min = 1))]
    column: usize,
    #[schemars(range(min = 1))]
    end_line: usize,
    #[schemars(range(min = 1))]
    end_column: usize,
    byte_start: u32,
    byte_end: u32,
    /// The template that `helm template` rendered the text from, as `web/templates/crd.yaml`.
    template: Option<&'a str>,
}

/// Renders the document, indented for human readers.
pub(super) fn render(report: &Report) -> String {
    line(serde_json::to_string_pretty(&ReportDocument::new(report)))
}

/// Renders one finding per line.
pub(super) fn render_lines(report: &Report) -> String {
    Findings(report)
        .documents()
        .map(|finding| line(serde_json::to_string(&finding)))
        .collect()
}

impl<'a> ReportDocument<'a> {
    /// Builds the whole document of a report.
    pub(super) fn new(report: &'a Report) -> Self {
        let rules = report.rules.iter().map(|rule| RuleDocument {
            id: rule.id,
            severity: rule.severity,
            consequence: rule.consequence,
            summary: rule.summary,
            url: &rule.url,
        });
        let suppressed = report.suppressed.iter();
        let suppressed = suppressed.map(|suppressed| SuppressedDocument {
            finding: FindingDocument::new(report, &suppressed.reported),
            reason: suppressed.reason.as_deref(),
        });
        let notes = report.notes.iter().map(|note| NoteDocument {
            severity: note.severity,
            message: &note.message,
            file: note.path.as_deref(),
            line: note.line,
        });
        Self {
            schema: "ownerlint.report/1",
            tool: ToolDocument::new(&report.tool),
            run: &report.run,
            summary: report.summary,
            statistics: report.statistics.as_deref(),
            rules: rules.collect(),
            findings: Findings(report),
            suppressed: suppressed.collect(),
            notes: notes.collect(),
            skipped: &report.skipped,
        }
    }
}

impl<'a> Findings<'a> {
    fn documents(&self) -> impl Iterator<Item = FindingDocument<'a>> {
        let report = self.0;
        let findings = report.findings.iter();
        findings.map(|reported| FindingDocument::new(report, reported))
    }
}

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.documents())
    }
}

impl<'a> ToolDocument<'a> {
    pub(super) fn new(tool: &'a Tool) -> Self {
        Self {
            name: &tool.name,
            version: &tool.version,
        }
    }
}

impl<'a> FindingDocument<'a> {
    fn new(report: &'a Report, reported: &'a Reported) -> Self {
        let finding = &reported.finding;
        let related = finding.related.iter().map(|label| RelatedDocument {
            message: &label.message,
            location: LocationDocument::new(report, label),
        });
        let fixes = finding.fix.iter();
        let fixes = fixes.map(|fix| FixDocument::new(report, fix));
        Self {
            rule: finding.rule,
            severity: finding.severity,
            certainty: reported.certainty,
            consequence: finding.consequence,
            message: &finding.message,
            reason: &finding.reason,
            help: &finding.help,
            url: reported.url.as_deref(),
            object: finding.object.as_ref(),
            field: finding.field.as_deref(),
            location: LocationDocument::new(report, &finding.primary),
            related: related.collect(),
            chain: &finding.chain.objects,
            tables: &finding.tables,
            fixes: fixes.collect(),
            fingerprint: reported.fingerprint.to_string(),
        }
    }
}

impl<'a> FixDocument<'a> {
    fn new(report: &'a Report, fix: &'a Fix) -> Self {
        let files = suggestion::by_file(fix).into_iter();
        let edits = files.flat_map(|(_, edits)| edits);
        let edits = edits.map(|edit| EditDocument {
            location: LocationDocument::new(report, edit),
            replacement: &edit.replacement,
        });
        Self {
            title: &fix.title,
            applicability: fix.applicability,
            edits: edits.collect(),
        }
    }
}

impl<'a> LocationDocument<'a> {
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
