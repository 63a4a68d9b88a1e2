"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath } = require("node:url");
const { test } = require("node:test");

const { Editor, applied, at, rpc } = require("./server.js");

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
`;
const SETTINGS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: shop
  ownerReferences:
    - apiVersion: apps/v1
      kind: Deployment
      name: web
      uid: ''
`;
// An emoji counts twice in UTF-16 and four times in UTF-8.
const ROLE = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader, annotations: {mood: "😀😀"}, lables: {app: web}}
rules: []
`;

const rules = (diagnostics) => diagnostics.map(({ code }) => code);

test("an unsaved edit breaks and repairs a relation to another file", async () => {
  const editor = await Editor.start({ "web.yaml": DEPLOYMENT, "settings.yaml": SETTINGS });
  const whole = rules(await editor.open("settings.yaml", SETTINGS));
  assert(!whole.includes("owner-cross-namespace"));
  await editor.open("web.yaml", DEPLOYMENT);
  editor.edit("web.yaml", DEPLOYMENT.replace("shop", "elsewhere"));
  await editor.diagnostics("settings.yaml", (shown) => rules(shown).includes("owner-cross-namespace"));
  editor.edit("web.yaml", DEPLOYMENT);
  assert.deepEqual(rules(await editor.diagnostics("settings.yaml")), whole);
  assert.equal(await editor.end(), 0);
});

test("hover, definition, references, symbols and lenses", async () => {
  const editor = await Editor.start({ "web.yaml": DEPLOYMENT, "settings.yaml": SETTINGS });
  await editor.open("settings.yaml", SETTINGS);
  const owner = { ...editor.document("settings.yaml"), position: at(SETTINGS, "web") };
  const { contents } = await editor.ask(rpc.HoverRequest, owner);
  assert.match(contents.value, /`Deployment web` owns `ConfigMap\/shop\/settings`/);
  const definition = await editor.ask(rpc.DefinitionRequest, owner);
  assert.equal(definition.uri, editor.uri("web.yaml"));
  const references = await editor.ask(rpc.ReferencesRequest, { ...owner, context: { includeDeclaration: false } });
  assert.deepEqual(references.map(({ uri }) => uri), [editor.uri("settings.yaml")]);
  const [symbol] = await editor.ask(rpc.DocumentSymbolRequest, editor.document("settings.yaml"));
  assert.equal(symbol.detail, "ConfigMap/shop/settings");
  const found = await editor.ask(rpc.WorkspaceSymbolRequest, { query: "deployment" });
  assert.deepEqual(found.map(({ name }) => name), ["Deployment.apps/shop/web"]);
  const [lens] = await editor.ask(rpc.CodeLensRequest, editor.document("web.yaml"));
  const { command } = await editor.ask(rpc.CodeLensResolveRequest, lens);
  assert.equal(command.title, "deletes 4 objects");
  assert.equal(await editor.end(), 0);
});

test("two folders, a completion, and a lens that is clicked", async () => {
  const files = { "one/web.yaml": DEPLOYMENT, "two/settings.yaml": SETTINGS, "two/role.yaml": ROLE };
  const off = "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n";
  const window = { showDocument: { support: true } };
  const all = { ...files, "two/ownerlint.yaml": off };
  const editor = await Editor.start(all, { window }, ["one", "two"]);
  assert.deepEqual(await editor.open("two/role.yaml", ROLE), [], "as the second folder is configured");
  await editor.open("one/web.yaml", DEPLOYMENT);
  const found = await editor.ask(rpc.WorkspaceSymbolRequest, { query: "e" });
  assert.deepEqual(found.map(({ name }) => name).sort(), [
    "ClusterRole.rbac.authorization.k8s.io//reader",
    "ConfigMap/shop/settings",
    "Deployment.apps/shop/web",
  ]);

  const typed = `${DEPLOYMENT}  annotations:\n    helm`;
  editor.edit("one/web.yaml", typed);
  const position = { line: typed.split("\n").length - 1, character: "    helm".length };
  const items = await editor.ask(rpc.CompletionRequest, { ...editor.document("one/web.yaml"), position });
  const { textEdit } = items.find(({ label }) => label === "helm.sh/resource-policy");
  assert.equal(applied(typed, [textEdit]), `${DEPLOYMENT}  annotations:\n    helm.sh/resource-policy: `);

  editor.edit("one/web.yaml", DEPLOYMENT);
  const [lens] = await editor.ask(rpc.CodeLensRequest, editor.document("one/web.yaml"));
  const { command } = await editor.ask(rpc.CodeLensResolveRequest, lens);
  assert.ok(editor.server.capabilities.executeCommandProvider.commands.includes(command.command));
  await editor.ask(rpc.ExecuteCommandRequest, { command: command.command, arguments: command.arguments });
  assert.match(fs.readFileSync(fileURLToPath(editor.shown.uri), "utf8"), /Deployment\.apps\/shop\/web/);
  assert.equal(await editor.end(), 0);
});

for (const encoding of ["utf-16", "utf-8"]) {
  test(`a fix behind emoji is applied and the finding is gone (${encoding})`, async () => {
    const general = { positionEncodings: [encoding, "utf-16"] };
    const editor = await Editor.start({ "role.yaml": ROLE }, { general });
    assert.equal(editor.server.capabilities.positionEncoding, encoding);
    const [diagnostic] = await editor.open("role.yaml", ROLE);
    assert.equal(diagnostic.code, "metadata-unknown-field");
    const before = ROLE.split("\n")[2].split("lables")[0];
    const character = encoding === "utf-8" ? Buffer.byteLength(before) : before.length;
    assert.deepEqual(diagnostic.range.start, { line: 2, character });
    const { range } = diagnostic;
    const params = { ...editor.document("role.yaml"), range, context: { diagnostics: [diagnostic] } };
    const actions = await editor.ask(rpc.CodeActionRequest, params);
    const [edit] = actions.find(({ isPreferred }) => isPreferred).edit.changes[editor.uri("role.yaml")];
    assert.equal(edit.newText, "labels");
    assert.deepEqual(edit.range.start, { line: 2, character });
    // JavaScript counts as UTF-16 does.
    const fixed = encoding === "utf-16" ? applied(ROLE, [edit]) : ROLE.replace("lables", "labels");
    assert.equal(fixed, ROLE.replace("lables", "labels"));
    editor.edit("role.yaml", fixed);
    assert.deepEqual(await editor.diagnostics("role.yaml"), []);
    assert.equal(await editor.end(), 0);
  });
}

test("a configuration that changes on disk judges again", async () => {
  const workspace = { didChangeWatchedFiles: { dynamicRegistration: true } };
  const editor = await Editor.start({ "role.yaml": ROLE }, { workspace });
  assert.equal((await editor.open("role.yaml", ROLE)).length, 1);
  assert.deepEqual(editor.watched.map(({ globPattern }) => globPattern), ["**/*.{yaml,yml,json}"]);
  const config = path.join(editor.folder, "ownerlint.yaml");
  fs.writeFileSync(config, "version: 1\nrules: {metadata-unknown-field: {severity: off}}\n");
  const changes = [{ uri: editor.uri("ownerlint.yaml"), type: rpc.FileChangeType.Created }];
  editor.tell(rpc.DidChangeWatchedFilesNotification, { changes });
  assert.deepEqual(await editor.diagnostics("role.yaml"), []);
  assert.equal(await editor.end(), 0);
});

test("a mistake in the configuration is shown at its place, and gone when it is mended", async () => {
  const files = { "role.yaml": ROLE, "ownerlint.yaml": "version: 1\n" };
  const editor = await Editor.start(files);
  await editor.open("ownerlint.yaml", files["ownerlint.yaml"]);
  editor.edit("ownerlint.yaml", "version: 1\nrulez: {}\n");
  const [mistake] = await editor.diagnostics("ownerlint.yaml", (shown) => shown.length > 0);
  assert.deepEqual(mistake.range, { start: { line: 1, character: 0 }, end: { line: 1, character: 5 } });
  assert.match(mistake.message, /unknown key `rulez`/);
  editor.edit("ownerlint.yaml", files["ownerlint.yaml"]);
  assert.deepEqual(await editor.diagnostics("ownerlint.yaml"), []);
  assert.equal(await editor.end(), 0);
});

test("all safe fixes of a file are applied at once when it is saved", async () => {
  const role = ROLE.replace("{name: reader", "{namespace: shop, name: reader");
  const editor = await Editor.start({ "role.yaml": role });
  assert.equal((await editor.open("role.yaml", role)).length, 2);
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const params = { ...editor.document("role.yaml"), range, context: { diagnostics: [], only: [rpc.CodeActionKind.SourceFixAll] } };
  const [action] = await editor.ask(rpc.CodeActionRequest, params);
  const fixed = applied(role, action.edit.changes[editor.uri("role.yaml")]);
  assert.equal(fixed, ROLE.replace("lables", "labels"));
  editor.edit("role.yaml", fixed);
  assert.deepEqual(await editor.diagnostics("role.yaml"), []);
  assert.equal(await editor.end(), 0);
});

test("closing clears, and what is opened again is judged again", async () => {
  const editor = await Editor.start({ "role.yaml": ROLE });
  assert.equal((await editor.open("role.yaml", ROLE)).length, 1);
  editor.tell(rpc.DidCloseTextDocumentNotification, editor.document("role.yaml"));
  assert.deepEqual(await editor.diagnostics("role.yaml"), []);
  assert.equal((await editor.open("role.yaml", ROLE)).length, 1);
  assert.equal(await editor.end(), 0);
});

test("two thousand documents: progress is shown, a request is taken back, the rest is answered", async () => {
  const many = Array.from({ length: 2000 }, (_, at) => DEPLOYMENT.replace("web", `web-${at}`)).join("---\n");
  const files = { "many.yaml": many, "settings.yaml": SETTINGS, "web.yaml": DEPLOYMENT };
  const editor = await Editor.start(files, { window: { workDoneProgress: true } });
  // Nothing is read yet: the first request waits for that, and the second is taken back meanwhile.
  const shown = editor.open("settings.yaml", SETTINGS);
  const first = editor.ask(rpc.WorkspaceSymbolRequest, { query: "web-1999" });
  const cancel = new rpc.CancellationTokenSource();
  const second = editor.ask(rpc.WorkspaceSymbolRequest, { query: "web" }, cancel.token);
  cancel.cancel();
  await assert.rejects(second, { code: rpc.LSPErrorCodes.RequestCancelled });
  assert.deepEqual((await first).map(({ name }) => name), ["Deployment.apps/shop/web-1999"]);
  await shown;
  assert.deepEqual(editor.progress, ["begin", "end"]);
  assert.equal(await editor.end(), 0);
});

test("an editor that leaves without shutdown is told so by the status", async () => {
  const editor = await Editor.start({ "role.yaml": ROLE });
  editor.tell(rpc.ExitNotification);
  assert.equal(await editor.ended, 1);
});
