//! GitHub workflow commands: annotations on the lines of a pull request.
//!
//! The runner unescapes `::name key=value,…::data` at the start of a line (`ActionCommand` in
//! `actions/runner`). An unescaped character could end the command or start another one.

use super::relation::{other_ends, rendered_from};
use super::{Report, Reported, Roots, paths};
use crate::finding::Severity;
use crate::text::{ColumnUnit, plain};

/// The maximum number of annotations per severity. GitHub's runner shows ten of each kind per step.
const ANNOTATION_CAP: usize = 10;

/// Renders the worst findings, at most [`ANNOTATION_CAP`] of each severity, and counts the others.
pub(super) fn render(report: &Report, roots: &Roots) -> String {
    let mut out = String::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let mut findings: Vec<_> = report.findings.iter().collect();
        findings.retain(|reported| reported.finding.severity == severity);
        if findings.len() > ANNOTATION_CAP {
            findings = report.each_rule_first();
            findings.retain(|reported| reported.finding.severity == severity);
        }
        for reported in findings.into_iter().take(ANNOTATION_CAP) {
            out.push_str(&command(report, reported, roots));
        }
    }
    let shown = out.lines().count();
    if shown < report.findings.len() {
        let rest = report.findings.len() - shown;
        out.push_str(&format!(
            "{} without an annotation; `--output json` has them all\n",
            plain::count(rest, "more finding")
        ));
    }
    out
}

fn command(report: &Report, reported: &Reported, roots: &Roots) -> String {
    let finding = &reported.finding;
    let name = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let at = report.region(&finding.primary, ColumnUnit::Utf16);
    let path = paths::from_root(at.path, roots);
    let mut properties = vec![
        ("file", plain::visible(&path).into_owned()),
        ("line", at.start.line.to_string()),
        ("endLine", at.end.line.to_string()),
    ];
    // The API takes columns only where the annotation stays on one line.
    if at.start.line == at.end.line {
        properties.push(("col", at.start.column.to_string()));
        properties.push(("endColumn", at.end.column.to_string()));
    }
    properties.push(("title", finding.rule.to_owned()));
    let properties: Vec<_> = properties
        .iter()
        .map(|(key, value)| format!("{key}={}", property(value)))
        .collect();
    let message = data(&message(report, reported, roots));
    format!("::{name} {}::{message}\n", properties.join(","))
}

fn message(report: &Report, reported: &Reported, roots: &Roots) -> String {
    let finding = &reported.finding;
    let mut message = plain::one_line(&finding.message) + &rendered_from(report, &finding.primary);
    for part in [&finding.reason, &finding.help] {
        if !part.trim().is_empty() {
            let lines: Vec<_> = part.lines().map(plain::visible).collect();
            message.push_str(&format!("\n\n{}", lines.join("\n")));
        }
    }
    let ends = other_ends(report, finding, |path| {
        plain::visible(&paths::from_root(path, roots)).into_owned()
    });
    if !ends.is_empty() {
        message.push_str(&format!("\n\n{}", ends.join("\n")));
    }
    if let Some(url) = &reported.url {
        message.push_str(&format!("\n\n{url}"));
    }
    message
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
