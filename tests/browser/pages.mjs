// The pages that the tests open, made by the program itself, and a browser that notices what a page must not do.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const PROGRAM = process.env.OWNERLINT || resolve(ROOT, process.env.CARGO_TARGET_DIR || "target", "debug/ownerlint");
const FOLDER = mkdtempSync(join(tmpdir(), "ownerlint-pages-"));

/** Others' manifests, if somebody has them. */
export const CORPUS = process.env.OWNERLINT_CORPUS;

/** A new folder with these files. */
export const folder = (name, files) => {
  const path = join(FOLDER, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
};

/** A new folder with one file of manifests. */
export const manifests = (name, text) => folder(name, { "all.yaml": text });

/** The page that a command writes. */
export const page = (name, ...command) => {
  const file = join(FOLDER, `${name}.html`);
  try {
    execFileSync(PROGRAM, [...command, "--output", `html:${file}`], { cwd: ROOT, stdio: "pipe" });
  } catch (error) {
    // Findings are no failure.
    if (error.status !== 1) throw new Error(`${command.join(" ")}: ${error.stderr}`);
  }
  return { name, file, address: pathToFileURL(file).href };
};

// The pages are files, and the browser has no errand on a network: no name resolves, and it fetches nothing for itself.
const OFFLINE = [
  "--host-resolver-rules=MAP * ~NOTFOUND",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--no-first-run",
];

let browser;
export const start = async () => {
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  // Containers run tests as root, whom Chromium refuses with its sandbox, and have little shared memory.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...OFFLINE];
  browser = await chromium.launch({ executablePath, args });
};
export const stop = () => browser?.close();

/** Opens a page: whatever it logs, throws or asks for is in `complaints`. */
export const open = async ({ address }, { width = 1440, height = 900, scheme = "light", fragment = "" } = {}) => {
  const tab = await browser.newPage({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" });
  const complaints = [];
  tab.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => complaints.push(`${error.message} ${error.stack}`));
  tab.on("request", (request) => request.url().split("#")[0] === address || complaints.push(`asks for ${request.url()}`));
  tab.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await tab.goto(address + fragment);
  await settled(tab);
  return { tab, complaints };
};

/** Waits until searches have been heard and the page is drawn. */
export const settled = (tab) =>
  tab.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 250)));

/** What axe finds wrong with a page as it is now. The policy of the page lets no script in but by the browser itself. */
export const violations = async (tab) => {
  const session = await tab.context().newCDPSession(tab);
  await session.send("Runtime.evaluate", { expression: AXE });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
      JSON.stringify(violations.map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 200), nodes[0].failureSummary])))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(result.value);
};
