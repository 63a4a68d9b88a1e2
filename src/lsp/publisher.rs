//! Diagnostics of the files that an editor shows. They are sent once, and again when they differ.

use std::collections::BTreeMap;
use std::str::FromStr;

use lsp_server::{Connection, Notification};
use lsp_types::Uri;
use lsp_types::notification::{self, Notification as _};
use miette::Diagnostic;
use serde_json::{Value, json};

use super::place::{path_of, range};
use super::workspace::Workspace;
use crate::engine::SessionError;
use crate::report::{LspOptions, Report, Roots, absolute_uri, diagnostics_of};
use crate::text::{ColumnUnit, plain};

/// Shows an editor what is wrong.
pub(super) struct Publisher<'c> {
    connection: &'c Connection,
    unit: ColumnUnit,
    /// Where relative paths begin.
    roots: Roots,
    /// The published diagnostics.
    shown: BTreeMap<Uri, Value>,
    /// The file that shows why the folder cannot be judged.
    mistaken: Option<Uri>,
}

impl<'c> Publisher<'c> {
    /// Nothing is shown yet.
    pub(super) fn new(connection: &'c Connection, unit: ColumnUnit) -> Self {
        let here = std::env::current_dir().ok();
        let working_directory = here.map(|here| here.to_string_lossy().replace('\\', "/"));
        let roots = Roots {
            working_directory,
            repository_root: None,
        };
        Self {
            connection,
            unit,
            roots,
            shown: BTreeMap::new(),
            mistaken: None,
        }
    }

    /// Where relative paths begin.
    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Shows what a report says of the open files.
    pub(super) fn publish(&mut self, report: &Report, workspace: &Workspace) {
        let options = LspOptions {
            position_encoding: self.unit,
        };
        for (path, document) in workspace.open() {
            let diagnostics = diagnostics_of(report, path, None, &options, &self.roots);
            self.show(&document.uri, Some(document.version), diagnostics);
        }
        let mistaken = self.mistaken.take();
        let is_open = |uri: &Uri| workspace.open().any(|(_, document)| document.uri == *uri);
        if let Some(uri) = mistaken.filter(|uri| !is_open(uri)) {
            self.show(&uri, None, Vec::new());
        }
    }

    /// Shows a mistake in the configuration at its place; what is shown of other files stays. Whether the editor has
    /// the file open: if not, it need not be shown there.
    pub(super) fn publish_mistake(&mut self, error: &SessionError, workspace: &Workspace) -> bool {
        let Some((file, span)) = error.place() else {
            return false;
        };
        let Ok(uri) = Uri::from_str(&absolute_uri(file.path(), &self.roots)) else {
            return false;
        };
        let open = path_of(&uri).and_then(|path| workspace.document(&path));
        let help = error
            .help()
            .map(|help| format!("\n\n{}", plain::visible_in_place(&help.to_string())))
            .unwrap_or_default();
        let diagnostic = json!({
            "range": range(file, span, self.unit),
            "severity": 1,
            "source": env!("CARGO_PKG_NAME"),
            "message": plain::visible_in_place(&error.to_string()) + &help,
        });
        let uri = open.map_or(uri, |document| document.uri.clone());
        self.show(
            &uri,
            open.map(|document| document.version),
            vec![diagnostic],
        );
        self.mistaken = Some(uri);
        open.is_some()
    }

    /// Shows nothing of a file any more.
    pub(super) fn clear(&mut self, uri: &Uri) {
        self.show(uri, None, Vec::new());
        self.shown.remove(uri);
    }

    fn show(&mut self, uri: &Uri, version: Option<i32>, diagnostics: Vec<Value>) {
        let mut params = json!({"uri": uri, "diagnostics": diagnostics});
        if let Some(version) = version {
            params["version"] = version.into();
        }
        if self.shown.get(uri) != Some(&params) {
            let message = Notification::new(
                notification::PublishDiagnostics::METHOD.to_owned(),
                params.clone(),
            );
            // An editor that no longer listens has gone away, which the server notices.
            let _ = self.connection.sender.send(message.into());
            self.shown.insert(uri.clone(), params);
        }
    }
}
