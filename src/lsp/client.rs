//! Messages that the server sends to the editor on its own initiative: requests, progress and notices.

use lsp_server::{Connection, Message, Notification, Request};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    ClientCapabilities, LogMessageParams, MessageType, NumberOrString, ShowDocumentParams,
    ShowMessageParams, Uri,
};
use serde::Serialize;
use serde_json::json;

/// The sending side of the connection to the editor.
pub(super) struct Client<'c> {
    connection: &'c Connection,
    capabilities: ClientCapabilities,
    /// The token of the progress that the editor shows.
    progress: Option<NumberOrString>,
    /// The number of requests so far, which is the id of the last one.
    asked: i32,
}

impl<'c> Client<'c> {
    pub(super) fn new(connection: &'c Connection, capabilities: ClientCapabilities) -> Self {
        Self {
            connection,
            capabilities,
            progress: None,
            asked: 0,
        }
    }

    /// Asks the editor to report changes of files that are not open. Returns `false` if it cannot.
    pub(super) fn watch_files(&mut self) -> bool {
        let workspace = self.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        if watched.and_then(|watched| watched.dynamic_registration) != Some(true) {
            return false;
        }
        let watcher = json!({"globPattern": "**/*.{yaml,yml,json}"});
        let registration = json!({
            "id": "files",
            "method": notification::DidChangeWatchedFiles::METHOD,
            "registerOptions": {"watchers": [watcher]},
        });
        let registrations = json!({"registrations": [registration]});
        self.ask(request::RegisterCapability::METHOD, registrations);
        true
    }

    /// Begins a progress, if the editor can show one.
    pub(super) fn begin_progress(&mut self) {
        let window = self.capabilities.window.as_ref();
        if window.and_then(|window| window.work_done_progress) == Some(true) {
            let token = NumberOrString::String("ownerlint/reading".to_owned());
            let create = json!({"token": token});
            self.ask(request::WorkDoneProgressCreate::METHOD, create);
            let begin = json!({"kind": "begin", "title": "ownerlint reads the manifests"});
            let begin = json!({"token": token, "value": begin});
            self.tell(notification::Progress::METHOD, begin);
            self.progress = Some(token);
        }
    }

    pub(super) fn end_progress(&mut self) {
        if let Some(token) = self.progress.take() {
            let end = json!({"token": token, "value": {"kind": "end"}});
            self.tell(notification::Progress::METHOD, end);
        }
    }

    /// Opens a page outside the editor, or shows its address if the editor cannot open it.
    pub(super) fn open_page(&mut self, uri: Uri) {
        let window = self.capabilities.window.as_ref();
        let shows = window.and_then(|window| window.show_document.as_ref());
        if shows.is_some_and(|shows| shows.support) {
            let show = ShowDocumentParams {
                uri,
                external: Some(true),
                take_focus: Some(true),
                selection: None,
            };
            self.ask(request::ShowDocument::METHOD, show);
        } else {
            self.say(MessageType::INFO, uri.as_str().to_owned());
        }
    }

    pub(super) fn say(&self, typ: MessageType, message: String) {
        let shown = ShowMessageParams { typ, message };
        self.tell(notification::ShowMessage::METHOD, shown);
    }

    /// Writes a message into the editor's log.
    pub(super) fn log(&self, typ: MessageType, message: String) {
        self.tell(
            notification::LogMessage::METHOD,
            LogMessageParams { typ, message },
        );
    }

    fn ask(&mut self, method: &str, params: impl Serialize) {
        self.asked += 1;
        self.send(Request::new(self.asked.into(), method.to_owned(), params).into());
    }

    fn tell(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// Sends a message. If the editor has gone away, sending fails silently: the server notices it when it reads.
    pub(super) fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }
}
