//! JUnit XML: a suite per file, with a test case per finding, or a passing one if there are none.
//!
//! Findings below `--fail-on` are test cases that pass, with their text in `system-out`.
//!
//! GitLab reads `file`. The schema of Jenkins' xUnit plugin (`junit-10.xsd`) allows neither `file` nor `line` on a test case;
//! everything else is valid.

use std::collections::BTreeMap;

use super::relation::rendered_from;
use super::{Report, Reported, Roots, paths};
use crate::finding::Severity;
use crate::text::{ColumnUnit, Position, plain};

pub(super) fn render(report: &Report, fail_on: Option<Severity>, roots: &Roots) -> String {
    let mut suites = String::new();
    let mut tests = 0;
    let mut failures = 0;
    // Several bundles, or both states of a change, may contain one file.
    let mut by_path: BTreeMap<String, Vec<&Reported>> = BTreeMap::new();
    for (file, own) in report.by_file() {
        let path = paths::from_root(file.path(), roots);
        by_path.entry(path.to_string()).or_default().extend(own);
    }
    for (path, own) in by_path {
        let cases: String = if own.is_empty() {
            let passed = [
                ("name", "no findings"),
                ("classname", &path),
                ("file", &path),
            ];
            format!("    <testcase{}/>\n", attributes(&passed))
        } else {
            let cases = own.iter();
            cases
                .map(|reported| case(report, reported, &path, fail_on))
                .collect()
        };
        let count = own.len().max(1);
        let failed = own
            .iter()
            .filter(|reported| fails(reported, fail_on))
            .count();
        tests += count;
        failures += failed;
        let totals = totals(&path, count, failed);
        suites.push_str(&format!("  <testsuite{totals}>\n{cases}  </testsuite>\n"));
    }
    let totals = totals(&report.tool.name, tests, failures);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{totals}>\n{suites}</testsuites>\n"
    )
}

/// Returns the attributes of a suite, or of all suites together.
fn totals(name: &str, tests: usize, failures: usize) -> String {
    attributes(&[
        ("name", name),
        ("tests", &tests.to_string()),
        ("failures", &failures.to_string()),
        ("errors", "0"),
    ])
}

fn fails(reported: &Reported, fail_on: Option<Severity>) -> bool {
    fail_on.is_some_and(|limit| reported.finding.severity >= limit)
}

fn case(report: &Report, reported: &Reported, path: &str, fail_on: Option<Severity>) -> String {
    let finding = &reported.finding;
    let at = report.region(&finding.primary, ColumnUnit::Utf8);
    let Position { line, column } = at.start;
    let about = match &finding.object {
        Some(object) => format!(" in {}", plain::one_line(&object.to_string())),
        None => String::new(),
    };
    let message = plain::one_line(&finding.message);
    let from = rendered_from(report, &finding.primary);
    let place = format!("{path}:{line}:{column}{from}");
    let name = format!("{}{about} at {line}:{column}", finding.rule);
    let own = attributes(&[
        ("name", &name),
        ("classname", path),
        ("file", path),
        ("line", &line.to_string()),
    ]);
    let url = reported.url.as_deref().unwrap_or_default();
    let body: Vec<_> = [
        &*format!("{}: {message}", plain::visible(&place)),
        &finding.reason,
        &finding.help,
        url,
    ]
    .into_iter()
    .filter(|part| !part.trim().is_empty())
    .map(escaped)
    .collect();
    let body = body.join("\n\n");
    let severity = finding.severity.as_str();
    let outcome = if fails(reported, fail_on) {
        let about = attributes(&[("type", severity), ("message", &message)]);
        format!("<failure{about}>{body}</failure>")
    } else {
        format!("<system-out>{severity}: {body}</system-out>")
    };
    format!("    <testcase{own}>\n      {outcome}\n    </testcase>\n")
}

fn attributes(pairs: &[(&str, &str)]) -> String {
    let attributes = pairs.iter().map(|(name, text)| {
        // A parser turns bare line breaks in attributes into spaces. Character references survive.
        let value = escaped(text).replace('\n', "&#10;").replace('\t', "&#9;");
        format!(" {name}=\"{value}\"")
    });
    attributes.collect()
}

/// Escapes `text` for XML 1.0. Control characters that it does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\n' | '\t' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            // Valid in XML, but interpreted by terminals.
            c if plain::is_obeyed(c) => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(c),
        }
    }
    out
}
