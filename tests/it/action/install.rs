//! The source of the program that the action runs: its own checkout, or an attested release.

use std::process::Command;

use super::runner::Job;
use super::stage::{Stage, tools};
use super::{CLEAN, counts};
use crate::support::write_program;

const BINARY: &str = env!("CARGO_BIN_EXE_ownerlint");

/// A fake of `cargo build`: logs its arguments, and puts the program where the real build would.
const CARGO: &str = r#"#!/usr/bin/env bash
set -euo pipefail
printf '%s in %s\n' "$*" "$PWD" >>"$FAKE_GH/cargo"
env >"$FAKE_GH/environment"
[[ "$1 $2 $3 $4" == "build --release --locked --target-dir" ]]
mkdir -p "$5/release"
cp "$FAKE_BINARY" "$5/release/ownerlint"
echo "   Compiling ownerlint"
"#;

fn stage() -> (Stage, Job) {
    let stage = Stage::new(&[("clean.yaml", CLEAN)], &[], &[]);
    stage.program("cargo", CARGO);
    let mut job = stage.push();
    job.environment.remove("OWNERLINT_BINARY");
    job.environment
        .insert("FAKE_BINARY".to_owned(), BINARY.to_owned());
    (stage, job)
}

/// Creates the archive of a release.
fn release(stage: &Stage) {
    let folder = stage.root().join("release");
    std::fs::create_dir(&folder).expect("a folder");
    // The archive contains a script, because compressing the program takes seconds.
    let script = format!("#!/bin/sh\nexec '{BINARY}' \"$@\"\n");
    write_program(&folder.join("ownerlint"), script.as_bytes());
    let mut tar = Command::new("tar");
    tar.args(["-czhf"])
        .arg(stage.root().join("gh/archive"))
        .arg("-C")
        .arg(folder)
        .arg("ownerlint");
    assert!(tar.status().expect("tar runs").success());
}

#[test]
fn without_version_input_the_action_checkout_is_built() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    let run = job.run();
    assert_eq!(
        (counts(&run), run.succeeded()),
        (["0", "0", "0", "0"], true),
        "{run:#?}"
    );
    let root = crate::support::root().canonicalize().expect("it exists");
    let target = stage.root().join("runner/ownerlint-target");
    let called = format!(
        "build --release --locked --target-dir {} in {}\n",
        target.display(),
        root.display()
    );
    assert_eq!(stage.read("gh/cargo"), called);
}

#[test]
fn unchanged_sources_are_built_once() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    assert!(job.run().succeeded());
    let called = stage.read("gh/cargo");
    // The next job has a new runner.
    std::fs::remove_dir_all(stage.root().join("runner")).expect("a folder");
    let run = job.run();
    assert!(run.succeeded() && run.ran().contains(&"cache"), "{run:#?}");
    assert_eq!(counts(&run), ["0", "0", "0", "0"]);
    assert_eq!(stage.read("gh/cargo"), called, "nothing was built again");
}

#[test]
fn a_build_gets_no_token() {
    if !tools() {
        return;
    }
    let (stage, mut job) = stage();
    for name in ["GH_TOKEN", "GITHUB_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"] {
        job.environment
            .insert(name.to_owned(), "the-token".to_owned());
    }
    let run = job.with("comment", "true").run();
    assert!(run.succeeded(), "{run:#?}");
    let environment = stage.read("gh/environment");
    assert!(
        environment.contains("RUNNER_TEMP=") && !environment.contains("the-token"),
        "{environment}"
    );
}

#[test]
fn failed_build_fails_the_job_before_any_check() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    stage.program(
        "cargo",
        "#!/bin/sh\necho 'error: no such crate' >&2\nexit 101\n",
    );
    let run = job.run();
    assert_eq!(
        (run.ran(), run.status("build")),
        (vec!["validate", "cache", "build"], Some(2))
    );
    assert_eq!(
        (run.annotations(), counts(&run)),
        (vec!["error".to_owned()], [""; 4])
    );
}

