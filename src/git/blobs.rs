//! Reads the contents of files by object name: many with one git process, and others one by one with a process that
//! keeps running.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::command::{git, not_run, output};
use super::{GitError, fetch};
use crate::text::SourceFile;

/// The name of a file's content, in hexadecimal digits: equal names are equal contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(String);

impl ObjectName {
    /// Wraps a name that git printed.
    pub(super) fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// Returns the digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Cache of contents by name.
#[derive(Debug, Default)]
pub struct Blobs {
    read: HashMap<ObjectName, StoredContent>,
    /// The running process that serves [`Blobs::read_one`].
    process: Option<Batch>,
}

/// The content that a repository has under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredContent {
    /// The bytes.
    Bytes(Arc<[u8]>),
    /// More bytes than [`SourceFile::MAX_BYTES`].
    TooLarge,
    /// No content: a partial clone lacks it.
    Missing,
}

impl StoredContent {
    /// Returns the bytes, if there are any.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::TooLarge | Self::Missing => None,
        }
    }
}

impl Blobs {
    /// Reads the contents of `names` that are not cached, in the repository that `folder` is in.
    /// Missing blobs are fetched together and once: one that cannot be fetched stays missing.
    ///
    /// # Errors
    /// git cannot be run, or ends early. A missing content is no error.
    pub(super) fn read(
        &mut self,
        folder: &Path,
        names: BTreeSet<ObjectName>,
    ) -> Result<(), GitError> {
        let names: Vec<ObjectName> = names
            .into_iter()
            .filter(|name| !self.read.contains_key(name))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let contents = match contents_of(folder, names.clone()) {
            // In a partial clone, some versions of git answer `missing`, others exit.
            Err(GitError::BrokeOff) => {
                let local = local_objects(folder)?;
                let (there, missing): (Vec<_>, Vec<_>) =
                    names.iter().cloned().partition(|name| local.contains(name));
                let missing = missing.into_iter();
                self.read
                    .extend(missing.map(|name| (name, StoredContent::Missing)));
                contents_of(folder, there)?
            }
            contents => contents?,
        };
        self.read.extend(contents);
        let missing: Vec<ObjectName> = names
            .into_iter()
            .filter(|name| *self.get(name) == StoredContent::Missing)
            .collect();
        if !missing.is_empty() && fetch::fetch(folder, &missing)? {
            self.read.extend(contents_of(folder, missing)?);
        }
        Ok(())
    }

    /// Reads one content, as [`Blobs::read`] does, but with a git process that stays open.
    ///
    /// # Errors
    /// See [`Blobs::read`].
    pub(super) fn read_one(&mut self, folder: &Path, name: &ObjectName) -> Result<(), GitError> {
        if self.read.contains_key(name) {
            return Ok(());
        }
        let process = match self.process.take() {
            Some(process) => process,
            None => Batch::start(folder, &[])?,
        };
        let process = self.process.insert(process);
        match process.ask(name) {
            Some(content) if content != StoredContent::Missing => {
                self.read.insert(name.clone(), content);
                Ok(())
            }
            // A partial clone may lack the content, and some versions of git exit then.
            _ => {
                self.process = None;
                self.read(folder, BTreeSet::from([name.clone()]))
            }
        }
    }

    /// Returns a content; `Missing` if it was not read.
    pub fn get(&self, name: &ObjectName) -> &StoredContent {
        self.read.get(name).unwrap_or(&StoredContent::Missing)
    }
}

/// A process that answers with the content of each name that it reads.
#[derive(Debug)]
struct Batch {
    child: Child,
    asking: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Batch {
    fn start(folder: &Path, options: &[&str]) -> Result<Self, GitError> {
        let mut command = git(folder, &["cat-file", "--batch"]);
        let spawned = command
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = spawned.map_err(|error| not_run(&error))?;
        let (asking, stdout) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(stdout.ok_or(GitError::BrokeOff)?);
        Ok(Self {
            child,
            asking,
            answers,
        })
    }

    /// Returns the content of a name; `None` if the process has ended.
    fn ask(&mut self, name: &ObjectName) -> Option<StoredContent> {
        writeln!(self.asking.as_mut()?, "{}", name.0).ok()?;
        next_answer(&mut self.answers)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // git exits at the end of its input. Ignore a process that has exited before.
        self.asking = None;
        let _ = self.child.wait();
    }
}

/// Reads the content of each name with one process.
fn contents_of(
    folder: &Path,
    names: Vec<ObjectName>,
) -> Result<Vec<(ObjectName, StoredContent)>, GitError> {
    let mut batch = Batch::start(folder, &["--buffer"])?;
    let mut stdin = batch.asking.take().ok_or(GitError::BrokeOff)?;
    let asked: String = names.iter().flat_map(|name| [&name.0, "\n"]).collect();
    // git answers while it reads its input: without a reader of the answers the pipe fills up.
    let asking = std::thread::Builder::new().spawn(move || stdin.write_all(asked.as_bytes()));
    let asking = asking.map_err(|error| not_run(&error))?;
    let contents = names
        .into_iter()
        .map(|name| {
            Ok((
                name,
                next_answer(&mut batch.answers).ok_or(GitError::BrokeOff)?,
            ))
        })
        .collect::<Result<Vec<_>, GitError>>();
    if contents.is_err() {
        // The process may have ended already.
        let _ = batch.child.kill();
    }
    let _ = asking.join();
    batch.child.wait().map_err(|error| not_run(&error))?;
    contents
}

/// Lists the names of all objects that can be read without fetching.
fn local_objects(folder: &Path) -> Result<HashSet<ObjectName>, GitError> {
    let arguments = [
        "cat-file",
        "--batch-all-objects",
        "--unordered",
        "--batch-check=%(objectname)",
    ];
    let names = output(folder, &arguments)?;
    Ok(String::from_utf8_lossy(&names)
        .lines()
        .map(ObjectName::new)
        .collect())
}

/// Reads the next answer: `<name> blob <size>`, a line break, the content, a line break; or `<name> missing`.
fn next_answer(answers: &mut impl BufRead) -> Option<StoredContent> {
    let mut header = String::new();
    answers.read_line(&mut header).ok()?;
    let mut words = header.split_ascii_whitespace().skip(1);
    let (kind, size) = (words.next()?, words.next());
    let Some(size) = size.and_then(|size| size.parse::<u64>().ok()) else {
        return Some(StoredContent::Missing);
    };
    let mut answer = answers.take(size + 1);
    if size > SourceFile::MAX_BYTES {
        let skipped = std::io::copy(&mut answer, &mut std::io::sink()).ok()?;
        return (skipped == size + 1).then_some(StoredContent::TooLarge);
    }
    let mut content = Vec::new();
    answer
        .read_to_end(&mut content)
        .ok()
        .filter(|&length| length as u64 == size + 1)?;
    content.pop();
    Some(if kind == "blob" {
        StoredContent::Bytes(content.into())
    } else {
        StoredContent::Missing
    })
}
