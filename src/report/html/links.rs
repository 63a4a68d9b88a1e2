//! Where lines of files can be read on the web.

use serde::Serialize;

use crate::report::{Published, Roots, paths};

/// The address of a file, around the number of a line.
#[derive(Debug, Serialize)]
pub(super) struct FileLink {
    before: String,
    after: String,
}

impl FileLink {
    /// The address of a file that is published as it was read.
    pub(super) fn of(file: &str, published: &Published, roots: &Roots) -> Option<Self> {
        let path = paths::from_root(file, roots);
        published.files.contains(&path).then(|| {
            let (before, after) = published.address(&path);
            Self { before, after }
        })
    }
}
