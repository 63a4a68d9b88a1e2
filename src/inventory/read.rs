//! Reads files in parallel, each of them once. The results are in the order of the reported paths.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::budget::WalkBudget;
use super::error::InputError;
use super::exclusion::Exclusion;
use super::location::{FileIdentity, locate};
use super::open::{read_file, read_file_at, read_limited};
use super::walk::{reaches, walk_within};
use super::walked::{InputFile, Origin, Overlay, Walk};
use crate::manifest::{ParsedFile, is_kustomization};
use crate::text::{Side, SourceFile, decode_manifest};

/// The files of a run. Each one is read and parsed once, whichever bundles and paths lead to it.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Cached walks, by their arguments and exclude globs.
    walks: HashMap<(Vec<String>, Vec<String>), Arc<Walk>>,
    parsed: HashMap<ContentId, ParsedFile>,
    /// Files that an earlier run parsed. A file whose text is unchanged is not parsed again.
    earlier: HashMap<ContentId, ParsedFile>,
    on_disk: OnDisk,
}

/// Whether files on disk may differ from those that an earlier run read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDisk {
    /// They may have changed.
    #[default]
    MayDiffer,
    /// They are unchanged: they are being watched.
    Unchanged,
}

/// The identity of a content: [`InputFile::identity`], and whether it is the content before a change.
type ContentId = (FileIdentity, bool);

fn content_id(file: &InputFile) -> ContentId {
    (
        file.identity.clone(),
        matches!(file.origin, Origin::Stored(_)),
    )
}

impl Files {
    /// Prepares a later run. Every folder and file that may have changed is read again, but a file is parsed again only
    /// if its text differs.
    #[must_use]
    pub fn for_next_run(&self, on_disk: OnDisk) -> Self {
        let walks = match on_disk {
            OnDisk::Unchanged => self.walks.clone(),
            OnDisk::MayDiffer => HashMap::default(),
        };
        Self {
            walks,
            earlier: self.parsed.clone(),
            on_disk,
            ..Self::default()
        }
    }

    /// Returns the result of [`walk`](fn@super::walk::walk), with unsaved texts in place of their files. A text may
    /// have no file yet: it is found where its file would be, and may be an argument.
    ///
    /// # Errors
    /// Errors of [`walk`](fn@super::walk::walk).
    pub fn walk(
        &mut self,
        arguments: &[String],
        exclude: &[String],
        overlays: &[Overlay],
        budget: &WalkBudget,
    ) -> Result<Arc<Walk>, InputError> {
        let unsaved: HashSet<&str> = overlays.iter().map(|overlay| &*overlay.path).collect();
        let on_disk = arguments.iter().filter(|argument| {
            !unsaved.contains(argument.as_str()) || Path::new(argument).symlink_metadata().is_ok()
        });
        let on_disk: Vec<String> = on_disk.cloned().collect();
        let mut found = match self.walks.entry((on_disk, exclude.to_vec())) {
            Entry::Occupied(found) => Arc::clone(found.get()),
            Entry::Vacant(unknown) => {
                let walk = walk_within(&unknown.key().0, exclude, budget)?;
                Arc::clone(unknown.insert(walk.into()))
            }
        };
        if overlays.is_empty() {
            return Ok(found);
        }
        let exclude = Exclusion::new(exclude)?;
        for overlay in overlays {
            let found = Arc::make_mut(&mut found);
            found.overlay(overlay, |identity| {
                reaches(arguments, &exclude, &overlay.path, identity)
            });
        }
        Ok(found)
    }

    /// Reads the files of `walk`, including unreadable ones, in the order of their reported paths.
    pub fn read(&mut self, walk: &Walk) -> Vec<ParsedFile> {
        let (mut named, new): (Vec<ParsedFile>, Vec<_>) = walk
            .files
            .par_iter()
            .map(|file| self.read_one(file))
            .unzip();
        self.parsed.extend(new.into_iter().flatten());
        let unreadable = walk.unreadable.iter();
        let unreadable =
            unreadable.map(|file| ParsedFile::unreadable(file.path.as_str(), file.reason.clone()));
        let mut found: Vec<ParsedFile> = unreadable.collect();
        found.append(&mut named);
        // Two files may have the same reported path, if their paths are not UTF-8.
        found.sort_by(|a, b| a.source().path().cmp(b.source().path()));
        found
    }

    /// Returns a file under its path in this walk, and the new entry of the cache.
    fn read_one(&self, file: &InputFile) -> (ParsedFile, Option<(ContentId, ParsedFile)>) {
        let id = content_id(file);
        let (parsed, new) = if let Some(known) = self.parsed.get(&id) {
            (known.clone(), None)
        } else {
            let parsed = self.parse(file, self.earlier.get(&id));
            (parsed.clone(), Some((id, parsed)))
        };
        let source = parsed.source();
        let is_its_name = source.path() == file.path;
        let named = if is_its_name {
            parsed
        } else {
            parsed.seen_as(file.path.as_str(), source.side())
        };
        (named, new)
    }

