//! `path:line:col: severity[rule] message`: one line per finding, stable for editors, problem matchers and `grep`.

use super::digest::{Digest, Folding};
use super::relation::{other_ends, rendered_from};
use super::{ConciseOptions, Report};
use crate::text::ColumnUnit;
use crate::text::plain;

/// Renders one line per finding, the worst first; columns count bytes, as in compilers.
pub(super) fn render(report: &Report, options: &ConciseOptions) -> String {
    let digest = Digest::new(report, options.show, Folding::WithinFiles);
    let lines = digest.shown.iter().map(|entry| {
        let finding = &entry.reported.finding;
        let alike = entry
            .alike(report)
            .map(|alike| format!(" ({alike})"))
            .unwrap_or_default();
        let at = report.region(&finding.primary, ColumnUnit::Utf8);
        let from = rendered_from(report, &finding.primary);
        let ends = other_ends(report, finding, |path| plain::visible(path).into_owned());
        let ends = if ends.is_empty() {
            String::new()
        } else {
            format!(" [{}]", ends.join("; "))
        };
        format!(
            "{}:{}:{}: {}[{}] {}{from}{alike}{ends}\n",
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
