//! A repository and its states.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::command::{git, line, output, output_of};
use super::fetch::fetch;
use super::snapshot::{FileContent, Snapshot, SnapshotFile};
use super::{Blobs, GitError, ObjectName};
use crate::text::plain;

/// A repository, seen from a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The folder in which git is run.
    folder: PathBuf,
    /// The root of the work tree; `None` for a bare repository.
    work_tree: Option<PathBuf>,
    /// The path of `folder` from the root of the repository, with a slash at its end; empty at the root.
    prefix: String,
}

impl Repository {
    /// Finds the repository that `folder` is in.
    ///
    /// # Errors
    /// There is none, it belongs to another user (git's `safe.directory`), or git cannot be run.
    pub fn discover(folder: &Path) -> Result<Self, GitError> {
        let inside = line(folder, &["rev-parse", "--is-inside-work-tree"])? == "true";
        let mut found = Self {
            folder: folder.to_owned(),
            work_tree: None,
            prefix: String::new(),
        };
        if inside {
            let root = line(folder, &["rev-parse", "--show-toplevel"])?;
            found.work_tree = Some(PathBuf::from(root));
            found.prefix = line(folder, &["rev-parse", "--show-prefix"])?;
        }
        Ok(found)
    }

    /// Returns the root of the work tree; `None` for a bare repository.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// Returns the root of the work tree. The error for a bare repository says that it has no `missing`: a work tree or
    /// an index.
    fn root_for(&self, missing: &'static str) -> Result<&Path, GitError> {
        self.work_tree().ok_or(GitError::Bare { missing })
    }

