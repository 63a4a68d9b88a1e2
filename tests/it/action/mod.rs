//! The GitHub Action, run from its first step to its last by a fake runner that reads `action.yml`.

mod accepting;
mod documentation;
mod gitlab;
mod hostile;
mod install;
mod merging;
mod outputs;
mod runner;
mod stage;
mod workflow;

use std::collections::BTreeSet;

use serde_json::Value;

use runner::{Run, definition};
use stage::{Checkout, Stage, tools};

/// A manifest with one error, in line 6.
const ROLE: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const CLEAN: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n";
/// A manifest with one warning, if its owner, in another file, is in namespace `shop`.
const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  namespace: other
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const OWNER_HERE: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: other}\n";
const OWNER_THERE: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";

/// Returns the outputs exit code, errors, warnings and findings.
fn counts(run: &Run) -> [&str; 4] {
    ["exit-code", "errors", "warnings", "findings"].map(|name| run.output(name))
}

fn json(run: &Run) -> Value {
    let text = std::fs::read_to_string(run.output("json-file")).expect("the report");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn push_with_findings_fails_after_writing_all_reports() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("m/role.yaml", ROLE), ("m/clean.yaml", CLEAN)], &[], &[]);
    let job = stage.push();
    let run = job.run();
    assert_eq!(counts(&run), ["1", "1", "0", "1"], "{run:#?}");
    assert_eq!(
        run.ran(),
        ["validate", "base", "check", "gate"],
        "the gate comes last"
    );
    assert_eq!(
        (run.status("check"), run.status("gate")),
        (Some(0), Some(1))
    );
    assert_eq!(run.annotations(), ["error m/role.yaml"]);
    assert_eq!(json(&run)["findings"][0]["rule"], "owner-of-cluster-scoped");
    assert!(
        run.output("sarif-file").ends_with("/ownerlint.sarif"),
        "{run:#?}"
    );
    let sarif = std::fs::read_to_string(run.output("sarif-file")).expect("SARIF");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    assert_eq!(
        sarif["runs"][0]["results"][0]["ruleId"],
        "owner-of-cluster-scoped"
    );
    assert!(
        run.summary.starts_with("## ownerlint: 1 error\n"),
        "{}",
        run.summary
    );
    let link = format!(
        "(https://github.example/shop/deploy/blob/{}/m/role.yaml#L6)",
        job.sha
    );
    assert!(run.summary.contains(&link), "{}", run.summary);
    assert!(
        run.log
            .contains("\nm/role.yaml:6:35: error[owner-of-cluster-scoped] "),
        "the log reads well: {}",
        run.log
    );
}

#[test]
fn a_push_without_findings_succeeds() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("m/clean.yaml", CLEAN)], &[], &[]);
    let run = stage.push().run();
    assert_eq!(counts(&run), ["0", "0", "0", "0"]);
    assert!(run.succeeded());
    assert_eq!(run.commands, []);
    assert_eq!(
        run.summary,
        "## ownerlint: nothing found\n\n1 object in 1 file and 1 document.\n"
    );
    assert_eq!(json(&run)["summary"]["objects"], 1);
}

#[test]
fn a_repository_without_objects_gets_a_warning() {
    if !tools() {
        return;
    }
    let run = Stage::new(&[("values.yaml", "replicas: 3\n")], &[], &[])
        .push()
        .run();
    assert_eq!(counts(&run), ["3", "0", "0", "0"]);
    assert!(run.succeeded());
    assert_eq!(run.annotations(), ["warning"]);
    let explained = "No Kubernetes object was found, so nothing was checked. ownerlint reads rendered manifests: ";
    assert!(
        run.commands[0].data.starts_with(explained),
        "{:?}",
        run.commands
    );
    assert!(run.summary.contains(explained), "{}", run.summary);
}

#[test]
fn invalid_configuration_fails_and_writes_no_report() {
    if !tools() {
        return;
    }
    let broken = [
        ("m/clean.yaml", CLEAN),
        ("ownerlint.yaml", "version: 1\nbundels: {}\n"),
    ];
    let run = Stage::new(&broken, &[], &[]).push().run();
    assert_eq!(counts(&run), ["2", "0", "0", "0"]);
    assert_eq!(run.status("gate"), Some(2));
    assert_eq!(
        (
            run.output("json-file"),
            run.output("sarif-file"),
            run.summary.as_str()
        ),
        ("", "", "")
    );
    assert!(run.log.contains("did you mean `bundles`"), "{}", run.log);
    assert_eq!(run.annotations(), ["error"]);
}

