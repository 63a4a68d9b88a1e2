//! The deletions that merging a pull request causes, as the action shows them.

use serde_json::Value;

use super::runner::Job;
use super::stage::{Checkout, Stage, tools};
use super::{CLEAN, ROLE};

const DELIVERY: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: all, namespace: flux-system}\nspec: {path: ./m, prune: true}\n";
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
const INSTANCE: &str =
    "apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: flagship, namespace: shop}\n";
pub(super) const SAID: &str = "## Merging this deletes 2 objects (1 by cascade): CustomResourceDefinition <code>ships.example.com</code> and Ship <code>flagship</code>\n";

/// Creates a pull request that removes a definition, while an instance in another file stays.
pub(super) fn a_definition_leaves() -> Stage {
    let base = [
        ("flux.yaml", DELIVERY),
        ("m/definition.yaml", DEFINITION),
        ("m/instance.yaml", INSTANCE),
    ];
    Stage::new(
        &base,
        &[("m/definition.yaml", "")],
        &[("later.yaml", CLEAN)],
    )
}

#[test]
fn deletions_are_reported_for_every_fetch_depth() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    for checkout in [
        Checkout::Shallow,
        Checkout::Two,
        Checkout::Full,
        Checkout::ShallowHead,
    ] {
        let run = stage.pull_request(checkout).run();
        assert!(
            run.summary.starts_with(SAID),
            "{checkout:?}: {}",
            run.summary
        );
        assert_eq!(
            [
                run.output("deleted"),
                run.output("stuck"),
                run.output("exit-code")
            ],
            ["2", "0", "1"],
            "{run:#?}"
        );
        assert_eq!(
            run.status("gate"),
            Some(1),
            "a finding of change fails the job"
        );
        assert!(
            matches!(&run.annotations()[..], [one] if one.starts_with("error m/")),
            "{checkout:?}: {run:#?}"
        );
        assert!(run.log.contains("error[crd-removed] "), "{}", run.log);
        let text = std::fs::read_to_string(run.output("diff-json-file")).expect("the comparison");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["schema"], "ownerlint.diff/1");
    }
}

const SILENT: &str = "version: 1\nexclude: ['**']\nrules: {crd-removed: {severity: 'off'}}\n";

#[test]
fn pull_request_cannot_suppress_its_deletions_by_configuration() {
    if !tools() {
        return;
    }
    let base = [
        ("flux.yaml", DELIVERY),
        ("m/definition.yaml", DEFINITION),
        ("m/instance.yaml", INSTANCE),
        ("ci/lint.yaml", "version: 1\n"),
        ("ownerlint.yaml", "version: 1\n"),
    ];
    let change = [
        ("m/definition.yaml", ""),
        ("ci/lint.yaml", SILENT),
        ("ownerlint.yaml", SILENT),
    ];
    let stage = Stage::new(&base, &change, &[]);
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("args", "--allow-empty");
    for config in ["", "ci/lint.yaml", "./ownerlint.yaml"] {
        let run = job.clone().with("config", config).run();
        assert!(
            run.summary
                .contains("Merging this deletes 2 objects (1 by cascade)"),
            "{config}: {run:#?}"
        );
        assert!(
            run.summary
                .contains("this change edits inputs that decide which findings are reported"),
            "{config}: {run:#?}"
        );
        assert_eq!(run.output("deleted"), "2", "{config}: {run:#?}");
        assert_eq!(run.status("gate"), Some(1), "{config}: {run:#?}");
    }
}

#[test]
fn pull_request_configuration_does_not_apply_to_rendered_folders() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("a.yaml", CLEAN)], &[("ownerlint.yaml", SILENT)], &[]);
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("paths", "m")
        .with("base-path", "was")
        .with("diff-args", "--by=flux");
    for (folder, definition) in [("was", true), ("m", false)] {
        std::fs::create_dir(job.workspace.join(folder)).expect("a folder");
        std::fs::write(job.workspace.join(folder).join("ship.yaml"), INSTANCE).expect("a file");
        if definition {
            std::fs::write(job.workspace.join(folder).join("crd.yaml"), DEFINITION)
                .expect("a file");
        }
    }
    let run = job.run();
    assert_eq!(run.output("deleted"), "2", "{run:#?}");
}

#[test]
fn configuration_outside_the_repository_is_rejected() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    let job = stage.pull_request(Checkout::Shallow);
    std::fs::write(job.workspace.join("../outside.yaml"), SILENT).expect("a file");
    std::os::unix::fs::symlink("../outside.yaml", job.workspace.join("link.yaml")).expect("a link");
    let absolute = job.workspace.join("../outside.yaml").display().to_string();
    for config in ["../outside.yaml", "link.yaml", &*absolute] {
        let run = job.clone().with("config", config).run();
        assert!(
            !run.succeeded()
                && run
                    .log
                    .contains("'config' must be a file of the repository"),
            "{config}: {run:#?}"
        );
    }
}

#[test]
fn sarif_merges_check_and_diff_findings_into_one_run() {
    if !tools() {
        return;
    }
    let definition = [
        ("flux.yaml", DELIVERY),
        ("m/definition.yaml", DEFINITION),
        ("m/instance.yaml", INSTANCE),
    ];
    let stage = Stage::new(
        &definition,
        &[("m/definition.yaml", ""), ("m/role.yaml", ROLE)],
        &[],
    );
    let job = stage.pull_request(Checkout::Shallow);
    let path = job.workspace.join(job.run().output("sarif-file"));
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("SARIF")).expect("JSON");
    let runs = document["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 1, "GitHub rejects several runs of one tool");
    let results = runs[0]["results"].as_array().expect("a list");
    let named = |result: &Value| {
        let rule = result["ruleIndex"].as_u64().expect("a place") as usize;
        assert_eq!(
            runs[0]["tool"]["driver"]["rules"][rule]["id"],
            result["ruleId"]
        );
        result["ruleId"].as_str().expect("a rule").to_owned()
    };
    assert_eq!(
        results.iter().map(named).collect::<Vec<_>>(),
        ["crd-removed", "owner-of-cluster-scoped"]
    );
}

