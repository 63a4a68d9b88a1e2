//! `path:line:col: severity[rule] message`: one line per finding, stable for editors, problem matchers and `grep`.

use std::collections::BTreeSet;

use super::Report;
use crate::finding::Severity;
use crate::text::ColumnUnit;
use crate::text::plain;

/// The rules that a failed run names at most.
const EXPLAINED: usize = 5;

/// One line per finding; columns count bytes, as compilers' do.
pub(super) fn render(report: &Report) -> String {
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

/// What a reader of a run that failed wants next: how much there is, and the command that explains each rule that made it
/// fail. `None` for a run that did not fail. It is no part of the document, whose lines are all findings.
pub fn closing(report: &Report, fail_on: Option<Severity>) -> Option<String> {
    let failing = |least| report.findings.iter().map(|reported| &reported.finding).filter(move |f| f.severity >= least);
    let rules: BTreeSet<_> = failing(fail_on?).map(|finding| finding.rule).collect();
    let mut lines = vec![format!("{}; why, and how to fix it:", report.summary.found())];
    lines.extend(rules.iter().take(EXPLAINED).map(|rule| format!("  ownerlint explain {rule}")));
    if rules.len() > EXPLAINED {
        lines.push(format!("  and {}", plain::count(rules.len() - EXPLAINED, "more rule")));
    }
    (!rules.is_empty()).then(|| lines.join("\n"))
}

/// A path on one line. GitHub's runner obeys lines that begin with two colons, so a path never begins a line with them.
fn path(path: &str) -> String {
    let shown = plain::visible(path);
    if shown.trim_start().starts_with("::") { format!("./{shown}") } else { shown.into_owned() }
}
