//! The conversation with one editor.

use std::collections::VecDeque;
use std::str::FromStr;
use std::time::{Duration, Instant};

use foldhash::HashMap;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    Command, CompletionResponse, DocumentSymbolResponse, ExecuteCommandParams,
    GotoDefinitionResponse, InitializeParams, MessageType, Position, TextDocumentPositionParams,
    Uri, WorkspaceFolder, WorkspaceFoldersChangeEvent, WorkspaceSymbolResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::actions::{self, OPEN_PAGE};
use super::answers::{Answers, OPEN_PLAN, SYMBOLS};
use super::client::Client;
use super::completion;
use super::folder::Folder;
use super::folders::Folders;
use super::greeting::{agreed_unit, offered, roots_of};
use super::pages::{Pages, page_of_ours};
use super::publisher::Publisher;
use super::workspace::OpenDocument;
use crate::engine::SessionError;
use crate::finding::Severity;
use crate::report::file_uri;
use crate::text::{ColumnUnit, plain};

/// Limits of the debounce interval, which is a quarter of the time that the last check took.
const LEAST_QUIET: Duration = Duration::from_millis(15);
const MAX_QUIET: Duration = Duration::from_millis(300);

/// One editor, and the folders that it works on.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    client: Client<'c>,
    unit: ColumnUnit,
    folders: Folders,
    /// Received messages that are not handled yet.
    waiting: VecDeque<Message>,
    /// The requests in `waiting`: `true` for those that the editor has cancelled.
    requests: HashMap<RequestId, bool>,
    publisher: Publisher<'c>,
    /// The debounce interval: changes are checked if no message comes for this long.
    quiet: Duration,
    pages: Pages,
    is_shut_down: bool,
}

impl<'c> Server<'c> {
    /// Exchanges capabilities with the editor. `None` if it sent `exit` or went away.
    pub(super) fn greet(connection: &'c Connection) -> Option<Self> {
        let (id, params) = initialize(connection)?;
        let unit = agreed_unit(&params.capabilities);
        let info = json!({"name": env!("CARGO_PKG_NAME"), "version": crate::VERSION});
        let result = json!({"capabilities": offered(unit), "serverInfo": info});
        let response = Response::new_ok(id, result);
        connection.sender.send(response.into()).ok()?;
        Some(Self {
            connection,
            unit,
            folders: Folders::opened(roots_of(&params)),
            client: Client::new(connection, params.capabilities),
            waiting: VecDeque::new(),
            requests: HashMap::default(),
            publisher: Publisher::new(connection, unit),
            quiet: LEAST_QUIET,
            pages: Pages::default(),
            is_shut_down: false,
        })
    }

    /// Answers until the editor sends `exit` or goes away. Returns whether it sent `shutdown` first.
    pub(super) fn run(mut self) -> bool {
        while let Some(message) = self.next() {
            match message {
                Message::Request(request) => {
                    let response = self.respond(request);
                    self.client.send(response.into());
                }
                Message::Notification(message) if message.method == notification::Exit::METHOD => {
                    break;
                }
                Message::Notification(message) => self.notice(message),
                Message::Response(_) => {}
            }
        }
        self.is_shut_down
    }

    /// Returns the next message. Checks changes before a request that needs the folders, and when
    /// no message has come for a moment.
    fn next(&mut self) -> Option<Message> {
        loop {
            self.take_what_came();
            match self.waiting.front() {
                Some(Message::Request(request))
                    if self.folders.are_stale() && !self.needs_no_check(request) =>
                {
                    self.refresh();
                }
                Some(_) => return self.waiting.pop_front(),
                None if self.folders.are_stale() => {
                    match self.connection.receiver.recv_timeout(self.quiet) {
                        Ok(message) => self.receive(message),
                        Err(error) if error.is_timeout() => self.refresh(),
                        Err(_) => return None,
                    }
                }
                None => {
                    let message = self.wait()?;
                    self.receive(message);
                }
            }
        }
    }

    /// Waits for a message. If none comes soon, computes facts that the next request will need.
    fn wait(&self) -> Option<Message> {
        match self.connection.receiver.recv_timeout(MAX_QUIET) {
            Ok(message) => return Some(message),
            Err(error) if error.is_timeout() => {
                for folder in self.folders.iter() {
                    folder.ask(|answers| answers.inquiry.prepare());
                }
            }
            Err(_) => {}
        }
        self.connection.receiver.recv().ok()
    }

