//! The contents of files, by name: one git process for all of them.

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use super::GitError;
use super::command::{git, not_run};

/// The name of a file's content, in hexadecimal digits: equal names are equal contents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName(String);

impl ObjectName {
    /// The name in a line of git's.
    pub(super) fn new(name: &str) -> Self {
        Self(name.to_owned())
    }
}

/// Contents by name, each of them read once.
#[derive(Debug, Default)]
pub struct Blobs {
    read: HashMap<ObjectName, Option<Arc<[u8]>>>,
}

impl Blobs {
    /// Reads those of `names` that are not read yet, in the repository that `folder` is in.
    ///
    /// # Errors
    /// git cannot be run, or breaks off. A content that the repository lacks is no error: [`Blobs::get`] has none.
    pub(super) fn read(&mut self, folder: &Path, names: BTreeSet<ObjectName>) -> Result<(), GitError> {
        let names: Vec<ObjectName> = names.into_iter().filter(|name| !self.read.contains_key(name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        let mut command = git(folder, &["cat-file", "--batch", "--buffer"]);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = spawned.map_err(|error| not_run(&error))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(broken_off()) };
        let asked: String = names.iter().flat_map(|name| [&name.0, "\n"]).collect();
        // git answers while it is being asked: whoever only asks fills the pipe.
        let asking = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
        let mut answers = BufReader::new(stdout);
        let mut answer = || answers_next(&mut answers).ok_or_else(broken_off);
        let contents = names.into_iter().map(|name| Ok((name, answer()?))).collect::<Result<Vec<_>, GitError>>();
        if contents.is_err() {
            // It may have ended already.
            let _ = child.kill();
        }
        let _ = asking.join();
        child.wait().map_err(|error| not_run(&error))?;
        self.read.extend(contents?);
        Ok(())
    }

    /// A content that was read; `None` if the repository lacks it.
    pub fn get(&self, name: &ObjectName) -> Option<&Arc<[u8]>> {
        self.read.get(name)?.as_ref()
    }
}

/// `<name> blob <size>`, a line break, the content, a line break; or `<name> missing`.
fn answers_next(answers: &mut impl BufRead) -> Option<Option<Arc<[u8]>>> {
    let mut header = String::new();
    answers.read_line(&mut header).ok().filter(|&length| length > 0)?;
    let mut words = header.split_ascii_whitespace().skip(1);
    let (kind, size) = (words.next()?, words.next());
    let Some(size) = size.and_then(|size| size.parse::<usize>().ok()) else { return Some(None) };
    let mut content = Vec::new();
    answers.take(size as u64 + 1).read_to_end(&mut content).ok().filter(|&length| length == size + 1)?;
    content.pop();
    Some((kind == "blob").then(|| content.into()))
}

fn broken_off() -> GitError {
    GitError::Refused("it broke off while it read contents".to_owned())
}
