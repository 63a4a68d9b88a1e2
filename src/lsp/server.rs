//! The conversation with one editor.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use foldhash::HashSet;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    ClientCapabilities, CodeLens, DidChangeWatchedFilesRegistrationOptions, DocumentSymbolResponse,
    FileSystemWatcher, GlobPattern, GotoDefinitionResponse, InitializeParams, MessageType,
    NumberOrString, Registration, RegistrationParams, ShowDocumentParams, ShowMessageParams,
    TextDocumentPositionParams, Uri, WorkspaceSymbolResponse,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::actions::{self, OPEN_PAGE};
use super::answers::Answers;
use super::greeting::{agreed_unit, offered, root_of};
use super::place::path_of;
use super::publisher::Publisher;
use super::workspace::{OpenDocument, Workspace, check_options};
use crate::engine::{Inquiry, Session, SessionError};
use crate::report::Report;
use crate::text::{ColumnUnit, plain};

/// How long nothing must come before what has changed is judged: a part of the time that this took last, within these limits.
const LEAST_QUIET: Duration = Duration::from_millis(15);
const MOST_QUIET: Duration = Duration::from_millis(300);

/// One editor, and what it works on.
pub(super) struct Server<'c> {
    connection: &'c Connection,
    client: ClientCapabilities,
    unit: ColumnUnit,
    workspace: Workspace,
    /// Received messages that are not handled yet.
    waiting: VecDeque<Message>,
    /// Requests that the editor no longer waits for.
    cancelled: HashSet<RequestId>,
    publisher: Publisher<'c>,
    /// The last failure that was sent to the editor.
    told: Option<String>,
    /// The progress that the editor shows.
    progress: Option<NumberOrString>,
    /// When the last reading began.
    began: Instant,
    /// How long nothing must come before what has changed is judged.
    quiet: Duration,
    asked: i32,
    is_shut_down: bool,
}

