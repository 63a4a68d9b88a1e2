//! What the editor has open, and the folder around it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lsp_types::Uri;

use super::place::path_of;
use crate::engine::{CheckOptions, Request, Session, SessionError};
use crate::inventory::Overlay;
use crate::report::Report;
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

/// A folder as it was read, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) session: Session,
    pub(super) report: Report,
}

/// A folder and the open texts in it.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// The folder; `None` until a file outside of any folder is opened.
    root: Option<String>,
    /// By their paths.
    open: BTreeMap<String, OpenDocument>,
    /// Whether something has changed since the folder was read.
    stale: bool,
}

impl Workspace {
    /// A folder that nobody has read yet.
    pub(super) fn new(root: Option<String>) -> Self {
        Self { stale: root.is_some(), root, ..Self::default() }
    }

    /// Opens a document, or replaces its text.
    pub(super) fn set(&mut self, document: OpenDocument) {
        let Some(path) = path_of(&document.uri) else { return };
        if self.root.is_none() {
            self.root = path.rfind('/').map(|at| path[..at].to_owned());
        }
        self.open.insert(path, document);
        self.stale = true;
    }

    /// From now on the file on disk counts.
    pub(super) fn close(&mut self, uri: &Uri) {
        if let Some(path) = path_of(uri) {
            self.stale |= self.open.remove(&path).is_some();
        }
    }

    /// Something on disk has changed.
    pub(super) fn changed_on_disk(&mut self) {
        self.stale = true;
    }

    /// Whether what is known is out of date.
    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// The open documents with their paths.
    pub(super) fn open(&self) -> impl Iterator<Item = (&str, &OpenDocument)> {
        self.open.iter().map(|(path, document)| (path.as_str(), document))
    }

    /// Reads and judges the folder. What was `known` stays if that fails: an editor in the middle of a word must not lose everything.
    ///
    /// # Errors
    /// A mistake in the configuration, and a folder that cannot be read.
    pub(super) fn read(&mut self, known: &mut Option<Reading>) -> Result<(), String> {
        self.stale = false;
        let Some(root) = &self.root else { return Ok(()) };
        let overlay = |(path, document): (&String, &OpenDocument)| Overlay {
            path: path.clone(),
            text: Arc::clone(&document.text),
        };
        let mut request = Request::new([root.clone()]);
        request.overlays = self.open.iter().map(overlay).collect();
        let earlier = known.as_ref().map(|known| &known.session);
        let opened = loop {
            match Session::open_after(earlier, &request) {
                // A file that the configuration leaves out, or that is no manifest by its name, is nobody's business.
                Err(SessionError::OutsideOfBundles { path }) => request.overlays.retain(|overlay| overlay.path != path),
                other => break other,
            }
        };
        let judged = opened.and_then(|session| {
            let options = CheckOptions { today: Some(Date::today()), ..CheckOptions::default() };
            Ok(Reading { report: session.check(options)?, session })
        });
        *known = Some(judged.map_err(|error| error.to_string())?);
        Ok(())
    }
}
