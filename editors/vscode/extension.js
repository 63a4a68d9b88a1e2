// Starts `ownerlint lsp` for YAML and JSON. Everything else is the language server's.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const INSTALL = "https://github.com/ownerlint/ownerlint#install";

/** @type {LanguageClient | undefined} */
let client;

async function start() {
  const command = vscode.workspace.getConfiguration("ownerlint").get("path", "ownerlint");
  client = new LanguageClient(
    "ownerlint",
    "ownerlint",
    { command, args: ["lsp"] },
    {
      documentSelector: [
        { scheme: "file", language: "yaml" },
        { scheme: "file", language: "json" },
        { scheme: "untitled", language: "yaml" },
      ],
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const install = "How to install it";
    const chosen = await vscode.window.showErrorMessage(`\`${command} lsp\` does not start: ${error.message}`, install);
    if (chosen === install) {
      await vscode.env.openExternal(vscode.Uri.parse(INSTALL));
    }
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("ownerlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("ownerlint.path") && restart()),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
