//! How fast documents are read: `OWNERLINT_CORPUS=folder cargo bench --bench reading`; without a corpus, the fixtures are measured.

use std::hint::black_box;
use std::path::Path;

use divan::Bencher;
use divan::counter::BytesCount;
use ownerlint::text::{SourceFile, decode};
use ownerlint::yaml::read;
use walkdir::WalkDir;

fn main() {
    divan::main();
}

/// The texts of all YAML files.
fn files() -> Vec<SourceFile> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .into_os_string();
    let folder = std::env::var_os("OWNERLINT_CORPUS").unwrap_or(fixtures);
    let files = WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .filter_map(Result::ok);
    let files = files.filter(|file| {
        file.path()
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    });
    let texts = files.filter_map(|file| decode(std::fs::read(file.path()).ok()?).ok());
    texts.map(|text| SourceFile::new("f.yaml", text)).collect()
}

#[divan::bench(sample_count = 9, sample_size = 1)]
fn documents(bencher: Bencher<'_, '_>) {
    let files = files();
    let bytes: usize = files.iter().map(|file| file.text().len()).sum();
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        files
            .iter()
            .map(|file| read(black_box(file.shared_text())).len())
            .sum::<usize>()
    });
}
