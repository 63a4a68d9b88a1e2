//! Recorded answers of a real API server about finalizers, compared with the rules.
//!
//! `fixtures/conformance/admission.json` contains manifests with the answers of `kubectl apply`, with strict validation
//! and with validation ignored.

use ownerlint::engine::Check;
use ownerlint::finding::{Consequence, Finding, Severity};
use serde::Deserialize;

use crate::support::{check_text, fixture};

#[derive(Deserialize)]
struct Case {
    name: String,
    manifest: serde_json::Value,
    strict: Answer,
    ignore: Answer,
}

#[derive(Deserialize)]
struct Answer {
    accepted: bool,
    stderr: String,
}

/// Returns the cases on finalizers, including misspelt keys.
fn cases() -> Vec<Case> {
    let all: Vec<Case> =
        serde_json::from_str(&fixture("conformance/admission.json")).expect("the recording");
    let cases: Vec<_> = all
        .into_iter()
        .filter(|case| case.name.contains("finalizer"))
        .collect();
    assert!(cases.len() >= 50, "{} cases", cases.len());
    cases
}

fn findings(case: &Case) -> Vec<Finding> {
    let text = case.manifest.to_string();
    let report = check_text("input.json", &text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .collect()
}

fn has(findings: &[Finding], consequence: Consequence) -> bool {
    findings
        .iter()
        .any(|finding| finding.consequence == consequence)
}

#[test]
fn rejected_findings_match_api_server_rejections() {
    for case in cases() {
        let found = findings(&case);
        assert_eq!(
            has(&found, Consequence::Rejected),
            !case.ignore.accepted,
            "{}: {found:#?}",
            case.name
        );
        let strictly =
            has(&found, Consequence::Rejected) || has(&found, Consequence::RejectedStrict);
        assert_eq!(strictly, !case.strict.accepted, "{}: {found:#?}", case.name);
    }
}

#[test]
fn rejected_findings_are_errors_quoting_the_api_server() {
    for case in cases().iter().filter(|case| !case.ignore.accepted) {
        let rejected: Vec<_> = findings(case)
            .into_iter()
            .filter(|finding| finding.consequence == Consequence::Rejected)
            .collect();
        assert!(
            rejected
                .iter()
                .all(|finding| finding.severity == Severity::Error),
            "{}",
            case.name
        );
        // The detail after field and value; for a list, the message contains the value first.
        let errors = case.ignore.stderr.lines().filter_map(|line| {
            let detail = line
                .split_once("Invalid value: ")
                .map(|(_, detail)| detail)
                .or_else(|| line.split_once("json: ").map(|(_, d)| d))?;
            Some(
                detail
                    .rsplit_once("]: ")
                    .map_or(detail, |(_, detail)| detail)
                    .trim_end()
                    .to_owned(),
            )
        });
        let errors: Vec<_> = errors.collect();
        assert!(!errors.is_empty(), "{}: {}", case.name, case.ignore.stderr);
        for error in errors {
            let said = rejected
                .iter()
                .any(|finding| finding.reason.contains(&error));
            assert!(
                said,
                "{}: the server says {error}, the findings {:#?}",
                case.name, rejected
            );
        }
    }
}

#[test]
fn warned_findings_match_api_server_warnings() {
    for case in cases() {
        let found = findings(&case);
        let warning = case
            .ignore
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("Warning: "));
        assert_eq!(
            has(&found, Consequence::Warned),
            warning.is_some(),
            "{}: {found:#?}",
            case.name
        );
        if let Some(warning) = warning {
            assert!(
                found
                    .iter()
                    .any(|finding| finding.reason.contains(warning.trim_end())),
                "{}: {found:#?}",
                case.name
            );
        }
    }
}

#[test]
fn accepted_finalizers_are_info_unless_they_block_or_orphan() {
    for case in cases() {
        if !case.strict.accepted || !case.strict.stderr.is_empty() {
            continue;
        }
        for finding in findings(&case) {
            let harms = matches!(
                finding.consequence,
                Consequence::Stuck | Consequence::Orphaned
            );
            assert!(
                harms && finding.severity == Severity::Warning
                    || finding.severity == Severity::Info,
                "{}: {finding:#?}",
                case.name
            );
        }
    }
}

/// Returns the rules with findings on a case, with their severities.
fn said(name: &str) -> Vec<(&'static str, &'static str)> {
    let case = cases()
        .into_iter()
        .find(|case| case.name == name)
        .expect(name);
    findings(&case)
        .iter()
        .map(|finding| (finding.rule, finding.severity.as_str()))
        .collect()
}

#[test]
fn empty_finalizer_lists_have_no_findings() {
    for name in [
        "custom-finalizer-null",
        "custom-finalizer-empty",
        "namespace-spec-finalizers-empty",
        "namespace-meta-finalizers-empty",
    ] {
        assert_eq!(said(name), [], "{name}");
    }
}

#[test]
fn recorded_finalizers_are_reported_by_expected_rules() {
    assert_eq!(
        said("core-finalizer-qualified"),
        [("finalizer-unknown", "warning")]
    );
    assert_eq!(
        said("core-finalizer-duplicate"),
        [("finalizer-unknown", "warning")]
    );
    assert_eq!(
        said("core-finalizer-orphan"),
        [("finalizer-preset-gc", "warning")]
    );
    assert_eq!(
        said("custom-finalizer-pvc-protection"),
        [("finalizer-misplaced", "warning")]
    );
    assert_eq!(
        said("custom-finalizer-kubernetes"),
        [("finalizer-misplaced", "warning")]
    );
    assert_eq!(
        said("namespace-meta-finalizers-kubernetes"),
        [("finalizer-misplaced", "warning")]
    );
    assert_eq!(
        said("namespace-spec-finalizers-both"),
        [("namespace-spec-finalizers", "warning")]
    );
    assert_eq!(
        said("namespace-spec-finalizers-foreground"),
        [("namespace-spec-finalizers", "warning")]
    );
    assert_eq!(
        said("custom-finalizer-rook-style"),
        [
            ("finalizer-misplaced", "info"),
            ("finalizer-unqualified", "warning")
        ]
    );
}
