//! What several tests need: the binary, the fixtures, the corpus, checking a text.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use ownerlint::engine::{self, Check, Input};
use ownerlint::inventory::{Inventory, Overlay, Settings, Walk};
use ownerlint::report::Report;

/// The program, without anything of the surroundings that could change its output.
pub(crate) fn ownerlint() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ownerlint"));
    command.env_clear().env("COLUMNS", "100").current_dir(root());
    command
}

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text of `fixtures/`.
pub(crate) fn fixture(path: &str) -> String {
    let path = root().join("fixtures").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The corpus of real manifests, which is not part of the repository; `None`, with a note, where it is missing.
pub(crate) fn corpus() -> Option<PathBuf> {
    let named = std::env::var_os("OWNERLINT_CORPUS").map(PathBuf::from);
    let path = named.unwrap_or_else(|| root().join("../shared/corpus"));
    match path.canonicalize() {
        Ok(path) => Some(path),
        Err(_) => {
            println!("skipped: no corpus at {}; set OWNERLINT_CORPUS", path.display());
            None
        }
    }
}

/// An inventory of one text, reported as `name`.
pub(crate) fn inventory_of(name: &str, text: &str) -> Inventory {
    let overlay = Some(Overlay { path: name.to_owned(), text: text.to_owned() });
    Inventory::read(Walk::default(), Settings { overlay, ..Settings::default() })
}

/// The report on one text.
pub(crate) fn check_text(name: &str, text: &str, check: &Check) -> Report {
    engine::check(inventory_of(name, text), check)
}

/// The inventory of files on disk.
pub(crate) fn inventory_at(paths: &[&str]) -> Inventory {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Input { paths, ..Input::default() }.read().expect("the input can be read")
}

/// The 1-based lines of `text` that carry the mark `# expect: <rule>` (several rules are separated by commas).
pub(crate) fn marked_lines(text: &str, rule: &str) -> Vec<usize> {
    let marked = |line: &str| {
        let rules = line.split_once("# expect:").map_or("", |(_, rules)| rules);
        rules.split(',').any(|marked| marked.trim() == rule)
    };
    (1..).zip(text.lines()).filter(|(_, line)| marked(line)).map(|(number, _)| number).collect()
}
