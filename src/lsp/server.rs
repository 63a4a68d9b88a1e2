//! The conversation with one editor.

use std::collections::VecDeque;
use std::str::FromStr;
use std::time::{Duration, Instant};

use foldhash::HashSet;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    ClientCapabilities, CompletionResponse, DidChangeWatchedFilesRegistrationOptions,
    DocumentSymbolResponse, ExecuteCommandParams, FileSystemWatcher, GlobPattern,
    GotoDefinitionResponse, InitializeParams, MessageType, NumberOrString, Position, Registration,
    RegistrationParams, ShowDocumentParams, ShowMessageParams, TextDocumentPositionParams, Uri,
    WorkspaceFolder, WorkspaceFoldersChangeEvent, WorkspaceSymbolResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::actions::{self, OPEN_PAGE};
use super::answers::{Answers, OPEN_PLAN, SYMBOLS};
use super::completion;
use super::folder::Folder;
use super::greeting::{agreed_unit, offered, root_of, roots_of};
use super::place::path_of;
use super::publisher::Publisher;
use super::workspace::{OpenDocument, Workspace};
use crate::engine::SessionError;
use crate::inventory::STDIN;
use crate::report::file_uri;
use crate::text::{ColumnUnit, plain};

/// How long nothing must come before what has changed is judged: a part of the time that this took last, within these limits.
const LEAST_QUIET: Duration = Duration::from_millis(15);
const MOST_QUIET: Duration = Duration::from_millis(300);

/// One editor, and the folders that it works on.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    client: ClientCapabilities,
    unit: ColumnUnit,
    folders: Vec<Folder>,
    /// Whether the editor says when files of its folders change that are not open.
    watched: bool,
    /// Received messages that are not handled yet.
    waiting: VecDeque<Message>,
    /// Requests that the editor no longer waits for.
    cancelled: HashSet<RequestId>,
    publisher: Publisher<'c>,
    /// The progress that the editor shows.
    progress: Option<NumberOrString>,
    /// How long nothing must come before what has changed is judged.
    quiet: Duration,
    /// Plans that the editor has opened, until it ends.
    pages: Option<TempDir>,
    asked: i32,
    is_shut_down: bool,
}

impl<'c> Server<'c> {
    /// Shakes hands: what the editor can do, what the server offers. `None`: the editor said `exit`, or went away.
    pub(super) fn greet(connection: &'c Connection) -> Option<Self> {
        let (id, params) = initialize(connection)?;
        let unit = agreed_unit(&params.capabilities);
        let info = json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")});
        let result = json!({"capabilities": offered(unit), "serverInfo": info});
        connection
            .sender
            .send(Response::new_ok(id, result).into())
            .ok()?;
        let folders = roots_of(&params).into_iter();
        Some(Self {
            connection,
            unit,
            folders: folders
                .map(|root| Folder::new(Workspace::opened(root)))
                .collect(),
            watched: false,
            client: params.capabilities,
            waiting: VecDeque::new(),
            cancelled: HashSet::default(),
            publisher: Publisher::new(connection, unit),
            progress: None,
            quiet: LEAST_QUIET,
            pages: None,
            asked: 0,
            is_shut_down: false,
        })
    }

