//! `path:line:col: severity[rule] message`: one line per finding, stable for editors, problem matchers and `grep`.

use super::{Options, Report, plain};
use crate::text::ColumnUnit;

/// One line per finding; columns count bytes, as compilers' do.
pub(super) fn render(report: &Report, _options: &Options) -> String {
    let lines = report.findings.iter().map(|reported| {
        let finding = &reported.finding;
        let at = report.region(&finding.primary, ColumnUnit::Utf8);
        format!(
            "{}:{}:{}: {}[{}] {}\n",
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

/// A path on one line. GitHub's runner obeys lines that begin with two colons, so a path never begins a line with them.
fn path(path: &str) -> String {
    let shown = plain::visible(path);
    if shown.trim_start().starts_with("::") { format!("./{shown}") } else { shown.into_owned() }
}
