//! The result of a walk: files to read, files that cannot be read, and links that were not followed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::boundary::Escape;
use super::budget::WalkBudget;
use super::device::names_a_device;
use super::exclusion::Exclusion;
use super::location::{FileIdentity, STDIN, locate, resolved};
use super::open::{IRREGULAR, describe};
use crate::git::in_git_folder;
use crate::text::plain;

/// The source of a file's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file on disk.
    Disk(PathBuf),
    /// Standard input.
    Stdin,
    /// An editor's buffer.
    Unsaved(Arc<str>),
    /// The content of the file before a change.
    Stored(Arc<[u8]>),
}

/// Unsaved text in place of a file's content: an editor's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The path of the file, in any form.
    pub path: String,
    /// Its unsaved text.
    pub text: Arc<str>,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The reported path: as given on the command line, joined with the path below it, with forward slashes.
    pub path: String,
    /// Where to read it.
    pub origin: Origin,
    /// The identity of the file.
    pub identity: FileIdentity,
}

/// A file that was found but cannot be read; the run goes on without it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableFile {
    /// The path under which it is reported.
    pub path: String,
    /// Why: `is a broken symbolic link`.
    pub reason: String,
}

impl UnreadableFile {
    fn identity(&self) -> FileIdentity {
        locate(&self.path).into()
    }
}

/// The files that the arguments lead to, in the order of the reported paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files to read.
    pub files: Vec<InputFile>,
    /// Files that cannot be read.
    pub unreadable: Vec<UnreadableFile>,
    /// Symbolic links to folders outside the tree, which are not followed.
    pub outside: Vec<String>,
}

impl Walk {
    /// Returns the files that none of `others` reaches.
    pub fn without(&self, others: &[&Self]) -> Self {
        let there: HashSet<FileIdentity> =
            others.iter().flat_map(|walk| walk.identities()).collect();
        Self {
            files: self
                .files
                .iter()
                .filter(|file| !there.contains(&file.identity))
                .cloned()
                .collect(),
            unreadable: self
                .unreadable
                .iter()
                .filter(|file| !there.contains(&file.identity()))
                .cloned()
                .collect(),
            outside: self.outside.clone(),
        }
    }

    /// Indexes the files by identity, for intersections with many other walks.
    pub fn shared(&self) -> SharedFiles<'_> {
        let files = (0..)
            .zip(&self.files)
            .map(|(at, file)| (file.identity.clone(), at));
        let unreadable = (0..)
            .zip(&self.unreadable)
            .map(|(at, file)| (file.identity(), at));
        SharedFiles {
            walk: self,
            files: files.collect(),
            unreadable: unreadable.collect(),
        }
    }

    /// Returns the path that `named` has for each file that both walks reach, by the path in this one.
    pub fn names_in(&self, named: &Self) -> HashMap<&str, String> {
        let names: HashMap<FileIdentity, &str> = named.places().collect();
        let own = self.places();
        own.filter_map(|(place, path)| Some((path, (*names.get(&place)?).to_owned())))
            .collect()
    }

    /// Returns the reported paths with the identities of the files. An unreadable link is not identified with the file that
    /// it leads to: both are reported.
    fn places(&self) -> impl Iterator<Item = (FileIdentity, &str)> {
        let files = self.files.iter();
        let files = files.map(|file| (file.identity.clone(), file.path.as_str()));
        let unreadable = self.unreadable.iter().map(|file| {
            let path = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone().into());
            let place = match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) => resolved(folder).join(name),
                _ => path,
            };
            (FileIdentity::from(place), file.path.as_str())
        });
        files.chain(unreadable)
    }

    fn identities(&self) -> impl Iterator<Item = FileIdentity> {
        let files = self.files.iter().map(|file| file.identity.clone());
        files.chain(self.unreadable.iter().map(UnreadableFile::identity))
    }

    /// Returns the union of both walks. A file in both keeps the path that it has in this one.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        let mut all = self.clone();
        let Self {
            files, unreadable, ..
        } = other.without(&[self]);
        all.files.extend(files);
        all.files.sort_by(|a, b| a.path.cmp(&b.path));
        all.unreadable.extend(unreadable);
        all.unreadable.sort();
        all
    }

    /// Replaces the content of a file by unsaved text, whether or not the file can be read. If the
    /// walk did not find the file, `new` returns whether it would if the file existed.
    pub(super) fn overlay(&mut self, overlay: &Overlay, new: impl FnOnce(&Path) -> bool) {
        let identity = FileIdentity::from(locate(&overlay.path));
        let origin = Origin::Unsaved(Arc::clone(&overlay.text));
        if let Some(file) = self.files.iter_mut().find(|file| file.identity == identity) {
            file.origin = origin;
            return;
        }
        let position = self
            .unreadable
            .iter()
            .position(|file| file.identity() == identity);
        let path = match position.map(|at| self.unreadable.remove(at).path) {
            Some(path) => path,
            None if new(identity.path()) => plain::path(Path::new(
                overlay.path.strip_prefix("./").unwrap_or(&overlay.path),
            )),
            None => return,
        };
        self.files.push(InputFile {
            path,
            origin,
            identity,
        });
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// The files of a walk, indexed by identity.
pub struct SharedFiles<'w> {
    walk: &'w Walk,
    files: HashMap<FileIdentity, usize>,
    unreadable: HashMap<FileIdentity, usize>,
}

