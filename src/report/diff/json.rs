//! The contract `ownerlint.diff/1`; `rules/schema/diff.schema.json` describes it.

use serde::Serialize;

use super::{DiffReport, DiffSummary, FailedBuild, ReportedChange, StateName};
use crate::changes::Unread;
use crate::merge::DiffEffect;
use crate::report::Summary;
use crate::report::json::{ToolJson, findings};
use crate::report::line::{Each, line};
use crate::report::plan::LastStep;

/// The document, indented: people read it too.
pub(super) fn render(report: &DiffReport) -> String {
    line(serde_json::to_string_pretty(&document(report)))
}

/// The whole contract of a comparison.
pub(in crate::report) fn document(report: &DiffReport) -> impl Serialize + '_ {
    DiffDocument {
        schema: "ownerlint.diff/1",
        tool: ToolJson::new(&report.tool),
        base: &report.base,
        head: &report.head,
        summary: SummaryJson {
            objects: report.summary,
            findings: FindingCounts::of(&report.findings.summary),
        },
        changes: &report.changes,
        effects: &report.effects,
        unread: &report.unread,
        failed: &report.failed,
        plan: report.plan.as_ref(),
        findings: Each(findings(&report.findings)),
        notes: &report.notes,
    }
}

#[derive(Serialize)]
struct DiffDocument<'a, F> {
    schema: &'static str,
    tool: ToolJson<'a>,
    base: &'a StateName,
    head: &'a StateName,
    summary: SummaryJson,
    changes: &'a [ReportedChange],
    effects: &'a [DiffEffect],
    unread: &'a [Unread],
    failed: &'a [FailedBuild],
    plan: Option<&'a LastStep>,
    findings: F,
    notes: &'a [String],
}

#[derive(Serialize)]
struct SummaryJson {
    #[serde(flatten)]
    objects: DiffSummary,
    findings: FindingCounts,
}

/// How many findings there are, by severity.
#[derive(Serialize)]
struct FindingCounts {
    error: usize,
    warning: usize,
    info: usize,
}

impl FindingCounts {
    fn of(summary: &Summary) -> Self {
        let Summary {
            error,
            warning,
            info,
            ..
        } = *summary;
        Self {
            error,
            warning,
            info,
        }
    }
}
