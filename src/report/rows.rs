//! `explain`: the rows of tables about a kind or a finalizer, as a terminal shows them and as JSON.

use serde::Serialize;

use super::HumanOptions;
use super::wrap::fill;

/// One row of a table, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowInfo {
    /// The table and the row, as findings cite it: `generators/ExternalSecret.external-secrets.io`.
    pub row: String,
    /// Its facts, a sentence each.
    pub says: Vec<String>,
    /// Whether its source proves it. Findings that rest on an unproven row are never more than info.
    pub verified: bool,
    /// Where the facts come from.
    pub source: String,
}

#[derive(Serialize)]
struct RowsDocument<'a> {
    schema: &'static str,
    rows: &'a [RowInfo],
}

/// Returns the rows in the contract `ownerlint.rows/1`, ending in a line break.
pub fn rows_json(rows: &[RowInfo]) -> String {
    super::line::line(serde_json::to_string_pretty(&RowsDocument {
        schema: "ownerlint.rows/1",
        rows,
    }))
}

/// Formats the rows as plain text.
pub fn rows_human(rows: &[RowInfo], options: &HumanOptions) -> String {
    let told = rows.iter().map(|row| {
        let unproven =
            "Not proven by its source: findings that depend on this row are never more than info.";
        let notes = (!row.verified).then_some(unproven);
        let source = format!("Source: {}", row.source);
        let said = row.says.iter().map(String::as_str);
        let said = said.chain(notes).chain([&*source]);
        let lines = said.map(|text| fill(text, options.width, "  ", "    ") + "\n");
        let lines: String = lines.collect();
        format!("{}\n{lines}", row.row)
    });
    told.collect::<Vec<_>>().join("\n")
}
