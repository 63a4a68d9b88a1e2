//! The formats of a comparison: each a pure function of a finished [`DiffReport`].

mod accepted;
mod concise;
mod folded;
mod human;
mod in_head;
mod json;
mod lines;
mod markdown;
mod model;
mod unread;
mod words;

use super::{Format, Options, html, render as render_findings};
use folded::folded;
use in_head::in_head;

pub use accepted::{Acceptance, AcceptedFinding};
pub(in crate::report) use json::DiffDocument;
pub use model::{
    ChangedImage, ChangedPlace, DiffReport, DiffSummary, DiffVerdict, FailedBuild, ReportedChange,
    StateName,
};

/// Renders the comparison in a format. Formats that have no place for changes and effects contain the findings alone;
/// in formats that can only point into head, the findings are moved there.
pub fn render(format: Format, report: &DiffReport, options: &Options) -> String {
    let findings = &report.findings;
    match format {
        Format::Human => human::render(report, &options.human),
        Format::Json => json::render(report),
        Format::Markdown => markdown::render(report, options),
        Format::Html => html::diff(report, &options.html, &options.roots),
        Format::Jsonl => render_findings(format, findings, options),
        Format::Concise => concise::render(report, options),
        Format::Github => render_findings(format, &in_head(&folded(findings)), options),
        Format::Sarif | Format::Gitlab | Format::Junit | Format::Rdjson | Format::Lsp => {
            render_findings(format, &in_head(findings), options)
        }
    }
}

impl DiffReport {
    /// Returns the note on claims that stay, then the notes on the comparison and those on its rules.
    fn all_notes(&self) -> impl Iterator<Item = &str> {
        let on_rules = self.findings.notes.iter().map(|note| note.message.as_str());
        let notes = self.kept_claims.iter().chain(&self.notes);
        notes.map(String::as_str).chain(on_rules)
    }

    /// Renders the comparison in a format, without colours and 100 columns wide where that matters.
    pub fn render(&self, format: Format) -> String {
        render(format, self, &Options::default())
    }
}