#[test]
fn a_version_is_downloaded_and_its_attestation_verified() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    release(&stage);
    std::fs::copy(
        stage.root().join("gh/archive"),
        stage.root().join("gh/attested"),
    )
    .expect("a file");
    let run = job.with("version", "9.8.7").run();
    assert_eq!(
        (counts(&run), run.succeeded()),
        (["0", "0", "0", "0"], true),
        "{run:#?}"
    );
    let asked = stage.read("gh/log");
    let asked: Vec<_> = asked
        .lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(asked, ["release download", "attestation verify"]);
    assert_eq!(stage.read("gh/cargo"), "", "nothing is built");
}

#[test]
fn unattested_archive_is_not_unpacked() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    release(&stage);
    stage.write("gh/attested", "another archive");
    let run = job.clone().with("version", "9.8.7").run();
    assert_eq!(
        (run.ran(), run.status("download")),
        (vec!["validate", "download"], Some(2)),
        "{run:#?}"
    );
    assert!(
        run.commands[0].data.ends_with("of v9.8.7 is not attested"),
        "{:?}",
        run.commands
    );
    assert!(
        !stage.root().join("runner/ownerlint-bin/ownerlint").exists(),
        "it is not even unpacked"
    );
    // An attested file that is not an archive.
    stage.write("gh/archive", "no archive");
    stage.write("gh/attested", "no archive");
    let run = job.with("version", "9.8.7").run();
    assert_eq!(
        (run.status("download"), run.commands.len()),
        (Some(2), 1),
        "{run:#?}"
    );
}

#[test]
fn latest_version_downloads_release_and_rejects_unexpected_names() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    release(&stage);
    std::fs::copy(
        stage.root().join("gh/archive"),
        stage.root().join("gh/attested"),
    )
    .expect("a file");
    stage.write("gh/latest", "v9.8.7\n");
    let run = job.clone().with("version", "latest").run();
    assert_eq!(
        (counts(&run), run.succeeded()),
        (["0", "0", "0", "0"], true),
        "{run:#?}"
    );
    // The name of a release is also the name of a file.
    for (name, said) in [
        ("v9.8.7/../x\n", "the latest release has an unexpected name"),
        ("", "the latest release has"),
    ] {
        stage.write("gh/latest", name);
        let run = job.clone().with("version", "latest").run();
        assert_eq!(
            (
                run.status("download"),
                run.commands[0].data.starts_with(said)
            ),
            (Some(2), true),
            "{run:#?}"
        );
    }
    std::fs::remove_file(stage.root().join("gh/latest")).expect("a file");
    let run = job.with("version", "latest").run();
    assert_eq!(run.status("download"), Some(2));
    assert_eq!(run.commands[0].data, "the latest release cannot be found");
}

#[test]
fn unreleased_version_fails_without_building_from_source() {
    if !tools() {
        return;
    }
    let (stage, job) = stage();
    let run = job.with("version", "1.2.3").run();
    assert_eq!(
        (run.ran(), run.status("download")),
        (vec!["validate", "download"], Some(2)),
        "{run:#?}"
    );
    assert!(
        run.commands[0]
            .data
            .ends_with(" of v1.2.3 cannot be downloaded"),
        "{run:#?}"
    );
    assert_eq!(stage.read("gh/cargo"), "");
}

#[test]
fn malformed_version_is_rejected() {
    if !tools() {
        return;
    }
    for version in [
        "newest",
        "Latest",
        "v1.2.3",
        "1.2",
        "1.2.3 ",
        "1.2.3\n4.5.6",
        "../1.2.3",
    ] {
        let (stage, job) = stage();
        let run = job.with("version", version).run();
        assert_eq!(
            (run.ran(), run.status("validate")),
            (vec!["validate"], Some(2)),
            "{version:?}"
        );
        assert_eq!(
            (stage.read("gh/log"), stage.read("gh/cargo")),
            (String::new(), String::new())
        );
    }
}
