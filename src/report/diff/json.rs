//! The contract `ownerlint.diff/1`; `rules/schema/diff.schema.json` describes it.

use serde::Serialize;

use super::{DiffEffect, DiffReport, DiffSummary, ReportedChange, StateName};
use crate::report::json::ToolJson;
use crate::report::line::line;
use crate::report::plan::LastStep;

/// The document, indented: people read it too.
pub(super) fn render(report: &DiffReport) -> String {
    line(serde_json::to_string_pretty(&DiffDocument {
        schema: "ownerlint.diff/1",
        tool: ToolJson::new(&report.tool),
        base: &report.base,
        head: &report.head,
        summary: SummaryJson { objects: report.summary, findings: FindingCounts::default() },
        changes: &report.changes,
        effects: &report.effects,
        plan: report.plan.as_ref(),
        findings: [],
        notes: &report.notes,
    }))
}

#[derive(Serialize)]
struct DiffDocument<'a> {
    schema: &'static str,
    tool: ToolJson<'a>,
    base: &'a StateName,
    head: &'a StateName,
    summary: SummaryJson,
    changes: &'a [ReportedChange],
    effects: &'a [DiffEffect],
    plan: Option<&'a LastStep>,
    /// No rule looks at changes yet; the contract names the list, so that its readers need not change.
    findings: [(); 0],
    notes: &'a [String],
}

#[derive(Serialize)]
struct SummaryJson {
    #[serde(flatten)]
    objects: DiffSummary,
    findings: FindingCounts,
}

/// How many findings there are, by severity.
#[derive(Default, Serialize)]
struct FindingCounts {
    error: usize,
    warning: usize,
    info: usize,
}
