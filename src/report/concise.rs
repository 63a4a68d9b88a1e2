//! `path:line:col: severity[rule] message`: one line per finding, stable for editors, problem matchers and `grep`.

use super::Report;
use super::digest::{Digest, Folding};
use super::relation::{bracketed_ends, rendered_from};
use crate::finding::Severity;
use crate::text::ColumnUnit;
use crate::text::plain;

/// Renders one line per finding, the worst first; columns count bytes, as in compilers.
pub(super) fn render(report: &Report, show: Severity) -> String {
    let digest = Digest::new(report, show, Folding::WithinFiles);
    let lines = digest.shown.iter().map(|entry| {
        let finding = &entry.reported.finding;
        let repetitions = entry
            .repetitions(report)
            .map(|repetitions| format!(" ({repetitions})"));
        let repetitions = repetitions.unwrap_or_default();
        let at = report.region(&finding.primary, ColumnUnit::Utf8);
        let from = rendered_from(report, &finding.primary);
        let ends = bracketed_ends(report, finding, |path| plain::visible(path).into_owned());
        format!(
            "{}:{}:{}: {}[{}] {}{from}{repetitions}{ends}\n",
            path(at.path),
            at.start.line,
            at.start.column,
            finding.severity.as_str(),
            finding.rule,
            plain::one_line(&finding.message)
        )
    });
    lines.collect()
}

/// Returns a path on one line. It never begins with two colons, since GitHub's runner executes such lines as commands.
fn path(path: &str) -> String {
    let shown = plain::visible(path);
    if shown.trim_start().starts_with("::") {
        format!("./{shown}")
    } else {
        shown.into_owned()
    }
}
