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
        summary: report.summary,
        changes: &report.changes,
        effects: &report.effects,
        plan: report.plan.as_ref(),
        notes: &report.notes,
    }))
}

#[derive(Serialize)]
struct DiffDocument<'a> {
    schema: &'static str,
    tool: ToolJson<'a>,
    base: &'a StateName,
    head: &'a StateName,
    summary: DiffSummary,
    changes: &'a [ReportedChange],
    effects: &'a [DiffEffect],
    plan: Option<&'a LastStep>,
    notes: &'a [String],
}
