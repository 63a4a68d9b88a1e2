//! Upgrades of a real Helm, and what was left of the cluster after them.

use serde_json::Value;

use super::places::Folder;
use crate::support::fixture;

fn scenarios() -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(&fixture("conformance/teardown.json")).expect("JSON");
    all.into_iter().filter(|one| one["name"].as_str().is_some_and(|name| name.starts_with("upgrade-"))).collect()
}

/// The recordings' word for what became of an object.
fn state(fate: &Value) -> &str {
    match (fate.as_str(), fate["terminating"].as_bool()) {
        (Some(word), _) => word,
        (None, Some(true)) => "terminating",
        (None, Some(false)) => "kept",
        (None, None) => "unknown",
    }
}

#[test]
fn what_all_recordings_of_an_upgrade_agree_on_is_among_the_outcomes() {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for scenario in scenarios() {
        let name = scenario["name"].as_str().expect("a name");
        // Its finalizer is the operator's doing, and no manifest says so.
        let by_operator = name == "upgrade-drops-operator";
        let folder = Folder::new();
        let charts = scenario["charts"].as_object().expect("charts");
        for (side, chart) in ["base", "head"].into_iter().zip(charts.values()) {
            for (template, text) in chart.as_object().expect("templates") {
                folder.write(&format!("{side}/{template}.yaml"), text.as_str().expect("text"));
            }
        }
        let manifests = ["before", "beside"].into_iter().filter_map(|list| scenario[list].as_array()).flatten();
        for (at, text) in manifests.enumerate() {
            folder.write(&format!("beside/{at}.yaml"), text.as_str().expect("text"));
        }
        folder.write("beside/none.yaml", "");
        let namespace = scenario["namespace"].as_str().expect("a namespace");
        let arguments = ["--by", "helm", "--base", "base", "--head", "head", "--beside", "beside", "-n", namespace];
        let document = folder.run("", &arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
        let outcomes = document["plan"]["outcomes"].as_array().expect("outcomes");
        for (key, expected) in scenario["stable"].as_object().expect("keys") {
            if by_operator && key.starts_with("Cake.") {
                continue;
            }
            compared += 1;
            let wanted = expected.as_str().expect("a word");
            let found: Vec<&str> = outcomes.iter().map(|outcome| state(&outcome["objects"][key])).collect();
            if !found.contains(&wanted) {
                wrong.push(format!("{name}: {key} is {wanted}, and not {found:?}"));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(compared > 30, "{compared}");
}
