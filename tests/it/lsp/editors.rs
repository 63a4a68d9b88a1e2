//! The instructions of `docs/editors`, run in real editors, where these are installed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{root, skip};

/// An object whose owner is in another namespace. The emoji has four bytes, two UTF-16 units, one character.
const BROKEN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '😀', namespace: elsewhere, ownerReferences: \
                      [{apiVersion: apps/v1, kind: Deployment, name: web, uid: ''}]}\n";
const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";

/// An object with a misspelt key, which has a fix.
const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader # 😀\n  \
                    lables: {app: web}\nrules: []\n";

/// Exits Emacs if packages that its page needs are missing.
const EMACS_PARTS: &str = "(unless (and (require 'eglot nil t) (require 'yaml-mode nil t)) (princ \"<<<null>>>\") (kill-emacs 0))";

/// Returns the code blocks of a page in one language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/editors").join(page)).expect("the page");
    let fence = format!("```{language}\n");
    text.split(&fence)
        .skip(1)
        .map(|rest| rest.split_once("\n```").expect("its end").0.to_owned())
        .collect()
}

/// Returns an editor with this build of the program first on its path; `None`, with a note, if it is not installed.
fn editor(name: &str, folder: &Path) -> Option<Command> {
    let program = Path::new(env!("CARGO_BIN_EXE_ownerlint"))
        .parent()
        .expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !installed {
        skip(&format!("{name} is not installed"));
        return None;
    }
    let paths = std::iter::once(program.to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(name);
    command
        .current_dir(folder)
        .env("PATH", std::env::join_paths(paths).expect("a path"))
        .env("HOME", folder);
    Some(command)
}

/// Creates a bundle with one broken relation.
fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("rendered")).expect("a folder");
    std::fs::write(folder.path().join("rendered/web.yaml"), OWNER).expect("written");
    std::fs::write(folder.path().join("rendered/settings map.yaml"), BROKEN).expect("written");
    std::fs::write(folder.path().join("rendered/role.yaml"), ROLE).expect("written");
    std::fs::create_dir(folder.path().join(".git")).expect("a folder");
    folder
}

/// Returns the JSON documents that the editor prints between `<<<` and `>>>`.
fn printed(command: &mut Command) -> Vec<Value> {
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    let shown = text
        .split("<<<")
        .skip(1)
        .filter_map(|part| part.split(">>>").next());
    let shown: Vec<_> = shown
        .map(|json| serde_json::from_str(json).expect("JSON"))
        .collect();
    assert!(!shown.is_empty(), "{text}");
    shown
}

/// Returns the 0-based byte offset of the owner in the last line of [`BROKEN`].
fn column() -> usize {
    BROKEN
        .lines()
        .last()
        .and_then(|line| line.find("Deployment"))
        .expect("the owner")
}

/// Checks the results of an editor: it shows the finding of a relation, repairs it in the buffer only, requests the
/// effects of deleting the owner and its place, and fixes a misspelt key.
fn is_as_documented(shown: &[Value]) {
    let [found, repaired, hover, definition, offered, fixed, left] = shown else {
        panic!("{shown:?}")
    };
    assert_eq!(
        (&found["line"], &found["byte"]),
        (&2.into(), &column().into()),
        "{found}"
    );
    assert!(
        found["text"]
            .as_str()
            .is_some_and(|text| text.contains("namespace `shop`")),
        "{found}"
    );
    let deletion = "Deleting `Deployment.apps/shop/web` deletes";
    assert!(
        hover.as_str().is_some_and(|text| text.contains(deletion)),
        "{hover}"
    );
    assert!(
        definition
            .as_str()
            .is_some_and(|path| path.ends_with("rendered/web.yaml")),
        "{definition}"
    );
    assert_eq!(repaired, 0, "repaired in the buffer only");
    assert_eq!(offered, "rename `lables` to `labels`");
    assert_eq!(fixed.as_str(), Some(&*ROLE.replace("lables", "labels")));
    assert_eq!(left, 0);
}

