//! Where lines of files can be read on the web.

use serde::Serialize;

use crate::report::{Published, Roots, paths};

/// The URL of a line of a file, as the parts before and after the number of the line.
#[derive(Debug, Serialize)]
pub(super) struct FileLink {
    before: String,
    after: String,
}

impl FileLink {
    /// Returns the link to a file; `None` unless the published file is the one that was read.
    pub(super) fn of(file: &str, published: &Published, roots: &Roots) -> Option<Self> {
        let path = paths::from_root(file, roots);
        published.files.contains(&path).then(|| {
            let (before, after) = published.address(&path);
            Self { before, after }
        })
    }
}
