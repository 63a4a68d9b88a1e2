//! The job of `templates/merge-request.yml`, run like GitLab's runner, against a fake of GitLab's API for notes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::CLEAN;
use super::merging::{SAID, a_definition_leaves};
use super::stage::{Checkout, Stage, tools};
use crate::support::{blocks_of, page, root};

/// The result of a job.
struct Run {
    status: i32,
    log: String,
    workspace: PathBuf,
}

/// Returns the two documents of the template: its inputs, and the job with the inputs inserted.
fn template(given: &BTreeMap<&str, &str>) -> (Value, Value) {
    let text = std::fs::read_to_string(root().join("templates/merge-request.yml")).expect("a file");
    let (head, job) = text.split_once("\n---\n").expect("two documents");
    let [head, mut job] =
        [head, job].map(|text| serde_yaml::from_str::<Value>(text).expect("YAML"));
    for (name, input) in head["spec"]["inputs"].as_object().expect("inputs") {
        let default = input["default"].as_str().unwrap_or_default();
        let value = given.get(name.as_str()).unwrap_or(&default);
        let place = format!("$[[ inputs.{name} ]]");
        assert!(job.to_string().contains(&place), "{name} is not used");
        write_in(&mut job, &place, value);
    }
    assert!(!job.to_string().contains("$[["), "an input is not declared");
    (head, job)
}

/// Inserts an input into the texts of a job. GitLab does not insert inputs into the YAML itself.
fn write_in(job: &mut Value, place: &str, value: &str) {
    match job {
        Value::String(text) => *text = text.replace(place, value),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| write_in(item, place, value)),
        Value::Object(entries) => {
            let values = entries.values_mut();
            values.for_each(|entry| write_in(entry, place, value));
        }
        _ => {}
    }
}

/// Runs the job on the merge commit or on the last commit. Only GitLab and the template set variables.
fn run_job(stage: &Stage, checkout: &str, inputs: &[(&str, &str)], token: Option<&str>) -> Run {
    let workspace = stage.root().join("pull-Full");
    if !workspace.exists() {
        stage.pull_request(Checkout::Full);
    }
    let commit = match checkout {
        "merged_result" => "refs/remotes/pull/7/merge",
        _ => "refs/remotes/pull/7/merge^2",
    };
    stage.git("pull-Full", &["clean", "-ffdxq"]);
    stage.git("pull-Full", &["checkout", "-q", commit]);
    let target = stage.git("pull-Full", &["rev-parse", "refs/remotes/pull/7/merge^1"]);
    let base = stage.git("pull-Full", &["merge-base", &target, commit]);
    let (_, job) = template(&BTreeMap::from_iter(inputs.iter().copied()));
    let job = &job["ownerlint"];
    stage.program("curl", CURL);
    let binary = stage.root().join("bin/ownerlint");
    if !binary.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ownerlint"), &binary).expect("a link");
    }
    let script = stage.root().join("job.sh");
    std::fs::write(&script, job["script"][0].as_str().expect("a script")).expect("a file");
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new("bash");
    command
        .arg(&script)
        .current_dir(&workspace)
        .env_clear()
        .env(
            "PATH",
            format!("{}:{path}", stage.root().join("bin").display()),
        )
        .env("HOME", stage.root().join("home"))
        .env("FAKE_GITLAB", stage.root().join("gitlab"))
        .env("CI_API_V4_URL", "https://gitlab.example/api/v4")
        .env("CI_MERGE_REQUEST_PROJECT_ID", "42")
        .env("CI_MERGE_REQUEST_IID", "7")
        .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)
        .env("CI_MERGE_REQUEST_EVENT_TYPE", checkout)
        .env("CI_JOB_URL", "https://gitlab.example/shop/deploy/-/jobs/9");
    for (name, value) in job["variables"].as_object().expect("variables") {
        command.env(name, value.as_str().expect("text"));
    }
    if let Some(token) = token {
        command.env("OWNERLINT_TOKEN", token);
    }
    let output = command.output().expect("bash runs");
    let log =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Run {
        status: output.status.code().expect("a status"),
        log: log.concat(),
        workspace,
    }
}

fn notes(stage: &Stage) -> Vec<Value> {
    serde_json::from_str(&stage.read("gitlab/notes.json")).expect("JSON")
}

/// Adds `count` notes of other people to the merge request. One of them imitates ours.
fn with_notes(stage: &Stage, count: usize) {
    let note = |id: usize| {
        let body = if id == 1 {
            "<!-- ownerlint -->\nall is well"
        } else {
            "LGTM"
        };
        json!({"id": id, "body": body, "system": false, "author": {"id": 5, "username": "ann"}})
    };
    let notes: Vec<_> = (1..=count).map(note).collect();
    stage.write("gitlab/notes.json", &Value::from(notes).to_string());
}

