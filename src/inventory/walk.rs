//! From the arguments of the command line to the files that are read.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use super::error::InputError;
use super::location::{STDIN, locate};

/// Folders that never contain manifests of the user.
pub(super) const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// Where the text of a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file on disk.
    Disk(PathBuf),
    /// Standard input.
    Stdin,
    /// An editor's buffer.
    Unsaved(Arc<str>),
    /// What the file contained before a change.
    Stored(Arc<[u8]>),
}

/// Unsaved text in place of a file's content: an editor's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The file, however it is written.
    pub path: String,
    /// Its unsaved text.
    pub text: Arc<str>,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The name it is reported under: as given on the command line, joined with the path below it, forward slashes.
    pub path: String,
    /// Where to read it.
    pub origin: Origin,
    /// What distinguishes it from other files: its absolute path, links resolved.
    pub identity: PathBuf,
}

/// A file that was found but cannot be read; the run goes on without it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableFile {
    /// The name it is reported under.
    pub path: String,
    /// Why: `is a broken symbolic link`.
    pub reason: String,
}

/// What the arguments lead to, in the order of the reported paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files to read.
    pub files: Vec<InputFile>,
    /// Files that cannot be read.
    pub unreadable: Vec<UnreadableFile>,
}

impl Walk {
    /// Keeps the files that are also reached by one of `others` (`true`), or by none of them (`false`).
    pub fn shared_with(&self, others: &[&Self], shared: bool) -> Self {
        let files = others.iter().flat_map(|walk| walk.files.iter().map(|file| file.identity.clone()));
        let unreadable = others.iter().flat_map(|walk| walk.unreadable.iter().map(|file| locate(&file.path)));
        let there: HashSet<PathBuf> = files.chain(unreadable).collect();
        let wanted = |identity: &Path| there.contains(identity) == shared;
        Self {
            files: self.files.iter().filter(|file| wanted(&file.identity)).cloned().collect(),
            unreadable: self.unreadable.iter().filter(|file| wanted(&locate(&file.path))).cloned().collect(),
        }
    }

    /// What both reach; a file that both reach is reported as here.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        let Self { files, unreadable } = other.shared_with(&[&self], false);
        self.files.extend(files);
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.unreadable.extend(unreadable);
        self.unreadable.sort();
        self
    }

    /// Puts unsaved text in place of the file that it is about, whether or not that can be read. `new` is asked for a text
    /// whose file was not found: whether it would have been if it were there.
    fn overlay(&mut self, overlay: &Overlay, new: impl FnOnce(&Path) -> bool) {
        let identity = locate(&overlay.path);
        let origin = Origin::Unsaved(Arc::clone(&overlay.text));
        if let Some(file) = self.files.iter_mut().find(|file| file.identity == identity) {
            file.origin = origin;
            return;
        }
        let unreadable = self.unreadable.iter().position(|file| locate(&file.path) == identity);
        let path = match unreadable.map(|at| self.unreadable.remove(at).path) {
            Some(path) => path,
            None if new(&identity) => overlay.path.strip_prefix("./").unwrap_or(&overlay.path).replace('\\', "/"),
            None => return,
        };
        self.files.push(InputFile { path, origin, identity });
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

/// Finds what [`walk`] finds, with unsaved texts in place of the files that they are about. A text may have no file yet: it is
/// found where its file would be.
///
/// # Errors
/// As [`walk`]'s.
pub fn walk_with(arguments: &[String], exclude: &[String], overlays: &[Overlay]) -> Result<Walk, InputError> {
    let mut found = walk(arguments, exclude)?;
    for overlay in overlays {
        found.overlay(overlay, |identity| reaches(arguments, exclude, &overlay.path, identity));
    }
    Ok(found)
}

/// Whether [`walk`] would find a file at `path` if it were there. `identity` is its absolute path.
pub(super) fn reaches(arguments: &[String], exclude: &[String], path: &str, identity: &Path) -> bool {
    let shown = path.strip_prefix("./").unwrap_or(path);
    let excluded = globs(exclude).is_ok_and(|exclude| exclude.is_match(shown));
    let reached = arguments.iter().any(|argument| {
        let root = locate(argument);
        let folder = Path::new(argument).is_dir() && is_manifest_name(identity) && identity.starts_with(&root);
        folder || root == identity || glob(argument).is_ok_and(|glob| glob.compile_matcher().is_match(shown))
    });
    reached && !excluded
}

/// Finds the manifests under `arguments`: directories (searched for `.yaml`, `.yml` and `.json`), files of any name,
/// globs, and `-`. Files whose reported path matches one of `exclude` are left out. `.gitignore` is not honoured,
/// because rendered output is often ignored; symbolic links are followed. A file that is reached twice is read once.
///
/// # Errors
/// An argument that does not exist, cannot be read, or is a glob that is malformed or matches nothing.
pub fn walk(arguments: &[String], exclude: &[String]) -> Result<Walk, InputError> {
    let exclude = globs(exclude)?;
    let mut found = Collector::default();
    for argument in arguments {
        if argument == STDIN {
            found.files.insert(STDIN.to_owned(), Origin::Stdin);
        } else if Path::new(argument).symlink_metadata().is_ok() {
            found.add_existing(argument)?;
        } else if argument.contains(['*', '?', '[', '{']) {
            found.add_glob(argument)?;
        } else {
            return Err(InputError::missing(argument));
        }
    }
    Ok(found.finish(&exclude))
}

/// Patterns in which `*` stays within a folder and `**` crosses folders.
pub(super) fn glob(pattern: &str) -> Result<Glob, InputError> {
    let build = GlobBuilder::new(pattern).literal_separator(true).build();
    build.map_err(|error| InputError::Glob { pattern: pattern.to_owned(), reason: error.kind().to_string() })
}

/// One set of such patterns.
///
/// # Errors
/// A malformed one.
pub fn globs(patterns: &[String]) -> Result<GlobSet, InputError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(glob(pattern)?);
    }
    set.build().map_err(|error| InputError::Glob { pattern: patterns.join(", "), reason: error.to_string() })
}

