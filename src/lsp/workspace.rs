//! The open texts of the editor, and the folder that contains them.

use std::collections::BTreeMap;
use std::sync::Arc;

use lsp_types::Uri;

use crate::engine::{CheckOptions, Request, Session, SessionError};
use crate::finding::Fixes;
use crate::inventory::{OnDisk, Overlay, STDIN, is_manifest_name};
use crate::report::Graphs;
use crate::suppression::Date;

/// A document with the editor's text.
#[derive(Debug)]
pub(super) struct OpenDocument {
    /// The editor's name for it.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
}

/// A folder and the open texts in it, or one text without a file.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The folder without a trailing slash; [`STDIN`] for a text without a file.
    pub(super) root: String,
    /// Whether the editor has the folder open; otherwise the folder is closed with its last open text.
    pub(super) is_opened: bool,
    /// The open texts by path.
    open: BTreeMap<String, OpenDocument>,
    /// Whether the editor reports changes of files that are not open.
    pub(super) watched: bool,
    /// Whether something may have changed since the last attempt to read the folder.
    stale: bool,
    /// Whether files on disk may have changed since the folder was read.
    on_disk: OnDisk,
}

impl Workspace {
    /// Creates a folder that the editor has open and that is not read yet.
    pub(super) fn opened(root: String) -> Self {
        Self {
            root,
            is_opened: true,
            stale: true,
            ..Self::default()
        }
    }

    /// Creates the folder of a file that is in no folder of the editor.
    pub(super) fn of_file(path: &str) -> Self {
        // The root of the file system ends with the slash.
        let end = path.rfind('/').unwrap_or_default().max(1);
        let root = path.get(..end).unwrap_or("/").to_owned();
        Self {
            root,
            ..Self::default()
        }
    }

    /// Creates a folder for a text without a file.
    pub(super) fn untitled() -> Self {
        Self {
            root: STDIN.to_owned(),
            ..Self::default()
        }
    }

    /// Returns the editor's name of the text without a file.
    pub(super) fn text(&self) -> Option<&Uri> {
        self.open.get(STDIN).map(|document| &document.uri)
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.root);
        self.root == "/" || below.is_some_and(|below| below.starts_with('/'))
    }

    /// Whether neither the folder nor a text of it is open.
    pub(super) fn is_done(&self) -> bool {
        !self.is_opened && self.open.is_empty()
    }

    /// Opens the document at a path, or replaces its text.
    pub(super) fn set(&mut self, path: String, document: OpenDocument) {
        self.open.insert(path, document);
        self.changed_in_editor();
    }

    /// Closes the document at a path: from now on the file on disk is used.
    pub(super) fn close(&mut self, path: &str) {
        if self.open.remove(path).is_some() {
            self.changed_in_editor();
        }
    }

    /// Removes and returns the open documents whose paths `moving` accepts.
    pub(super) fn take(&mut self, moving: impl Fn(&str) -> bool) -> Vec<OpenDocument> {
        let open = std::mem::take(&mut self.open);
        let (moved, kept): (BTreeMap<_, _>, BTreeMap<_, _>) =
            open.into_iter().partition(|(path, _)| moving(path));
        self.open = kept;
        if !moved.is_empty() {
            self.changed_in_editor();
        }
        moved.into_values().collect()
    }

    /// Marks the folder after a change on disk.
    pub(super) fn mark_stale(&mut self) {
        self.stale = true;
        self.on_disk = OnDisk::MayDiffer;
    }

    /// Marks the folder after a change of an open text. Unless files on disk are watched, they may have changed too.
    fn changed_in_editor(&mut self) {
        self.stale = true;
        if !self.watched {
            self.on_disk = OnDisk::MayDiffer;
        }
    }

    /// Whether something may have changed since the last attempt to read the folder.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    pub(super) fn document(&self, path: &str) -> Option<&OpenDocument> {
        self.open.get(path)
    }

    /// Returns the open documents with their paths.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        self.open
            .iter()
            .map(|(path, document)| (path.as_str(), document))
    }

    /// Returns the paths to read: the folder if the editor has it open, otherwise the open texts
    /// and the files beside them. No subfolders: the folder may be that for temporary files.
    fn paths(&self) -> Vec<String> {
        if self.is_opened || self.root == STDIN {
            return vec![self.root.clone()];
        }
        let entries = std::fs::read_dir(&self.root).into_iter().flatten();
        let files = entries.filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_neighbour = is_manifest_name(&path) && path.is_file();
            Some(path.to_str().filter(|_| is_neighbour)?.to_owned())
        });
        let closed = files.filter(|path| !self.open.contains_key(path));
        self.open.keys().cloned().chain(closed).collect()
    }

    /// Reads the folder, and reuses the unchanged files of `earlier`. `None` if neither the folder nor a text is open.
    ///
    /// # Errors
    /// The configuration has a mistake, or the folder cannot be read.
    pub(super) fn read(
        &mut self,
        earlier: Option<&Session>,
    ) -> Result<Option<Session>, SessionError> {
        self.stale = false;
        if self.is_done() {
            return Ok(None);
        }
        let overlays = self.open.iter().map(|(path, document)| Overlay {
            path: path.clone(),
            text: Arc::clone(&document.text),
        });
        let mut request = Request::new(self.paths());
        request.overlays = overlays.collect();
        request.in_repository = self.is_opened;
        loop {
            match Session::open_after(earlier, self.on_disk, &request) {
                // A file that the configuration excludes, or whose name is not that of a manifest, gets no diagnostics.
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

pub(super) fn check_options() -> CheckOptions {
    CheckOptions {
        today: Some(Date::today()),
        fixes: Fixes::OfUnsavedTexts,
        graphs: Graphs::LeftOut,
        as_applied: true,
        ..CheckOptions::default()
    }
}
