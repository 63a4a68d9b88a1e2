//! The places to which the action writes: a pull request may have links and files at any path of the checkout.

use std::os::unix::fs::symlink;
use std::path::Path;

use super::runner::{Job, Run};
use super::stage::{Checkout, Stage, tools};
use super::{CLEAN, ROLE};

/// Asserts that every file named by an output is in a folder that the run created, outside the checkout.
fn written_apart(job: &Job, run: &Run) {
    for name in ["json-file", "sarif-file", "diff-json-file"] {
        let path = Path::new(run.output(name));
        assert!(
            path.as_os_str().is_empty() || path.starts_with(job.temp.join("runner")),
            "{name}: {path:?}"
        );
        assert!(
            path.as_os_str().is_empty() || path.is_file(),
            "{name}: {path:?}"
        );
    }
}

/// Creates a pull request with findings whose checkout has `entries` at paths where an action might write.
fn attacked(entries: impl Fn(&Stage, &Path)) -> (Stage, Job) {
    let stage = Stage::new(&[("m/clean.yaml", CLEAN)], &[("m/role.yaml", ROLE)], &[]);
    stage.write("mine/profile", "mine\n");
    let job = stage.pull_request(Checkout::Shallow);
    entries(&stage, &job.workspace);
    (stage, job)
}

/// Paths at which reports might be written.
const PLACES: [&str; 4] = [
    "ownerlint.sarif",
    "ownerlint.json",
    "ownerlint.md",
    "ownerlint.annotations",
];

fn linked(stage: &Stage, workspace: &Path) {
    for name in PLACES {
        symlink(stage.root().join("mine/profile"), workspace.join(name)).expect("a link");
    }
    symlink(stage.root().join("mine"), workspace.join("reports")).expect("a link");
}

#[test]
fn committed_symlinks_are_not_followed() {
    if !tools() {
        return;
    }
    let (stage, job) = attacked(linked);
    for sarif in [
        "{name}.sarif",
        "reports/profile",
        "../mine/profile",
        "reports/",
        "..",
    ] {
        for config in ["", "nowhere.yaml"] {
            // A misspelt `config` ends both programs with status 2.
            let run = job
                .clone()
                .with("sarif", sarif)
                .with("config", config)
                .run();
            assert_eq!(
                run.output("exit-code"),
                if config.is_empty() { "1" } else { "2" },
                "{sarif}: {run:#?}"
            );
            assert_eq!(
                run.output("sarif-file").is_empty(),
                !config.is_empty(),
                "{sarif}: {run:#?}"
            );
            written_apart(&job, &run);
            assert_eq!(stage.read("mine/profile"), "mine\n", "{sarif}");
        }
    }
    assert_eq!(
        std::fs::read_dir(stage.root().join("mine"))
            .expect("a folder")
            .count(),
        1
    );
}

#[test]
fn committed_symlinks_are_not_followed_if_only_check_fails() {
    if !tools() {
        return;
    }
    let (stage, job) = attacked(linked);
    let run = job.clone().with("args", "--no-such-option").run();
    assert_eq!(
        (run.output("exit-code"), run.output("sarif-file")),
        ("2", ""),
        "{run:#?}"
    );
    written_apart(&job, &run);
    assert_eq!(stage.read("mine/profile"), "mine\n");
}

#[test]
fn committed_files_named_like_reports_are_not_used() {
    if !tools() {
        return;
    }
    let (_stage, job) = attacked(|_, workspace| {
        for name in PLACES {
            std::fs::write(workspace.join(name), "forged\n").expect("a file");
        }
    });
    for (config, code) in [("", "1"), ("nowhere.yaml", "2")] {
        let run = job.clone().with("config", config).run();
        assert_eq!(run.output("exit-code"), code, "{run:#?}");
        written_apart(&job, &run);
        assert!(!run.summary.contains("forged"), "{}", run.summary);
        for name in PLACES {
            assert_eq!(
                std::fs::read_to_string(job.workspace.join(name)).expect("a file"),
                "forged\n",
                "{name}"
            );
        }
    }
}