#[test]
fn annotations_summary_sarif_and_failure_can_be_disabled() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("m/role.yaml", ROLE)], &[], &[]);
    let mut job = stage.push();
    for (input, value) in [
        ("annotations", "false"),
        ("summary", "false"),
        ("sarif", ""),
        ("fail-on", "never"),
    ] {
        job = job.with(input, value);
    }
    let run = job.run();
    assert_eq!(counts(&run), ["0", "1", "0", "1"]);
    assert!(run.succeeded());
    assert_eq!(
        (
            run.commands.len(),
            run.summary.as_str(),
            run.output("sarif-file")
        ),
        (0, "", "")
    );
    assert!(!job.workspace.join("ownerlint.sarif").exists());
}

#[test]
fn paths_config_and_args_inputs_reach_the_program() {
    if !tools() {
        return;
    }
    let files = [
        ("a/role.yaml", ROLE),
        ("b/clean.yaml", CLEAN),
        ("c/owned.yaml", OWNED),
        ("c/owner.yaml", OWNER_THERE),
    ];
    let configuration = (
        "strict.yaml",
        "version: 1\nrules: {owner-cross-namespace: {severity: error}}\n",
    );
    let stage = Stage::new(&[&files[..], &[configuration]].concat(), &[], &[]);
    let run = stage
        .push()
        .with("paths", "b\nc\n")
        .with("args", "--ignore\nowner-cross-namespace\n")
        .run();
    assert_eq!(
        (counts(&run), json(&run)["summary"]["files"].as_u64()),
        (["0", "0", "0", "0"], Some(3))
    );
    std::fs::remove_dir_all(stage.root().join("push")).expect("a folder");
    let run = stage
        .push()
        .with("paths", "c")
        .with("config", "strict.yaml")
        .run();
    assert_eq!(counts(&run), ["1", "1", "0", "1"]);
}

/// Creates a base with an old error, a change that adds another one, and a later commit on `main` with a third.
fn three_errors() -> Stage {
    let role = |name: &str| ROLE.replace("reader", name);
    Stage::new(
        &[("m/old.yaml", &role("old"))],
        &[("m/new file.yaml", &role("new"))],
        &[("m/later.yaml", &role("later"))],
    )
}

#[test]
fn pull_request_reports_only_new_findings_for_every_fetch_depth() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    for checkout in [
        Checkout::Shallow,
        Checkout::Two,
        Checkout::Full,
        Checkout::ShallowHead,
    ] {
        let run = stage.pull_request(checkout).run();
        assert_eq!(counts(&run), ["1", "1", "0", "1"], "{checkout:?}: {run:#?}");
        assert_eq!(run.annotations(), ["error m/new file.yaml"], "{checkout:?}");
        assert_eq!(run.status("comment"), None, "nobody asked for a comment");
        assert!(
            run.summary.ends_with(
                "\nThis report contains only findings that the pull request adds.\n\nMerging this deletes nothing.\n"
            ),
            "{}",
            run.summary
        );
    }
}

#[test]
fn merge_group_reports_only_new_findings_for_every_fetch_depth() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    for checkout in [Checkout::Shallow, Checkout::Two, Checkout::Full] {
        let run = stage.merge_group(checkout).with("comment", "true").run();
        assert_eq!(counts(&run), ["1", "1", "0", "1"], "{checkout:?}: {run:#?}");
        assert_eq!(run.annotations(), ["error m/new file.yaml"], "{checkout:?}");
        assert!(
            run.summary.ends_with(
                "\nThis report contains only findings that the merge group adds.\n\nMerging this deletes nothing.\n"
            ),
            "{}",
            run.summary
        );
        assert_eq!(
            run.status("comment"),
            None,
            "there is no pull request to comment on"
        );
    }
    let job = three_errors();
    let (job, _) = (job.merge_group(Checkout::Shallow), job.cut_off());
    let run = job.run();
    assert!(
        run.commands[0]
            .data
            .starts_with("the base of this merge group is not in the checkout"),
        "{run:#?}"
    );
    assert_eq!(counts(&run), ["1", "3", "0", "3"]);
}

