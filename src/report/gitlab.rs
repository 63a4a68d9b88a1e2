//! GitLab code quality: the widget of a merge request.
//!
//! GitLab hides `check_name`, so the description contains the rule. It shows only one issue per fingerprint.

use serde::Serialize;

use super::line::{Each, line};
use super::relation::{bracketed_ends, rendered_from};
use super::{Report, Reported, Roots, paths};
use crate::finding::Severity;
use crate::text::{ColumnUnit, plain};

/// An issue, with the names that GitLab gives its members.
#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// Renders an array with one element per finding.
pub(super) fn render(report: &Report, roots: &Roots) -> String {
    let findings = report.findings.iter();
    let issues = findings.map(|reported| Issue::new(report, reported, roots));
    line(serde_json::to_string_pretty(&Each(issues)))
}

impl<'a> Issue<'a> {
    fn new(report: &Report, reported: &'a Reported, roots: &Roots) -> Self {
        let finding = &reported.finding;
        let at = report.first_line(&finding.primary, ColumnUnit::Utf8);
        Self {
            description: description(report, reported, roots),
            check_name: finding.rule,
            fingerprint: reported.fingerprint.to_string(),
            severity: match finding.severity {
                Severity::Error => "major",
                Severity::Warning => "minor",
                Severity::Info => "info",
            },
            location: Location {
                path: paths::from_root(at.path, roots),
                lines: Lines {
                    begin: at.start.line,
                    end: at.end.line,
                },
            },
        }
    }
}

/// Describes a finding in one line: GitLab shows no other text and only one place.
fn description(report: &Report, reported: &Reported, roots: &Roots) -> String {
    let finding = &reported.finding;
    let from = rendered_from(report, &finding.primary);
    let ends = bracketed_ends(report, finding, |path| {
        plain::one_line(&paths::from_root(path, roots))
    });
    let message = plain::one_line(&finding.message);
    format!("{}: {message}{from}{ends}", finding.rule)
}
