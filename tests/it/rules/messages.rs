//! Human output of every rule's findings in its bad examples: `snapshots/messages/<rule>.snap`.

use std::collections::BTreeSet;
use std::path::Path;

use ownerlint::report::{Report, Reported};
use ownerlint::rules::{ExampleLanguage, Page, RULES, Rule};
use ownerlint::text::ColumnUnit;
use ownerlint::{BaselineChoice, CheckOptions, ConfigChoice, Label, Request, Session};

use crate::rules::change::{compared, written_change};
use crate::rules::registry::{WITHOUT_EXAMPLES, check_for};
use crate::support::{check_text, root};

const SNAPSHOTS: &str = "snapshots/messages";

#[test]
fn messages_of_every_rule_match_their_snapshot() {
    for rule in RULES {
        let mut shown = String::new();
        for (name, report) in bad_examples(rule) {
            shown.push_str(&format!("### {name}\n\n{report}\n"));
        }
        insta::with_settings!(
            { snapshot_path => SNAPSHOTS, prepend_module_to_snapshot => false, omit_expression => true },
            { insta::assert_snapshot!(rule.id, shown.trim_end()) }
        );
    }
}

#[test]
fn every_rule_has_a_snapshot_with_its_findings() {
    let files = std::fs::read_dir(root().join("tests/it/rules").join(SNAPSHOTS))
        .expect("the folder")
        .flatten();
    let names =
        files.filter_map(|file| Some(file.file_name().to_str()?.strip_suffix(".snap")?.to_owned()));
    assert_eq!(
        names.collect::<BTreeSet<_>>(),
        RULES.iter().map(|rule| rule.id.to_owned()).collect()
    );
    for rule in RULES {
        let snapshot = root()
            .join("tests/it/rules")
            .join(SNAPSHOTS)
            .join(format!("{}.snap", rule.id));
        let snapshot = std::fs::read_to_string(snapshot).expect("a snapshot");
        let examples: Vec<&str> = snapshot.split("\n### ").skip(1).collect();
        assert!(!examples.is_empty(), "{} has no example", rule.id);
        for example in examples {
            let (name, findings) = example.split_once('\n').unwrap_or((example, ""));
            for part in [
                format!("[{}] ", rule.id),
                "\n  why:  ".to_owned(),
                "\n  help: ".to_owned(),
            ] {
                assert!(findings.contains(&part), "{}, {name}: no {part:?}", rule.id);
            }
        }
    }
}

/// Returns the name of each bad example of the rule, from its page and its fixtures, with its findings.
fn bad_examples(rule: &Rule) -> Vec<(String, String)> {
    let page = Page::parse(rule.page).expect("a page");
    let of_page = page
        .examples
        .iter()
        .filter(|example| example.info.starts_with("bad"));
    let mut examples: Vec<_> = (1..)
        .zip(of_page)
        .map(|(number, example)| {
            let shown = if example.language == ExampleLanguage::Diff {
                of_folder(rule, written_change(&example.text).path())
            } else {
                of_text(rule, "example.yaml", &example.text, &example.info)
            };
            (format!("example {number} of the page"), shown)
        })
        .collect();
    let folder = root().join("fixtures/rules").join(rule.id).join("bad");
    if WITHOUT_EXAMPLES.contains(&rule.id) {
        examples.push(("the folder".to_owned(), of_folder(rule, &folder)));
        return examples;
    }
    let fixtures = std::fs::read_dir(&folder)
        .expect("fixtures")
        .flatten()
        .map(|fixture| fixture.path());
    for fixture in fixtures.collect::<BTreeSet<_>>() {
        let name = fixture
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let shown = if rule.is_of_change() {
            of_folder(rule, &fixture)
        } else {
            let text = std::fs::read_to_string(&fixture).expect("a fixture");
            of_text(rule, &name, &text, text.lines().next().unwrap_or_default())
        };
        examples.push((name, shown));
    }
    examples
}

fn of_text(rule: &Rule, name: &str, text: &str, info: &str) -> String {
    shown_report(&check_text(name, text, &check_for(info)), rule)
}

/// Returns the findings in a folder, with paths relative to it.
fn of_folder(rule: &Rule, folder: &Path) -> String {
    let report = if rule.is_of_change() {
        compared(folder).findings
    } else {
        checked(folder)
    };
    shown_report(&report, rule).replace(&format!("{}/", folder.display()), "")
}

/// Checks a folder, which may contain a baseline.
fn checked(folder: &Path) -> Report {
    let mut request = Request::new([folder.display().to_string()]);
    request.config = ConfigChoice::Without;
    let baseline = folder.join("ownerlint-baseline.json");
    let mut options = CheckOptions::default();
    options.baseline = if baseline.exists() {
        BaselineChoice::File(baseline.display().to_string())
    } else {
        BaselineChoice::Without
    };
    Session::open(&request)
        .expect("it opens")
        .check(options)
        .expect("it can be checked")
}

/// Formats the rule's findings completely, and those of other rules on one line each.
fn shown_report(report: &Report, rule: &Rule) -> String {
    let (own, others): (Vec<_>, Vec<_>) = report
        .findings
        .iter()
        .partition(|reported| reported.finding.rule == rule.id);
    let mut shown: String = own
        .into_iter()
        .map(|reported| shown_finding(report, reported))
        .collect();
    for reported in others {
        let finding = &reported.finding;
        let place = place(report, &finding.primary);
        shown.push_str(&format!(
            "also: {}[{}] {place}\n",
            finding.severity.as_str(),
            finding.rule
        ));
    }
    shown
}

fn shown_finding(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let (severity, place_of_finding) = (finding.severity.as_str(), place(report, &finding.primary));
    let mut shown = format!(
        "{severity}[{}] {place_of_finding}\n  {}\n",
        finding.rule, finding.message
    );
    if !finding.primary.message.is_empty() {
        shown.push_str(&format!("  here: {}\n", finding.primary.message));
    }
    for label in &finding.related {
        shown.push_str(&format!("  {}: {}\n", place(report, label), label.message));
    }
    shown.push_str(&format!(
        "  why:  {}\n  help: {}\n",
        finding.reason, finding.help
    ));
    if let Some(fix) = &finding.fix {
        shown.push_str(&format!(
            "  fix:  {} ({})\n",
            fix.title,
            fix.applicability.as_str()
        ));
    }
    shown
}

fn place(report: &Report, label: &Label) -> String {
    let place = report.locate(label, ColumnUnit::Chars);
    format!("{}:{}:{}", place.path, place.start.line, place.start.column)
}