#[test]
fn neovim_shows_findings_hover_definition_and_fixes() {
    let folder = bundle();
    let Some(mut nvim) = editor("nvim", folder.path()) else {
        return;
    };
    let setups = blocks("neovim.md", "lua");
    std::fs::write(folder.path().join("new.lua"), &setups[0]).expect("written");
    std::fs::write(folder.path().join("old.lua"), &setups[1]).expect("written");
    std::fs::write(
        folder.path().join("init.lua"),
        r#"dofile(vim.lsp.config and "new.lua" or "old.lua")"#,
    )
    .expect("written");
    let probe = r#"
local function say(value) io.stdout:write("<<<" .. vim.fn.json_encode(value) .. ">>>") end
local function wait(wanted) vim.wait(20000, wanted, 20) end
local function found(code)
  return vim.tbl_filter(function(d) return d.code == code end, vim.diagnostic.get(0))
end
local function ask(method)
  local client = vim.lsp.get_active_clients()[1]
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 20000)) do return answer.result end
end
local relation = "owner-cross-namespace"
wait(function() return #found(relation) == 1 end)
local d = found(relation)[1]
say({ line = d.lnum, byte = d.col, text = d.message })
vim.api.nvim_win_set_cursor(0, { d.lnum + 1, d.col })
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
lines[3] = lines[3]:gsub("elsewhere", "shop")
vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
wait(function() return #found(relation) == 0 end)
say(#found(relation))
vim.api.nvim_win_set_cursor(0, { 3, (lines[3]:find("Deployment")) })
say(ask("textDocument/hover").contents.value)
say(vim.uri_to_fname(ask("textDocument/definition").uri))
vim.cmd("edit! rendered/role.yaml")
wait(function() return #found("metadata-unknown-field") == 1 end)
local fixable = found("metadata-unknown-field")[1]
vim.api.nvim_win_set_cursor(0, { fixable.lnum + 1, fixable.col })
vim.ui.select = function(items, options, choose)
  say(options.format_item(items[1]))
  choose(items[1], 1)
end
local before = vim.api.nvim_buf_get_changedtick(0)
vim.lsp.buf.code_action()
wait(function() return vim.api.nvim_buf_get_changedtick(0) > before end)
say(table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n")
wait(function() return #vim.diagnostic.get(0) == 0 end)
say(#vim.diagnostic.get(0))
vim.cmd("qall!")
"#;
    std::fs::write(folder.path().join("probe.lua"), probe).expect("written");
    nvim.args(["--headless", "-n", "-i", "NONE", "-u", "init.lua"]);
    // The probe must not wait for a key after an error.
    nvim.args([
        "-c",
        "luafile probe.lua",
        "-c",
        "qall!",
        "rendered/settings map.yaml",
    ]);
    is_as_documented(&printed(&mut nvim));
}

#[test]
fn neovim_adds_folder_completes_and_runs_code_lens() {
    let folder = bundle();
    let Some(mut nvim) = editor("nvim", folder.path()) else {
        return;
    };
    let second = folder.path().join("second");
    std::fs::create_dir(&second).expect("a folder");
    std::fs::write(second.join("app.yaml"), "kind: Application\n").expect("written");
    std::fs::write(
        folder.path().join("init.lua"),
        &blocks("neovim.md", "lua")[1],
    )
    .expect("written");
    let probe = r#"
local function say(value) io.stdout:write("<<<" .. vim.fn.json_encode(value) .. ">>>") end
local function ask(method, params)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 20000)) do return answer.result end
end
local shown
vim.lsp.handlers["window/showMessage"] = function(_, message) shown = message.message end
vim.wait(20000, function() return #vim.lsp.get_active_clients() == 1 end, 20)
say(vim.wait(20000, function() return #vim.lsp.codelens.get(0) > 0 end, 20))
say(vim.bo.omnifunc)
say(vim.fn.maparg("K", "n"):len() > 0 or vim.fn.maparg("K", "n", false, true).callback ~= nil)
vim.lsp.buf.add_workspace_folder(vim.fn.getcwd() .. "/second")
vim.cmd("edit! second/app.yaml")
vim.api.nvim_buf_set_lines(0, 0, -1, false, { "apiVersion: argoproj.io/v1alpha1", "kind: Application", "metadata:", "  finalizers: ", "  - r" })
vim.api.nvim_win_set_cursor(0, { 5, 5 })
local client = vim.lsp.get_active_clients()[1]
local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
say(vim.tbl_map(function(item) return item.label end, ask("textDocument/completion", place)))
vim.cmd("edit! rendered/web.yaml")
local document = { textDocument = vim.lsp.util.make_text_document_params() }
local lens = ask("codeLens/resolve", ask("textDocument/codeLens", document)[1])
say(lens.command.title)
vim.lsp.codelens.save({ lens }, vim.api.nvim_get_current_buf(), client.id)
vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
vim.lsp.codelens.run()
vim.wait(20000, function() return shown end, 20)
say(io.open(vim.uri_to_fname(shown)):read("*a"):find("Deployment.apps/shop/web", 1, true) ~= nil)
vim.cmd("qall!")
"#;
    std::fs::write(folder.path().join("probe.lua"), probe).expect("written");
    nvim.args(["--headless", "-n", "-i", "NONE", "-u", "init.lua"]);
    nvim.args([
        "-c",
        "luafile probe.lua",
        "-c",
        "qall!",
        "rendered/web.yaml",
    ]);
    let said = printed(&mut nvim);
    let [has_lens, omnifunc, has_hover, finalizers, title, is_page] = &said[..] else {
        panic!("{said:?}");
    };
    assert_eq!(has_lens, true);
    assert_eq!(omnifunc, "v:lua.vim.lsp.omnifunc");
    assert_eq!(has_hover, true);
    let finalizers = finalizers.as_array().expect("labels");
    assert!(
        finalizers.contains(&"resources-finalizer.argocd.argoproj.io".into()),
        "{finalizers:?}"
    );
    assert_eq!(title, "deletes 3 objects");
    assert_eq!(is_page, true);
}

/// Functions for the probes in Emacs.
const EMACS_PRELUDE: &str = r#"
(require 'json)
(require 'cl-lib)
(setq make-backup-files nil create-lockfiles nil last-nonmenu-event ?a)
(defun say (value) (princ (format "<<<%s>>>" (json-encode value))))
(defun wait (wanted)
  (let ((end (+ (float-time) 20)))
    (while (and (not (funcall wanted)) (< (float-time) end)) (accept-process-output nil 0.05))))
(defvar folder default-directory)
(defun visit (file)
  (find-file (expand-file-name file folder))
  ;; Somebody who sits there would press a key, and idle timers would run.
  (run-hooks 'post-command-hook)
  (wait (lambda () (eglot-managed-p)))
  (flymake-start))
"#;

/// Runs a probe in Emacs with the setup of its page; `None`, with a note, if Emacs or a package is not installed.
fn said_by_emacs(folder: &Path, probe: &str) -> Option<Vec<Value>> {
    let mut emacs = editor("emacs", folder)?;
    let setup = &blocks("emacs.md", "elisp")[0];
    std::fs::write(folder.join("ownerlint.el"), setup).expect("written");
    let probe = format!("{EMACS_PRELUDE}{probe}");
    std::fs::write(folder.join("probe.el"), probe).expect("written");
    emacs.args(["--batch", "-f", "package-initialize", "--eval", EMACS_PARTS]);
    emacs.args(["-l", "ownerlint.el", "-l", "probe.el"]);
    let said = printed(&mut emacs);
    if said == [Value::Null] {
        skip("this Emacs has no eglot or no yaml-mode");
        return None;
    }
    Some(said)
}

#[test]
fn emacs_shows_findings_hover_definition_and_fixes() {
    let folder = bundle();
    let probe = r#"
(defun found (code)
  (seq-filter (lambda (d) (string-match-p (regexp-quote code) (flymake-diagnostic-text d))) (flymake-diagnostics)))
(defun changed () (eglot--signal-textDocument/didChange))
(visit "rendered/settings map.yaml")
(let ((relation "owner-cross-namespace"))
  (wait (lambda () (found relation)))
  (let* ((d (car (found relation))) (at (flymake-diagnostic-beg d)))
    (goto-char at)
    (say (list (cons 'line (1- (line-number-at-pos)))
               (cons 'byte (- (position-bytes (point)) (position-bytes (line-beginning-position))))
               (cons 'text (flymake-diagnostic-text d)))))
  (goto-char (point-min))
  (search-forward "elsewhere")
  (replace-match "shop")
  (changed)
  (wait (lambda () (null (found relation))))
  (say (length (found relation))))
(search-forward "Deployment")
(backward-char)
(let (shown)
  (eglot-hover-eldoc-function (lambda (text &rest _) (setq shown text)))
  (wait (lambda () shown))
  (say (substring-no-properties shown)))
(let ((definition (car (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot)))))
  (say (xref-location-group (xref-item-location definition))))
(set-buffer-modified-p nil)
(visit "rendered/role.yaml")
(wait (lambda () (found "metadata-unknown-field")))
(goto-char (point-min))
(search-forward "lables")
(backward-char)
(cl-letf (((symbol-function 'completing-read) (lambda (_ offered &rest _) (say (caar offered)) (caar offered))))
  (call-interactively 'eglot-code-actions))
(say (buffer-string))
(changed)
(wait (lambda () (null (flymake-diagnostics))))
(say (length (flymake-diagnostics)))
(set-buffer-modified-p nil)
"#;
    let Some(shown) = said_by_emacs(folder.path(), probe) else {
        return;
    };
    is_as_documented(&shown);
}

#[test]
fn emacs_completes_and_starts_a_server_for_each_project() {
    let folder = bundle();
    let second = folder.path().join("second");
    std::fs::create_dir_all(second.join(".git")).expect("a folder");
    std::fs::write(
        second.join("app.yaml"),
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  finalizers:\n  - r",
    )
    .expect("written");
    let probe = r#"
(visit "rendered/web.yaml")
(let ((first (eglot-current-server)))
  (visit "second/app.yaml")
  (say (if (eq first (eglot-current-server)) "one server" "two servers")))
(goto-char (point-max))
(let* ((found (eglot-completion-at-point)) (table (nth 2 found)))
  (say (vconcat (all-completions "" table))))
"#;
    let Some(shown) = said_by_emacs(folder.path(), probe) else {
        return;
    };
    let [servers, finalizers] = &shown[..] else {
        panic!("{shown:?}");
    };
    assert_eq!(servers, "two servers");
    let finalizers = finalizers.as_array().expect("labels");
    assert!(
        finalizers.contains(&"resources-finalizer.argocd.argoproj.io".into()),
        "{finalizers:?}"
    );
}

#[test]
fn vs_code_problem_matcher_matches_every_line() {
    let folder = bundle();
    let Some(mut node) = editor("node", folder.path()) else {
        return;
    };
    let page: Value = serde_json::from_str(&blocks("vscode.md", "json")[0]).expect("JSON");
    let pattern = &page["tasks"][0]["problemMatcher"]["pattern"];
    let mut command = crate::support::ownerlint();
    let arguments = page["tasks"][0]["args"]
        .as_array()
        .expect("arguments")
        .iter();
    let output = command
        .current_dir(folder.path())
        .args(arguments.filter_map(Value::as_str))
        .output()
        .expect("it runs");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let program = r"
const [pattern, lines] = process.argv.slice(1).map(text => JSON.parse(text));
const groups = lines.map(line => new RegExp(pattern.regexp).exec(line));
const show = groups.map(g => g && { file: g[pattern.file], line: +g[pattern.line], severity: g[pattern.severity], code: g[pattern.code] });
process.stdout.write('<<<' + JSON.stringify(show) + '>>>');";
    let lines: Vec<&str> = lines.lines().collect();
    let lines = serde_json::to_string(&lines).expect("JSON");
    node.args(["-e", program, &pattern.to_string(), &lines]);
    let found = printed(&mut node).remove(0);
    let found = found.as_array().expect("a list");
    let files: Vec<_> = found
        .iter()
        .filter_map(|finding| finding["file"].as_str())
        .collect();
    assert!(
        files.contains(&"rendered/settings map.yaml") && files.len() == found.len(),
        "{found:?}"
    );
    let codes: Vec<_> = found
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .collect();
    assert!(codes.contains(&"owner-cross-namespace"), "{found:?}");
}