impl SharedFiles<'_> {
    /// Returns the files that `other` reaches too, under the paths of this walk.
    pub fn with(&self, other: &Walk) -> Walk {
        fn chosen<T: Clone>(
            of: &[T],
            places: &HashMap<FileIdentity, usize>,
            other: &Walk,
        ) -> Vec<T> {
            let places: BTreeSet<usize> = other
                .identities()
                .filter_map(|identity| places.get(&identity).copied())
                .collect();
            places.into_iter().map(|at| of[at].clone()).collect()
        }
        Walk {
            files: chosen(&self.walk.files, &self.files, other),
            unreadable: chosen(&self.walk.unreadable, &self.unreadable, other),
            outside: self.walk.outside.clone(),
        }
    }
}

/// The files found so far, by identity: two of them may have the same reported path.
pub(super) struct Collector<'c> {
    /// The smallest reported path of each file that is not excluded, and its origin.
    files: HashMap<FileIdentity, (String, Origin)>,
    unreadable: BTreeMap<(String, FileIdentity), String>,
    outside: BTreeSet<String>,
    /// The number of found files, readable or not; a file that is found twice counts twice.
    pub(super) found: usize,
    /// Patterns of excluded files.
    exclude: &'c Exclusion,
    pub(super) budget: &'c WalkBudget,
}

impl<'c> Collector<'c> {
    /// Creates an empty collector. Files that `exclude` matches are left out.
    pub(super) fn new(exclude: &'c Exclusion, budget: &'c WalkBudget) -> Self {
        Self {
            files: HashMap::default(),
            unreadable: BTreeMap::new(),
            outside: BTreeSet::new(),
            found: 0,
            exclude,
            budget,
        }
    }

    /// Adds standard input.
    pub(super) fn add_stdin(&mut self) {
        self.insert(STDIN.to_owned(), PathBuf::from(STDIN).into(), Origin::Stdin);
    }

    /// Adds a file. `place` is its absolute path with links resolved.
    pub(super) fn add_file(&mut self, path: &Path, place: PathBuf, reported: String) {
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => self.add_regular_file(path, place, reported),
            // A FIFO or a device may never end. `/dev/stdin` and process substitutions do end, and the user names them.
            Ok(_) if names_a_device(path) => {
                self.insert(reported, place.into(), Origin::Disk(path.to_owned()));
            }
            Ok(_) => self.add_unreadable(reported, place, IRREGULAR.to_owned()),
            Err(error) => self.add_unreadable(reported, place, describe(&error)),
        }
    }

    /// Adds a file that, according to the listing of its folder, is a regular file and not a link.
    pub(super) fn add_regular_file(&mut self, path: &Path, place: PathBuf, reported: String) {
        // A path that itself contains `.git` is intended. Other links to Git's files may lead to credentials.
        if in_git_folder(&place) && !in_git_folder(path) {
            self.add_unreadable(reported, place, Escape::Git.of_link().to_owned());
        } else {
            self.insert(reported, place.into(), Origin::Disk(path.to_owned()));
        }
    }

    /// Adds a file under the smallest of its reported paths, independent of the order of arguments.
    fn insert(&mut self, reported: String, place: FileIdentity, origin: Origin) {
        self.found += 1;
        if self.exclude.is_match(&reported) {
            return;
        }
        match self.files.entry(place) {
            Entry::Occupied(mut known) if reported < known.get().0 => {
                drop(known.insert((reported, origin)));
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(new) => drop(new.insert((reported, origin))),
        }
    }

    /// Adds a file that cannot be read, and the reason.
    pub(super) fn add_unreadable(&mut self, reported: String, place: PathBuf, reason: String) {
        self.found += 1;
        self.unreadable.insert((reported, place.into()), reason);
    }

    /// Adds a link to a folder that is not followed.
    pub(super) fn add_outside(&mut self, reported: String) {
        self.outside.insert(reported);
    }

    pub(super) fn finish(self) -> Walk {
        let exclude = self.exclude;
        let files = self.files.into_iter();
        let files = files.map(|(identity, (path, origin))| InputFile {
            path,
            origin,
            identity,
        });
        let mut files: Vec<InputFile> = files.collect();
        files.sort_unstable_by(|a, b| (&a.path, &a.identity).cmp(&(&b.path, &b.identity)));
        let unreadable = self.unreadable.into_iter();
        let unreadable = unreadable.map(|((path, _), reason)| UnreadableFile { path, reason });
        let mut outside = self.outside;
        outside.retain(|path| !exclude.is_match(path));
        Walk {
            files,
            unreadable: unreadable
                .filter(|file| !exclude.is_match(&file.path))
                .collect(),
            outside: outside.into_iter().collect(),
        }
    }
}
