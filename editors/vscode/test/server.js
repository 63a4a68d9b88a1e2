// `ownerlint lsp` as an editor starts it, spoken to through the protocol library of VS Code.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-languageserver-protocol/node");

const BINARY = process.env.OWNERLINT ?? path.join(__dirname, "../../../target/debug/ownerlint");

/** A folder with files, open in an editor. */
class Editor {
  /** Starts an editor; `folders` are those that it has open. */
  static async start(files, capabilities = {}, folders = [""]) {
    const editor = new Editor();
    editor.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "ownerlint-")));
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(editor.folder, name)), { recursive: true });
      fs.writeFileSync(path.join(editor.folder, name), text);
    }
    editor.process = spawn(BINARY, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
    editor.ended = new Promise((resolve) => editor.process.on("exit", resolve));
    const { stdin, stdout } = editor.process;
    editor.connection = rpc.createProtocolConnection(new rpc.StreamMessageReader(stdout), new rpc.StreamMessageWriter(stdin));
    editor.waiting = [];
    editor.progress = [];
    editor.versions = new Map();
    editor.listen();
    const workspaceFolders = folders.map((name) => ({ uri: editor.uri(name), name: name || "test" }));
    const greeting = { processId: process.pid, rootUri: workspaceFolders[0].uri, workspaceFolders, capabilities };
    editor.server = await editor.ask(rpc.InitializeRequest, greeting);
    editor.tell(rpc.InitializedNotification, {});
    return editor;
  }

  listen() {
    this.connection.onNotification(rpc.PublishDiagnosticsNotification.type, (params) => {
      this.waiting = this.waiting.filter((wanted) => !wanted(params));
    });
    this.connection.onRequest(rpc.WorkDoneProgressCreateRequest.type, ({ token }) => {
      this.connection.onProgress(rpc.WorkDoneProgress.type, token, ({ kind }) => this.progress.push(kind));
    });
    this.connection.onRequest(rpc.ShowDocumentRequest.type, (document) => {
      this.shown = document;
      return { success: true };
    });
    this.connection.onRequest(rpc.RegistrationRequest.type, ({ registrations }) => {
      this.watched = registrations.flatMap(({ registerOptions }) => registerOptions.watchers);
    });
    this.connection.listen();
  }

  uri(name) {
    return pathToFileURL(path.join(this.folder, name)).href;
  }

  document(name) {
    return { textDocument: { uri: this.uri(name) } };
  }

  ask(request, params, token) {
    return this.connection.sendRequest(request.type, params, token);
  }

  tell(notification, params) {
    return this.connection.sendNotification(notification.type, params);
  }

  /** The next diagnostics of a file that are as wanted. */
  diagnostics(name, wanted = () => true) {
    return new Promise((resolve) => {
      this.waiting.push(({ uri, diagnostics }) => {
        const is = uri === this.uri(name) && wanted(diagnostics);
        if (is) resolve(diagnostics);
        return is;
      });
    });
  }

  /** Opens a file, and waits for its diagnostics. */
  open(name, text) {
    this.versions.set(name, 1);
    const document = { uri: this.uri(name), languageId: "yaml", version: 1, text };
    this.tell(rpc.DidOpenTextDocumentNotification, { textDocument: document });
    return this.diagnostics(name);
  }

  edit(name, text) {
    const version = this.versions.get(name) + 1;
    this.versions.set(name, version);
    const document = { uri: this.uri(name), version };
    this.tell(rpc.DidChangeTextDocumentNotification, { textDocument: document, contentChanges: [{ text }] });
  }

  /** The status with which the server ends. */
  async end() {
    await this.ask(rpc.ShutdownRequest);
    this.tell(rpc.ExitNotification);
    const status = await this.ended;
    fs.rmSync(this.folder, { recursive: true });
    return status;
  }
}

/** The place of `needle` in `text`. */
function at(text, needle) {
  const before = text.slice(0, text.indexOf(needle));
  return { line: before.split("\n").length - 1, character: before.length - (before.lastIndexOf("\n") + 1) };
}

/** A text with edits that do not overlap. */
function applied(text, edits) {
  const lines = text.split("\n");
  const offset = ({ line, character }) => lines.slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + character;
  const fromTheEnd = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  const apply = (text, { range, newText }) => text.slice(0, offset(range.start)) + newText + text.slice(offset(range.end));
  return fromTheEnd.reduce(apply, text);
}

module.exports = { Editor, applied, at, rpc };