const TOKEN: Option<&str> = Some("the-token");

#[test]
fn single_note_lists_deletions_and_is_updated() {
    if !tools() {
        return;
    }
    for event in ["detached", "merged_result"] {
        let stage = a_definition_leaves();
        // More notes than fit on one page of the API.
        with_notes(&stage, 130);
        let run = run_job(&stage, event, &[], TOKEN);
        assert_eq!(run.status, 1, "{}", run.log);
        let after = notes(&stage);
        assert_eq!(after.len(), 131, "{}", run.log);
        let body = after[130]["body"].as_str().expect("text");
        assert!(
            body.starts_with(&format!("<!-- ownerlint -->\n{SAID}")),
            "{body}"
        );
        assert!(body.contains("\n## ownerlint: "), "{body}");
        let report = std::fs::read_to_string(run.workspace.join("gl-code-quality-report.json"));
        let report: Value = serde_json::from_str(&report.expect("a report")).expect("JSON");
        assert!(report.is_array(), "{report}");

        let run = run_job(&stage, event, &[("fail-on", "never")], TOKEN);
        assert_eq!(run.status, 0, "{}", run.log);
        assert!(notes(&stage) == after, "the same note, the same text");
    }
}

#[test]
fn change_without_deletions_adds_no_note_but_updates_existing_one() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[("m/clean.yaml", CLEAN)],
        &[(
            "m/more.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n",
        )],
        &[],
    );
    with_notes(&stage, 3);
    let run = run_job(&stage, "detached", &[], TOKEN);
    assert_eq!((run.status, notes(&stage).len()), (0, 3), "{}", run.log);

    let mut old = notes(&stage);
    old.push(json!({"id": 4, "body": "<!-- ownerlint -->\n## old", "system": false, "author": {"id": 77}}));
    stage.write("gitlab/notes.json", &Value::from(old).to_string());
    let run = run_job(&stage, "detached", &[], TOKEN);
    let mended = notes(&stage)[3]["body"].to_string();
    assert!(
        mended.contains("Merging this deletes nothing."),
        "{mended}\n{}",
        run.log
    );
}

const KEYS: &str = "CustomResourceDefinition.apiextensions.k8s.io//ships.example.com\r\nShip.example.com/shop/flagship";

/// Runs the job with the input `accept` on a merge request by user 8, with a note by user `who`,
/// written and last edited at `times`.
fn accepting(stage: &Stage, who: (u64, &str), body: &str, times: [&str; 2]) -> Run {
    let note = json!({
        "id": 1, "body": body, "system": false, "author": {"id": who.0, "username": who.1},
        "created_at": times[0], "updated_at": times[1],
    });
    stage.write("gitlab/notes.json", &Value::from(vec![note]).to_string());
    run_job(stage, "detached", &[("accept", "true")], TOKEN)
}

#[test]
fn deletion_is_accepted_only_by_other_developer_naming_every_object() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    let all = format!("/ownerlint accept\r\n{KEYS}");
    let (ann, once) = ((5, "ann"), ["1", "1"]);
    let run = accepting(&stage, ann, &all, once);
    assert_eq!(run.status, 0, "{}", run.log);
    let body = notes(&stage)[1]["body"].to_string();
    assert!(body.contains("(accepted by ann)"), "{body}");
    let some = "/ownerlint accept\nShip.example.com/shop/flagship";
    let quoted = format!("I like it\n{all}");
    for (who, body, times) in [
        ((8, "the-author"), all.as_str(), once),
        ((6, "a-reporter"), &all, once),
        ((9, "a-stranger"), &all, once),
        ((5, "project_42_bot_a1"), &all, once),
        (ann, &all, ["1", "2"]),
        (ann, some, once),
        (ann, &quoted, once),
    ] {
        let run = accepting(&stage, who, body, times);
        assert_eq!(run.status, 1, "{who:?} {body} {times:?}: {}", run.log);
    }
    for (inputs, token, said) in [
        (&[][..], TOKEN, ""),
        (
            &[("accept", "true")],
            None,
            "nothing is accepted: the variable OWNERLINT_TOKEN is not set\n",
        ),
        (
            &[("accept", "true")],
            Some("another"),
            "nothing is accepted: the comments cannot be read\n",
        ),
    ] {
        accepting(&stage, ann, &all, once);
        let run = run_job(&stage, "detached", inputs, token);
        assert_eq!(run.status, 1, "{}", run.log);
        assert!(run.log.contains(said), "{}", run.log);
    }
}

#[test]
fn missing_or_rejected_token_only_prevents_the_note() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    with_notes(&stage, 1);
    let run = run_job(&stage, "detached", &[], None);
    assert_eq!(run.status, 1, "{}", run.log);
    assert!(
        run.log.contains("the variable OWNERLINT_TOKEN is not set"),
        "{}",
        run.log
    );
    let run = run_job(&stage, "detached", &[], Some("another"));
    assert_eq!(run.status, 1, "{}", run.log);
    assert!(run.log.contains("401"), "{}", run.log);
    assert!(run.log.contains("\nno note was written\n"), "{}", run.log);
    assert_eq!(notes(&stage).len(), 1);
}

