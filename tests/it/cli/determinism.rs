//! The output does not depend on the number of threads or the order of arguments.
//! `benches/determinism.py` checks this on a larger scale.

use crate::support::{corpus, ownerlint, root};

/// Returns the human and JSON output of one run.
fn outputs(threads: &str, paths: &[String]) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("json");
    let formats = [
        "--output",
        "human",
        "--output",
        &format!("json:{}", json.display()),
    ];
    let output = ownerlint()
        .args(["--threads", threads])
        .args(formats)
        .args(paths)
        .output()
        .expect("it runs");
    let outputs = [output.stdout, std::fs::read(json).expect("it is written")];
    assert!(outputs.iter().all(|output| !output.is_empty()));
    outputs
}

fn assert_same_whatever_the_order(mut paths: Vec<String>) {
    let one = outputs("1", &paths);
    assert!(one == outputs("8", &paths), "1 and 8 threads differ");
    paths.reverse();
    let middle = paths.len() / 2;
    paths.rotate_left(middle);
    assert!(one == outputs("8", &paths), "shuffled arguments differ");
}

/// Returns the output of a command with this many threads.
fn printed(threads: &str, arguments: &[&str]) -> Vec<u8> {
    let output = ownerlint()
        .args(arguments)
        .args(["--threads", threads])
        .output()
        .expect("it runs");
    assert!(
        !output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn folders(path: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(path)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let mut folders: Vec<String> = entries
        .filter(|path| path.is_dir())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    folders.sort();
    folders
}

#[test]
fn fixture_reports_are_equal_for_any_thread_count_and_path_order() {
    assert_same_whatever_the_order(folders(&root().join("fixtures")));
}

#[test]
fn corpus_reports_are_equal_for_any_thread_count_and_path_order() {
    let Some(corpus) = corpus() else { return };
    let mut folders = folders(corpus);
    folders.truncate(12);
    assert_same_whatever_the_order(folders);
}

#[test]
fn command_output_does_not_depend_on_number_of_threads() {
    let (rook, empty) = (
        "fixtures/bundles/rook",
        tempfile::tempdir().expect("a folder"),
    );
    let empty = empty.path().display().to_string();
    for arguments in [
        &["check", "-o", "sarif", "fixtures/bundles"][..],
        &["list", "-o", "json", "fixtures/bundles"],
        &["plan", "delete", "ns/rook-ceph", "-o", "json", "-f", rook],
        &["plan", "teardown", "--by", "argocd", "-o", "markdown", rook],
        &["diff", "--base", rook, "--head", &empty, "-o", "json"],
        &["diff", "--base", &empty, "--head", rook],
    ] {
        let one = printed("1", arguments);
        for threads in ["2", "16", "16"] {
            assert!(
                printed(threads, arguments) == one,
                "{arguments:?}: 1 and {threads} threads differ"
            );
        }
    }
}
