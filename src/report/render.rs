//! Rendering of a finished report.

use std::borrow::Cow;

use super::format::Format;
use super::in_tree::in_tree;
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
    let roots = &options.roots;
    if let (Format::Human | Format::Concise, Some(counts)) = (format, &report.statistics) {
        return statistics::table(counts);
    }
    let in_tree = if format.points_into_tree() {
        in_tree(report)
    } else {
        Cow::Borrowed(report)
    };
    let report = &*in_tree;
    match format {
        Format::Human => human::render(report, &options.human),
        Format::Concise => concise::render(report, options.concise_show),
        Format::Json => json::render(report),
        Format::Jsonl => json::render_lines(report),
        Format::Sarif => sarif::render(report, roots),
        Format::Github => github::render(report, roots),
        Format::Gitlab => gitlab::render(report, roots),
        Format::Junit => junit::render(report, options.fail_on, roots),
        Format::Rdjson => rdjson::render(report),
        Format::Lsp => lsp::render(report, options.position_encoding, roots),
        Format::Markdown => markdown::render(report, &options.markdown, roots),
        Format::Html => html::findings(report, &options.html, roots),
    }
}