#[test]
fn failed_run_exits_2_and_empty_input_exits_3() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("a.md", "a\n")], &[("b.md", "b\n")], &[]);
    with_notes(&stage, 1);
    assert_eq!(run_job(&stage, "detached", &[], TOKEN).status, 3);
    assert_eq!(
        run_job(&stage, "detached", &[("require-known", "true")], TOKEN).status,
        2
    );

    let stage = a_definition_leaves();
    with_notes(&stage, 1);
    run_job(&stage, "detached", &[], TOKEN);
    let run = run_job(&stage, "detached", &[("paths", "absent")], TOKEN);
    assert_eq!(run.status, 2, "{}", run.log);
    let body = notes(&stage)[1]["body"].to_string();
    assert!(body.contains("## ownerlint did not finish"), "{body}");
    assert!(
        body.contains("https://gitlab.example/shop/deploy/-/jobs/9"),
        "{body}"
    );
}

#[test]
fn file_names_and_inputs_of_merge_request_are_not_executed() {
    if !tools() {
        return;
    }
    let hostile = "apiVersion: v1\nkind: Secret\nmetadata: {name: \"x$(touch pwned)`touch pwned`\", namespace: '';touch pwned;''}\n";
    let stage = Stage::new(
        &[("m/clean.yaml", CLEAN)],
        &[("m/$(touch pwned).yaml", hostile)],
        &[],
    );
    with_notes(&stage, 0);
    run_job(&stage, "detached", &[("paths", "m\n$(touch pwned)")], TOKEN);
    assert!(!stage.holds_file_named("pwned"));
}

#[test]
fn gitlab_guide_documents_every_input_and_uses_only_declared_ones() {
    let (head, _) = template(&BTreeMap::new());
    let inputs = head["spec"]["inputs"].as_object().expect("inputs");
    let guide = page("docs/guide/gitlab.md");
    let uses = blocks_of(&guide, ".gitlab-ci.yml");
    assert_eq!(uses.len(), 1);
    let used = serde_json::to_value(&uses[0]).expect("JSON");
    let used = used["include"][0]["inputs"].as_object().expect("inputs");
    for name in used.keys() {
        assert!(inputs.contains_key(name), "{name}");
    }
    for (name, input) in inputs {
        let default = &input["default"];
        assert!(!default.is_null() || used.contains_key(name), "{name}");
        let default = match default.as_str().unwrap_or_default() {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let description = input["description"].as_str().expect("text");
        let row = format!("| `{name}` | {default} | {description} |\n");
        assert!(guide.contains(&row), "no row {row}");
    }
}

/// The part of `curl` that the job uses, with pages of 100 notes, oldest first, like GitLab's API.
const CURL: &str = r#"#!/usr/bin/env bash
set -euo pipefail
cd "$FAKE_GITLAB"
method=GET body=
while [[ $# -gt 1 ]]; do
  case "$1" in
    --silent | --show-error | --fail) shift ;;
    --header) header=$(cat "${2#@}"); shift 2 ;;
    --request) method=$2; shift 2 ;;
    --data-urlencode) [[ "$2" == body@* ]]; body=${2#body@}; shift 2 ;;
    *) exit 9 ;;
  esac
done
[[ "$header" == "PRIVATE-TOKEN: the-token" ]] || { echo "curl: (22) The requested URL returned error: 401" >&2; exit 22; }
project=https://gitlab.example/api/v4/projects/42
notes=$project/merge_requests/7/notes
case "$method $1" in
  "GET $project/merge_requests/7") echo '{"author": {"id": 8}}' ;;
  "GET $project/members/all/5") echo '{"access_level": 30}' ;;
  "GET $project/members/all/6") echo '{"access_level": 20}' ;;
  "GET $project/members/all/"*) echo "curl: (22) The requested URL returned error: 404" >&2; exit 22 ;;
  "GET https://gitlab.example/api/v4/user") echo '{"id": 77, "username": "project_42_bot"}' ;;
  "GET $notes?per_page=100&page="*) jq --argjson page "${1##*=}" '.[($page - 1) * 100:$page * 100]' notes.json ;;
  "POST $notes")
    jq --rawfile body "$body" '. + [{id: (length + 1), body: $body, system: false, author: {id: 77}}]' notes.json >new
    mv new notes.json ;;
  "PUT $notes/"*)
    jq --rawfile body "$body" --argjson id "${1##*/}" 'map(if .id == $id then .body = $body else . end)' notes.json >new
    mv new notes.json ;;
  *) exit 9 ;;
esac
"#;
