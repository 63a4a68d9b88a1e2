//! From the arguments of the command line to the files that are read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use walkdir::WalkDir;

use super::{InputError, locate};

/// The argument that stands for standard input, and the name it is reported under.
pub const STDIN: &str = "-";

/// Folders that never hold manifests of the user.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// Where the text of a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file on disk.
    Disk(PathBuf),
    /// Standard input.
    Stdin,
}

/// A file to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputFile {
    /// The name it is reported under: as given on the command line, joined with the path below it, forward slashes.
    pub path: String,
    /// Where to read it.
    pub origin: Origin,
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
    /// The name under which the file at `path` is reported; `None` when it is not among the files.
    pub fn name_of(&self, path: &str) -> Option<&str> {
        let wanted = locate(path);
        let file_name = |path: &str| Path::new(path).file_name().map(std::ffi::OsStr::to_owned);
        // Asking the file system for every file of a big tree would be slow; a link may have another name than its target.
        let likely =
            |name: &&str| file_name(name) == file_name(path) || file_name(name).as_deref() == wanted.file_name();
        let names = self.files.iter().map(|file| file.path.as_str());
        let names = names.chain(self.unreadable.iter().map(|file| file.path.as_str()));
        names.filter(likely).find(|name| locate(name) == wanted)
    }

    /// Keeps the files that are also reached by one of `others` (`true`), or by none of them (`false`).
    pub fn shared_with(&self, others: &[&Self], shared: bool) -> Self {
        let names = others.iter().flat_map(|walk| {
            let files = walk.files.iter().map(|file| &file.path);
            files.chain(walk.unreadable.iter().map(|file| &file.path))
        });
        let there: std::collections::HashSet<PathBuf> = names.map(|name| locate(name)).collect();
        let wanted = |path: &str| there.contains(&locate(path)) == shared;
        Self {
            files: self.files.iter().filter(|file| wanted(&file.path)).cloned().collect(),
            unreadable: self.unreadable.iter().filter(|file| wanted(&file.path)).cloned().collect(),
        }
    }
}

/// Whether [`walk`] would find a file at `path` if it were there: an editor's text may have no file yet.
pub fn reaches(arguments: &[String], exclude: &[String], path: &str) -> bool {
    let wanted = locate(path);
    let shown = path.strip_prefix("./").unwrap_or(path);
    let excluded = globs(exclude).is_ok_and(|exclude| exclude.is_match(shown));
    let reached = arguments.iter().any(|argument| {
        let folder = Path::new(argument).is_dir() && is_manifest_name(&wanted) && wanted.starts_with(locate(argument));
        folder || locate(argument) == wanted || glob(argument).is_ok_and(|glob| glob.compile_matcher().is_match(shown))
    });
    reached && !excluded
}

/// Finds the manifests under `arguments`: directories (searched for `.yaml`, `.yml` and `.json`), files of any name, globs,
/// and `-`. Files whose reported path matches one of `exclude` are left out. `.gitignore` is not honoured, because rendered
/// output often is ignored; symbolic links are followed. A file that is reached twice is read once.
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
fn glob(pattern: &str) -> Result<Glob, InputError> {
    let build = GlobBuilder::new(pattern).literal_separator(true).build();
    build.map_err(|error| InputError::Glob { pattern: pattern.to_owned(), reason: error.kind().to_string() })
}

fn globs(patterns: &[String]) -> Result<GlobSet, InputError> {
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
            // A file that is named is read whatever its name.
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

    /// Every file below `root` that `wanted` takes; `shown` is how the root is reported.
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
        let mut seen = std::collections::HashSet::new();
        let files = self.files.into_iter().filter(|(path, _)| !exclude.is_match(path));
        let once = files.filter(|(_, origin)| match origin {
            Origin::Disk(path) => seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())),
            Origin::Stdin => true,
        });
        let unreadable = self.unreadable.into_iter().filter(|(path, _)| !exclude.is_match(path));
        Walk {
            files: once.map(|(path, origin)| InputFile { path, origin }).collect(),
            unreadable: unreadable.map(|(path, reason)| UnreadableFile { path, reason }).collect(),
        }
    }
}

fn is_manifest_name(path: &Path) -> bool {
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
