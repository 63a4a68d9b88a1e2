//! The contract `ownerlint.diff/1`; `rules/schema/diff.schema.json` describes it.

use serde::Serialize;

use super::{DiffReport, DiffSummary, ReportedChange, StateName};
use crate::report::json::ToolJson;
use crate::report::line::line;

/// The document, indented: people read it too.
pub(super) fn render(report: &DiffReport) -> String {
    line(serde_json::to_string_pretty(&DiffDocument {
        schema: "ownerlint.diff/1",
        tool: ToolJson::new(&report.tool),
        base: &report.base,
        head: &report.head,
        summary: report.summary,
        changes: &report.changes,
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
    notes: &'a [String],
}
