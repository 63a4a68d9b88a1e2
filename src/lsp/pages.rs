//! Pages that commands of the editor open: those of rules, and plans that are written to temporary files.

use std::io;
use std::path::PathBuf;

use lsp_types::Uri;
use serde_json::Value;
use tempfile::TempDir;

/// Returns the address of a page if it is in ownerlint's repository: no request opens others.
pub(super) fn page_of_ours(url: Value) -> Option<Uri> {
    let page: Uri = serde_json::from_value(url).ok()?;
    let ours = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
    page.as_str().starts_with(ours).then_some(page)
}

/// The files of plans that the editor has opened, which are deleted when the server ends.
#[derive(Debug, Default)]
pub(super) struct Pages {
    folder: Option<TempDir>,
    written: usize,
}

impl Pages {
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
