//! Every command that the README and the guide show is one that the program understands.

use std::collections::BTreeSet;

use crate::support::{ownerlint, page, root};

/// The README, and the pages that people wrote.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for folder in ["docs/guide", "docs/editors"] {
        for file in std::fs::read_dir(root().join(folder))
            .expect("a folder")
            .flatten()
        {
            let name = file.file_name().to_string_lossy().into_owned();
            pages.extend(name.ends_with(".md").then(|| format!("{folder}/{name}")));
        }
    }
    pages
}

/// The arguments of each `ownerlint` in the blocks of a shell, as far as no shell has to read them.
fn commands(page: &str) -> Vec<Vec<String>> {
    let blocks = page
        .split("```console\n")
        .skip(1)
        .filter_map(|rest| rest.split("\n```").next());
    let lines = blocks
        .flat_map(str::lines)
        .map(|line| line.split(" # ").next().unwrap_or_default());
    let programs = lines
        .flat_map(|line| line.trim_start_matches("$ ").split('|'))
        .map(str::trim);
    let own = programs.filter_map(|program| {
        program
            .strip_prefix("ownerlint")
            .filter(|rest| rest.starts_with(' '))
    });
    own.map(|rest| {
        rest.split_whitespace()
            .take_while(|word| *word != "<")
            .map(str::to_owned)
            .collect()
    })
    .collect()
}

#[test]
fn every_command_that_is_shown_is_understood() {
    let shown: BTreeSet<Vec<String>> = pages()
        .iter()
        .flat_map(|path| commands(&page(path)))
        .collect();
    assert!(shown.len() > 20, "{shown:?}");
    for arguments in shown {
        // What comes before `--help` is read; nothing is run.
        ownerlint()
            .args(&arguments)
            .arg("--help")
            .assert()
            .success();
    }
}
