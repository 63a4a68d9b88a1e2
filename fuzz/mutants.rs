//! Compares the two parsers of YAML over as many mutants of real documents as one likes:
//!
//! ```console
//! cargo bench --bench mutants -- COUNT [FIRST] FOLDER…
//! ```
//!
//! The mutants have the numbers from FIRST (0) on, of the YAML documents in the folders, beside the seeds that are kept here. A
//! mutant that the parsers read differently, or that makes one panic, is printed with its number, and the run fails; it becomes
//! a seed when it is repaired.

mod mutation;

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use ownerlint::text::{SourceFile, decode};
use ownerlint::yaml::{Verified, verify};
use rayon::prelude::*;
use walkdir::WalkDir;

/// The longest document that is mutated, in bytes.
const LONGEST: usize = 1 << 20;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let (numbers, folders): (Vec<String>, Vec<String>) =
        arguments.partition(|argument| argument.parse::<u64>().is_ok());
    let numbers: Vec<u64> = numbers
        .iter()
        .filter_map(|number| number.parse().ok())
        .collect();
    let count = numbers.first().copied().unwrap_or(100_000);
    let first = numbers.get(1).copied().unwrap_or_default();
    let documents = documents(&folders);
    let (taken, differing) = (AtomicU64::new(0), AtomicU64::new(0));
    (first..first + count).into_par_iter().for_each(|number| {
        let text = mutation::mutant(&documents, number);
        let Verified {
            documents,
            refused,
            differences,
        } = verify(&SourceFile::new("mutant.yaml", text.clone()));
        taken.fetch_add(
            u64::from(refused.len() < documents as usize),
            Ordering::Relaxed,
        );
        if let Some(difference) = differences.first() {
            differing.fetch_add(1, Ordering::Relaxed);
            say(&format!("mutant {number}: {}\n{text:?}", difference.what));
        }
    });
    let (taken, differing) = (taken.into_inner(), differing.into_inner());
    say(&format!(
        "{count} mutants of {} documents: {taken} taken by the fast parser, {differing} read differently",
        documents.len()
    ));
    if differing == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The documents of the folders and of the seeds, in the order of their paths.
fn documents(folders: &[String]) -> Vec<String> {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds").to_owned();
    let files = folders
        .iter()
        .chain([&seeds])
        .flat_map(|folder| WalkDir::new(folder).sort_by_file_name());
    let files = files.filter_map(Result::ok).filter(|file| {
        file.path()
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    });
    let texts = files.filter_map(|file| decode(std::fs::read(file.path()).ok()?).ok());
    let documents = texts.flat_map(|text| {
        text.split("\n---")
            .map(|document| format!("{document}\n"))
            .collect::<Vec<_>>()
    });
    documents
        .filter(|document| document.len() <= LONGEST)
        .collect()
}

fn say(text: &str) {
    // Nobody is left to tell when this cannot be written.
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
