//! `--source-url`: where lines of files can be read on the web.

use clap::Args;

use super::changed::{as_committed, commit, files_of};
use crate::report::Published;

/// Where the files are published.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PublishedArgs {
    /// Link lines in the `markdown` and `html` outputs to this address: https://github.com/owner/name/blob/{commit}, where the commit
    /// may be written out; for other hosts, say where file and line belong: https://host/{commit}/{path}?line={line}
    // clap prints this as it stands, so the address gets no brackets.
    #[allow(rustdoc::bare_urls)]
    #[arg(long, value_name = "URL", value_parser = address, help_heading = "Output")]
    source_url: Option<String>,
}

impl PublishedArgs {
    /// The address with the files that are there as they were read from the work tree.
    pub(super) fn read(&self) -> Option<Published> {
        let url = self.source_url.as_ref()?;
        Some(Published {
            url: at(url, "HEAD").unwrap_or_default(),
            files: as_committed(),
        })
    }

    /// The address of the new state, with its files: those of a commit, if it is one.
    pub(super) fn of_head(&self, commit: Option<&str>) -> Option<Published> {
        match commit {
            Some(reference) => self.of(reference),
            None => self.read(),
        }
    }

    /// The address of the old state, if it is a commit: the address has to contain it.
    pub(super) fn of_base(&self, commit: Option<&str>) -> Option<Published> {
        self.source_url
            .as_ref()
            .filter(|url| url.contains(COMMIT))?;
        self.of(commit?)
    }

    fn of(&self, reference: &str) -> Option<Published> {
        let files = files_of(reference).unwrap_or_default();
        Some(Published {
            url: at(self.source_url.as_ref()?, reference)?,
            files,
        })
    }
}

/// The placeholder of the commit.
const COMMIT: &str = "{commit}";

/// The address at a commit; without a repository, only one that does not ask for it.
fn at(url: &str, reference: &str) -> Option<String> {
    if url.contains(COMMIT) {
        Some(url.replace(COMMIT, &commit(reference)?))
    } else {
        Some(url.to_owned())
    }
}

/// A page follows its links: an address is one of the web.
fn address(text: &str) -> Result<String, String> {
    if text.starts_with("https://") || text.starts_with("http://") {
        Ok(text.to_owned())
    } else {
        Err("an address begins with `https://`".to_owned())
    }
}
