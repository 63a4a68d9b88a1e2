//! From a finished report to a document.

use super::format::Format;
use super::model::Report;
use super::options::Options;
use super::{
    concise, github, gitlab, html, human, json, junit, lsp, markdown, rdjson, sarif, statistics,
};

impl Report {
    /// Renders the whole document in a format, without colours and 100 columns wide where that matters.
    pub fn render(&self, format: Format) -> String {
        render(format, self, &Options::default())
    }
}

/// Renders the whole document of `report` in `format`, ending in a line break unless it is empty.
pub fn render(format: Format, report: &Report, options: &Options) -> String {
    let Options {
        human,
        concise: lines,
        lsp,
        junit,
        github,
        markdown,
        html: page,
        roots,
    } = options;
    if let (Format::Human | Format::Concise, Some(counts)) = (format, &report.statistics) {
        return statistics::table(counts);
    }
    match format {
        Format::Human => human::render(report, human),
        Format::Concise => concise::render(report, lines),
        Format::Json => json::render(report),
        Format::Jsonl => json::render_lines(report),
        Format::Sarif => sarif::render(report, roots),
        Format::Github => github::render(report, github, roots),
        Format::Gitlab => gitlab::render(report, roots),
        Format::Junit => junit::render(report, junit, roots),
        Format::Rdjson => rdjson::render(report),
        Format::Lsp => lsp::render(report, lsp, roots),
        Format::Markdown => markdown::render(report, markdown, roots),
        Format::Html => html::findings(report, page, roots),
    }
}
