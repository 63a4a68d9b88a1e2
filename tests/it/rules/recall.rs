//! Renderings of other projects with planted defects, and renderings without any.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{ownerlint, root, skip};

/// Returns the folder of the cases, which are not part of the repository, and the expected result of each.
fn cases() -> Option<(PathBuf, serde_json::Map<String, Value>)> {
    let folder = root().join("../shared/recall");
    let Ok(expected) = std::fs::read(folder.join("expected.json")) else {
        skip("no cases at ../shared/recall");
        return None;
    };
    let expected = serde_json::from_slice(&expected).expect("JSON");
    Some((folder, expected))
}

/// Returns the findings of `check` on a case.
fn findings(folder: &Path, case: &str, expected: &Value) -> Vec<Value> {
    let mut command = ownerlint();
    command
        .current_dir(folder)
        .args(["check", "--output", "json", case]);
    if let Some(world) = expected["world"].as_str() {
        command.args(["--world", world]);
    }
    let output = command.output().expect("ownerlint runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["findings"].as_array().expect("findings").clone()
}

/// Ranks severities: 0 for an info, 2 for an error.
fn rank(severity: &Value) -> usize {
    let ranks = ["info", "warning", "error"];
    let rank = ranks.iter().position(|rank| severity == rank);
    rank.expect("a severity")
}

/// Whether a finding matches `[alternatives of the object's key, lowest severity, rule or null]`.
fn is_wanted(finding: &Value, wanted: &Value) -> bool {
    let object = finding["object"].as_str().unwrap_or_default();
    let mut alternatives = wanted[0].as_str().expect("alternatives").split('|');
    alternatives.any(|part| object.contains(part))
        && rank(&finding["severity"]) >= rank(&wanted[1])
        && (wanted[2].is_null() || finding["rule"] == wanted[2])
}

/// Returns the differences from the expected result of a case: missed defects, forbidden rules, false findings.
fn faults(mut findings: Vec<Value>, expected: &Value) -> Vec<String> {
    let list = |field: &str| expected[field].as_array().cloned().unwrap_or_default();
    let forbidden = list("forbid");
    let mut faults: Vec<String> = findings
        .iter()
        .filter(|finding| forbidden.contains(&finding["rule"]))
        .map(|finding| format!("forbidden: {finding}"))
        .collect();
    if expected["quiet"] == true {
        let loud = findings
            .iter()
            .filter(|finding| rank(&finding["severity"]) > 0);
        faults.extend(loud.map(|finding| format!("not quiet: {finding}")));
    }
    for wanted in list("want") {
        match findings
            .iter()
            .position(|finding| is_wanted(finding, &wanted))
        {
            Some(found) => drop(findings.swap_remove(found)),
            None => faults.push(format!("missed: {wanted}")),
        }
    }
    faults
}

#[test]
fn planted_defects_are_found_and_sound_renderings_are_quiet() {
    let Some((folder, cases)) = cases() else {
        return;
    };
    assert!(!cases.is_empty());
    let wrong: Vec<String> = cases
        .iter()
        .flat_map(|(case, expected)| {
            let faults = faults(findings(&folder, case, expected), expected);
            faults
                .into_iter()
                .map(move |fault| format!("{case}: {fault}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
