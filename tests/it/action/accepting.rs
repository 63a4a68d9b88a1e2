//! Acceptance of a deletion in a comment on a pull request.

use serde_json::{Value, json};

use super::merging::{SAID, a_definition_leaves};
use super::runner::Run;
use super::stage::{Checkout, Stage, tools};

const KEYS: &str = "CustomResourceDefinition.apiextensions.k8s.io//ships.example.com\r\nShip.example.com/shop/flagship";

/// Runs the action on a pull request with a comment by `login`, written and last edited at `times`.
fn commented(stage: &Stage, login: &str, body: &str, times: [&str; 2]) -> Run {
    let comment = json!({
        "id": 1, "body": body, "user": {"login": login, "type": "User"},
        "created_at": times[0], "updated_at": times[1],
    });
    stage.write("gh/comments.json", &Value::from(vec![comment]).to_string());
    stage.write(
        "gh/permissions.json",
        r#"{"ann": "write", "bob": "admin", "eve": "read"}"#,
    );
    let name = format!("pull-{:?}", Checkout::Two);
    if stage.root().join(&name).exists() {
        std::fs::remove_dir_all(stage.root().join(&name)).expect("a folder");
    }
    let job = stage.pull_request(Checkout::Two).with("accept", "true");
    job.with("comment", "true").run()
}

#[test]
fn deletion_is_accepted_only_by_other_writer_naming_every_object() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    let all = format!("/ownerlint accept\r\n{KEYS}");
    let run = commented(&stage, "ann", &all, ["1", "1"]);
    assert_eq!(run.output("exit-code"), "0", "{run:#?}");
    assert!(run.summary.starts_with(SAID), "{}", run.summary);
    assert!(run.summary.contains("(accepted by ann)"), "{}", run.summary);
    let some = "/ownerlint accept\nShip.example.com/shop/flagship";
    let quoted = format!("I like it\n{all}");
    for (who, body, times) in [
        ("bob", all.as_str(), ["1", "1"]),
        ("eve", &all, ["1", "1"]),
        ("ann", &all, ["1", "2"]),
        ("ann", some, ["1", "1"]),
        ("ann", &quoted, ["1", "1"]),
    ] {
        let run = commented(&stage, who, body, times);
        assert_eq!(run.output("exit-code"), "1", "{who} {body} {times:?}");
    }
}

#[test]
fn comments_accept_nothing_if_unreadable_or_accept_input_is_off() {
    if !tools() {
        return;
    }
    let stage = a_definition_leaves();
    let all = format!("/ownerlint accept\n{KEYS}");
    commented(&stage, "ann", &all, ["1", "1"]);
    let job = stage.pull_request(Checkout::Shallow);
    let run = job.clone().run();
    assert_eq!(
        (run.output("exit-code"), run.status("accepted")),
        ("1", None)
    );
    stage.write("gh/unreadable", "");
    let run = job.with("accept", "true").run();
    assert_eq!(run.output("exit-code"), "1", "{run:#?}");
    let notices = run.commands.iter().map(|command| command.data.as_str());
    assert!(
        notices
            .clone()
            .any(|said| said.starts_with("nothing is accepted: gh: Not Found")),
        "{run:#?}"
    );
}
