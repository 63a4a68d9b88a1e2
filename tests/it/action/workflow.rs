//! The workflow of the guide that renders a chart, run step by step.

use super::stage::{Checkout, Stage, tools};
use crate::support::{blocks_of, page};

/// Stands in for Helm: `helm template web CHART --namespace web --output-dir OUT` copies templates as Helm writes them.
const HELM: &str = r##"#!/usr/bin/env bash
set -euo pipefail
[[ "$1 $2 $4 $6" == "template web --namespace --output-dir" ]]
for template in "$3"/templates/*; do
  mkdir -p "$7/web/templates"
  { printf -- '---\n# Source: web/templates/%s\n' "${template##*/}"; cat "$template"; } >"$7/web/templates/${template##*/}"
done
"##;

const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
const INSTANCE: &str = "apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: flagship, labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.0.0}}\n";

/// Plays the workflow on a pull request, up to the action.
fn played(stage: &Stage) -> super::runner::Run {
    let workflows = blocks_of(
        &page("docs/guide/github-actions.md"),
        ".github/workflows/ownerlint.yaml",
    );
    let workflow = workflows
        .iter()
        .find(|workflow| serde_yaml::to_string(workflow).is_ok_and(|text| text.contains("helm")))
        .expect("a workflow with Helm");
    stage.program("helm", HELM);
    let mut job = stage.pull_request(Checkout::Two);
    let steps = workflow["jobs"]["ownerlint"]["steps"].as_sequence();
    for step in steps.expect("steps") {
        if let Some(script) = step["run"].as_str() {
            job.before(script);
        }
        let uses = step["uses"].as_str().unwrap_or_default();
        if !uses.starts_with("ownerlint/ownerlint@") {
            continue;
        }
        let temp = job.temp.join("runner");
        for (name, value) in step["with"].as_mapping().expect("inputs") {
            let value = value.as_str().expect("a text");
            let value = value.replace("${{ runner.temp }}", &temp.to_string_lossy());
            job = job.with(name.as_str().expect("a name"), &value);
        }
        return job.play();
    }
    panic!("no step uses the action");
}

#[test]
fn rendered_chart_is_compared_with_its_base() {
    if !tools() {
        return;
    }
    let base = [
        ("chart/templates/definition.yaml", DEFINITION),
        ("chart/templates/instance.yaml", INSTANCE),
    ];
    let stage = Stage::new(&base, &[("chart/templates/definition.yaml", "")], &[]);
    let run = played(&stage);
    assert!(
        run.summary
            .starts_with("## Merging this deletes 1 object and, by cascade, 1 more\n"),
        "{run:#?}"
    );
    assert!(run.log.contains("error[crd-removed] "), "{}", run.log);
    assert_eq!(run.output("exit-code"), "1", "{run:#?}");
    assert_eq!(stage.comments().len(), 1, "the comment is written");
}

#[test]
fn new_chart_deletes_nothing() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[("notes.txt", "x\n")],
        &[("chart/templates/instance.yaml", INSTANCE)],
        &[],
    );
    let run = played(&stage);
    assert_eq!(run.output("deleted"), "0", "{run:#?}");
    assert_eq!(run.output("exit-code"), "0", "{run:#?}");
}