#[test]
fn changed_only_false_reports_every_finding() {
    if !tools() {
        return;
    }
    let run = three_errors()
        .pull_request(Checkout::Shallow)
        .with("changed-only", "false")
        .run();
    assert_eq!(counts(&run), ["1", "3", "0", "3"]);
    assert!(!run.summary.contains("Only what"));
}

#[test]
fn missing_base_reports_every_finding_with_a_warning() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    let job = stage.pull_request(Checkout::Shallow);
    stage.cut_off();
    let run = job.run();
    assert_eq!(counts(&run), ["1", "3", "0", "3"]);
    assert_eq!(run.annotations()[0], "warning");
    assert!(
        run.commands[0]
            .data
            .starts_with("the base of this pull request is not in the checkout")
    );
    // The parents of the merge commit are present, so nothing has to be fetched.
    let stage = three_errors();
    let job = stage.pull_request(Checkout::Two);
    stage.cut_off();
    assert_eq!(counts(&job.run()), ["1", "1", "0", "1"]);
}

#[test]
fn job_without_git_repository_reports_every_finding() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    let mut job = stage.pull_request(Checkout::Shallow);
    job.workspace = stage.root().join("unpacked");
    stage.write("unpacked/m/role.yaml", ROLE);
    let run = job.run();
    assert_eq!(counts(&run), ["1", "1", "0", "1"], "{run:#?}");
    assert_eq!(run.annotations(), ["warning", "error m/role.yaml"]);
}

#[test]
fn finding_caused_in_unchanged_file_is_reported() {
    if !tools() {
        return;
    }
    let base = [
        ("apps/owned.yaml", OWNED),
        ("infra/owner.yaml", OWNER_HERE),
        ("infra/old.yaml", &ROLE.replace("name: web", "name: db")),
    ];
    let stage = Stage::new(&base, &[("infra/owner.yaml", OWNER_THERE)], &[]);
    let run = stage
        .pull_request(Checkout::Shallow)
        .with("fail-on", "warning")
        .run();
    assert_eq!(counts(&run), ["1", "0", "1", "1"], "{run:#?}");
    assert_eq!(run.annotations(), ["warning apps/owned.yaml"]);
}

#[test]
fn untracked_and_ignored_rendered_files_count_as_changed() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[(".gitignore", "ignored/\n"), ("old.yaml", ROLE)],
        &[("Chart.yaml", "name: x\n")],
        &[],
    );
    let job = stage.pull_request(Checkout::Shallow);
    for folder in ["rendered", "ignored"] {
        stage.write(
            &format!("pull-Shallow/{folder}/role.yaml"),
            &ROLE.replace("reader", folder),
        );
    }
    let run = job.run();
    assert_eq!(
        run.annotations(),
        ["error ignored/role.yaml", "error rendered/role.yaml"]
    );
    assert!(
        !run.summary.contains("https://github.example/"),
        "what is not committed has no address: {}",
        run.summary
    );
}

#[test]
fn single_comment_is_updated_and_foreign_comment_is_untouched() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    // Any user can write a comment that looks like ours.
    let foreign = r#"[{"id": 1, "body": "<!-- ownerlint --> hello", "user": {"login": "mallory", "type": "User"}}]"#;
    stage.write("gh/comments.json", foreign);
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true");
    let bodies = || {
        stage
            .comments()
            .iter()
            .map(|comment| comment["body"].as_str().expect("text").to_owned())
            .collect()
    };
    let first = job.run();
    assert_eq!(
        (first.status("comment"), first.status("gate")),
        (Some(0), Some(1)),
        "{first:#?}"
    );
    let written: Vec<String> = bodies();
    assert_eq!(written[0], "<!-- ownerlint --> hello");
    assert!(
        written[1].starts_with("<!-- ownerlint -->\n## ownerlint: 1 error\n"),
        "{}",
        written[1]
    );
    assert_eq!(written.len(), 2);
    // After the repair, the existing comment is updated.
    std::fs::remove_file(job.workspace.join("m/new file.yaml")).expect("a file");
    assert!(job.run().succeeded());
    let written: Vec<String> = bodies();
    assert!(
        written[1].starts_with("<!-- ownerlint -->\n## ownerlint: nothing found\n"),
        "{}",
        written[1]
    );
    assert_eq!(written.len(), 2);
}

