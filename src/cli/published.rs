//! `--source-url`: where lines of files can be read on the web.

use clap::Args;

use super::changed::as_committed;
use crate::report::Published;

/// Where the files are published.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct PublishedArgs {
    /// Link lines in the `markdown` and `html` outputs to this address of the commit: https://github.com/owner/name/blob/COMMIT; for
    /// other hosts, write where the file and the line belong: https://host/COMMIT/{path}?line={line}
    // clap prints this as it stands, so the address gets no brackets.
    #[allow(rustdoc::bare_urls)]
    #[arg(long, value_name = "URL", value_parser = address, help_heading = "Output")]
    source_url: Option<String>,
}

impl PublishedArgs {
    /// The address with the files that are there as they were read.
    pub(super) fn read(&self) -> Option<Published> {
        self.source_url.clone().map(|url| Published { url, files: as_committed() })
    }
}

/// A page follows its links: an address is one of the web.
fn address(text: &str) -> Result<String, String> {
    match text.starts_with("https://") || text.starts_with("http://") {
        true => Ok(text.to_owned()),
        false => Err("an address begins with `https://`".to_owned()),
    }
}
