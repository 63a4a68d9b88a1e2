//! The pages that a command of the editor opens: those of rules, and plans that are written for it.

use std::io;
use std::path::PathBuf;

use lsp_types::Uri;
use serde_json::Value;
use tempfile::TempDir;

/// The address of a page of ours: an editor must not be talked into opening anything else.
pub(super) fn page_of_ours(url: Value) -> Option<Uri> {
    let page: Uri = serde_json::from_value(url).ok()?;
    let ours = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
    page.as_str().starts_with(ours).then_some(page)
}

/// Plans that the editor has opened. Their files go with the server.
#[derive(Debug, Default)]
pub(super) struct Pages {
    folder: Option<TempDir>,
    written: usize,
}

impl Pages {
    /// Writes a page, and returns its file.
    pub(super) fn write(&mut self, page: &str) -> io::Result<PathBuf> {
        let folder = match self.folder.take() {
            Some(folder) => folder,
            None => tempfile::Builder::new().prefix("ownerlint-").tempdir()?,
        };
        let file = folder.path().join(format!("plan-{}.html", self.written));
        self.folder = Some(folder);
        self.written += 1;
        std::fs::write(&file, page)?;
        Ok(file)
    }
}