#[test]
fn steps_with_different_names_write_separate_files_and_comments() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[],
        &[("dev/role.yaml", ROLE), ("prod/clean.yaml", CLEAN)],
        &[],
    );
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true");
    let dev = job.clone().with("name", "dev").with("paths", "dev").run();
    assert_eq!(
        stage.comments()[0]["body"]
            .as_str()
            .expect("text")
            .lines()
            .next(),
        Some("<!-- ownerlint: dev -->")
    );
    let prod = job.clone().with("name", "prod").with("paths", "prod").run();
    assert_eq!(
        (
            json(&dev)["summary"]["error"].as_u64(),
            json(&prod)["summary"]["error"].as_u64()
        ),
        (Some(1), Some(0))
    );
    assert!(
        dev.output("sarif-file").ends_with("/dev.sarif")
            && prod.output("sarif-file").ends_with("/prod.sarif")
    );
    assert!(
        dev.summary.starts_with("## ownerlint (dev): 1 error\n"),
        "{}",
        dev.summary
    );
    // Another run of the step without a name adds no comment to the two.
    job.with("paths", "dev").run();
    let bodies: Vec<String> = stage
        .comments()
        .iter()
        .map(|comment| comment["body"].as_str().expect("text").to_owned())
        .collect();
    assert_eq!(bodies.len(), 2, "{bodies:#?}");
    assert!(
        bodies[0].starts_with("<!-- ownerlint: dev -->\n## ownerlint (dev): 1 error\n"),
        "{}",
        bodies[0]
    );
    assert!(
        bodies[1].starts_with("<!-- ownerlint -->\n## ownerlint: 1 error\n"),
        "{}",
        bodies[1]
    );
}

#[test]
fn sarif_input_overrides_name_input() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("m/clean.yaml", CLEAN)], &[], &[]);
    let run = stage
        .push()
        .with("name", "prod")
        .with("sarif", "out.sarif")
        .run();
    assert!(run.output("sarif-file").ends_with("/out.sarif"), "{run:#?}");
}

#[test]
fn failed_run_replaces_existing_comment() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    let job = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true");
    let body = || {
        stage
            .comments()
            .first()
            .map(|comment| comment["body"].as_str().expect("text").to_owned())
    };
    // There is no comment to correct.
    stage.write("pull-Shallow/ownerlint.yaml", "version: 1\nbundels: {}\n");
    assert_eq!((job.run().output("exit-code"), body()), ("2", None));
    std::fs::remove_file(job.workspace.join("ownerlint.yaml")).expect("a file");
    job.run();
    assert!(body().is_some_and(|body| body.contains("1 error")));
    let unfinished = "<!-- ownerlint -->\n## ownerlint: did not finish\n\nNothing was checked. \
        [The log](https://github.example/shop/deploy/actions/runs/42) says why.\n";
    stage.write("pull-Shallow/ownerlint.yaml", "version: 1\nbundels: {}\n");
    assert_eq!(
        (job.run().status("gate"), body().as_deref()),
        (Some(2), Some(unfinished))
    );
    // A failure to install the program is handled in the same way.
    std::fs::remove_file(job.workspace.join("ownerlint.yaml")).expect("a file");
    job.run();
    let mut job = job.with("version", "1.2.3");
    job.environment.remove("OWNERLINT_BINARY");
    let run = job.run();
    assert_eq!(
        (run.ran(), body().as_deref()),
        (vec!["validate", "download", "comment"], Some(unfinished))
    );
}

#[test]
fn personal_token_updates_its_own_comment() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    stage.write("gh/me", "release-bot\n");
    stage.write(
        "gh/comments.json",
        r#"[{"id": 1, "body": "<!-- ownerlint -->", "user": {"login": "release-bot", "type": "User"}}]"#,
    );
    stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true")
        .run();
    assert_eq!(stage.comments().len(), 1);
    assert_ne!(stage.comments()[0]["body"], "<!-- ownerlint -->");
}

#[test]
fn clean_run_adds_no_comment() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("m/role.yaml", ROLE)], &[("m/clean.yaml", CLEAN)], &[]);
    let run = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true")
        .run();
    assert_eq!(
        (counts(&run), run.status("comment")),
        (["0", "0", "0", "0"], Some(0))
    );
    assert_eq!(stage.comments(), [] as [Value; 0]);
    // A push has no pull request to comment on.
    let run = stage.push().with("comment", "true").run();
    assert_eq!(run.status("comment"), None);
}

