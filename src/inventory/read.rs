//! Reads files in parallel, each of them once. Results come in the order of the reported paths, whatever thread read them.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::walk::{InputFile, Origin, Walk, describe};
use crate::manifest::ParsedFile;
use crate::text::{Side, SourceFile, decode_manifest};

/// The files of a run: whichever bundles reach a file, and under whatever names, it is read and parsed once.
#[derive(Debug, Default)]
pub struct Files {
    /// By what distinguishes files: [`InputFile::identity`].
    parsed: HashMap<PathBuf, ParsedFile>,
}

impl Files {
    /// The files of `walk` in the order of their reported paths, those among them that cannot be read.
    pub fn read(&mut self, walk: Walk) -> Vec<ParsedFile> {
        let Walk { files, unreadable } = walk;
        let new: Vec<&InputFile> = files.iter().filter(|file| !self.parsed.contains_key(&file.identity)).collect();
        let parsed: Vec<_> = new.into_par_iter().map(|file| (file.identity.clone(), parse(file))).collect();
        self.parsed.extend(parsed);
        let unreadable = unreadable.into_iter();
        let mut found: BTreeMap<String, ParsedFile> =
            unreadable.map(|file| (file.path.clone(), ParsedFile::unreadable(file.path, file.reason))).collect();
        for InputFile { path, identity, .. } in files {
            if let Some(parsed) = self.parsed.get(&identity) {
                let source = parsed.source();
                let parsed = if source.path() == path { parsed.clone() } else { parsed.seen_as(path, source.side()) };
                found.insert(parsed.source().path().to_owned(), parsed);
            }
        }
        found.into_values().collect()
    }

    /// How many files were parsed.
    pub fn parsed(&self) -> usize {
        self.parsed.len()
    }
}

fn parse(file: &InputFile) -> ParsedFile {
    let path = file.path.as_str();
    let bytes = match &file.origin {
        Origin::Unsaved(text) => {
            let source = SourceFile::new(path, text.clone());
            return ParsedFile::parse(source.seen_as(path, Side::Unsaved));
        }
        Origin::Stdin => read(std::io::stdin().lock()),
        Origin::Disk(disk) => open(disk).and_then(read),
    };
    let decoded = bytes.and_then(|bytes| decode_manifest(bytes).map_err(|error| error.to_string()));
    match decoded {
        Ok(decoded) => ParsedFile::parse(SourceFile::new(path, decoded.text).with_replaced(decoded.replaced)),
        Err(reason) => ParsedFile::unreadable(path, reason),
    }
}

fn open(path: &Path) -> Result<std::fs::File, String> {
    if path.metadata().is_ok_and(|metadata| metadata.len() > SourceFile::MAX_BYTES) {
        return Err(too_large());
    }
    std::fs::File::open(path).map_err(|error| describe(&error))
}

fn read(source: impl Read) -> Result<Vec<u8>, String> {
    let limit = SourceFile::MAX_BYTES;
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes).map_err(|error| describe(&error))?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn too_large() -> String {
    format!("is larger than {} MiB", SourceFile::MAX_BYTES / 1024 / 1024)
}
