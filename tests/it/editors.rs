//! The pages of `docs/editors`, run as they stand in the editors themselves where these are installed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::root;

/// Who owns it lives in another namespace. The emoji takes four bytes, two UTF-16 units, one character.
const BROKEN: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '😀', namespace: elsewhere, ownerReferences: \
                      [{apiVersion: apps/v1, kind: Deployment, name: web, uid: ''}]}\n";
const OWNER: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";

/// The first block of code in a page, in that language.
fn code(page: &str, language: &str) -> String {
    let text = std::fs::read_to_string(root().join("docs/editors").join(page)).expect("the page");
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect("a block of code");
    rest.split_once("\n```").expect("its end").0.to_owned()
}

/// An editor, with this build of the program first on its path; `None`, with a note, where it is not installed.
fn editor(name: &str, folder: &Path) -> Option<Command> {
    let program = Path::new(env!("CARGO_BIN_EXE_ownerlint")).parent().expect("a folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !installed {
        println!("skipped: {name} is not installed");
        return None;
    }
    let paths = std::iter::once(program.to_owned()).chain(std::env::split_paths(&path));
    let mut command = Command::new(name);
    command.current_dir(folder).env("PATH", std::env::join_paths(paths).expect("a path")).env("HOME", folder);
    Some(command)
}

/// A bundle whose one relation is broken.
fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("rendered")).expect("a folder");
    std::fs::write(folder.path().join("rendered/web.yaml"), OWNER).expect("written");
    std::fs::write(folder.path().join("rendered/settings map.yaml"), BROKEN).expect("written");
    folder
}

/// What the editor printed between `<<<` and `>>>`, a JSON document each.
fn printed(command: &mut Command) -> Vec<Value> {
    let output = command.output().expect("it runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let shown = text.split("<<<").skip(1).filter_map(|part| part.split(">>>").next());
    let shown: Vec<_> = shown.map(|json| serde_json::from_str(json).expect("JSON")).collect();
    assert_eq!(shown.len(), 2, "{text}");
    shown
}

/// Byte, counted from 0, at which the owner stands in the last line of [`BROKEN`].
fn column() -> usize {
    BROKEN.lines().last().and_then(|line| line.find("Deployment")).expect("the owner")
}

#[test]
fn neovim_shows_findings_of_unsaved_text() {
    let folder = bundle();
    let Some(mut nvim) = editor("nvim", folder.path()) else { return };
    std::fs::write(folder.path().join("ownerlint.lua"), code("neovim.md", "lua")).expect("written");
    let probe = r#"
local function missing()
  local found = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    if d.code == "owner-cross-namespace" then table.insert(found, d) end
  end
  return found
end
local function show(wanted)
  vim.wait(20000, function() return #missing() == wanted end, 20)
  io.stdout:write("<<<" .. vim.fn.json_encode({ found = missing() }) .. ">>>")
end
show(1)
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
lines[3] = lines[3]:gsub("elsewhere", "shop")
vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
vim.cmd("doautocmd TextChanged")
show(0)
vim.cmd("qall!")
"#;
    std::fs::write(folder.path().join("probe.lua"), probe).expect("written");
    nvim.args(["--headless", "-n", "-i", "NONE", "-u", "ownerlint.lua"]);
    nvim.args(["-c", "luafile probe.lua", "rendered/settings map.yaml"]);
    let shown = printed(&mut nvim);
    let finding = &shown[0]["found"][0];
    assert_eq!((&finding["lnum"], &finding["col"]), (&2.into(), &column().into()), "{finding}");
    assert_eq!(finding["severity"], 2);
    assert!(finding["message"].as_str().is_some_and(|text| text.contains("namespace `shop`")), "{finding}");
    assert_eq!(shown[1]["found"].as_array().map_or(0, Vec::len), 0, "repaired in the buffer only");
}

#[test]
fn emacs_shows_findings_of_unsaved_text() {
    let folder = bundle();
    let Some(mut emacs) = editor("emacs", folder.path()) else { return };
    std::fs::write(folder.path().join("ownerlint.el"), code("emacs.md", "elisp")).expect("written");
    let probe = r#"
(require 'json)
(find-file "rendered/settings map.yaml")
(defun show ()
  (let (done found)
    (ownerlint-flymake (lambda (diagnostics) (setq done t found diagnostics)))
    (while (not done) (accept-process-output nil 0.05))
    (princ (format "<<<%s>>>" (json-encode (vconcat (mapcar
      (lambda (d) (list (cons 'byte (- (position-bytes (flymake-diagnostic-beg d))
                                       (position-bytes (save-excursion (goto-char (flymake-diagnostic-beg d)) (line-beginning-position)))))
                        (cons 'line (line-number-at-pos (flymake-diagnostic-beg d)))
                        (cons 'type (symbol-name (flymake-diagnostic-type d)))
                        (cons 'text (flymake-diagnostic-text d))))
      (seq-filter (lambda (d) (string-prefix-p "[owner-cross-namespace]" (flymake-diagnostic-text d))) found))))))))
(show)
(goto-char (point-min))
(search-forward "elsewhere")
(replace-match "shop")
(show)
"#;
    std::fs::write(folder.path().join("probe.el"), probe).expect("written");
    emacs.args(["--batch", "-Q", "-l", "ownerlint.el", "-l", "probe.el"]);
    let shown = printed(&mut emacs);
    let finding = &shown[0][0];
    assert_eq!((&finding["line"], &finding["byte"]), (&3.into(), &column().into()), "{shown:?}");
    assert_eq!(finding["type"], ":warning");
    assert_eq!(shown[1], Value::Array(Vec::new()), "repaired in the buffer only");
}

#[test]
fn the_problem_matcher_of_vs_code_takes_every_line() {
    let folder = bundle();
    let Some(mut node) = editor("node", folder.path()) else { return };
    let page: Value = serde_json::from_str(&code("vscode.md", "json")).expect("JSON");
    let pattern = &page["tasks"][0]["problemMatcher"]["pattern"];
    let mut command = crate::support::ownerlint();
    let arguments = page["tasks"][0]["args"].as_array().expect("arguments").iter();
    let output =
        command.current_dir(folder.path()).args(arguments.filter_map(Value::as_str)).output().expect("it runs");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let program = r"
const [pattern, lines] = process.argv.slice(1).map(text => JSON.parse(text));
const groups = lines.map(line => new RegExp(pattern.regexp).exec(line));
const show = groups.map(g => g && { file: g[pattern.file], line: +g[pattern.line], severity: g[pattern.severity], code: g[pattern.code] });
process.stdout.write('<<<' + JSON.stringify(show) + '>>><<<0>>>');";
    let lines: Vec<&str> = lines.lines().collect();
    let lines = serde_json::to_string(&lines).expect("JSON");
    node.args(["-e", program, &pattern.to_string(), &lines]);
    let found = printed(&mut node).remove(0);
    let found = found.as_array().expect("a list");
    assert!(found.iter().all(|finding| finding["file"] == "rendered/settings map.yaml"), "{found:?}");
    let codes: Vec<_> = found.iter().filter_map(|finding| finding["code"].as_str()).collect();
    assert!(codes.contains(&"owner-cross-namespace"), "{found:?}");
}