    /// Returns the path from the root to the folder that it is seen from, with a slash at its end; empty at the root.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Resolves `reference` to a commit.
    ///
    /// # Errors
    /// It names no commit.
    pub fn commit(&self, reference: &str) -> Result<String, GitError> {
        // A reference that begins with a dash must not be read as an option.
        let peeled = format!("{reference}^{{commit}}");
        let verify = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &peeled,
        ];
        line(&self.folder, &verify).map_err(|error| match error {
            GitError::Refused(_) => GitError::NoCommit {
                reference: reference.to_owned(),
            },
            other => other,
        })
    }

    /// Returns the commit at which `head` left `reference`: `reference` itself if `head` contains it.
    ///
    /// # Errors
    /// One of them is not a commit, or they have no common history.
    pub fn merge_base(&self, reference: &str, head: &str) -> Result<String, GitError> {
        let find = ["merge-base", &self.commit(head)?, &self.commit(reference)?];
        line(&self.folder, &find).map_err(|_| GitError::NoCommonHistory {
            reference: reference.to_owned(),
            head: head.to_owned(),
        })
    }

    /// Returns the remote's default branch as the clone records it, else the first usual name.
    pub fn default_branch(&self) -> Option<String> {
        let of_remote = [
            "symbolic-ref",
            "--quiet",
            "--short",
            "refs/remotes/origin/HEAD",
        ];
        let of_remote = line(&self.folder, &of_remote).ok();
        let usual = ["origin/main", "origin/master", "main", "master"];
        let known = of_remote.into_iter().chain(usual.map(str::to_owned));
        known
            .into_iter()
            .find(|reference| self.commit(reference).is_ok())
    }

    /// Returns the names of the branches and tags.
    pub fn references(&self) -> Vec<String> {
        let list = [
            "for-each-ref",
            "--format=%(refname:short)",
            "refs/heads",
            "refs/remotes",
            "refs/tags",
        ];
        let names = output(&self.folder, &list).unwrap_or_default();
        let names = String::from_utf8_lossy(&names);
        names.lines().map(str::to_owned).collect()
    }

    /// Whether the work tree equals the current commit, apart from ignored files; `None` if there is no work tree.
    ///
    /// # Errors
    /// git cannot compare them.
    pub fn is_clean(&self) -> Result<Option<bool>, GitError> {
        let Some(root) = self.work_tree() else {
            return Ok(None);
        };
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let is_clean = self.changed_since("HEAD")?.is_empty() && output(root, &others)?.is_empty();
        Ok(Some(is_clean))
    }

    /// Whether the current branch has a commit.
    pub fn has_commits(&self) -> bool {
        line(&self.folder, &["rev-parse", "--quiet", "--verify", "HEAD"]).is_ok()
    }

    /// Lists the files of a commit. Trees that a treeless clone lacks are fetched.
    ///
    /// # Errors
    /// The clone lacks a tree of it, and no remote has it.
    pub fn snapshot_of(&self, commit: &str) -> Result<Snapshot, GitError> {
        let list = ["ls-tree", "-r", "-z", "--full-tree", commit];
        let listed = match output(&self.folder, &list) {
            Err(GitError::Refused(_)) => {
                let tree = line(&self.folder, &["log", "-1", "--format=%T", commit])?;
                if !fetch(&self.folder, &[ObjectName::new(&tree)])? {
                    let commit = commit.to_owned();
                    return Err(GitError::NoTree { commit });
                }
                output(&self.folder, &list)?
            }
            listed => listed?,
        };
        let mut snapshot = Snapshot::default();
        for entry in names(&listed) {
            // `<mode> <type> <name>\t<path>`
            if let Some(([mode, _, name], path)) = described(&entry) {
                snapshot.take(mode, name, path);
            }
        }
        Ok(snapshot)
    }

    /// Lists the files of the index: the content of the next commit.
    ///
    /// # Errors
    /// A bare repository, and a path in conflict.
    pub fn staged(&self) -> Result<Snapshot, GitError> {
        let root = self.root_for("index")?;
        let listed = output(root, &["ls-files", "--stage", "-z"])?;
        let mut snapshot = Snapshot::default();
        for entry in names(&listed) {
            // `<mode> <name> <stage>\t<path>`
            let Some(([mode, name, stage], path)) = described(&entry) else {
                continue;
            };
            if stage != "0" {
                return Err(GitError::Conflict {
                    path: path.to_owned(),
                });
            }
            snapshot.take(mode, name, path);
        }
        Ok(snapshot)
    }

    /// Lists the files of the work tree that git tracks, or would track because it does not ignore them.
    ///
    /// # Errors
    /// A bare repository, and a clone without a checkout.
    pub fn checked_out(&self) -> Result<Snapshot, GitError> {
        let root = self.root_for("work tree")?;
        let list = [
            "ls-files",
            "-t",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let listed = output(root, &list)?;
        let mut snapshot = Snapshot::default();
        let mut sparse = Vec::new();
        for (tag, name) in
            entries(&listed).filter_map(|entry| Some((*entry.first()?, entry.get(2..)?)))
        {
            let (disk, path) = (root.join(on_disk(name)), plain::path_of_bytes(name));
            match disk.symlink_metadata() {
                // A file that a sparse checkout leaves out is read from the index.
                _ if tag == b'S' => sparse.push(path),
                Ok(metadata) if metadata.is_dir() => {
                    snapshot
                        .submodules
                        .insert(path.trim_end_matches('/').to_owned(), String::new());
                }
                Ok(metadata) => {
                    let file = SnapshotFile {
                        content: FileContent::Disk(disk),
                        is_link: metadata.is_symlink(),
                        is_executable: false,
                    };
                    snapshot.files.insert(path, file);
                }
                Err(_) => {}
            }
        }
        if !sparse.is_empty() || !snapshot.submodules.is_empty() {
            let staged = self.staged()?;
            for (path, commit) in &mut snapshot.submodules {
                commit.clone_from(staged.submodules.get(path).unwrap_or(&String::new()));
            }
            let mut staged = staged.files;
            let sparse = sparse.into_iter();
            let of_index = sparse.filter_map(|path| staged.remove_entry(&path));
            snapshot.files.extend(of_index);
        }
        let tracked = ["ls-tree", "--name-only", "HEAD"];
        if snapshot.files.is_empty() && line(root, &tracked).is_ok_and(|names| !names.is_empty()) {
            return Err(GitError::NotCheckedOut);
        }
        Ok(snapshot)
    }

    /// Reads the stored contents of `files`. Those that a partial clone lacks are fetched; if that fails, they are
    /// missing.
    ///
    /// # Errors
    /// git ends early.
    pub fn read<'f>(
        &self,
        blobs: &mut Blobs,
        files: impl Iterator<Item = (&'f str, &'f SnapshotFile)>,
    ) -> Result<(), GitError> {
        let names = files.filter_map(|(_, file)| match &file.content {
            FileContent::Stored(name) => Some(name.clone()),
            FileContent::Disk(_) => None,
        });
        blobs.read(&self.folder, names.collect())
    }

    /// Reads one stored content with a git process that stays open.
    ///
    /// # Errors
    /// git ends early.
    pub fn read_one(&self, blobs: &mut Blobs, name: &ObjectName) -> Result<(), GitError> {
        blobs.read_one(&self.folder, name)
    }

    /// Lists the files that differ between the work tree and a commit, from the root; both names of a renamed file.
    ///
    /// # Errors
    /// A bare repository.
    pub fn changed_since(&self, commit: &str) -> Result<BTreeSet<String>, GitError> {
        let root = self.root_for("work tree")?;
        let compare = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--ignore-submodules=dirty",
        ];
        let arguments = [&compare[..], &["--name-only", "-z", commit, "--"]].concat();
        // To compare a file, git runs the filter that the repository configures for it.
        let compared = output_of(git(root, &arguments).envs(self.without_filters(root)))?;
        Ok(names(&compared).collect())
    }

    /// Returns environment variables that disable every filter of the repository's configuration.
    fn without_filters(&self, root: &Path) -> Vec<(String, String)> {
        // git exits with an error if no filter is configured.
        let list = [
            "config",
            "--null",
            "--name-only",
            "--get-regexp",
            r"^filter\.",
        ];
        let listed = output(root, &list).unwrap_or_default();
        let keys: Vec<String> = entries(&listed)
            .map(|key| String::from_utf8_lossy(key).into_owned())
            .collect();
        let filters: BTreeSet<&str> = keys
            .iter()
            .filter_map(|key| Some(key.rsplit_once('.')?.0))
            .collect();
        let settings = filters.iter().flat_map(|filter| {
            let none =
                ["clean", "smudge", "process"].map(|program| (format!("{filter}.{program}"), ""));
            none.into_iter()
                .chain([(format!("{filter}.required"), "false")])
        });
        let numbered = settings.enumerate().flat_map(|(number, (key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{number}"), key),
                (format!("GIT_CONFIG_VALUE_{number}"), value.to_owned()),
            ]
        });
        let count = (
            "GIT_CONFIG_COUNT".to_owned(),
            (filters.len() * 4).to_string(),
        );
        std::iter::once(count).chain(numbered).collect()
    }

    /// Lists the files of the work tree that git does not track, including ignored ones, from the root.
    ///
    /// # Errors
    /// A bare repository.
    pub fn unknown(&self) -> Result<BTreeSet<String>, GitError> {
        let root = self.root_for("work tree")?;
        Ok(names(&output(root, &["ls-files", "--others", "-z"])?).collect())
    }
}

/// Splits an output at NUL bytes.
fn entries(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|&byte| byte == 0)
        .filter(|part| !part.is_empty())
}

/// Splits an entry into the three words before a tab, and the path after it.
fn described(entry: &str) -> Option<([&str; 3], &str)> {
    let (about, path) = entry.split_once('\t')?;
    let words: Vec<&str> = about.split(' ').collect();
    Some((words.try_into().ok()?, path))
}

/// Splits an output into text. Names that are not UTF-8 and differ stay different.
fn names(output: &[u8]) -> impl Iterator<Item = String> {
    entries(output).map(plain::path_of_bytes)
}

/// Converts a path that git printed.
#[cfg(unix)]
fn on_disk(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// Converts a path that git printed, which is UTF-8 on systems other than Unix.
#[cfg(not(unix))]
fn on_disk(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
