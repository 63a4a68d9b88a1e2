//! Mutants of the fixtures and of the seeds: both parsers read them alike. `cargo bench --bench mutants` takes millions.

use ownerlint::text::SourceFile;
use ownerlint::yaml::verify;
use rayon::prelude::*;
use walkdir::WalkDir;

use crate::support::root;

#[path = "../../fuzz/mutation.rs"]
mod mutation;

const MUTANTS: u64 = 4_000;

fn documents(folder: &str) -> Vec<String> {
    let files = WalkDir::new(root().join(folder))
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok);
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "yaml"));
    files
        .filter_map(|file| std::fs::read_to_string(file.path()).ok())
        .collect()
}

/// Whether the fast parser takes some of it; fails when it reads anything differently.
fn is_taken(name: &str, text: &str) -> bool {
    let verified = verify(&SourceFile::new("f.yaml", text));
    assert_eq!(verified.differences, [], "{name}: {text:?}");
    verified.refused.len() < verified.documents as usize
}

#[test]
fn seeds_are_read_alike() {
    for seed in documents("fuzz/seeds") {
        is_taken("a seed", &seed);
    }
}

#[test]
fn mutants_are_read_alike_and_many_of_them_by_the_fast_parser() {
    let mut sources = documents("fuzz/seeds");
    sources.extend(documents("fixtures/rules"));
    let taken = |number: &u64| {
        is_taken(
            &format!("mutant {number}"),
            &mutation::mutant(&sources, *number),
        )
    };
    let taken = (0..MUTANTS).into_par_iter().filter(taken).count() as u64;
    assert!(taken * 4 > MUTANTS, "{taken} of {MUTANTS}");
}
