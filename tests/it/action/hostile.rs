//! Hostile file names and inputs. No part of them is run, interpreted or taken for an option.

use super::runner::{self, Run};
use super::stage::{Checkout, Stage, tools};
use super::{CLEAN, ROLE, counts};

const NAMES: [&str; 12] = [
    "a b.yaml",
    "-rf.yaml",
    "--help.yaml",
    "'quote\".yaml",
    "$(touch pwned).yaml",
    "`touch pwned`;touch pwned.yaml",
    "100%0A::error::pwned,a=b:c.yaml",
    "::error::pwned.yaml",
    "line\n::error::pwned\n::set-output name=errors::0\n.yaml",
    "##[error]pwned.yaml",
    "*.yaml",
    "|<img src=x>`[x](y).yaml",
];

fn unharmed(stage: &Stage, run: &Run) {
    assert!(
        !stage.holds_file_named("pwned"),
        "something was run: {run:#?}"
    );
    for command in &run.commands {
        assert!(
            ["error", "warning", "notice"].contains(&command.name.as_str()),
            "{command:#?}"
        );
        assert!(!command.data.starts_with("pwned"), "{command:#?}");
    }
}

#[test]
fn hostile_file_names_in_findings_inject_no_commands() {
    if !tools() {
        return;
    }
    let texts: Vec<String> = (0..NAMES.len())
        .map(|n| ROLE.replace("reader", &format!("reader-{n}")))
        .collect();
    let files: Vec<_> = NAMES
        .iter()
        .zip(&texts)
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let stage = Stage::new(&[("clean.yaml", CLEAN)], &files, &[]);
    for checkout in [Checkout::Shallow, Checkout::Full] {
        let run = stage.pull_request(checkout).with("comment", "true").run();
        assert_eq!(counts(&run), ["1", "12", "0", "12"], "{run:#?}");
        unharmed(&stage, &run);
        // Ten annotations of a kind are shown, each for a real file.
        let mut shown: Vec<&str> = run
            .commands
            .iter()
            .map(|command| command.properties["file"].as_str())
            .collect();
        shown.sort_unstable();
        shown.dedup();
        assert_eq!(shown.len(), 10);
        assert!(shown.iter().all(|name| NAMES.contains(name)), "{shown:#?}");
        assert!(
            !run.summary.contains("\n::") && !run.summary.contains("<img"),
            "{}",
            run.summary
        );
    }
}

#[test]
fn hostile_file_names_in_errors_inject_no_commands() {
    if !tools() {
        return;
    }
    let name = "line\n::error::pwned\n.yaml";
    let stage = Stage::new(&[(name, CLEAN)], &[], &[]);
    let job = stage.push();
    std::fs::write(
        job.workspace.join("ownerlint.yaml"),
        "version: 1\nbundles: {a: {paths: [\"\\n::error::pwned\"]}}\n",
    )
    .expect("a file");
    let run = job.run();
    assert_eq!(run.output("exit-code"), "2", "{run:#?}");
    unharmed(&stage, &run);
}

#[test]
fn hostile_check_inputs_are_not_executed_and_never_pass() {
    if !tools() {
        return;
    }
    let values = [
        "$(touch pwned)",
        "`touch pwned`",
        "; touch pwned #",
        "\" ; touch pwned ; \"",
        "' ; touch pwned ; '",
        "x\nexit-code=0\nfindings=0",
        "END\nexit-code=0",
        "\n::error::pwned",
        "-rf",
        "--help",
        "--version",
        "--no-such-option",
        "--exit-zero",
        "--fail-on=never",
    ];
    let stage = Stage::new(&[("role.yaml", ROLE)], &[], &[]);
    let job = stage.push();
    for input in [
        "paths", "config", "args", "fail-on", "name", "sarif", "version", "token",
    ] {
        // `args` is meant for options.
        for value in values
            .into_iter()
            .filter(|value| input != "args" || !["--exit-zero", "--fail-on=never"].contains(value))
        {
            let mut job = job.clone().with(input, value);
            if input == "version" {
                job.environment.remove("OWNERLINT_BINARY");
            }
            let run = job.run();
            unharmed(&stage, &run);
            // A strange SARIF file name or an unused token is not an error, but no run is clean.
            assert!(!run.succeeded(), "{input} = {value:?}: {run:#?}");
            let code = run.output("exit-code");
            let expected = match input {
                "name" | "version" => "",
                "sarif" | "token" => "1",
                _ => "2",
            };
            // Some values are several paths, or arguments that lack their value: these end with status 2.
            assert!(
                code == expected || code == "2",
                "{input} = {value:?} ended with {code:?}: {run:#?}"
            );
            if input == "sarif" && code == "1" {
                assert!(
                    run.output("sarif-file")
                        .ends_with(value.trim_end_matches('\n')),
                    "{value:?}: {run:#?}"
                );
            }
        }
    }
}

