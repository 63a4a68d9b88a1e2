//! Upgrades by a real Helm, and the objects in the cluster after them.

use serde_json::Value;

use super::places::Folder;
use crate::conformance::teardown::configuration;
use crate::support::fixture;

/// Returns the upgrades of a recording.
fn upgrades(recording: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(&fixture(recording)).expect("JSON");
    all.into_iter()
        .filter(|one| {
            one["steps"][0]["op"] == "helm-upgrade"
                || one["runs"][0]["steps"][0]["op"] == "helm-upgrade"
        })
        .collect()
}

/// Returns the predicted outcomes of an upgrade from the first chart to the second.
fn outcomes(scenario: &Value, namespace: &str) -> Vec<Value> {
    let folder = Folder::new();
    let charts = scenario["charts"].as_object().expect("charts");
    for (side, chart) in ["base", "head"].into_iter().zip(charts.values()) {
        for (template, text) in chart.as_object().expect("templates") {
            folder.write(
                &format!("{side}/{template}.yaml"),
                text.as_str().expect("text"),
            );
        }
    }
    let manifests = ["before", "beside"]
        .into_iter()
        .filter_map(|list| scenario[list].as_array())
        .flatten();
    for (at, text) in manifests.enumerate() {
        folder.write(&format!("beside/{at}.yaml"), text.as_str().expect("text"));
    }
    folder.write("beside/none.yaml", "");
    let configuration = if scenario["operator"].is_null() {
        "version: 1\n".to_owned()
    } else {
        configuration(&scenario["operator"])
    };
    folder.write("operators.yaml", &configuration);
    let arguments = [
        "--by", "helm", "--base", "base", "--head", "head", "--beside", "beside", "-n", namespace,
    ];
    let document = folder.run(
        "",
        &[&arguments[..], &["--config", "operators.yaml"]].concat(),
    );
    let document = document.unwrap_or_else(|error| panic!("{}: {error}", scenario["name"]));
    document["plan"]["outcomes"]
        .as_array()
        .expect("outcomes")
        .clone()
}

/// Converts the fate of an object to the word in the recordings.
fn state(fate: &Value) -> &str {
    match (fate.as_str(), fate["terminating"].as_bool()) {
        (Some(word), _) => word,
        (None, Some(true)) => "terminating",
        (None, Some(false)) => "kept",
        (None, None) => "unknown",
    }
}

/// Describes the `expected` fate of an object, if it is not among the outcomes.
fn wrong(outcomes: &[Value], key: &str, expected: &str) -> Option<String> {
    let found: Vec<&str> = outcomes
        .iter()
        .map(|outcome| state(&outcome["objects"][key]))
        .collect();
    (!found.contains(&expected)).then(|| format!("{key} is {expected}, and not {found:?}"))
}

#[test]
fn stable_results_of_recorded_upgrades_are_among_the_outcomes() {
    let mut differences = Vec::new();
    let mut compared = 0;
    for scenario in upgrades("conformance/teardown.json") {
        let outcomes = outcomes(
            &scenario,
            scenario["namespace"].as_str().expect("a namespace"),
        );
        for (key, expected) in scenario["stable"].as_object().expect("keys") {
            compared += 1;
            let complaint = wrong(&outcomes, key, expected.as_str().expect("a word"));
            differences
                .extend(complaint.map(|complaint| format!("{}: {complaint}", scenario["name"])));
        }
    }
    assert_eq!(differences, [""; 0]);
    assert!(compared > 30, "{compared}");
}

#[test]
fn recorded_upgrades_without_operator_have_the_recorded_outcome() {
    let mut differences = Vec::new();
    let mut compared = Vec::new();
    for scenario in upgrades("conformance/helm-more.json") {
        let outcomes = outcomes(&scenario, "unwritten");
        let manifests = scenario["charts"].to_string() + &scenario["beside"].to_string();
        let expected = scenario["steps"][0]["expect"].as_object().expect("keys");
        // Compare the objects of the manifests, without those that every namespace has.
        let named = expected.iter().filter(|(key, _)| {
            let name = key.rsplit('/').next().expect("a name");
            manifests.contains(&format!("name: {name},"))
                || manifests.contains(&format!("name: {name}}}"))
        });
        for (key, fate) in named {
            compared.push(key.clone());
            let complaint = wrong(&outcomes, key, state(fate));
            differences
                .extend(complaint.map(|complaint| format!("{}: {complaint}", scenario["name"])));
        }
    }
    assert_eq!(differences, [""; 0]);
    compared.sort();
    assert_eq!(
        compared,
        [
            "Cake.hx02.example.net/hx02/one",
            "ConfigMap/hx02/a",
            "ConfigMap/hx07/a",
            "ConfigMap/hx07/stays",
            "CustomResourceDefinition.apiextensions.k8s.io//cakes.hx02.example.net",
        ]
    );
}

/// Recorded fates of removed CustomResourceDefinitions and of their objects: Flux prunes them, Argo CD never does.
#[cfg(unix)]
#[test]
fn removed_definitions_have_the_recorded_fates() {
    let scenarios: Vec<Value> =
        serde_json::from_str(&fixture("conformance/definitions.json")).expect("JSON");
    for scenario in &scenarios {
        let folder = Folder::new();
        folder.git(&["init", "-q", "-b", "main"]);
        folder.git(&[
            "remote",
            "add",
            "origin",
            scenario["remote"].as_str().expect("an address"),
        ]);
        for side in ["base", "head"] {
            if side == "head" {
                folder.git(&["rm", "-rq", "."]);
            }
            for (path, text) in scenario[side].as_object().expect("files") {
                folder.write(path, text.as_str().expect("text"));
            }
            folder.commit();
        }
        let beside = Folder::new();
        for (at, text) in scenario["state"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            beside.write(&format!("{at}.yaml"), text.as_str().expect("text"));
        }
        beside.write("none.yaml", "");
        let beside = beside.path().display().to_string();
        let refs = [
            "--base-ref",
            "HEAD~",
            "--head-ref",
            "HEAD",
            "--beside",
            &beside,
        ];
        let document = folder
            .run("", &refs)
            .unwrap_or_else(|error| panic!("{}: {error}", scenario["name"]));
        let is_deleted = |key: &str| {
            let mut effects = document["effects"].as_array().expect("a list").iter();
            effects.any(|effect| {
                effect["key"] == key
                    && ["deleted", "cascaded", "stuck"]
                        .iter()
                        .any(|word| effect["effect"] == *word)
            })
        };
        for (key, observed) in scenario["observed"].as_object().expect("objects") {
            if !key.starts_with("Brick.") && !key.starts_with("CustomResourceDefinition.") {
                continue;
            }
            assert_eq!(
                is_deleted(key),
                observed["after"] != "kept",
                "{} {key}: {document}",
                scenario["name"]
            );
        }
    }
}
