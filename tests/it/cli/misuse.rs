//! Misuse of the command line (one clear message, a suggestion, status 2), and the other exit statuses.

use assert_cmd::Command;
use predicates::str::contains;

use crate::support::{Repository, ownerlint};

fn fails(arguments: &[&str], status: i32, message: &str) -> assert_cmd::assert::Assert {
    ownerlint()
        .args(arguments)
        .assert()
        .code(status)
        .stderr(contains(message))
}

#[test]
fn missing_path_suggests_nearest_path() {
    fails(
        &["fixtures/bundels"],
        2,
        "cannot read `fixtures/bundels`: no such file or folder",
    )
    .stderr(contains("did you mean `fixtures/bundles`?"));
}

#[test]
fn removal_of_a_release_is_a_teardown() {
    for word in ["uninstall", "teardown", "destroy"] {
        fails(&[word, "web"], 2, "there is no command or path")
            .stderr(contains("did you mean `ownerlint plan teardown`?"));
    }
}

#[test]
fn misspelt_command_gets_a_suggestion() {
    fails(
        &["chekc", "fixtures"],
        2,
        "there is no command or path `chekc`",
    )
    .stderr(contains("did you mean `ownerlint check`?"));
}

#[test]
fn base_without_head_suggests_a_branch_without_an_option() {
    fails(&["diff", "--base", "main"], 2, "--head <PATH>").stderr(contains(
        "a branch or commit needs no option: `ownerlint diff main`",
    ));
}

#[test]
fn unknown_rule_is_rejected_with_a_suggestion() {
    fails(
        &["--select", "owner-cross-namspace", "fixtures"],
        2,
        "there is no rule `owner-cross-namspace`",
    )
    .stderr(contains("did you mean `owner-cross-namespace`?"));
    fails(
        &["explain", "nothing-like-it"],
        2,
        "there is no rule `nothing-like-it`",
    )
    .stderr(contains("ownerlint rules"));
    fails(&["explain", "GC-999"], 2, "there is no rule `GC-999`");
    fails(
        &["explain", "Deployment"],
        2,
        "no operator file mentions the kind `Deployment`",
    )
    .stderr(contains("ownerlint plan delete"));
}

#[test]
fn unknown_format_lists_or_suggests_formats() {
    fails(&["--output", "jsn", "fixtures"], 2, "did you mean `json`?");
    fails(
        &["--output", "pdf", "fixtures"],
        2,
        "formats are: human, concise, json",
    );
}

#[test]
fn format_with_colon_but_no_file_is_rejected() {
    fails(&["--output", "json:", "fixtures"], 2, "names no file");
}

#[test]
fn two_outputs_to_standard_output_are_rejected() {
    fails(
        &["--output", "json", "--output", "concise", "fixtures"],
        2,
        "two outputs go to standard output: `json` and `concise`",
    )
    .stderr(contains("--output concise:FILE"));
}

#[test]
fn unwritable_output_file_is_named() {
    fails(
        &[
            "--output",
            "json:no/such/folder/out.json",
            "fixtures/bundles",
        ],
        2,
        "cannot write `no/such/folder/out.json`",
    );
}

#[test]
fn unknown_severity_is_rejected() {
    fails(
        &["--fail-on", "fatal", "fixtures"],
        2,
        "write `error`, `warning`, `info` or `never`",
    );
}

#[test]
fn malformed_kubernetes_version_is_rejected() {
    fails(
        &["--kubernetes-version", "latest", "fixtures"],
        2,
        "--kubernetes-version",
    );
}

