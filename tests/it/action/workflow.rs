//! The workflows of the guide, run step by step.

use super::stage::{Checkout, Stage, tools};
use crate::support::{blocks_of, page, root, skip};

/// A fake of Helm: `helm template web CHART --namespace web --output-dir OUT` copies templates in Helm's layout.
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

/// The workflows of the guide, in the order of the page.
#[derive(Clone, Copy, Debug)]
enum Workflow {
    Delivered,
    Helm,
    Kustomize,
}

/// Runs the steps of a workflow on a pull request, up to the action.
fn played(stage: &Stage, workflow: Workflow) -> super::runner::Run {
    let workflows = blocks_of(
        &page("docs/guide/github-actions.md"),
        ".github/workflows/ownerlint.yaml",
    );
    let workflow = &workflows[workflow as usize];
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
        return job.run();
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
    stage.program("helm", HELM);
    let run = played(&stage, Workflow::Helm);
    assert!(
        run.summary
            .starts_with("## Merging this deletes 2 objects (1 by cascade): CustomResourceDefinition <code>ships.example.com</code> and "),
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
    stage.program("helm", HELM);
    let run = played(&stage, Workflow::Helm);
    assert_eq!(run.output("deleted"), "0", "{run:#?}");
    assert_eq!(run.output("exit-code"), "0", "{run:#?}");
}

/// Creates a stage with an example of the repository, and a pull request that edits its files.
fn example(name: &str, change: &[(&str, &str)]) -> Stage {
    let folder = root().join("fixtures/examples").join(name);
    let files = walkdir::WalkDir::new(&folder).into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    let files: Vec<(String, String)> = files
        .map(|entry| {
            let path = entry.path().strip_prefix(&folder).expect("below");
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            (path.to_string_lossy().into_owned(), text)
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    Stage::new(&files, change, &[])
}

/// Puts a program that `.ci/run` builds on the `PATH` of the jobs. If it is missing, the test is skipped.
fn has_program(stage: &Stage, folder: &str, name: &str) -> bool {
    let program = root().join("target/programs").join(folder).join(name);
    if !program.is_file() {
        skip(&format!(
            "no {name} in target/programs: `.ci/run` builds it"
        ));
        return false;
    }
    let run = format!("#!/usr/bin/env bash\nexec {} \"$@\"\n", program.display());
    stage.program(name, &run);
    true
}

/// Returns the first lines of a workflow's comment on a pull request: the losses and their places.
fn commented(stage: &Stage, workflow: Workflow) -> String {
    let run = played(stage, workflow);
    let comments = stage.comments();
    let [comment] = comments.as_slice() else {
        panic!("{run:#?}");
    };
    let lines = comment["body"].as_str().expect("text").lines();
    lines.take(6).collect::<Vec<_>>().join("\n")
}

#[test]
fn flux_example_reports_deletions_with_one_step() {
    if !tools() {
        return;
    }
    let list = "resources: [../base, cache.yaml]\nnamespace: shop\n";
    let change = [
        ("apps/prod/database.yaml", ""),
        ("apps/prod/kustomization.yaml", list),
    ];
    let stage = example("flux", &change);
    insta::assert_snapshot!(commented(&stage, Workflow::Delivered), @r##"
    <!-- ownerlint -->
    ## Merging this deletes 1 object: PersistentVolumeClaim <code>database</code>; the data of 1 volume may be deleted

    - **warning:** removing PersistentVolumeClaim <code>database</code> deletes its volume, unless it is retained ([volume-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/volume-removed.md), <code>apps/prod/database.yaml:4</code>)

    **To do it safely** ([volume-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/volume-removed.md)): if the data is needed, annotate the claim with <code>kustomize.toolkit.fluxcd.io/prune: disabled</code>, merge that and wait until Flux has applied it, and remove it in a second change; or set the reclaim policy of the volume to Retain first
    "##);
}

#[test]
fn argo_cd_example_reports_deletions_with_one_step() {
    if !tools() {
        return;
    }
    let stage = example("argocd", &[("services/cart/cart.yaml", "")]);
    insta::assert_snapshot!(commented(&stage, Workflow::Delivered), @r##"
    <!-- ownerlint -->
    ## Merging this deletes 3 objects, including Application <code>cart</code> and StatefulSet <code>cart</code>

    | What happens | Objects | |
    |---|--:|---|
    | Deleted by the tool | 3 | <code>Service/shop/cart</code><br><code>StatefulSet.apps/shop/cart</code><br><code>Application.argoproj.io/argocd/cart</code> |
    "##);
}

#[test]
fn helm_example_is_rendered_and_compared() {
    let stage = example("helm", &[("chart/templates/certificate-crd.yaml", "")]);
    if !tools() || !has_program(&stage, "helm-4", "helm") {
        return;
    }
    insta::assert_snapshot!(commented(&stage, Workflow::Helm), @r##"
    <!-- ownerlint -->
    ## Merging this deletes 2 objects (1 by cascade): CustomResourceDefinition <code>certs.example.com</code> and Cert <code>web-tls</code>

    - **error:** removing CustomResourceDefinition <code>certs.example.com</code> deletes Cert <code>web-tls</code> that head still applies ([crd-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/crd-removed.md), <code>rendered-base/web/templates/certificate-crd.yaml:6</code>)

    **To do it safely** ([crd-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/crd-removed.md)): annotate the definition with <code>helm.sh/resource-policy: keep</code>, upgrade the release, and remove the definition in a second change
    "##);
}

#[test]
fn kustomize_example_is_built_and_compared() {
    let list = "resources: [../../base]\nnamespace: shop\n";
    let change = [
        ("overlays/prod/database.yaml", ""),
        ("overlays/prod/kustomization.yaml", list),
    ];
    let stage = example("plain", &change);
    if !tools() || !has_program(&stage, "kustomize", "kustomize") {
        return;
    }
    insta::assert_snapshot!(commented(&stage, Workflow::Kustomize), @r##"
    <!-- ownerlint -->
    ## Merging this deletes 2 objects: PersistentVolumeClaim <code>database</code> and StatefulSet <code>database</code>; the data of 1 volume may be deleted

    - **warning:** removing PersistentVolumeClaim <code>database</code> deletes its volume, unless it is retained ([volume-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/volume-removed.md), <code>rendered-base/v1&#95;persistentvolumeclaim&#95;database.yaml:4</code>)

    **To do it safely** ([volume-removed](https://github.com/ownerlint/ownerlint/blob/main/docs/rules/volume-removed.md)): if the data is needed, annotate the claim with <code>argocd.argoproj.io/sync-options: Prune=false,Delete=false</code>, merge that and wait until it is synced, and remove it in a second change; or set the reclaim policy of the volume to Retain first
    "##);
}