/// Why a server stops answering from what it knows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Something has changed.
    Changed,
    /// The editor said `exit`, or went away.
    End,
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
        Some(Self {
            connection,
            unit,
            workspace: Workspace::new(root_of(&params)),
            client: params.capabilities,
            waiting: VecDeque::new(),
            cancelled: HashSet::default(),
            publisher: Publisher::new(connection, unit),
            told: None,
            progress: None,
            began: Instant::now(),
            quiet: LEAST_QUIET,
            asked: 0,
            is_shut_down: false,
        })
    }

    /// Answers until the editor says `exit` or goes away: from one reading of the folder until something changes, then
    /// from the next. Whether the editor asked for `shutdown` first.
    pub(super) fn run(mut self) -> bool {
        let mut session = None;
        while let Some(next) = self.answer_from(session.as_ref()) {
            session = Some(next);
        }
        self.is_shut_down
    }

    /// Judges what was read, and answers from it until something else is read; `None` when the conversation ends.
    fn answer_from(&mut self, session: Option<&Session>) -> Option<Session> {
        let inquiry = session.map(Session::inquiry);
        let report = inquiry.as_ref().and_then(|inquiry| self.judge(inquiry));
        let unit = self.unit;
        let answers = inquiry.map(|inquiry| Answers {
            inquiry,
            report,
            unit,
        });
        // An editor in the middle of a word must not lose what was known before.
        loop {
            if self.converse(answers.as_ref()) == Turn::End {
                return None;
            }
            if let Some(next) = self.read(session) {
                return Some(next);
            }
        }
    }

    /// Answers from the current state until it is out of date and a request needs it, or nothing has come for a moment.
    fn converse(&mut self, answers: Option<&Answers<'_>>) -> Turn {
        loop {
            self.take_what_came();
            let message = match self.waiting.pop_front() {
                Some(message) => message,
                None if self.workspace.is_stale() => {
                    match self.connection.receiver.recv_timeout(self.quiet) {
                        Ok(message) => message,
                        Err(error) if error.is_timeout() => return Turn::Changed,
                        Err(_) => return Turn::End,
                    }
                }
                None => match self.wait(answers) {
                    Some(message) => message,
                    None => return Turn::End,
                },
            };
            match message {
                Message::Request(request)
                    if self.workspace.is_stale() && !self.is_off(&request) =>
                {
                    self.waiting.push_front(request.into());
                    return Turn::Changed;
                }
                Message::Request(request) => {
                    let response = self.respond(request, answers);
                    self.send(response.into());
                }
                Message::Notification(message) if message.method == notification::Exit::METHOD => {
                    return Turn::End;
                }
                Message::Notification(message) => self.notice(message),
                Message::Response(_) => {}
            }
        }
    }

    /// The next message. While nothing comes, what the next question is answered from is found out.
    fn wait(&self, answers: Option<&Answers<'_>>) -> Option<Message> {
        match (self.connection.receiver.recv_timeout(MOST_QUIET), answers) {
            (Ok(message), _) => return Some(message),
            (Err(error), Some(answers)) if error.is_timeout() => answers.inquiry.prepare(),
            (Err(_), _) => {}
        }
        self.connection.receiver.recv().ok()
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
                    self.workspace.set(OpenDocument { uri, version, text });
                }
            }
            notification::DidChangeTextDocument::METHOD => {
                if let Some(mut changed) = read::<notification::DidChangeTextDocument>(message)
                    && let Some(whole) = changed.content_changes.pop()
                {
                    let document = changed.text_document;
                    let (uri, version, text) = (document.uri, document.version, whole.text.into());
                    self.workspace.set(OpenDocument { uri, version, text });
                }
            }
            notification::DidCloseTextDocument::METHOD => {
                if let Some(closed) = read::<notification::DidCloseTextDocument>(message) {
                    let uri = closed.text_document.uri;
                    self.workspace.close(&uri);
                    self.publisher.clear(&uri);
                }
            }
            notification::DidSaveTextDocument::METHOD
            | notification::DidChangeWatchedFiles::METHOD
            | notification::DidChangeConfiguration::METHOD => self.workspace.changed_on_disk(),
            _ => {}
        }
    }

    fn respond(&mut self, request: Request, answers: Option<&Answers<'_>>) -> Response {
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
        if request.method == request::ExecuteCommand::METHOD {
            return self.execute(request);
        }
        // There is no folder, or its configuration has a mistake.
        let Some(answers) = answers else {
            return Response::new_ok(request.id, Value::Null);
        };
        match request.method.as_str() {
            request::HoverRequest::METHOD => answer::<request::HoverRequest>(request, |params| {
                let (path, at) = place_of(&params.text_document_position_params)?;
                answers.hover(&path, at)
            }),
            request::GotoDefinition::METHOD => {
                answer::<request::GotoDefinition>(request, |params| {
                    let (path, at) = place_of(&params.text_document_position_params)?;
                    answers
                        .definition(&path, at)
                        .map(GotoDefinitionResponse::Scalar)
                })
            }
            request::References::METHOD => answer::<request::References>(request, |params| {
                let (path, at) = place_of(&params.text_document_position)?;
                answers.references(&path, at)
            }),
            request::DocumentSymbolRequest::METHOD => {
                answer::<request::DocumentSymbolRequest>(request, |params| {
                    let symbols = answers.document_symbols(&path_of(&params.text_document.uri)?);
                    symbols.map(DocumentSymbolResponse::Nested)
                })
            }
            request::WorkspaceSymbolRequest::METHOD => {
                answer::<request::WorkspaceSymbolRequest>(request, |params| {
                    Some(WorkspaceSymbolResponse::Nested(
                        answers.workspace_symbols(&params.query),
                    ))
                })
            }
            request::CodeLensRequest::METHOD => {
                answer::<request::CodeLensRequest>(request, |params| {
                    let uri = &params.text_document.uri;
                    Some(answers.lenses(&path_of(uri)?, uri))
                })
            }
            request::CodeLensResolve::METHOD => {
                answer::<request::CodeLensResolve>(request, |mut lens| {
                    lens.command =
                        lens_place(&lens).and_then(|(path, offset)| answers.lens(&path, offset));
                    lens
                })
            }
            request::CodeActionRequest::METHOD => {
                let roots = self.publisher.roots();
                answer::<request::CodeActionRequest>(request, |params| {
                    actions::actions(&params, answers, roots)
                })
            }
            method => {
                let message = format!("ownerlint does not know `{method}`");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    /// Opens the page of a rule.
    fn execute(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        let page = serde_json::from_value::<lsp_types::ExecuteCommandParams>(request.params).ok();
        let page = page.filter(|params| params.command == OPEN_PAGE);
        let page = page.and_then(|params| params.arguments.first().cloned());
        // Only pages of ours: an editor must not be talked into opening anything else.
        let page = page.and_then(|url| serde_json::from_value::<Uri>(url).ok());
        let page = page.filter(|url| {
            url.as_str()
                .starts_with(concat!(env!("CARGO_PKG_REPOSITORY"), "/"))
        });
        let Some(uri) = page else {
            let message = "this command opens pages of ownerlint and nothing else".to_owned();
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

    /// Reads the folder again; `None` if that fails, or there is none.
    fn read(&mut self, earlier: Option<&Session>) -> Option<Session> {
        if earlier.is_none() {
            self.begin_progress();
        }
        self.began = Instant::now();
        match self.workspace.read(earlier) {
            Ok(session) => session,
            Err(error) => {
                self.fail(&error);
                None
            }
        }
    }

    /// Judges what was read, and shows what is new about the open files.
    fn judge(&mut self, inquiry: &Inquiry<'_>) -> Option<Report> {
        let judged = inquiry.check(check_options());
        self.end_progress();
        match &judged {
            Ok(report) => {
                self.publisher.publish(report, &self.workspace);
                self.told = None;
            }
            Err(error) => self.fail(error),
        }
        self.quiet = (self.began.elapsed() / 4).clamp(LEAST_QUIET, MOST_QUIET);
        judged.ok()
    }

    /// Shows why the folder cannot be judged; as a message where no file can show it.
    fn fail(&mut self, error: &SessionError) {
        self.end_progress();
        let is_seen = self.publisher.publish_mistake(error, &self.workspace);
        let told = Some(error.to_string());
        if !is_seen && self.told != told {
            self.say(
                MessageType::ERROR,
                plain::visible_in_place(&format!("ownerlint: {error}")),
            );
        }
        self.told = told;
    }

    /// Asks the editor to say when files change that are not open.
    fn watch_files(&mut self) {
        let workspace = self.client.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files.as_ref());
        if watched.and_then(|watched| watched.dynamic_registration) != Some(true) {
            return;
        }
        self.workspace.is_watched();
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

fn place_of(params: &TextDocumentPositionParams) -> Option<(String, lsp_types::Position)> {
    Some((path_of(&params.text_document.uri)?, params.position))
}

fn lens_place(lens: &CodeLens) -> Option<(String, u32)> {
    let data = lens.data.as_ref()?;
    let uri: Uri = serde_json::from_value(data.get("uri")?.clone()).ok()?;
    Some((
        path_of(&uri)?,
        u32::try_from(data.get("offset")?.as_u64()?).ok()?,
    ))
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