#[test]
fn pull_request_from_fork_gets_all_but_the_comment() {
    if !tools() {
        return;
    }
    let stage = three_errors();
    let mut job = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true");
    job.event["pull_request"]["head"]["repo"] =
        serde_json::json!({"full_name": "mallory/deploy", "fork": true});
    for refusal in ["read-only", "unreadable"] {
        stage.write(&format!("gh/{refusal}"), "");
        let run = job.run();
        assert_eq!(
            (counts(&run), run.status("comment")),
            (["1", "1", "0", "1"], Some(0)),
            "{run:#?}"
        );
        assert_eq!(run.annotations(), ["error m/new file.yaml", "notice"]);
        assert!(
            run.commands[1]
                .data
                .starts_with("no comment was written: gh: "),
            "{:?}",
            run.commands
        );
        assert!(run.summary.starts_with("## ownerlint: 1 error\n"));
    }
    assert_eq!(stage.comments(), [] as [Value; 0]);
}

#[test]
fn long_comment_is_truncated_to_api_limit() {
    if !tools() {
        return;
    }
    let roles: Vec<String> = (0..600)
        .map(|n| ROLE.replace("reader", &format!("reader-{n}")))
        .collect();
    let stage = Stage::new(&[], &[("m/many.yaml", &roles.join("---\n"))], &[]);
    let run = stage
        .pull_request(Checkout::Shallow)
        .with("comment", "true")
        .run();
    assert_eq!(run.output("findings"), "600");
    let body = stage.comments()[0]["body"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        (50_000..65_536).contains(&body.chars().count()),
        "{}",
        body.len()
    );
    assert!(body.contains(" left out here: the report is too long.\n"));
}

#[test]
fn summary_contains_diagram_of_deleted_objects() {
    if !tools() {
        return;
    }
    let cascade = crate::support::fixture("rules/deleted-on-arrival/bad/with-a-cascade.yaml");
    let stage = Stage::new(
        &[("m/clean.yaml", CLEAN)],
        &[("m/cascade.yaml", &cascade)],
        &[],
    );
    let run = stage.pull_request(Checkout::Shallow).run();
    assert!(
        run.summary
            .contains("\n**Right after it is applied:** 2 deleted.\n\n```mermaid\nflowchart LR\n")
    );
}

#[test]
fn action_inputs_and_outputs_are_all_declared_and_used() {
    let action = definition();
    let text =
        std::fs::read_to_string(crate::support::root().join("action.yml")).expect("action.yml");
    let names = |key: &str| -> BTreeSet<String> {
        let names = action[key].as_mapping().expect("a mapping").keys();
        names
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect()
    };
    let used = |prefix: &str| -> BTreeSet<String> {
        let name = |rest: &str| {
            rest.chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect::<String>()
        };
        text.match_indices(prefix)
            .map(|(at, _)| name(&text[at + prefix.len()..]))
            .collect()
    };
    assert_eq!(names("inputs"), used("inputs."));
    let checked = [
        "exit-code",
        "errors",
        "warnings",
        "findings",
        "json-file",
        "sarif-file",
    ];
    assert!(
        checked
            .iter()
            .all(|name| used("steps.check.outputs.").contains(*name))
    );
    let compared = ["deleted", "stuck", "json-file"];
    assert!(
        compared
            .iter()
            .all(|name| used("steps.diff.outputs.").contains(*name))
    );
    let checked = [&checked[..], &["deleted", "stuck", "diff-json-file"]].concat();
    assert_eq!(
        names("outputs"),
        checked.into_iter().map(str::to_owned).collect(),
        "each output has a test here"
    );
    // Each script reads every variable that its step sets, so no input is without effect.
    let steps = action["runs"]["steps"].as_sequence().expect("steps");
    for step in steps.iter().filter(|step| step["uses"].is_null()) {
        let script = step["run"]
            .as_str()
            .and_then(|run| run.strip_prefix("bash \"$GITHUB_ACTION_PATH/"));
        let script = script
            .and_then(|script| script.strip_suffix('"'))
            .expect("a step runs one script");
        let script =
            std::fs::read_to_string(crate::support::root().join(script)).expect("the script");
        for name in step["env"]
            .as_mapping()
            .into_iter()
            .flatten()
            .filter_map(|(name, _)| name.as_str())
        {
            assert!(
                script.contains(&format!("${{{name}"))
                    || script.contains(&format!("${name}"))
                    || name == "GH_TOKEN",
                "{name}"
            );
        }
    }
}
