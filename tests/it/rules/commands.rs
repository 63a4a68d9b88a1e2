//! Every `kubectl` command that a rule or a plan prints, split like a shell: names from manifests stay single words.

use ownerlint::kube::kubectl::{self, Target};
use ownerlint::kube::{Namespace, kinds};
use serde_json::{Value, json};

use crate::support::ownerlint;

/// Names that a shell, a terminal or kubectl would interpret.
const HOSTILE: [&str; 9] = [
    "x; touch pwned #",
    "'; touch pwned; '",
    "a\"b",
    "$(touch pwned)",
    "a`touch pwned`b",
    "two\nlines",
    "-o=name",
    "--all",
    "\u{1b}[31mred\u{7}\u{202e}",
];

/// Returns an object of an unknown kind with a finalizer that no controller removes, in a Namespace with another one.
fn manifests(hostile: &str) -> String {
    let held = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": hostile, "namespace": "shop", "finalizers": ["example.com/a", "example.com/hold"]},
    });
    let elsewhere = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "plain", "namespace": hostile, "finalizers": ["example.com/hold", "foregroundDeletion"]},
    });
    let misplaced = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": hostile, "namespace": "shop", "finalizers": ["kubernetes.io/pvc-protection"]},
    });
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": hostile}, "spec": {"finalizers": ["kubernetes", "example.com/hold"]},
    });
    let template = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": hostile},
        "spec": {"template": {"metadata": {"finalizers": ["example.com/hold"]}}},
    });
    let all = [held, elsewhere, misplaced, namespace, template];
    all.map(|object| format!("---\n{object}\n")).concat()
}

/// Splits a line as a shell does.
fn split(line: &str) -> Vec<String> {
    shlex::split(line).expect("balanced quotes")
}

/// Returns the commands between backticks in a text. Each ends at the first backtick that leaves no quote open.
fn commands(text: &str) -> Vec<String> {
    let starts = text
        .match_indices("`kubectl ")
        .map(|(at, _)| &text[at + 1..]);
    let command = |rest: &str| {
        let ends = rest.match_indices('`').map(|(at, _)| &rest[..at]);
        ends.into_iter()
            .find(|command| shlex::split(command).is_some())
            .map(str::to_owned)
    };
    starts.filter_map(command).collect()
}

fn findings(hostile: &str) -> Vec<Value> {
    let output = ownerlint()
        .args(["--no-config", "-o", "json", "-"])
        .write_stdin(manifests(hostile))
        .output();
    let output = output.expect("it runs").stdout;
    let report: Value = serde_json::from_slice(&output).expect("a report");
    report["findings"].as_array().expect("findings").clone()
}

/// Returns a name as commands show it: characters that end the line or control a terminal are in no name that the API
/// server accepts, and are replaced by pictures.
fn shown(text: &str) -> String {
    match text {
        "two\nlines" => "two␊lines".to_owned(),
        "\u{1b}[31mred\u{7}\u{202e}" => "␛[31mred␇\u{fffd}".to_owned(),
        text => text.to_owned(),
    }
}

/// Returns the words that name an object: a name that looks like an option is joined to its type.
fn object(resource: &str, name: &str) -> Vec<String> {
    if name.starts_with('-') {
        vec![format!("{resource}/{name}")]
    } else {
        vec![resource.to_owned(), name.to_owned()]
    }
}

fn patch(at: usize, finalizer: &str) -> String {
    let path = format!("/metadata/finalizers/{at}");
    format!(
        r#"[{{"op":"test","path":"{path}","value":"{finalizer}"}},{{"op":"remove","path":"{path}"}}]"#
    )
}

#[test]
fn rule_commands_split_into_the_intended_words() {
    for hostile in HOSTILE {
        let name = shown(hostile);
        let findings = findings(hostile);
        let printed: Vec<Vec<String>> = findings
            .iter()
            .flat_map(|finding| commands(finding["help"].as_str().expect("a help")))
            .map(|command| split(&command))
            .collect();
        let removal = |object: Vec<String>, namespace: &str, at: usize, finalizer: &str| {
            let words = ["kubectl".to_owned(), "patch".to_owned()]
                .into_iter()
                .chain(object);
            let options = ["-n", namespace, "--type=json", "-p"].map(str::to_owned);
            words
                .chain(options)
                .chain([patch(at, finalizer)])
                .collect::<Vec<String>>()
        };
        for wanted in [
            removal(
                object("Widget.example.com", &name),
                "shop",
                0,
                "example.com/a",
            ),
            removal(
                object("Widget.example.com", &name),
                "shop",
                1,
                "example.com/hold",
            ),
            removal(
                object("Secret", &name),
                "shop",
                0,
                "kubernetes.io/pvc-protection",
            ),
            removal(object("ConfigMap", "plain"), &name, 0, "example.com/hold"),
            removal(object("Pod", "NAME"), &name, 0, "example.com/hold"),
        ] {
            assert!(
                printed.contains(&wanted),
                "{hostile:?}: {wanted:?} is not among {printed:#?}"
            );
        }
        // No name became a command: every word from the manifest is one of these.
        for words in &printed {
            assert!(
                words.iter().all(|word| word != "touch" && word != "pwned"),
                "{hostile:?}: {words:?}"
            );
        }
    }
}

