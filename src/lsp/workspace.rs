//! The open texts of the editor, and the folder around them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lsp_types::Uri;

use super::place::path_of;
use crate::engine::{CheckOptions, Request, Session, SessionError};
use crate::finding::Fixes;
use crate::inventory::{OnDisk, Overlay};
use crate::report::Graphs;
use crate::suppression::Date;

/// A text as the editor has it.
#[derive(Debug)]
pub(super) struct OpenDocument {
    /// As the editor names it.
    pub(super) uri: Uri,
    /// Which state of the text it is.
    pub(super) version: i32,
    /// The whole text.
    pub(super) text: Arc<str>,
}

/// A folder and the open texts in it.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The folder; `None` until a file outside of any folder is opened.
    root: Option<String>,
    /// By their paths.
    open: BTreeMap<String, OpenDocument>,
    /// Whether the editor says when files change that are not open.
    watched: bool,
    /// Whether something may have changed since the last attempt to read the folder.
    stale: bool,
    /// Facts about the files on disk since the folder was read.
    on_disk: OnDisk,
}

impl Workspace {
    /// A folder that is not read yet.
    pub(super) fn new(root: Option<String>) -> Self {
        Self {
            stale: root.is_some(),
            root,
            ..Self::default()
        }
    }

    /// From now on the editor says when files change that are not open.
    pub(super) fn is_watched(&mut self) {
        self.watched = true;
    }

    /// Opens a document, or replaces its text.
    pub(super) fn set(&mut self, document: OpenDocument) {
        let Some(path) = path_of(&document.uri) else {
            return;
        };
        if self.root.is_none() {
            self.root = path.rfind('/').map(|at| path[..at].to_owned());
        }
        self.open.insert(path, document);
        self.changed_in_editor();
    }

    /// From now on the file on disk counts.
    pub(super) fn close(&mut self, uri: &Uri) {
        if path_of(uri)
            .and_then(|path| self.open.remove(&path))
            .is_some()
        {
            self.changed_in_editor();
        }
    }

    /// Something on disk has changed.
    pub(super) fn changed_on_disk(&mut self) {
        self.stale = true;
        self.on_disk = OnDisk::MayDiffer;
    }

    /// An open text has changed; where the files on disk are not watched, they may have, too.
    fn changed_in_editor(&mut self) {
        self.stale = true;
        if !self.watched {
            self.on_disk = OnDisk::MayDiffer;
        }
    }

    /// Whether what is known is out of date.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// The open document at a path.
    pub(super) fn document(&self, path: &str) -> Option<&OpenDocument> {
        self.open.get(path)
    }

    /// The open documents with their paths.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        self.open
            .iter()
            .map(|(path, document)| (path.as_str(), document))
    }

    /// Reads the folder after an `earlier` time; `None` if there is no folder.
    ///
    /// # Errors
    /// A mistake in the configuration, and a folder that cannot be read.
    pub(super) fn read(
        &mut self,
        earlier: Option<&Session>,
    ) -> Result<Option<Session>, SessionError> {
        self.stale = false;
        let Some(root) = &self.root else {
            return Ok(None);
        };
        let overlay = |(path, document): (&String, &OpenDocument)| Overlay {
            path: path.clone(),
            text: Arc::clone(&document.text),
        };
        let mut request = Request::new([root.clone()]);
        request.overlays = self.open.iter().map(overlay).collect();
        loop {
            match Session::open_after(earlier, self.on_disk, &request) {
                // A file that the configuration leaves out, or that is no manifest by its name, has no diagnostics.
                Err(SessionError::OutsideOfBundles { path }) => {
                    request.overlays.retain(|overlay| overlay.path != path);
                }
                Ok(session) => {
                    self.on_disk = OnDisk::Unchanged;
                    return Ok(Some(session));
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// The options of the checks of a folder.
pub(super) fn check_options() -> CheckOptions {
    CheckOptions {
        today: Some(Date::today()),
        fixes: Fixes::OfUnsavedTexts,
        graphs: Graphs::LeftOut,
        as_applied: true,
        ..CheckOptions::default()
    }
}
