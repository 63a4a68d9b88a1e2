//! A client of the language server over an in-memory connection.

use std::thread::JoinHandle;
use std::time::Duration;

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use ownerlint::lsp::{LspError, serve};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) struct Client {
    pub(super) connection: Connection,
    pub(super) server: JoinHandle<Result<bool, LspError>>,
    pub(super) folder: TempDir,
    pub(super) asked: i32,
    /// Messages of the server that no test has received yet.
    pub(super) waiting: Vec<Message>,
}

impl Client {
    pub(super) fn new(files: &[(&str, &str)], capabilities: Value) -> Self {
        let mut client = Self::without_folder(files);
        let root = client.uri("");
        let greeting =
            json!({"capabilities": capabilities, "workspaceFolders": [{"uri": root, "name": "x"}]});
        client.request("initialize", greeting);
        client.notify("initialized", json!({}));
        client
    }

    /// Creates a client that has not sent `initialize` yet.
    pub(super) fn without_folder(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || serve(&other));
        Self {
            connection,
            server,
            folder,
            asked: 0,
            waiting: Vec::new(),
        }
    }

    pub(super) fn open_all(files: &[(&str, &str)]) -> Self {
        let client = Self::new(files, json!({}));
        for (path, text) in files {
            client.open(path, text);
        }
        client
    }

    pub(super) fn uri(&self, path: &str) -> String {
        format!(
            "file://{}",
            self.folder
                .path()
                .canonicalize()
                .expect("a folder")
                .join(path)
                .display()
        )
    }

    pub(super) fn send(&self, message: impl Into<Message>) {
        self.connection
            .sender
            .send(message.into())
            .expect("the server listens");
    }

    pub(super) fn notify(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params));
    }

    pub(super) fn open(&self, path: &str, text: &str) {
        let document =
            json!({"uri": self.uri(path), "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(super) fn edit(&self, path: &str, text: &str) {
        let document = json!({"uri": self.uri(path), "version": 2});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        );
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> RequestId {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request::new(id.clone(), method.to_owned(), params));
        id
    }

    pub(super) fn response(&mut self, id: &RequestId) -> Response {
        self.take(|message| match message {
            Message::Response(response) if response.id == *id => Some(response.clone()),
            _ => None,
        })
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let response = self.response(&id);
        assert!(response.error.is_none(), "{method}: {response:?}");
        response.result.unwrap_or(Value::Null)
    }

    /// Sends a request about the first occurrence of `needle` in a file, and returns the result.
    pub(super) fn at(&mut self, method: &str, path: &str, text: &str, needle: &str) -> Value {
        let before = &text[..text.find(needle).expect("it is there")];
        let line = before.matches('\n').count();
        let character = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .encode_utf16()
            .count();
        let position = json!({"line": line, "character": character});
        let context = json!({"includeDeclaration": false});
        let uri = self.uri(path);
        self.request(
            method,
            json!({"textDocument": {"uri": uri}, "position": position, "context": context}),
        )
    }

    /// Returns the text of a hover on the first occurrence of `needle` in a file.
    pub(super) fn hover(&mut self, path: &str, text: &str, needle: &str) -> String {
        let hover = self.at("textDocument/hover", path, text, needle);
        hover["contents"]["value"]
            .as_str()
            .expect("text")
            .to_owned()
    }

    /// Returns the code actions for a range.
    pub(super) fn actions(&mut self, path: &str, range: &Value, context: Value) -> Vec<Value> {
        let params =
            json!({"textDocument": {"uri": self.uri(path)}, "range": range, "context": context});
        self.request("textDocument/codeAction", params)
            .as_array()
            .expect("a list")
            .clone()
    }

    /// Returns the next message that `wanted` accepts; others stay waiting.
    pub(super) fn take<T>(&mut self, wanted: impl Fn(&Message) -> Option<T>) -> T {
        if let Some((at, found)) = self
            .waiting
            .iter()
            .enumerate()
            .find_map(|(at, it)| Some((at, wanted(it)?)))
        {
            self.waiting.remove(at);
            return found;
        }
        loop {
            let message = self
                .connection
                .receiver
                .recv_timeout(Duration::from_secs(60))
                .expect("the server answers");
            match wanted(&message) {
                Some(found) => return found,
                None => self.waiting.push(message),
            }
        }
    }

    pub(super) fn notification(&mut self, method: &str, matches: impl Fn(&Value) -> bool) -> Value {
        self.take(|message| match message {
            Message::Notification(it) if it.method == method && matches(&it.params) => {
                Some(it.params.clone())
            }
            _ => None,
        })
    }

    /// Returns the rules of the next diagnostics of a file.
    pub(super) fn rules(&mut self, path: &str) -> Vec<String> {
        let uri = self.uri(path);
        let params = self.notification("textDocument/publishDiagnostics", |params| {
            params["uri"] == json!(uri)
        });
        let rules = params["diagnostics"].as_array().expect("a list").iter();
        rules
            .map(|one| one["code"].as_str().expect("a rule").to_owned())
            .collect()
    }

    pub(super) fn end(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        assert!(self.server.join().expect("no panic").expect("a clean end"));
    }
}