#[test]
fn future_kubernetes_version_uses_newest_known_one_with_a_warning() {
    let warning = "warning: Kubernetes 1.99 is not known yet; the kinds of 1.37 are used\n";
    let folder = "fixtures/bundles/rook";
    let known = ownerlint()
        .args(["list", folder])
        .assert()
        .code(0)
        .stderr("")
        .get_output()
        .stdout
        .clone();
    ownerlint()
        .args(["list", "--kubernetes-version", "1.99", folder])
        .assert()
        .code(0)
        .stderr(warning)
        .stdout(known);
    let configured = tempfile::tempdir().expect("a folder");
    let config = configured.path().join("ownerlint.yaml");
    std::fs::write(&config, "version: 1\nkubernetes-version: \"1.99\"\n").expect("a file");
    ownerlint()
        .args(["list", folder, "--config"])
        .arg(config)
        .assert()
        .code(0)
        .stderr(warning);
}

#[test]
fn invalid_namespace_is_rejected() {
    for command in [
        &["-n", "Shop_X", "fixtures"][..],
        &["plan", "delete", "ns/x", "-n", "Shop_X", "-f", "fixtures"],
    ] {
        fails(
            command,
            2,
            "invalid value 'Shop_X' for '--namespace <NAME>': a namespace has a name of lower-case letters",
        );
    }
}

#[test]
fn unrendered_chart_exits_3_with_render_suggestion() {
    let folder = tempfile::tempdir().expect("a folder");
    let template = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n";
    std::fs::write(folder.path().join("Chart.yaml"), "name: web\n").expect("a file");
    std::fs::write(folder.path().join("service.yaml"), template).expect("a file");
    let path = folder.path().to_str().expect("a plain path");
    let render = format!("render the chart first: `helm template web {path} | ownerlint -`");
    fails(&[path], 3, "nothing was checked, only 1 template skipped").stderr(contains(render));
    fails(&["--allow-empty", path], 3, "nothing was checked");
}

#[test]
fn allow_empty_rejects_unrendered_templates_in_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let template = "apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\n";
    std::fs::write(folder.path().join("Chart.yaml"), "name: web\n").expect("a file");
    std::fs::write(folder.path().join("service.yaml"), template).expect("a file");
    let path = folder.path().to_str().expect("a plain path");
    let baseline = folder.path().join("baseline.json");
    let baseline = baseline.to_str().expect("a plain path");
    let commands: [&[&str]; 8] = [
        &["check", path],
        &["check", "--fix-dry-run", path],
        &["list", path],
        &["diff", "--base", path, "--head", path],
        &["plan", "delete", "ns/shop", "-f", path],
        &["plan", "teardown", "--by", "helm", path],
        &["baseline", "write", "--baseline", baseline, path],
        &["baseline", "update", "--baseline", baseline, path],
    ];
    for command in commands {
        fails(
            &[command, &["--allow-empty"]].concat(),
            3,
            "no Kubernetes object found",
        );
    }
}

#[test]
fn list_of_unknown_object_suggests_keys() {
    let of = |target: &str, message: &str| {
        let folder = "fixtures/examples/argocd";
        fails(
            &["list", "--deliveries", folder, "--of", target],
            3,
            message,
        );
    };
    of(
        "sts/crt",
        "no delivery that was read applies `sts/crt` (2 inputs not read may apply it); did you mean `StatefulSet.apps/shop/cart`?",
    );
    of(
        "widget/cart",
        "applies `widget/cart` (2 inputs not read may apply it); the deliveries apply: `Namespace`",
    );
}

#[test]
fn list_of_incomplete_or_ambiguous_object_is_rejected() {
    let folder = "fixtures/examples/flux";
    let list = ["list", "--deliveries", folder];
    fails(
        &[&list[..], &["--of", "web-prod"]].concat(),
        2,
        "`web-prod` does not say which object",
    );
    fails(
        &[&list[..], &["--namespace", "shop"]].concat(),
        2,
        "`--namespace` does not change which deliveries are listed",
    );
    fails(&["list", folder, "--of", "deploy/web"], 2, "--deliveries");
}

#[test]
fn zero_threads_are_rejected() {
    fails(&["--threads", "0", "fixtures"], 2, "at least one thread");
}