#[test]
fn comment_begins_with_deletions_and_is_updated() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true");
    let body = || {
        stage
            .comments()
            .iter()
            .map(|comment| comment["body"].as_str().expect("text").to_owned())
            .collect()
    };
    job.run();
    let first: Vec<String> = body();
    assert!(
        first[0].starts_with(&format!("<!-- ownerlint -->\n{SAID}")),
        "{}",
        first[0]
    );
    assert!(
        first[0].contains("\n## ownerlint: nothing found\n") && first[0].contains("```mermaid\n"),
        "{}",
        first[0]
    );
    // Without `diff`, the text of the earlier comment is outdated.
    job.with("diff", "false").run();
    let second: Vec<String> = body();
    assert_eq!(second.len(), 1);
    assert!(
        second[0].starts_with("<!-- ownerlint -->\n## ownerlint: nothing found\n"),
        "{}",
        second[0]
    );
}

#[test]
fn change_without_deletions_adds_no_comment() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[("flux.yaml", DELIVERY)],
        &[("m/instance.yaml", INSTANCE)],
        &[],
    );
    let run = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true")
        .run();
    assert!(
        run.succeeded() && run.summary.ends_with("\nMerging this deletes nothing.\n"),
        "{}",
        run.summary
    );
    assert_eq!(stage.comments(), [Value::Null; 0]);
}

#[test]
fn merge_queue_is_compared_and_unfetchable_base_gets_notice() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    assert!(
        stage
            .merge_group(Checkout::Shallow)
            .run()
            .summary
            .starts_with(SAID)
    );
    let job = stage.pull_request(Checkout::Shallow);
    stage.cut_off();
    let run = job.run();
    assert_eq!(
        (run.output("deleted"), run.output("exit-code")),
        ("", "0"),
        "{run:#?}"
    );
    assert!(
        run.commands[0]
            .data
            .contains("nothing is compared; set fetch-depth: 2"),
        "{:?}",
        run.commands
    );
}

#[test]
fn untracked_paths_are_compared_only_with_base_path() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[(".gitignore", "out/\nold/\n")],
        &[("Chart.yaml", "name: x\n")],
        &[],
    );
    let job = stage.pull_request(Checkout::Shallow).with("paths", "out");
    for (side, definition) in [("old", DEFINITION), ("out", "")] {
        for (name, text) in [
            ("flux.yaml", DELIVERY),
            ("m/instance.yaml", INSTANCE),
            ("m/definition.yaml", definition),
        ] {
            stage.write(&format!("pull-Shallow/{side}/{name}"), text);
        }
    }
    let run = job.run();
    assert_eq!(run.annotations()[0], "notice");
    assert!(
        run.commands[0]
            .data
            .starts_with("none of the paths is in git, so nothing is compared"),
        "{run:#?}"
    );
    let run = job.clone().with("base-path", "old").run();
    assert!(run.summary.starts_with(SAID), "{}", run.summary);
    let run = job.with("base-path", "old").with("paths", "out\nold").run();
    assert_eq!(
        run.commands[0].data,
        "'base-path' is compared with one path, and 'paths' names several"
    );
}

#[test]
fn removed_remote_resource_fails_only_with_require_known() {
    if !tools() {
        return;
    }
    let base = [
        ("m/clean.yaml", CLEAN),
        (
            "m/kustomization.yaml",
            "resources: [clean.yaml, https://example.com/crds.yaml]\n",
        ),
    ];
    let change = [("m/kustomization.yaml", "resources: [clean.yaml]\n")];
    let stage = Stage::new(&base, &change, &[]);
    let job = stage.pull_request(Checkout::Shallow);
    let run = job.clone().run();
    assert!(
        run.summary.starts_with("## ownerlint cannot tell: "),
        "{run:#?}"
    );
    assert_eq!(run.output("exit-code"), "0", "{run:#?}");
    let run = job.with("require-known", "true").run();
    assert_eq!(
        (run.output("exit-code"), run.status("gate")),
        ("1", Some(1)),
        "{run:#?}"
    );
}

#[test]
fn require_known_fails_if_paths_were_not_compared() {
    if !tools() {
        return;
    }
    let refused = |job: Job, why: &str| {
        let run = job.with("require-known", "true").run();
        assert_eq!(run.status("gate"), Some(2), "{run:#?}");
        let said = &run.commands.last().expect("an error").data;
        assert_eq!(said, &format!("'require-known' is set, and {why}"));
    };
    let stage = Stage::new(&[("m/clean.yaml", CLEAN)], &[("n.md", "n\n")], &[]);
    let job = stage.pull_request(Checkout::Two);
    stage.write("pull-Two/out/clean.yaml", CLEAN);
    refused(job.clone().with("paths", "out"), "nothing was compared");
    refused(
        job.clone().with("paths", "m\nout"),
        "these paths are in no commit: out",
    );
    stage.write("pull-Two/none/notes.txt", "nothing\n");
    refused(job.clone().with("paths", "none"), "no object was found");
    assert!(job.with("require-known", "true").run().succeeded());

    let unreachable = stage.pull_request(Checkout::Shallow);
    stage.cut_off();
    refused(unreachable, "nothing was compared");
    let stage = Stage::new(&[("m/clean.yaml", CLEAN)], &[], &[]);
    let push = stage.push().with("require-known", "true");
    assert!(push.run().succeeded(), "there is nothing to compare");
}