#[test]
fn commands_contain_no_control_characters() {
    for hostile in HOSTILE {
        for finding in findings(hostile) {
            let help = finding["help"].as_str().expect("a help");
            for command in commands(help) {
                assert!(
                    !command.contains(|c: char| c.is_control() || c == '\u{202e}'),
                    "{hostile:?}: {command:?}"
                );
            }
        }
    }
}

#[test]
fn patches_test_and_remove_a_single_entry() {
    let all: Vec<Value> = HOSTILE
        .iter()
        .flat_map(|hostile| findings(hostile))
        .collect();
    let helps = all.iter().filter_map(|finding| finding["help"].as_str());
    let patches: Vec<String> = helps
        .flat_map(commands)
        .filter(|command| command.contains(" patch "))
        .collect();
    assert!(!patches.is_empty());
    for patch in patches {
        let words = split(&patch);
        let operations: Value =
            serde_json::from_str(words.last().expect("words")).expect("a JSON patch");
        assert_eq!(
            (&operations[0]["op"], &operations[1]["op"]),
            (&json!("test"), &json!("remove")),
            "{patch}"
        );
        assert_eq!(operations[0]["path"], operations[1]["path"], "{patch}");
        assert_eq!(operations.as_array().map(Vec::len), Some(2), "{patch}");
    }
}

#[test]
fn help_for_misplaced_protection_warns_of_damage() {
    let all = findings("settings");
    let misplaced = all.iter().find(|finding| {
        finding["rule"] == "finalizer-misplaced" && finding["object"] == "Secret/shop/settings"
    });
    let help = misplaced.expect("finalizer-misplaced")["help"]
        .as_str()
        .expect("a help");
    assert!(
        help.contains("on a claim in use, this breaks the Pods that use its data"),
        "{help}"
    );
}

#[test]
fn hostile_finalizer_round_trips_through_patch_command() {
    for hostile in HOSTILE {
        let target = Target::new(
            kinds::POD.to_string(),
            "web",
            &Namespace::Named("shop".into()),
        );
        let stored = ["a/b", hostile, "c/d"].map(str::to_owned);
        let command = kubectl::remove_finalizers(&target, &stored, &[hostile.to_owned()]);
        assert!(!command.contains(char::is_control), "{command:?}");
        let words = split(&command);
        assert_eq!(
            words[..7],
            [
                "kubectl",
                "patch",
                "Pod",
                "web",
                "-n",
                "shop",
                "--type=json"
            ]
        );
        let operations: Value = serde_json::from_str(&words[8]).expect("a JSON patch");
        assert_eq!(
            operations[0],
            json!({"op": "test", "path": "/metadata/finalizers/1", "value": hostile})
        );
        assert_eq!(
            operations[1],
            json!({"op": "remove", "path": "/metadata/finalizers/1"})
        );
    }
}

#[test]
fn all_finalizers_use_a_merge_patch_and_some_a_json_patch() {
    let target = Target::new(
        kinds::POD.to_string(),
        "web",
        &Namespace::Named("shop".into()),
    );
    let stored: Vec<String> = (0..30)
        .map(|number| format!("example.com/{number}"))
        .collect();
    let whole = split(&kubectl::remove_finalizers(&target, &stored, &stored));
    assert_eq!(
        whole[6..],
        ["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]
    );
    let part = split(&kubectl::remove_finalizers(&target, &stored, &stored[1..]));
    let operations: Vec<Value> = serde_json::from_str(&part[8]).expect("a JSON patch");
    assert_eq!(operations.len(), 2 * 29);
}

#[test]
fn namespace_spec_finalizer_is_removed_via_finalize_subresource() {
    let command = kubectl::remove_spec_finalizer("a'b", "x\"; touch pwned");
    let filter = r#"del(.spec.finalizers[] | select(. == "x\"; touch pwned"))"#;
    let get = [
        "kubectl",
        "get",
        "namespace",
        "a'b",
        "-o",
        "json",
        "|",
        "jq",
        filter,
        "|",
    ];
    let replace = [
        "kubectl",
        "replace",
        "--raw",
        "/api/v1/namespaces/a'b/finalize",
        "-f",
        "-",
    ];
    assert_eq!(split(&command), [&get[..], &replace[..]].concat());
}

#[test]
fn plan_commands_split_into_the_intended_words() {
    for hostile in HOSTILE {
        let plan = ownerlint()
            .args(["plan", "delete", "ns/shop", "-f", "-"])
            .write_stdin(manifests(hostile))
            .output();
        let plan = String::from_utf8(plan.expect("it runs").stdout).expect("UTF-8");
        let printed: Vec<Vec<String>> = plan
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("kubectl "))
            .map(split)
            .collect();
        let wanted = ["kubectl", "patch"]
            .map(str::to_owned)
            .into_iter()
            .chain(object("widget.example.com", &shown(hostile)));
        let wanted: Vec<String> = wanted
            .chain(["-n", "shop", "--type=json", "-p"].map(str::to_owned))
            .collect();
        assert!(
            printed.iter().any(|words| words.starts_with(&wanted)),
            "{hostile:?}: {wanted:?} in {plan}"
        );
        assert!(
            printed
                .iter()
                .flatten()
                .all(|word| word != "touch" && word != "pwned"),
            "{hostile:?}: {plan}"
        );
    }
}