    /// Reads and checks the folders in which something has changed, and publishes the diagnostics of their open files.
    fn refresh(&mut self) {
        let began = Instant::now();
        for folder in self.folders.stale_mut() {
            if folder.is_new() {
                self.client.begin_progress();
            }
            match folder.refresh(self.unit) {
                Ok(()) => {
                    self.publisher.publish(folder);
                    folder.reported_error = None;
                    log_limits(&self.client, folder);
                }
                Err(error) => fail(&self.client, &mut self.publisher, folder, &error),
            }
            self.client.end_progress();
        }
        self.quiet = (began.elapsed() / 4).clamp(LEAST_QUIET, MAX_QUIET);
    }

    /// Moves all received messages to `waiting`, because a later one may cancel a waiting request.
    fn take_what_came(&mut self) {
        let connection = self.connection;
        for message in connection.receiver.try_iter() {
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Message) {
        match &message {
            Message::Request(request) => {
                self.requests.insert(request.id.clone(), false);
            }
            Message::Notification(message) if message.method == notification::Cancel::METHOD => {
                let id = cancelled(&message.params);
                if let Some(is_cancelled) = id.and_then(|id| self.requests.get_mut(&id)) {
                    *is_cancelled = true;
                }
            }
            _ => {}
        }
        self.waiting.push_back(message);
    }

    /// Whether the request can be answered without checking the folders.
    fn needs_no_check(&self, request: &Request) -> bool {
        self.is_shut_down
            || request.method == request::Shutdown::METHOD
            || self.requests.get(&request.id) == Some(&true)
    }

    fn notice(&mut self, message: Notification) {
        match message.method.as_str() {
            notification::Initialized::METHOD => {
                self.folders.set_watched(self.client.watch_files());
            }
            notification::DidOpenTextDocument::METHOD => {
                if let Some(opened) = read::<notification::DidOpenTextDocument>(message) {
                    let opened = opened.text_document;
                    self.open(opened.uri, opened.version, opened.text);
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(mut changed) = read::<notification::DidChangeTextDocument>(message)
                    && let Some(whole) = changed.content_changes.pop()
                {
                    let changed = changed.text_document;
                    self.open(changed.uri, changed.version, whole.text);
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = read::<notification::DidCloseTextDocument>(message) {
                    let uri = closed.text_document.uri;
                    self.folders.close(&uri);
                    self.publisher.clear(&uri);
                }
            }
            notification::DidChangeWorkspaceFolders::METHOD => {
                for document in self.folders.change(&folder_change(&message.params)) {
                    self.publisher.clear(&document.uri);
                    self.folders.open(document);
                }
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD
            | notification::DidChangeConfiguration::METHOD => self.folders.mark_stale(),
            _ => {}
        }
    }

    fn open(&mut self, uri: Uri, version: i32, text: String) {
        let text = text.into();
        self.folders.open(OpenDocument { uri, version, text });
    }

    /// Calls `question` with the answers of a document's folder and the document's path.
    fn ask_about<R>(
        &self,
        uri: &Uri,
        question: impl FnOnce(&Answers<'_>, &str) -> Option<R>,
    ) -> Option<R> {
        let (folder, path) = self.folders.of(uri)?;
        folder.ask(|answers| question(answers, &path))?
    }

    /// Calls `question` with the answers of a document's folder, and a position in the document.
    fn ask_at<R>(
        &self,
        place: &TextDocumentPositionParams,
        question: impl FnOnce(&Answers<'_>, &str, Position) -> Option<R>,
    ) -> Option<R> {
        self.ask_about(&place.text_document.uri, |answers, path| {
            question(answers, path, place.position)
        })
    }

    fn respond(&mut self, request: Request) -> Response {
        if self.requests.remove(&request.id) == Some(true) {
            return refused(request.id, ErrorCode::RequestCanceled, "cancelled");
        }
        if request.method == request::Shutdown::METHOD {
            self.is_shut_down = true;
            return Response::new_ok(request.id, ());
        }
        if self.is_shut_down {
            let message = "the server was shut down";
            return refused(request.id, ErrorCode::InvalidRequest, message);
        }
        self.dispatch(request)
    }

    fn dispatch(&mut self, request: Request) -> Response {
        match request.method.as_str() {
            request::ExecuteCommand::METHOD => self.execute(request),
            request::HoverRequest::METHOD => answer::<request::HoverRequest>(request, |params| {
                self.ask_at(
                    &params.text_document_position_params,
                    |answers, path, at| answers.hover(path, at),
                )
            }),
            request::GotoDefinition::METHOD => {
                answer::<request::GotoDefinition>(request, |params| {
                    let place = &params.text_document_position_params;
                    let mut places =
                        self.ask_at(place, |answers, path, at| answers.definition(path, at))?;
                    Some(match places.len() {
                        1 => GotoDefinitionResponse::Scalar(places.remove(0)),
                        _ => GotoDefinitionResponse::Array(places),
                    })
                })
            }
            request::References::METHOD => answer::<request::References>(request, |params| {
                self.ask_at(&params.text_document_position, |answers, path, at| {
                    answers.references(path, at)
                })
            }),
            request::Completion::METHOD => answer::<request::Completion>(request, |params| {
                let items = self.ask_at(&params.text_document_position, completion::items)?;
                Some(CompletionResponse::Array(items))
            }),
            request::DocumentSymbolRequest::METHOD => {
                answer::<request::DocumentSymbolRequest>(request, |params| {
                    let uri = &params.text_document.uri;
                    let symbols =
                        self.ask_about(uri, |answers, path| answers.document_symbols(path))?;
                    Some(DocumentSymbolResponse::Nested(symbols))
                })
            }
            request::WorkspaceSymbolRequest::METHOD => {
                answer::<request::WorkspaceSymbolRequest>(request, |params| {
                    let found = self.folders.iter().filter_map(|folder| {
                        folder.ask(|answers| answers.workspace_symbols(&params.query))
                    });
                    let symbols = found.flatten().take(SYMBOLS).collect();
                    Some(WorkspaceSymbolResponse::Nested(symbols))
                })
            }
            request::CodeLensRequest::METHOD => {
                answer::<request::CodeLensRequest>(request, |params| {
                    let uri = &params.text_document.uri;
                    self.ask_about(uri, |answers, path| Some(answers.lenses(path, uri)))
                })
            }
            request::CodeLensResolve::METHOD => {
                answer::<request::CodeLensResolve>(request, |mut lens| {
                    let title = lens.data.as_ref().and_then(|data| {
                        let (uri, offset) = lens_place(data)?;
                        self.ask_about(&uri, |answers, path| answers.lens_title(path, offset))
                    });
                    // The object may be gone. Neovim rejects a lens without a command.
                    lens.command = Some(Command {
                        title: title.unwrap_or_else(|| "effects of a deletion unknown".to_owned()),
                        command: OPEN_PLAN.to_owned(),
                        arguments: lens.data.clone().map(|data| vec![data]),
                    });
                    lens
                })
            }
            request::CodeActionRequest::METHOD => {
                let roots = self.publisher.roots();
                answer::<request::CodeActionRequest>(request, |params| {
                    self.ask_about(&params.text_document.uri, |answers, path| {
                        actions::actions(&params, path, answers, roots)
                    })
                })
            }
            method => {
                let message = format!("ownerlint does not know `{method}`");
                refused(request.id, ErrorCode::MethodNotFound, message)
            }
        }
    }

    /// Opens the page of a rule, or the plan of a deletion.
    fn execute(&mut self, request: Request) -> Response {
        let id = request.id;
        let params = serde_json::from_value::<ExecuteCommandParams>(request.params).ok();
        let opened = params.and_then(|params| {
            let argument = params.arguments.into_iter().next()?;
            match params.command.as_str() {
                OPEN_PAGE => page_of_ours(argument),
                OPEN_PLAN => self.plan(&argument),
                _ => None,
            }
        });
        let Some(uri) = opened else {
            let message = "this command opens pages of ownerlint and plans of deletions";
            return refused(id, ErrorCode::InvalidParams, message);
        };
        self.client.open_page(uri);
        Response::new_ok(id, Value::Null)
    }

    /// Writes the plan of a lens to a page and returns its address.
    fn plan(&mut self, lens: &Value) -> Option<Uri> {
        let (uri, offset) = lens_place(lens)?;
        let page = self.ask_about(&uri, |answers, path| answers.plan(path, offset))?;
        let file = self.pages.write(&page).ok()?;
        Uri::from_str(&file_uri(&plain::path(&file))).ok()
    }
}

/// Shows why a folder cannot be checked, as a message if no open file shows it.
fn fail(
    client: &Client<'_>,
    publisher: &mut Publisher<'_>,
    folder: &mut Folder,
    error: &SessionError,
) {
    let is_seen = publisher.publish_mistake(error, folder);
    let reported_error = Some(error.to_string());
    if !is_seen && folder.reported_error != reported_error {
        let message = plain::visible_in_place(&format!("ownerlint: {error}"));
        client.say(MessageType::ERROR, message);
    }
    folder.reported_error = reported_error;
}

/// Logs which findings of a folder are missing because of a limit, once while there are any.
fn log_limits(client: &Client<'_>, folder: &mut Folder) {
    let limits = folder.ask(|answers| {
        let notes = answers.report.iter().flat_map(|report| &report.notes);
        let general = notes.filter(|note| note.path.is_none() && note.severity > Severity::Info);
        general.map(|note| note.message.clone()).collect::<Vec<_>>()
    });
    let limits = limits.unwrap_or_default();
    if !folder.is_limited {
        for message in &limits {
            let message = plain::visible_in_place(&format!("ownerlint: {message}"));
            client.log(MessageType::WARNING, message);
        }
    }
    folder.is_limited = !limits.is_empty();
}

/// Waits for `initialize`, and rejects other requests until it comes. `None` if the editor sent `exit` or went away.
fn initialize(connection: &Connection) -> Option<(RequestId, InitializeParams)> {
    loop {
        let request = match connection.receiver.recv().ok()? {
            Message::Request(request) => request,
            Message::Notification(message) if message.method == notification::Exit::METHOD => {
                return None;
            }
            Message::Notification(_) | Message::Response(_) => continue,
        };
        let (code, problem) = if request.method == request::Initialize::METHOD {
            match serde_json::from_value(request.params) {
                Ok(params) => return Some((request.id, params)),
                Err(error) => {
                    let problem = format!("`initialize` cannot be read: {error}");
                    (ErrorCode::InvalidParams, problem)
                }
            }
        } else {
            let problem = format!("`{}` came before `initialize`", request.method);
            (ErrorCode::ServerNotInitialized, problem)
        };
        let response = refused(request.id, code, problem);
        connection.sender.send(response.into()).ok()?;
    }
}

/// Returns the document of a lens, and the offset of its object.
fn lens_place(data: &Value) -> Option<(Uri, u32)> {
    let uri = serde_json::from_value(data.get("uri")?.clone()).ok()?;
    Some((uri, u32::try_from(data.get("offset")?.as_u64()?).ok()?))
}

/// Reads which folders were added and removed. Skips malformed entries: Neovim 0.7 sends
/// `"removed": [[]]` when it adds a folder.
fn folder_change(params: &Value) -> WorkspaceFoldersChangeEvent {
    let folders = |list: &str| -> Vec<WorkspaceFolder> {
        let entries = params["event"][list].as_array().into_iter().flatten();
        let folders = entries.map(|entry| serde_json::from_value(entry.clone()));
        folders.filter_map(Result::ok).collect()
    };
    WorkspaceFoldersChangeEvent {
        added: folders("added"),
        removed: folders("removed"),
    }
}

fn cancelled(params: &Value) -> Option<RequestId> {
    serde_json::from_value(params.get("id")?.clone()).ok()
}

fn read<N: notification::Notification<Params: DeserializeOwned>>(
    message: Notification,
) -> Option<N::Params> {
    message.extract(N::METHOD).ok()
}

fn answer<R: request::Request<Params: DeserializeOwned, Result: Serialize>>(
    request: Request,
    answer: impl FnOnce(R::Params) -> R::Result,
) -> Response {
    match serde_json::from_value(request.params) {
        Ok(params) => Response::new_ok(request.id, answer(params)),
        Err(error) => refused(request.id, ErrorCode::InvalidParams, error.to_string()),
    }
}

fn refused(id: RequestId, code: ErrorCode, message: impl Into<String>) -> Response {
    Response::new_err(id, code as i32, message.into())
}
