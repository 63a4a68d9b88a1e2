//! Diagnostics of the files that an editor has open. They are sent once, and again when they change.

use std::collections::BTreeMap;
use std::str::FromStr;

use lsp_server::{Connection, Notification};
use lsp_types::Uri;
use lsp_types::notification::{self, Notification as _};
use miette::Diagnostic;
use serde_json::{Value, json};

use super::folder::Folder;
use super::place::{path_of, range};
use crate::engine::SessionError;
use crate::report::{Roots, absolute_uri, diagnostics_of};
use crate::text::{ColumnUnit, SourceFile, Span, plain};

/// Replaces the URIs of all related places by `text`, that of a text without a file.
fn lead_to(diagnostic: &mut Value, text: &Uri) {
    let related = diagnostic["relatedInformation"].as_array_mut();
    for place in related.into_iter().flatten() {
        place["location"]["uri"] = json!(text);
    }
}

/// Returns a diagnostic of a place that no rule is about.
fn warning(file: &SourceFile, span: Span, unit: ColumnUnit, message: &str) -> Value {
    json!({
        "range": range(file, span, unit),
        "severity": 2,
        "source": env!("CARGO_PKG_NAME"),
        "message": plain::visible_in_place(message),
    })
}

/// Sends diagnostics to an editor.
pub(super) struct Publisher<'c> {
    connection: &'c Connection,
    unit: ColumnUnit,
    /// The folders to which paths are relative.
    roots: Roots,
    /// The published diagnostics.
    shown: BTreeMap<Uri, Value>,
}

impl<'c> Publisher<'c> {
    /// Creates a publisher that has sent nothing yet.
    pub(super) fn new(connection: &'c Connection, unit: ColumnUnit) -> Self {
        let here = std::env::current_dir().ok();
        Self {
            connection,
            unit,
            roots: Roots {
                working_directory: here.map(|here| here.to_string_lossy().replace('\\', "/")),
                repository_root: None,
            },
            shown: BTreeMap::new(),
        }
    }

    /// Returns the folders to which paths are relative.
    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Publishes the findings in the open files of a folder. A file that was not checked gets no diagnostics: an empty
    /// list would claim that nothing is wrong.
    pub(super) fn publish(&mut self, folder: &mut Folder) {
        let workspace = &folder.workspace;
        for (path, document) in workspace.open() {
            let found = folder.ask(|answers| {
                let report = answers.report.as_ref()?;
                let mut found = diagnostics_of(report, path, None, self.unit, &self.roots);
                if let Some(file) = answers.inquiry.source(path) {
                    let missing = answers.inquiry.missing_paths(path).into_iter();
                    let missing =
                        missing.map(|(span, message)| warning(file, span, self.unit, &message));
                    found.extend(missing);
                }
                if let Some(text) = workspace.text() {
                    for one in &mut found {
                        lead_to(one, text);
                    }
                }
                let is_judged = answers.inquiry.source(path).is_some();
                (is_judged || !found.is_empty()).then_some(found)
            });
            match found.flatten() {
                Some(found) => self.show(&document.uri, Some(document.version), found),
                None => self.clear(&document.uri),
            }
        }
        let mistake_file = folder.mistake_file.take();
        if let Some(uri) = mistake_file
            && workspace.open().all(|(_, document)| document.uri != uri)
        {
            self.clear(&uri);
        }
    }

    /// Publishes a mistake in the configuration at its place; diagnostics of other files stay. Returns whether the
    /// editor has the configuration open, so that the user sees it.
    pub(super) fn publish_mistake(&mut self, error: &SessionError, folder: &mut Folder) -> bool {
        let Some((file, span)) = error.place() else {
            return false;
        };
        let Ok(uri) = Uri::from_str(&absolute_uri(file.path(), &self.roots)) else {
            return false;
        };
        let open = path_of(&uri).and_then(|path| folder.workspace.document(&path));
        let mut message = plain::visible_in_place(&error.to_string());
        if let Some(help) = error.help() {
            message += &format!("\n\n{}", plain::visible_in_place(&help.to_string()));
        }
        let diagnostic = json!({
            "range": range(file, span, self.unit),
            "severity": 1,
            "source": env!("CARGO_PKG_NAME"),
            "message": message,
        });
        let uri = open.map_or(uri, |document| document.uri.clone());
        let (version, is_open) = (open.map(|document| document.version), open.is_some());
        self.show(&uri, version, vec![diagnostic]);
        let before = folder.mistake_file.replace(uri.clone());
        if let Some(before) = before.filter(|before| *before != uri) {
            self.clear(&before);
        }
        is_open
    }

    /// Withdraws the diagnostics of a file.
    pub(super) fn clear(&mut self, uri: &Uri) {
        if self.shown.contains_key(uri) {
            self.show(uri, None, Vec::new());
            self.shown.remove(uri);
        }
    }

    fn show(&mut self, uri: &Uri, version: Option<i32>, diagnostics: Vec<Value>) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let Some(version) = version {
            params["version"] = version.into();
        }
        if self.shown.get(uri) != Some(&params) {
            let method = notification::PublishDiagnostics::METHOD.to_owned();
            let message = Notification::new(method, params.clone());
            // If the editor has gone away, the server notices it when it reads.
            let _ = self.connection.sender.send(message.into());
            self.shown.insert(uri.clone(), params);
        }
    }
}
