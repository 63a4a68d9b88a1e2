//! The contract `ownerlint.diff/1`.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AcceptedFinding, ChangedImage, DiffReport, DiffSummary, FailedBuild, ReportedChange, StateName,
};
use crate::changes::Unread;
use crate::merge::DiffEffect;
use crate::report::json::{FindingDocument, Findings, ToolDocument};
use crate::report::line::line;
use crate::report::plan::LastStep;

/// The document of `ownerlint diff --output json`. Within a major version, members are only ever added. Missing strings are
/// null, lists are never null.
#[derive(Serialize, JsonSchema)]
pub(in crate::report) struct DiffDocument<'a> {
    #[schemars(extend("const" = "ownerlint.diff/1"))]
    schema: &'static str,
    tool: ToolDocument<'a>,
    /// The state that the change starts from.
    base: StateDocument<'a>,
    /// The state after the change.
    head: StateDocument<'a>,
    summary: SummaryDocument,
    /// Every object that changed, ordered by key. Objects are compared one destination at a time: one that is removed
    /// from an overlay and stays in another counts as removed from the first.
    changes: &'a [ReportedChange],
    /// The effects of the merge on the cluster, ordered by key. An object may have several.
    effects: &'a [DiffEffect],
    /// Every input that decides which objects are applied, that the change adds, removes or edits, and that was not read;
    /// the gravest first.
    unread: &'a [Unread],
    /// Builds that fail: none of their objects is applied, and nothing that they delivered is
    /// deleted.
    failed: &'a [FailedBuild],
    /// The images that containers of changed objects run before and after the change, each pair once.
    images: &'a [ChangedImage],
    /// A step of ownerlint.plan/1: all requests of the delivery tools together. Its outcomes contain every object of
    /// base, of head and of `--beside`, after the cluster has settled and before anything is reconciled again.
    plan: Option<&'a LastStep>,
    /// The findings of the rules of change, in the form of `ownerlint.report/1`: located on the
    /// removed line of base, with the cause in head among the related places. Sorted by path,
    /// offset and rule.
    #[schemars(with = "Vec<FindingDocument>")]
    findings: Findings<'a>,
    /// The findings that were accepted: they are reported as info and do not affect the exit status.
    accepted: &'a [AcceptedFinding],
    /// Notes on the comparison and its rules.
    notes: Vec<&'a str>,
}

/// A commit as the user named it (`--staged`: the index), or a path (`.`: the work tree).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "state")]
#[schemars(extend("minProperties" = 1, "maxProperties" = 2, "dependentRequired" = { "commit": ["ref"] }))]
struct StateDocument<'a> {
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    reference: Option<&'a str>,
    /// The full name of the commit that was compared, if that is the merge base of `ref` and head instead of `ref`.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
}

/// Whether the merge deletes anything, and the number of objects by kind of change and effect.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "summary")]
struct SummaryDocument {
    #[serde(flatten)]
    objects: DiffSummary,
    findings: FindingCounts,
}

/// The number of findings, by severity.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "counts")]
struct FindingCounts {
    error: usize,
    warning: usize,
    info: usize,
}

/// Renders the document, indented for human readers.
pub(super) fn render(report: &DiffReport) -> String {
    line(serde_json::to_string_pretty(&DiffDocument::new(report)))
}

impl<'a> DiffDocument<'a> {
    /// Builds the whole document of a comparison.
    pub(in crate::report) fn new(report: &'a DiffReport) -> Self {
        let findings = &report.findings.summary;
        Self {
            schema: "ownerlint.diff/1",
            tool: ToolDocument::new(&report.tool),
            base: StateDocument::new(&report.base),
            head: StateDocument::new(&report.head),
            summary: SummaryDocument {
                objects: report.summary,
                findings: FindingCounts {
                    error: findings.error,
                    warning: findings.warning,
                    info: findings.info,
                },
            },
            changes: &report.changes,
            effects: &report.effects,
            unread: &report.unread,
            failed: &report.failed,
            images: &report.images,
            plan: report.plan.as_ref(),
            findings: Findings(&report.findings),
            accepted: &report.accepted,
            notes: report.all_notes().collect(),
        }
    }
}

impl<'a> StateDocument<'a> {
    fn new(name: &'a StateName) -> Self {
        let (reference, commit, path) = match name {
            StateName::Ref(reference) => (Some(reference.as_str()), None, None),
            StateName::MergeBase { reference, commit } => {
                (Some(reference.as_str()), Some(commit.as_str()), None)
            }
            StateName::Path(path) => (None, None, Some(path.as_str())),
            StateName::Staged => (Some("--staged"), None, None),
        };
        Self {
            reference,
            commit,
            path,
        }
    }
}
