//! Fuzz targets: each function accepts any bytes and panics if an invariant is violated. `fuzz/` runs them with
//! libFuzzer, and `../mod.rs` runs them with a few hundred fixed inputs.

use std::path::PathBuf;
use std::sync::LazyLock;

use ownerlint::Report;
use ownerlint::engine::{self, Check, Steps};
use ownerlint::inventory::{Inventory, Settings};
use ownerlint::manifest::ParsedFile;
use ownerlint::text::SourceFile;

mod changing;
mod graphs;
mod output;
mod port;
mod reading;
mod written;

// `fuzz/`, where this module is part of a program, does not use it.
#[allow(unused_imports)]
pub(crate) use output::{is_obeyed, starts_command};

/// A target: its name, and its function.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All targets. Each has a file in `fuzz/fuzz_targets/`.
pub(crate) const TARGETS: [Target; 13] = [
    ("documents", reading::documents),
    ("libyaml", reading::libyaml),
    ("objects", reading::objects),
    ("suppressions", written::suppressions),
    ("config", written::config),
    ("steps", written::steps),
    ("simulation", graphs::simulation),
    ("teardown", graphs::teardown),
    ("diff", graphs::diff),
    ("fixes", changing::fixes),
    ("lsp", changing::lsp),
    ("formats", output::formats),
    ("commands", output::commands),
];

/// Runs a target by its name.
#[allow(dead_code)]
pub(crate) fn run(name: &str, data: &[u8]) {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    target.expect("a target of this name").1(data);
}

/// Makes the fuzzer's only thread do all the work, so that the coverage of an input is its own.
#[allow(dead_code)]
pub(crate) fn alone() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    pool.build_global().expect("nothing ran before");
}

/// Chooses one of several values by the sum of the bytes.
fn chosen<T: Copy>(among: &[T], data: &[u8]) -> T {
    let sum: usize = data.iter().copied().map(usize::from).sum();
    among[sum % among.len()]
}

/// Returns a folder of this name, for files that a target writes.
fn folder(name: &str) -> PathBuf {
    static FOLDER: LazyLock<tempfile::TempDir> =
        LazyLock::new(|| tempfile::tempdir().expect("a folder"));
    let folder = FOLDER.path().join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// Writes JSON in ASCII, because YAML readers reject most unescaped control characters.
pub(crate) fn ascii(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for unit in value.to_string().encode_utf16() {
        match char::from_u32(unit.into()).filter(char::is_ascii) {
            Some(c) => text.push(c),
            None => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text
}

/// Returns a list of steps with `op` and `target`.
fn steps_of(steps: &[(&str, &str)]) -> Option<Steps> {
    let steps: Vec<_> = steps
        .iter()
        .map(|(op, target)| serde_json::json!({"op": op, "target": target}))
        .collect();
    Steps::read(SourceFile::new("steps.json", ascii(&steps.into()))).ok()
}

fn check(manifest: &str) -> Report {
    judged(manifest, &Check::default())
}

/// Checks a manifest without limiting or combining findings.
fn check_every(manifest: &str) -> Report {
    judged(
        manifest,
        &Check {
            every: true,
            ..Check::default()
        },
    )
}

fn judged(manifest: &str, check: &Check) -> Report {
    let file = ParsedFile::parse(SourceFile::new("f.yaml", manifest));
    let report = engine::check(Inventory::new(vec![file], Settings::default()), check);
    assert!(
        !report
            .notes
            .iter()
            .any(|note| note.message.contains("failed on this input")),
        "{:?}",
        report.notes
    );
    report
}