    fn parse(&self, file: &InputFile, earlier: Option<&ParsedFile>) -> ParsedFile {
        let path = file.path.as_str();
        let side = if matches!(file.origin, Origin::Unsaved(_)) {
            Side::Unsaved
        } else {
            Side::Head
        };
        let earlier = earlier
            .filter(|earlier| earlier.failure().is_none())
            .filter(|earlier| (earlier.source().path(), earlier.source().side()) == (path, side));
        let bytes = match (&file.origin, earlier) {
            (Origin::Unsaved(text), _) => {
                let unchanged = earlier.filter(|earlier| earlier.source().text() == &**text);
                return unchanged.cloned().unwrap_or_else(|| {
                    ParsedFile::parse(SourceFile::new(path, &**text).seen_as(path, side))
                });
            }
            (Origin::Disk(_), Some(earlier)) if self.on_disk == OnDisk::Unchanged => {
                return earlier.clone();
            }
            (Origin::Disk(disk), _) => read_file_at(disk, file.identity.path()),
            (origin, _) => read_bytes(origin),
        };
        let unchanged = earlier.filter(|earlier| {
            let text = earlier.source().text().as_bytes();
            bytes.as_ref().is_ok_and(|bytes| bytes == text)
        });
        unchanged
            .cloned()
            .unwrap_or_else(|| parse_bytes(path, bytes))
    }

    /// Replaces the text of a file that was read, and keeps its path and side.
    pub fn replace(&mut self, file: &SourceFile, text: String) {
        let parsed =
            ParsedFile::parse(SourceFile::new(file.path(), text).seen_as(file.path(), file.side()));
        self.parsed
            .insert((locate(file.path()).into(), false), parsed);
    }

    /// Returns the number of parsed files.
    pub fn parsed(&self) -> usize {
        self.parsed.len()
    }
}

/// Parsed texts of several states of a tree. Equal texts are parsed once, whatever the names of their files.
#[derive(Debug, Default)]
pub struct Texts {
    /// By everything that parsing depends on: whether the file name is that of a kustomization, and the bytes.
    parsed: HashMap<(bool, Arc<[u8]>), ParsedFile>,
}

/// A file of a state: its reported path, and its bytes or the reason why it has none.
pub type UnparsedFile = (String, Result<Arc<[u8]>, String>);

impl Texts {
    /// Parses the files of one side, in their order.
    pub fn parse(&mut self, files: Vec<UnparsedFile>, side: Side) -> Vec<ParsedFile> {
        let mut new: BTreeMap<(bool, Arc<[u8]>), &str> = BTreeMap::new();
        for (path, bytes) in &files {
            if let Ok(bytes) = bytes {
                let identity = text_identity(path, bytes);
                if !self.parsed.contains_key(&identity) {
                    new.entry(identity).or_insert(path);
                }
            }
        }
        let parsed: Vec<_> = new
            .into_par_iter()
            .map(|(identity, path)| {
                let parsed = parse_bytes(path, Ok(identity.1.to_vec()));
                (identity, parsed)
            })
            .collect();
        self.parsed.extend(parsed);
        let files = files.into_iter().map(|(path, bytes)| match bytes {
            Ok(bytes) => self
                .parsed
                .get(&text_identity(&path, &bytes))
                .map(|parsed| parsed.seen_as(path, side)),
            Err(reason) => Some(ParsedFile::unreadable(path.as_str(), reason).seen_as(path, side)),
        });
        files.flatten().collect()
    }

    /// Returns the number of parsed texts.
    pub fn parsed(&self) -> usize {
        self.parsed.len()
    }
}

fn text_identity(path: &str, bytes: &Arc<[u8]>) -> (bool, Arc<[u8]>) {
    (is_kustomization(path), Arc::clone(bytes))
}

/// Reads the bytes of a file.
///
/// # Errors
/// Returns a reason that follows the name of the file.
pub fn read_bytes(origin: &Origin) -> Result<Vec<u8>, String> {
    match origin {
        Origin::Unsaved(text) => Ok(text.as_bytes().to_vec()),
        Origin::Stored(bytes) => Ok(bytes.to_vec()),
        Origin::Stdin => read_limited(std::io::stdin().lock(), 0),
        Origin::Disk(disk) => read_file(disk),
    }
}

fn parse_bytes(path: &str, bytes: Result<Vec<u8>, String>) -> ParsedFile {
    match bytes.and_then(decode_manifest) {
        Ok(decoded) => {
            let source = SourceFile::new(path, decoded.text).with_replaced(decoded.replaced);
            ParsedFile::parse(source)
        }
        Err(reason) => ParsedFile::unreadable(path, reason),
    }
}
