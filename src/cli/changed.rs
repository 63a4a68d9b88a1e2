//! Which files a change touches, and which are as the commit has them, as git knows it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::process::Command;

use super::error::Error;

/// The files that differ between the working tree and the commit at which the current branch left `reference`, and all that
/// git does not know: of a file that it ignores, as rendered output often is, nobody can say that it did not change.
/// Absolute paths.
pub(super) fn changed_from(reference: &str) -> Result<Vec<String>, Error> {
    let failed = |reason: String| Error::Git { reference: reference.to_owned(), reason };
    let root = git(&["rev-parse", "--show-toplevel"]).map_err(failed)?;
    let root = root.trim_end_matches(['\n', '\r']).to_owned();
    // A word that begins with a dash is no ref, and no option either.
    let commit = format!("{reference}^{{commit}}");
    let commit = git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
        .map_err(|_| failed("there is no such commit; a shallow clone may lack it (`fetch-depth: 0`)".to_owned()))?;
    let base = git(&["merge-base", "HEAD", commit.trim()]).map_err(|_| {
        failed("it has no common history with HEAD; a shallow clone may lack it (`fetch-depth: 0`)".to_owned())
    })?;
    let root = root.as_str();
    let changed =
        git(&["-C", root, "diff", "--no-ext-diff", "--name-only", "-z", base.trim(), "--"]).map_err(failed)?;
    let new = git(&["-C", root, "ls-files", "--others", "-z"]).map_err(failed)?;
    let names = changed.split('\0').chain(new.split('\0')).filter(|name| !name.is_empty());
    Ok(names.map(|name| format!("{root}/{name}")).collect())
}

/// The files that are in the working tree as in the current commit, from the root of the repository; none without git.
pub(super) fn as_committed() -> BTreeSet<String> {
    let read = || {
        let root = git(&["rev-parse", "--show-toplevel"])?;
        let root = root.trim_end_matches(['\n', '\r']);
        let committed = git(&["-C", root, "ls-tree", "-r", "--name-only", "-z", "HEAD"])?;
        let changed = git(&["-C", root, "diff", "--no-ext-diff", "--name-only", "-z", "HEAD", "--"])?;
        let changed: BTreeSet<&str> = changed.split('\0').collect();
        let same = committed.split('\0').filter(|name| !name.is_empty() && !changed.contains(name));
        Ok::<_, String>(same.map(str::to_owned).collect())
    };
    read().unwrap_or_default()
}

/// The output of git, or its complaint.
fn git<S: AsRef<OsStr>>(arguments: &[S]) -> Result<String, String> {
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "git is not installed".to_owned(),
        _ => format!("git cannot be run: {error}"),
    })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let first = complaint.lines().next().unwrap_or("git failed without a word");
            Err(first.trim_start_matches("fatal: ").to_owned())
        }
    }
}