    /// Answers until the editor says `exit` or goes away. Whether it asked for `shutdown` first.
    pub(super) fn run(mut self) -> bool {
        while let Some(message) = self.next() {
            match message {
                Message::Request(request) => {
                    let response = self.respond(request);
                    self.send(response.into());
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

    /// The next message, once everything is up to date that its answer needs. What has changed is judged when a request
    /// needs it, or when nothing has come for a moment.
    fn next(&mut self) -> Option<Message> {
        loop {
            self.take_what_came();
            match self.waiting.front() {
                Some(Message::Request(request)) if self.is_stale() && !self.is_off(request) => {
                    self.refresh();
                }
                Some(_) => return self.waiting.pop_front(),
                None if self.is_stale() => {
                    match self.connection.receiver.recv_timeout(self.quiet) {
                        Ok(message) => self.waiting.push_back(message),
                        Err(error) if error.is_timeout() => self.refresh(),
                        Err(_) => return None,
                    }
                }
                None => {
                    let message = self.wait()?;
                    self.waiting.push_back(message);
                }
            }
        }
    }

    /// Waits for a message. While nothing comes, the facts are computed that the next question needs.
    fn wait(&self) -> Option<Message> {
        match self.connection.receiver.recv_timeout(MOST_QUIET) {
            Ok(message) => return Some(message),
            Err(error) if error.is_timeout() => {
                for folder in &self.folders {
                    folder.ask(|answers| answers.inquiry.prepare());
                }
            }
            Err(_) => {}
        }
        self.connection.receiver.recv().ok()
    }

    fn is_stale(&self) -> bool {
        self.folders
            .iter()
            .any(|folder| folder.workspace.is_stale())
    }

    /// Reads and judges the folders in which something has changed, and shows what is new about their open files.
    fn refresh(&mut self) {
        let began = Instant::now();
        for at in 0..self.folders.len() {
            if !self.folders[at].workspace.is_stale() {
                continue;
            }
            if self.folders[at].is_new() {
                self.begin_progress();
            }
            let folder = &mut self.folders[at];
            match folder.refresh(self.unit) {
                Ok(()) => {
                    self.publisher.publish(folder);
                    folder.told = None;
                }
                Err(error) => self.fail(at, &error),
            }
            self.end_progress();
        }
        self.quiet = (began.elapsed() / 4).clamp(LEAST_QUIET, MOST_QUIET);
    }

    /// Shows why a folder cannot be judged; as a message where no file can show it.
    fn fail(&mut self, at: usize, error: &SessionError) {
        let folder = &mut self.folders[at];
        let is_seen = self.publisher.publish_mistake(error, folder);
        let told = Some(error.to_string());
        let is_news = folder.told != told;
        folder.told = told;
        if !is_seen && is_news {
            self.say(
                MessageType::ERROR,
                plain::visible_in_place(&format!("ownerlint: {error}")),
            );
        }
    }

    /// The folder of a document, and its path there: the innermost one that contains it.
    fn folder_of(&self, uri: &Uri) -> Option<(usize, String)> {
        let folders = self.folders.iter().enumerate();
        match path_of(uri) {
            Some(path) => folders
                .filter(|(_, folder)| folder.workspace.contains(&path))
                .max_by_key(|(_, folder)| folder.workspace.root().len())
                .map(|(at, _)| (at, path)),
            None => folders
                .into_iter()
                .find(|(_, folder)| folder.workspace.text() == Some(uri))
                .map(|(at, _)| (at, STDIN.to_owned())),
        }
    }

    /// The folder of a document and its path there; a document of no folder gets one of its own.
    fn home_of(&mut self, uri: &Uri) -> Option<(usize, String)> {
        if let Some(place) = self.folder_of(uri) {
            return Some(place);
        }
        let (workspace, path) = match path_of(uri) {
            Some(path) => (Workspace::of_file(&path), path),
            None if uri.as_str().starts_with("untitled:") => {
                (Workspace::untitled(), STDIN.to_owned())
            }
            None => return None,
        };
        self.folders.push(Folder::new(workspace));
        Some((self.folders.len() - 1, path))
    }

    /// Opens a document, or replaces its text.
    fn open(&mut self, document: OpenDocument) {
        if let Some((at, path)) = self.home_of(&document.uri) {
            self.folders[at].workspace.set(path, document);
        }
    }

    fn close(&mut self, uri: &Uri) {
        if let Some((at, path)) = self.folder_of(uri) {
            self.folders[at].workspace.close(&path);
            if self.folders[at].workspace.is_done() {
                self.folders.remove(at);
            }
        }
        self.publisher.clear(uri);
    }

    /// Adds and removes folders of the editor. Open documents go to the folders that contain them now.
    fn change_folders(&mut self, change: &WorkspaceFoldersChangeEvent) {
        let roots = |folders: &[WorkspaceFolder]| -> Vec<String> {
            folders
                .iter()
                .filter_map(|folder| root_of(&folder.uri))
                .collect()
        };
        let (added, removed) = (roots(&change.added), roots(&change.removed));
        let added: Vec<Workspace> = added.into_iter().map(Workspace::opened).collect();
        let mut moving = Vec::new();
        self.folders.retain_mut(|folder| {
            let workspace = &mut folder.workspace;
            let is_removed = removed.iter().any(|root| root == workspace.root());
            workspace.is_opened &= !is_removed;
            moving.extend(
                workspace.take(|path| {
                    is_removed || added.iter().any(|workspace| workspace.contains(path))
                }),
            );
            !workspace.is_done()
        });
        for mut workspace in added {
            if self.watched {
                workspace.is_watched();
            }
            self.folders.push(Folder::new(workspace));
        }
        for document in moving {
            self.publisher.clear(&document.uri);
            self.open(document);
        }
    }

    /// A later message may cancel a request that is still waiting.
    fn take_what_came(&mut self) {
        self.waiting.extend(self.connection.receiver.try_iter());
        for message in &self.waiting {
            if let Message::Notification(message) = message
                && message.method == notification::Cancel::METHOD
            {
                self.cancelled.extend(cancelled(&message.params));
            }
        }
    }

    /// Whether nothing need be known for the answer.
    fn is_off(&self, request: &Request) -> bool {
        self.is_shut_down
            || request.method == request::Shutdown::METHOD
            || self.cancelled.contains(&request.id)
    }

    fn notice(&mut self, message: Notification) {
        match message.method.as_str() {
            notification::Initialized::METHOD => self.watch_files(),
            notification::DidOpenTextDocument::METHOD => {
                if let Some(opened) = read::<notification::DidOpenTextDocument>(message) {
                    let document = opened.text_document;
                    let (uri, version, text) =
                        (document.uri, document.version, document.text.into());
                    self.open(OpenDocument { uri, version, text });
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(mut changed) = read::<notification::DidChangeTextDocument>(message)
                    && let Some(whole) = changed.content_changes.pop()
                {
                    let document = changed.text_document;
                    let (uri, version, text) = (document.uri, document.version, whole.text.into());
                    self.open(OpenDocument { uri, version, text });
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = read::<notification::DidCloseTextDocument>(message) {
                    self.close(&closed.text_document.uri);
                }
            }
            notification::DidChangeWorkspaceFolders::METHOD => {
                if let Some(changed) = read::<notification::DidChangeWorkspaceFolders>(message) {
                    self.change_folders(&changed.event);
                }
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD
            | notification::DidChangeConfiguration::METHOD => {
                for folder in &mut self.folders {
                    folder.workspace.changed_on_disk();
                }
            }
            _ => {}
        }
    }

    /// Asks the folder of a document.
    fn ask_about<R>(
        &self,
        uri: &Uri,
        question: impl FnOnce(&Answers<'_>, &str) -> Option<R>,
    ) -> Option<R> {
        let (at, path) = self.folder_of(uri)?;
        self.folders[at].ask(|answers| question(answers, &path))?
    }

    /// Asks the folder of a document about a position in it.
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
        if self.cancelled.remove(&request.id) {
            return Response::new_err(
                request.id,
                ErrorCode::RequestCanceled as i32,
                "cancelled".to_owned(),
            );
        }
        if request.method == request::Shutdown::METHOD {
            self.is_shut_down = true;
            return Response::new_ok(request.id, ());
        }
        if self.is_shut_down {
            let message = "the server was shut down".to_owned();
            return Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message);
        }
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
                    let definition =
                        self.ask_at(place, |answers, path, at| answers.definition(path, at))?;
                    Some(GotoDefinitionResponse::Scalar(definition))
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
                    let symbols = self.ask_about(&params.text_document.uri, |answers, path| {
                        answers.document_symbols(path)
                    })?;
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
                    lens.command = lens.data.clone().and_then(|data| {
                        let (uri, offset) = lens_place(&data)?;
                        self.ask_about(&uri, |answers, path| answers.lens(path, offset, data))
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
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
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
            let message = "this command opens pages of ownerlint and plans of deletions".to_owned();
            return Response::new_err(id, ErrorCode::InvalidParams as i32, message);
        };
        let shows = self
            .client
            .window
            .as_ref()
            .and_then(|window| window.show_document.as_ref());
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
        Response::new_ok(id, Value::Null)
    }

    /// Writes the plan behind a lens as a page.
    fn plan(&mut self, lens: &Value) -> Option<Uri> {
        let (uri, offset) = lens_place(lens)?;
        let page = self.ask_about(&uri, |answers, path| answers.plan(path, offset))?;
        if self.pages.is_none() {
            let folder = tempfile::Builder::new().prefix("ownerlint-").tempdir();
            self.pages = folder.ok();
        }
        let folder = self.pages.as_ref()?.path();
        let file = folder.join(format!("plan-{}.html", self.asked));
        std::fs::write(&file, page).ok()?;
        Uri::from_str(&file_uri(&plain::path(&file))).ok()
    }

    /// Asks the editor to say when files change that are not open.
    fn watch_files(&mut self) {
        let workspace = self.client.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        if watched.and_then(|watched| watched.dynamic_registration) != Some(true) {
            return;
        }
        self.watched = true;
        for folder in &mut self.folders {
            if folder.workspace.is_opened {
                folder.workspace.is_watched();
            }
        }
        let glob_pattern = GlobPattern::String("**/*.{yaml,yml,json}".to_owned());
        let watchers = vec![FileSystemWatcher {
            glob_pattern,
            kind: None,
        }];
        let options = DidChangeWatchedFilesRegistrationOptions { watchers };
        let registration = Registration {
            id: "files".to_owned(),
            method: notification::DidChangeWatchedFiles::METHOD.to_owned(),
            register_options: serde_json::to_value(options).ok(),
        };
        self.ask(
            request::RegisterCapability::METHOD,
            RegistrationParams {
                registrations: vec![registration],
            },
        );
    }

    /// Begins a progress, if the editor can show one.
    fn begin_progress(&mut self) {
        let shows = self
            .client
            .window
            .as_ref()
            .and_then(|window| window.work_done_progress);
        if shows == Some(true) {
            let token = NumberOrString::String("ownerlint/reading".to_owned());
            self.ask(
                request::WorkDoneProgressCreate::METHOD,
                json!({"token": token}),
            );
            let begin = json!({"kind": "begin", "title": "ownerlint reads the manifests"});
            self.tell(
                notification::Progress::METHOD,
                json!({"token": token, "value": begin}),
            );
            self.progress = Some(token);
        }
    }

    fn end_progress(&mut self) {
        if let Some(token) = self.progress.take() {
            self.tell(
                notification::Progress::METHOD,
                json!({"token": token, "value": {"kind": "end"}}),
            );
        }
    }

    fn say(&self, typ: MessageType, message: String) {
        self.tell(
            notification::ShowMessage::METHOD,
            ShowMessageParams { typ, message },
        );
    }

    fn ask(&mut self, method: &str, params: impl Serialize) {
        self.asked += 1;
        self.send(Request::new(self.asked.into(), method.to_owned(), params).into());
    }

    fn tell(&self, method: &str, params: impl Serialize) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// An editor that no longer listens has gone away; `next` notices.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }
}

/// The request that begins a conversation; others are refused until it comes. `None`: the editor said `exit`, or went away.
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
                Err(error) => (
                    ErrorCode::InvalidParams,
                    format!("`initialize` cannot be read: {error}"),
                ),
            }
        } else {
            (
                ErrorCode::ServerNotInitialized,
                format!("`{}` came before `initialize`", request.method),
            )
        };
        connection
            .sender
            .send(Response::new_err(request.id, code as i32, problem).into())
            .ok()?;
    }
}

/// The address of a page of ours: an editor must not be talked into opening anything else.
fn page_of_ours(url: Value) -> Option<Uri> {
    let page: Uri = serde_json::from_value(url).ok()?;
    let ours = concat!(env!("CARGO_PKG_REPOSITORY"), "/");
    page.as_str().starts_with(ours).then_some(page)
}

/// The document and the offset of the object of a lens.
fn lens_place(data: &Value) -> Option<(Uri, u32)> {
    let uri = serde_json::from_value(data.get("uri")?.clone()).ok()?;
    Some((uri, u32::try_from(data.get("offset")?.as_u64()?).ok()?))
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
        Err(error) => Response::new_err(
            request.id,
            ErrorCode::InvalidParams as i32,
            error.to_string(),
        ),
    }
}
