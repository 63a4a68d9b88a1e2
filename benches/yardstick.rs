//! The yardstick of `benches/ratios.py`: finds the manifests below folders, reads each and counts its line breaks, in one
//! thread. A reader of manifests cannot do less.
//!
//! `cargo bench --bench yardstick -- FOLDER…` prints how many files, bytes and lines there are.

use std::io::Write;

use walkdir::{DirEntry, WalkDir};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut files, mut bytes, mut lines) = (0_usize, 0_usize, 0_usize);
    for folder in std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
    {
        for entry in WalkDir::new(folder)
            .follow_links(true)
            .into_iter()
            .flatten()
            .filter(is_manifest)
        {
            let text = std::fs::read(entry.path())?;
            files += 1;
            bytes += text.len();
            lines += text.iter().filter(|&&byte| byte == b'\n').count();
        }
    }
    writeln!(
        std::io::stdout(),
        "{files} files, {bytes} bytes, {lines} lines"
    )?;
    Ok(())
}

fn is_manifest(entry: &DirEntry) -> bool {
    let extension = entry
        .path()
        .extension()
        .and_then(|extension| extension.to_str());
    entry.file_type().is_file() && matches!(extension, Some("yaml" | "yml" | "json"))
}
