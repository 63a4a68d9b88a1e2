//! `--source-url`: links to lines of files on the web.

use clap::Args;

use super::changed::{as_committed, commit, files_of};
use crate::report::Published;

/// Where the files are published.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PublishedArgs {
    /// Link lines in the `markdown` and `html` outputs to this URL, such as https://github.com/owner/name/blob/{commit}.
    /// For hosts with other URLs, add {path} and {line}: https://host/{commit}/{path}?line={line}. {commit} may be
    /// replaced by a commit
    // clap prints this as it stands, so the address gets no brackets.
    #[allow(rustdoc::bare_urls)]
    #[arg(long, value_name = "URL", value_parser = address, help_heading = "Output")]
    source_url: Option<String>,
}

impl PublishedArgs {
    /// Returns the address of `HEAD`, with the files of the work tree that equal those of `HEAD`.
    pub(super) fn of_work_tree(&self) -> Option<Published> {
        let url = self.source_url.as_ref()?;
        Some(Published {
            url: at(url, "HEAD").unwrap_or_default(),
            files: as_committed().unwrap_or_default(),
        })
    }

    /// Returns the address and files of the new state: those of `commit`, or those of the work tree.
    pub(super) fn of_head(&self, commit: Option<&str>) -> Option<Published> {
        match commit {
            Some(reference) => self.of(reference),
            None => self.of_work_tree(),
        }
    }

    /// Returns the address and files of the old state, if it is a commit and the address contains the placeholder.
    pub(super) fn of_base(&self, commit: Option<&str>) -> Option<Published> {
        let url = self.source_url.as_ref()?;
        let commit = commit.filter(|_| url.contains(COMMIT));
        self.of(commit?)
    }

    fn of(&self, reference: &str) -> Option<Published> {
        Some(Published {
            url: at(self.source_url.as_ref()?, reference)?,
            files: files_of(reference).unwrap_or_default(),
        })
    }
}

/// The placeholder for the commit.
const COMMIT: &str = "{commit}";

/// Returns `url` with a commit for its placeholder; `None` if it has one but there is no such
/// commit.
fn at(url: &str, reference: &str) -> Option<String> {
    if url.contains(COMMIT) {
        Some(url.replace(COMMIT, &commit(reference)?))
    } else {
        Some(url.to_owned())
    }
}

/// Parses an address, which must be on the web because pages link to it.
fn address(text: &str) -> Result<String, String> {
    if text.starts_with("https://") || text.starts_with("http://") {
        Ok(text.to_owned())
    } else {
        Err("the URL must begin with `https://` or `http://`".to_owned())
    }
}
