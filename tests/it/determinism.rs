//! The output does not depend on the number of threads or the order of arguments.

use crate::support::{corpus, ownerlint, root};

/// What one run prints for people and writes for programs.
fn outputs(threads: &str, paths: &[String]) -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("json");
    let formats = ["--output", "human", "--output", &format!("json:{}", json.display())];
    let output = ownerlint().args(["--threads", threads]).args(formats).args(paths).output().expect("it runs");
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

fn folders(path: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path());
    let mut folders: Vec<String> =
        entries.filter(|path| path.is_dir()).map(|path| path.to_string_lossy().into_owned()).collect();
    folders.sort();
    folders
}

#[test]
fn fixtures_give_the_same_bytes() {
    assert_same_whatever_the_order(folders(&root().join("fixtures")));
}

#[test]
fn the_corpus_gives_the_same_bytes() {
    let Some(corpus) = corpus() else { return };
    let mut folders = folders(corpus);
    folders.truncate(12);
    assert_same_whatever_the_order(folders);
}