#[derive(Default)]
struct Collector {
    files: BTreeMap<String, Origin>,
    unreadable: BTreeMap<String, String>,
}

impl Collector {
    fn add_existing(&mut self, argument: &str) -> Result<(), InputError> {
        let path = Path::new(argument);
        let metadata = path
            .metadata()
            .map_err(|error| InputError::Unreadable { path: argument.to_owned(), reason: error.to_string() })?;
        match metadata.is_dir() {
            true => self.add_folder(path, argument, is_manifest_name),
            // A file that is named explicitly is read whatever its name.
            false => self.add_file(path, argument.replace('\\', "/")),
        }
        Ok(())
    }

    fn add_glob(&mut self, pattern: &str) -> Result<(), InputError> {
        let matcher = glob(pattern)?.compile_matcher();
        let literal: PathBuf = Path::new(pattern)
            .iter()
            .take_while(|part| !part.to_string_lossy().contains(['*', '?', '[', '{']))
            .collect();
        let shown = literal.to_string_lossy().into_owned();
        let root = if shown.is_empty() { Path::new(".") } else { &literal };
        let before = self.files.len() + self.unreadable.len();
        self.add_folder(root, &shown, |path| {
            let path = path.strip_prefix(".").unwrap_or(path);
            matcher.is_match(path)
        });
        match self.files.len() + self.unreadable.len() == before {
            true => Err(InputError::NoMatch { pattern: pattern.to_owned() }),
            false => Ok(()),
        }
    }

    /// Every file below `root` that `wanted` accepts; `shown` is how the root is reported.
    fn add_folder(&mut self, root: &Path, shown: &str, wanted: impl Fn(&Path) -> bool) {
        let shown = if shown == "." { "" } else { shown.trim_end_matches('/') };
        let report = |path: &Path| {
            let below = path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            match (shown.is_empty() && root.has_root(), shown.is_empty()) {
                (true, _) => format!("/{below}"),
                (_, true) => below,
                _ => format!("{shown}/{below}"),
            }
        };
        let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
        let kept = walk.filter_entry(|entry| {
            entry.depth() == 0 || !SKIPPED_FOLDERS.iter().any(|folder| entry.file_name() == *folder)
        });
        for entry in kept {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) if wanted(entry.path()) => self.add_file(entry.path(), report(entry.path())),
                Ok(_) => {}
                Err(error) => self.add_error(&error, &report, &wanted),
            }
        }
    }

    fn add_error(&mut self, error: &walkdir::Error, report: &dyn Fn(&Path) -> String, wanted: &dyn Fn(&Path) -> bool) {
        let Some(path) = error.path() else { return };
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_symlink());
        let reason = match error.loop_ancestor() {
            Some(ancestor) => {
                format!("is a symbolic link back to `{}`, a loop", report(ancestor).trim_end_matches('/'))
            }
            // A link that leads nowhere matters only if a manifest was meant.
            None if is_link && !wanted(path) => return,
            None if is_link => "is a broken symbolic link".to_owned(),
            None => error.io_error().map_or_else(|| error.to_string(), describe),
        };
        self.unreadable.insert(report(path), reason);
    }

    fn add_file(&mut self, path: &Path, reported: String) {
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => {
                self.files.insert(reported, Origin::Disk(path.to_owned()));
            }
            // A FIFO or a device may never end; `/dev/stdin` and process substitution are named by hand and do.
            Ok(_) if reported.starts_with("/dev/") || reported.starts_with("/proc/") => {
                self.files.insert(reported, Origin::Disk(path.to_owned()));
            }
            Ok(_) => {
                self.unreadable.insert(reported, "is not a regular file".to_owned());
            }
            Err(error) => {
                self.unreadable.insert(reported, describe(&error));
            }
        }
    }

    /// Drops what is excluded and what is reached twice: the smallest reported path wins, whatever the order of arguments.
    fn finish(self, exclude: &GlobSet) -> Walk {
        let mut seen = HashSet::new();
        let files = self.files.into_iter().filter(|(path, _)| !exclude.is_match(path));
        let files = files.map(|(path, origin)| {
            let identity = match &origin {
                Origin::Disk(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
                Origin::Stdin | Origin::Unsaved(_) | Origin::Stored(_) => PathBuf::from(STDIN),
            };
            InputFile { path, origin, identity }
        });
        let unreadable = self.unreadable.into_iter().filter(|(path, _)| !exclude.is_match(path));
        Walk {
            files: files.filter(|file| seen.insert(file.identity.clone())).collect(),
            unreadable: unreadable.map(|(path, reason)| UnreadableFile { path, reason }).collect(),
        }
    }
}

pub(super) fn is_manifest_name(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| matches!(extension.as_str(), "yaml" | "yml" | "json"))
}

/// An operating system's error without its number.
pub(super) fn describe(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => "cannot be opened: permission denied".to_owned(),
        std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        _ => error.to_string(),
    }
}
