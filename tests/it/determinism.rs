//! The output does not depend on the number of threads or the order of arguments.

use crate::support::{corpus, ownerlint, root};

fn output(threads: &str, format: &str, paths: &[String]) -> Vec<u8> {
    let output = ownerlint().args(["--threads", threads, "--output", format]).args(paths).output().expect("it runs");
    assert!(!output.stdout.is_empty());
    output.stdout
}

fn assert_same_whatever_the_order(mut paths: Vec<String>) {
    for format in ["json", "human"] {
        let one = output("1", format, &paths);
        let eight = output("8", format, &paths);
        assert!(one == eight, "1 and 8 threads differ in {format}");
        paths.reverse();
        let middle = paths.len() / 2;
        paths.rotate_left(middle);
        assert!(one == output("8", format, &paths), "shuffled arguments differ in {format}");
    }
}

fn folders(path: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path());
    let folders = entries.filter(|path| path.is_dir()).map(|path| path.to_string_lossy().into_owned());
    folders.collect()
}

#[test]
fn fixtures_give_the_same_bytes() {
    assert_same_whatever_the_order(folders(&root().join("fixtures")));
}

#[test]
fn the_corpus_gives_the_same_bytes() {
    let Some(corpus) = corpus() else { return };
    let mut folders = folders(&corpus);
    folders.truncate(12);
    assert_same_whatever_the_order(folders);
}