#[test]
fn unmatched_or_malformed_glob_is_rejected() {
    fails(
        &["fixtures/**/*.toml"],
        2,
        "no file matches `fixtures/**/*.toml`",
    );
    fails(&["fixtures/[a.yaml"], 2, "is not a valid glob");
}

#[test]
fn unknown_option_is_rejected_with_a_suggestion() {
    fails(&["--namespce", "shop", "fixtures"], 2, "--namespace");
}

#[test]
fn input_without_objects_exits_3_unless_allowed() {
    let empty = tempfile::tempdir().expect("a folder");
    let path = empty.path().to_str().expect("a plain path");
    fails(&[path], 3, "no Kubernetes object found");
    ownerlint().args(["--allow-empty", path]).assert().code(0);
}

#[test]
fn fail_on_decides_exit_status() {
    let (bad, bundles) = ("fixtures/rules/duplicate-key/bad", "fixtures/bundles");
    let repository = Repository::of_copies(&[bad, bundles]);
    let status = |arguments: &[&str]| repository.run(arguments, "").0;
    assert_eq!(status(&[bad]), 0);
    assert_eq!(status(&["--fail-on", "warning", bad]), 1);
    assert_eq!(status(&["--fail-on", "never", bundles]), 0);
}

#[test]
fn explain_rejects_a_kind_after_a_rule() {
    let output = ownerlint()
        .args(["explain", "crd-removed", "Deployment.apps"])
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("`crd-removed` is a rule"), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn failing_concise_run_prints_counts_and_explain_commands_to_stderr() {
    let repository = Repository::of_copies(&["fixtures/bundles/rook"]);
    let run = |arguments: &[&str]| {
        let concise = ["--output", "concise", "fixtures/bundles/rook"];
        repository.run(&[&concise[..], arguments].concat(), "")
    };
    let (status, text, error) = run(&[]);
    assert!(
        text.lines().all(|line| line.starts_with("fixtures/")),
        "a program reads standard output: {text}"
    );
    let counts = "1 error, 2 warnings; why, and how to fix it:\n  ownerlint explain owner-of-cluster-scoped\n";
    assert_eq!((status, error.as_str()), (1, counts));
    for passing in [&["--fail-on", "never"][..], &["--exit-zero"]] {
        let (status, _, error) = run(passing);
        assert_eq!((status, error.as_str()), (0, ""));
    }
}

#[test]
fn help_contains_example_and_exit_status() {
    let assert = |command: &mut Command| command.arg("--help").assert().code(0);
    assert(&mut ownerlint())
        .stdout(contains("helm template web ./chart | ownerlint -"))
        .stdout(contains("Exit status:"));
}

#[test]
fn closed_pipe_is_not_a_failure() {
    // The program starts once nothing reads from the pipe.
    let script = format!(
        "{{ read -r _ < closed; {} rules 2> error; echo $? > status; }} | {{ exec <&-; echo > closed; }}",
        env!("CARGO_BIN_EXE_ownerlint")
    );
    let inside = Repository::new();
    let folder = inside.path();
    let mut command = Command::new("bash");
    command
        .current_dir(&folder)
        .args(["-c", &format!("mkfifo closed; {script}")]);
    command.assert().code(0);
    assert_eq!(
        (inside.read("status"), inside.read("error")),
        ("0\n".to_owned(), String::new())
    );
}

/// Returns the commands that a help text lists.
fn listed_commands(help: &str) -> Vec<String> {
    let section = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let names = section.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !name.is_empty() && *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_help_of_every_command_fits_80_columns() {
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = 0;
    while let Some(words) = pending.pop() {
        let output = ownerlint()
            .env("COLUMNS", "80")
            .args(&words)
            .arg("--help")
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let wide: Vec<_> = text
            .lines()
            .filter(|line| line.chars().count() > 80)
            .collect();
        assert_eq!(wide, [""; 0], "ownerlint {} --help", words.join(" "));
        pending.extend(
            listed_commands(&text)
                .into_iter()
                .map(|below| [&words[..], &[below]].concat()),
        );
        seen += 1;
    }
    assert!(seen > 14, "{seen} commands were looked at");
}

/// Returns the rules with findings in a JSON report.
fn rules_of(arguments: &[&str]) -> Vec<String> {
    let output = ownerlint()
        .args(arguments)
        .args(["--fail-on", "never", "-o", "json", "fixtures/bundles/rook"])
        .output()
        .expect("it runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rules = report["rules"].as_array().expect("rules").iter();
    rules
        .map(|rule| rule["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[test]
fn rules_are_selected_by_category_and_prefix() {
    let of_finalizers = rules_of(&["--select", "finalizers"]);
    assert!(of_finalizers.contains(&"finalizer-unknown".to_owned()));
    assert!(!of_finalizers.contains(&"owner-not-found".to_owned()));
    let owners = rules_of(&["--select", "owner-*", "--ignore", "owner-self"]);
    assert!(owners.len() > 10 && owners.iter().all(|id| id.starts_with("owner-")));
    assert!(!owners.contains(&"owner-self".to_owned()));
    fails(
        &["--select", "ownr-*", "fixtures"],
        2,
        "there is no rule `ownr-*`",
    );
}

#[test]
fn statistics_count_findings_by_rule() {
    let arguments = [
        "--statistics",
        "--fail-on",
        "never",
        "fixtures/bundles/rook",
    ];
    let run = ownerlint().args(arguments).output().expect("it runs");
    let text = String::from_utf8(run.stdout).expect("text");
    let row = |name: &str| -> Vec<usize> {
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        let cells = line
            .unwrap_or_else(|| panic!("{name}: {text}"))
            .split_whitespace()
            .skip(1);
        cells.map(|cell| cell.parse().expect("a number")).collect()
    };
    assert!(text.starts_with("rule"), "{text}");
    assert_eq!(row("owner-of-cluster-scoped")[0], 1, "{text}");
    let run = ownerlint().args(arguments).args(["-o", "json"]).output();
    let report: serde_json::Value =
        serde_json::from_slice(&run.expect("it runs").stdout).expect("JSON");
    let errors = report["statistics"].as_array().expect("statistics").iter();
    let errors: u64 = errors.filter_map(|rule| rule["error"].as_u64()).sum();
    assert_eq!(usize::try_from(errors).ok(), row("all").first().copied());
    assert!(!report["findings"].as_array().expect("findings").is_empty());
}

#[test]
fn short_help_has_at_most_50_lines() {
    for command in ["check", "diff", "plan", "list", "init", "explain", "learn"] {
        let short = ownerlint().args([command, "-h"]).output().expect("it runs");
        let lines = String::from_utf8(short.stdout)
            .expect("text")
            .lines()
            .count();
        assert!(lines <= 50, "{command}: {lines} lines");
        let long = ownerlint()
            .args([command, "--help"])
            .output()
            .expect("it runs");
        let long = String::from_utf8(long.stdout).expect("text");
        assert!(
            long.lines().count() > lines && long.contains("Exit status:"),
            "{command}"
        );
    }
}

#[test]
fn short_help_of_teardown_explains_option_by() {
    let help = ownerlint().args(["plan", "teardown", "-h"]).output();
    let help = String::from_utf8(help.expect("it runs").stdout).expect("text");
    assert!(help.contains("--by <TOOL>"), "{help}");
    assert!(help.contains("The tool that removes everything"), "{help}");
}

#[test]
fn explanation_shows_items_of_list_on_lines_of_their_own() {
    let output = ownerlint()
        .args(["explain", "operator-deleted-first"])
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    for start in [
        "\n  * **Helm** deletes",
        "\n  * **Argo CD** deletes",
        "\n  * **Flux** deletes",
    ] {
        assert!(said.contains(start), "{said}");
    }
    assert!(said.contains("race.\n\n  The finding is info"), "{said}");
}