#[test]
fn hostile_diff_inputs_are_not_executed_and_exit_2() {
    if !tools() {
        return;
    }
    let stage = Stage::new(
        &[("old.yaml", CLEAN)],
        &[("new.yaml", &CLEAN.replace("settings", "new"))],
        &[],
    );
    let job = stage.pull_request(Checkout::Full).with("comment", "true");
    for value in ["$(touch pwned)", "\n::error::pwned", "--help"] {
        for input in ["diff-args", "base-path", "paths"] {
            let run = job.clone().with(input, value).run();
            unharmed(&stage, &run);
            assert!(!run.succeeded(), "{input} = {value:?}: {run:#?}");
            assert_eq!(
                run.output("exit-code"),
                "2",
                "{input} = {value:?}: {run:#?}"
            );
        }
    }
}

/// Runs a line of bash with the functions that all steps share. Returns what it wrote to `GITHUB_OUTPUT` or printed.
fn shared(line: &str, value: &str) -> String {
    let mut bash = std::process::Command::new("bash");
    let library = crate::support::root().join(".github/action/lib.sh");
    bash.args(["-euc", &format!("source \"$1\"; {line}"), "bash"])
        .arg(library)
        .arg(value)
        .env_remove("GITHUB_OUTPUT");
    String::from_utf8(bash.output().expect("bash runs").stdout).expect("text")
}

#[test]
fn hostile_output_values_and_annotations_survive_escaping() {
    if !tools() {
        return;
    }
    for value in [
        "",
        "a=b<<c",
        "END",
        "END\nEND_\nexit-code=0",
        "x\n::error::pwned\r::error::pwned%0A",
        "##[error]pwned",
    ] {
        let set = runner::key_values(&shared("output name \"$2\"", value));
        assert_eq!(set, [("name".to_owned(), value.to_owned())], "{value:?}");
        let said = runner::commands(&shared("say notice \"$2\"", value));
        assert_eq!(
            (said.len(), said[0].name.as_str(), said[0].data.as_str()),
            (1, "notice", value)
        );
    }
}

#[test]
fn boolean_inputs_accept_only_true_or_false() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("role.yaml", ROLE)], &[], &[]);
    for input in ["annotations", "summary", "changed-only", "comment", "diff"] {
        for value in ["$(touch pwned)\n::error::pwned", "yes", "True", "1", ""] {
            let run = stage.push().with(input, value).run();
            unharmed(&stage, &run);
            assert_eq!(
                (run.ran(), run.status("validate")),
                (vec!["validate"], Some(2)),
                "{input} = {value:?}: {run:#?}"
            );
            let said = format!("'{input}' must be true or false, not '{value}'");
            assert_eq!(run.commands[0].data, said);
            std::fs::remove_dir_all(stage.root().join("push")).expect("a folder");
        }
    }
}

#[test]
fn malformed_pull_request_event_reports_everything_without_api_calls() {
    if !tools() {
        return;
    }
    let stage = Stage::new(&[("old.yaml", ROLE)], &[("clean.yaml", CLEAN)], &[]);
    let job = stage.pull_request(Checkout::Full).with("comment", "true");
    let strange = [
        "$(touch pwned)",
        "--output=pwned",
        "main",
        "\n::error::pwned",
        "",
    ];
    for value in strange {
        let mut job = job.clone();
        job.sha = value.to_owned();
        job.event["pull_request"]["base"]["sha"] = value.into();
        job.event["pull_request"]["number"] = value.into();
        let run = job.run();
        unharmed(&stage, &run);
        assert_eq!(
            counts(&run),
            ["1", "1", "0", "1"],
            "all is reported: {run:#?}"
        );
        assert_eq!(
            stage.read("gh/log"),
            "",
            "nobody is asked about pull request {value:?}"
        );
    }
}
