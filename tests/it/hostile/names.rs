//! Names that a terminal, a CI runner, a browser or a shell would interpret, in every format of every command.

use ownerlint::report::Format;
use ownerlint::report::plan::PlanFormat;
use ownerlint::text::runner::{Syntax, without_commands};
use serde_json::Value;

use super::support::repository;
use crate::diff::Folder;
use crate::fuzz::targets::{ascii, is_obeyed, starts_command};
use crate::html::HtmlPage;
use crate::support::{Repository, ownerlint};

/// Texts that readers interpret: terminals, bidirectional text, runners, Markdown, Mermaid, HTML, shells, tables.
const HOSTILE: [&str; 14] = [
    "\u{1b}[31mred\u{7}",
    "\u{1b}]8;;http://evil\u{7}x",
    "\u{9b}2J\u{85}\u{2028}\u{2029}",
    "user\u{202e}nimda\u{2066}\u{200f}",
    "two\nlines\r\nmore",
    "::error::pwned",
    "\n::set-output name=x::pwned",
    " ##[error]pwned ##vso[task.x]y",
    "](http://evil) `code` **bold** @team",
    "\"]; click a callback; --> graph TD; subgraph x",
    "</script><script>pwned()</script>",
    "'; touch pwned; '$(touch pwned)`touch pwned`",
    "a|b\\|c",
    "]]></failure><x>",
];

/// Returns the names of formats.
fn words<F: ToString>(formats: &[F]) -> Vec<String> {
    formats.iter().map(F::to_string).collect()
}

/// Returns a JSON manifest with a hostile text in place of each name.
fn manifest(name: &str) -> String {
    let object = |kind: &str, value: Value| {
        let mut object = serde_json::json!({
            "apiVersion": "v1", "kind": kind,
            "metadata": {
                "name": name, "namespace": name, "labels": {"a": name}, "annotations": {"argocd.argoproj.io/sync-options": name},
                "finalizers": [name, "example.com/x"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": name, "blockOwnerDeletion": true}],
            },
        });
        object
            .as_object_mut()
            .expect("an object")
            .extend(value.as_object().cloned().unwrap_or_default());
        format!("{}\n", ascii(&object))
    };
    let namespace = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "finalizers": [name]}});
    [
        object("ConfigMap", serde_json::json!({name: name})),
        object("Secret", serde_json::json!({"data": {name: name}})),
        object(name, serde_json::json!({"apiVersion": "example.com/v1"})),
        object("ConfigMap", serde_json::json!({"apiVersion": name})),
        format!("{}\n", ascii(&namespace)),
    ]
    .map(|object| format!("---\n{object}"))
    .concat()
}

fn harmless(what: &str, name: &str, text: &str, is_commands: bool) {
    // The scripts of a page are our own.
    let scripts = if what.ends_with("html") {
        HtmlPage::read(text).scripts
    } else {
        Vec::new()
    };
    let text = &scripts
        .iter()
        .fold(text.to_owned(), |text, script| text.replace(script, ""));
    assert!(!text.contains(is_obeyed), "{what} {name:?}: {text:?}");
    assert!(
        is_commands || !starts_command(text),
        "{what} {name:?}: {text}"
    );
    // Indented lines are code, which is shown verbatim.
    let markup = text
        .lines()
        .filter(|line| !line.starts_with("    "))
        .collect::<String>();
    let is_markup = what.ends_with("markdown") || what.ends_with("mermaid");
    assert!(!is_markup || !markup.contains("<script"), "{what} {name:?}");
}

/// Runs the program as a step of a workflow.
fn run(repository: &Repository, arguments: &[&str], stdin: &str) -> (String, String) {
    let mut command = ownerlint();
    command
        .current_dir(repository.path())
        .env("GITHUB_ACTIONS", "true")
        .args(arguments)
        .write_stdin(stdin);
    let output = command.output().expect("it runs");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn check_escapes_hostile_names_in_every_format() {
    for name in HOSTILE {
        let inside = repository();
        let formats = words(&Format::ALL);
        let files: Vec<String> = formats
            .iter()
            .map(|format| format!("{format}:{format}.out"))
            .collect();
        let outputs: Vec<&str> = files.iter().flat_map(|file| ["-o", file]).collect();
        run(
            &inside,
            &[&["-v", "--show", "info"], &outputs[..], &["-"]].concat(),
            &manifest(name),
        );
        for format in &formats {
            let text = inside.read(&format!("{format}.out"));
            let is_page = format == "html";
            let shown = if is_page {
                text.clone()
            } else {
                without_commands(&text, Syntax::Text).into_owned()
            };
            harmless(format, name, &shown, is_page || format == "github");
        }
    }
}

#[test]
fn check_and_list_output_starts_no_workflow_commands() {
    let name = HOSTILE.join(" ");
    let inside = repository();
    for format in words(&Format::ALL) {
        let (out, error) = run(
            &inside,
            &["-v", "--show", "info", "-o", &format, "-"],
            &manifest(&name),
        );
        harmless(&format, "stdout", &out, format == "github");
        harmless("stderr", &format, &error, false);
        match &*format {
            "json" => drop(serde_json::from_str::<Value>(&out).expect("still JSON")),
            // Reading the page checks its hashes.
            "html" => drop(HtmlPage::read(&out)),
            _ => {}
        }
    }
    for format in ["human", "json"] {
        let (out, error) = run(
            &inside,
            &["list", "-v", "-o", format, "-"],
            &manifest(&name),
        );
        harmless("list", format, &(out + &error), false);
    }
}

#[test]
fn plan_escapes_hostile_names_in_every_format() {
    let name = HOSTILE.join(" ");
    for name in [&name, HOSTILE[5]] {
        let inside = repository();
        inside.write("rendered/hostile.yaml", &manifest(name));
        let steps = serde_json::json!([{"op": "delete", "target": format!("Namespace//{name}")}, {"op": "settle"}]);
        inside.write("steps.json", &ascii(&steps));
        for format in &words(&PlanFormat::ALL) {
            let (out, error) = run(
                &inside,
                &[
                    "plan",
                    "--steps",
                    "steps.json",
                    "-v",
                    "-o",
                    format,
                    "rendered",
                ],
                "",
            );
            harmless(&format!("plan {format}"), name, &(out + &error), false);
            let teardown = [
                "plan",
                "teardown",
                "--by",
                "kubectl",
                "--fail-on",
                "never",
                "-o",
                format,
                "rendered",
            ];
            let (out, error) = run(&inside, &teardown, "");
            harmless(&format!("teardown {format}"), name, &(out + &error), false);
        }
    }
}

#[test]
fn diff_escapes_hostile_names_in_every_format() {
    let name = HOSTILE.join(" ");
    let folder = Folder::new();
    folder
        .write("base/a.yaml", &manifest(&name))
        .write("head/b.yaml", crate::hostile::support::CONFIG_MAP);
    for format in words(&Format::ALL) {
        let mut command = ownerlint();
        command
            .current_dir(folder.path())
            .env("GITHUB_ACTIONS", "true");
        let output = command
            .args(["diff", "--base", "base", "--head", "head", "-o", &format])
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text")
            + &String::from_utf8_lossy(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0 | 1)) && text.contains("pwned"),
            "{format}: {text}"
        );
        harmless(&format!("diff {format}"), &name, &text, format == "github");
    }
}

#[test]
fn fix_dry_run_escapes_hostile_text() {
    let inside = repository();
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\n  finalizer: [x.y/z]\n";
    let data = "data:\n  a: |\n    ::error::pwned ##[error]pwned ##vso[task.x]y\n    user\u{202e}nimda \u{85} \u{2028}\n";
    inside.write(
        "rendered/\u{1b}[31m\n::error::x.yaml",
        &format!("{object}{data}"),
    );
    let mut command = ownerlint();
    command
        .current_dir(inside.path())
        .env("GITHUB_ACTIONS", "true")
        .args(["--fix-dry-run", "rendered"]);
    let output = command.output().expect("it runs");
    let text =
        String::from_utf8(output.stdout).expect("text") + &String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("+  finalizers: [x.y/z]") && text.contains("pwned"),
        "{text}"
    );
    harmless("diff", "a file", &text, false);
}

/// Collects every text that an editor shows: diagnostics, hovers, lenses, symbols, titles of actions. Edits are text of
/// the file and are not shown.
fn shown(message: &Value, key: &str, all: &mut Vec<String>) {
    match message {
        Value::String(text) if !matches!(key, "newText" | "uri") => all.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| shown(item, key, all)),
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| shown(value, key, all)),
        _ => {}
    }
}

/// Returns the texts that an editor shows for every part of a text in a folder.
fn shown_texts(folder: &Repository, text: &str) -> Vec<String> {
    use lsp_server::{Connection, Message, Notification, Request};
    let root = format!("file://{}", folder.path().display());
    let (client, server) = Connection::memory();
    let mut id = 0;
    let mut ask = |method: &str, params: Value| {
        id += 1;
        client
            .sender
            .send(Request::new(id.into(), method.to_owned(), params).into())
            .expect("a channel");
    };
    let tell = |method: &str, params: Value| {
        let message = Message::from(Notification::new(method.to_owned(), params));
        client.sender.send(message).expect("a channel");
    };
    let document = serde_json::json!({"uri": format!("{root}/a.yaml")});
    ask(
        "initialize",
        serde_json::json!({"capabilities": {}, "rootUri": root}),
    );
    tell("initialized", serde_json::json!({}));
    let item = serde_json::json!({"uri": format!("{root}/a.yaml"), "languageId": "yaml", "version": 1, "text": text});
    tell(
        "textDocument/didOpen",
        serde_json::json!({"textDocument": item}),
    );
    for (line, written) in text.lines().enumerate() {
        for character in (0..written.len()).step_by(50) {
            let place = serde_json::json!({"line": line, "character": character});
            ask(
                "textDocument/hover",
                serde_json::json!({"textDocument": document, "position": place}),
            );
        }
        let range = serde_json::json!({"start": {"line": line, "character": 0}, "end": {"line": line + 1, "character": 0}});
        let actions = serde_json::json!({"textDocument": document, "range": range, "context": {"diagnostics": []}});
        ask("textDocument/codeAction", actions);
    }
    ask(
        "textDocument/documentSymbol",
        serde_json::json!({"textDocument": document}),
    );
    ask(
        "textDocument/codeLens",
        serde_json::json!({"textDocument": document}),
    );
    ask("shutdown", Value::Null);
    tell("exit", Value::Null);
    ownerlint::lsp::serve(&server).expect("a conversation that ends");
    drop(server);
    let mut texts = Vec::new();
    for message in client.receiver.try_iter() {
        shown(
            &serde_json::to_value(&message).expect("JSON"),
            "",
            &mut texts,
        );
    }
    texts
}

#[test]
fn lsp_escapes_hostile_names() {
    let inside = repository();
    let harmless = |texts: Vec<String>| {
        assert!(texts.iter().any(|text| text.contains("pwned")), "{texts:?}");
        let obeyed: Vec<_> = texts
            .iter()
            .filter(|text| text.contains(is_obeyed))
            .collect();
        assert!(obeyed.is_empty(), "{obeyed:#?}");
    };
    let name = HOSTILE.join(" ");
    harmless(shown_texts(&inside, &manifest(&name)));
    inside.write(
        "ownerlint.yaml",
        &format!(
            "version: 1\nrules: {{{}: off}}\n",
            ascii(&Value::from(name))
        ),
    );
    harmless(shown_texts(&inside, super::support::CONFIG_MAP));
}

#[test]
fn errors_escape_hostile_text_they_quote() {
    let name = HOSTILE.join(" ");
    let inside = repository();
    let key = ascii(&Value::from(name.as_str()));
    let says = |arguments: &[&str]| {
        let mut command = ownerlint();
        command
            .current_dir(inside.path())
            .env("GITHUB_ACTIONS", "true")
            .args(arguments);
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        harmless(
            "stderr",
            &arguments.join(" "),
            &String::from_utf8(output.stderr).expect("text"),
            false,
        );
    };
    for config in [
        format!("{{\"version\": 1, {key}: 1}}"),
        format!("version: 1\nrules: {{{key}: off}}\n"),
        format!("version: 1\nbundles: {{{key}: {{paths: [{key}]}}}}\n"),
        format!("version: 1\nexclude: [{key}, '[']\n"),
        format!("version: 1\nnamespace: {key}\n"),
        format!(
            "version: 1\n# {}\nnamespace: 5\n",
            name.replace(['\n', '\r'], " ")
        ),
    ] {
        inside.write("ownerlint.yaml", &config);
        says(&[]);
    }
    std::fs::remove_file(inside.path().join("ownerlint.yaml")).expect("removed");
    for baseline in [
        format!("{{\"schema\": {key}, \"findings\": []}}"),
        format!("{{{key}: 1}}"),
        name.clone(),
    ] {
        inside.write("ownerlint-baseline.json", &baseline);
        says(&["rendered"]);
    }
    inside.write(
        "steps.json",
        &format!("[{{\"op\": {key}, \"target\": {key}}}]"),
    );
    says(&["plan", "--steps", "steps.json", "rendered"]);
    says(&["plan", "delete", &name, "-f", "rendered"]);
    says(&[
        "--only",
        &name.replace('\u{0}', ""),
        "--no-baseline",
        "rendered",
    ]);
}

/// Review P3.8: if a target is not in the input, the objects of the input are listed.
#[test]
fn missing_plan_target_error_escapes_hostile_names() {
    let name = HOSTILE.join(" ");
    let inside = repository();
    inside.write("rendered/a.yaml", &manifest(&name));
    for target in ["nothing/x", "configmap/x"] {
        let mut command = ownerlint();
        command
            .current_dir(inside.path())
            .env("GITHUB_ACTIONS", "true");
        let output = command
            .args(["plan", "delete", target, "-f", "rendered"])
            .output()
            .expect("it runs");
        let error = String::from_utf8(output.stderr).expect("text");
        assert!(
            output.status.code() == Some(2) && error.contains("pwned"),
            "{target}: {error}"
        );
        harmless("stderr", target, &error, false);
    }
}

/// Review P3.8: a format names the file of a finding.
#[test]
fn hostile_file_name_is_escaped_in_every_format() {
    let inside = repository();
    let object =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, finalizers: [bad]}\n";
    let name = "\u{1b}[31m\u{7}\u{9b}2J\u{85}\u{2028}user\u{202e}nimda\r\n::error::pwned ##[error]x </script> ](x) `.yaml";
    inside.write(&format!("rendered/{}", name.replace('/', "|")), object);
    for format in words(&Format::ALL) {
        let (out, error) = run(&inside, &["-o", &format, "rendered"], "");
        assert!(out.contains("pwned"), "{format}: {out}");
        harmless(&format, "a file", &(out + &error), format == "github");
    }
}

#[test]
fn list_of_deliveries_escapes_hostile_names() {
    for name in HOSTILE {
        let inside = Repository::new();
        let object = serde_json::json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": name}, "spec": {"path": name},
        });
        inside.write("a.yaml", &ascii(&object));
        inside.write("b/c.yaml", &manifest(name));
        inside.write("b/kustomization.yaml", "resources: [c.yaml]\n");
        for format in ["human", "json", "mermaid", "dot"] {
            let (out, error) = run(&inside, &["list", "--deliveries", "-o", format], "");
            harmless(&format!("list {format}"), name, &(out + &error), false);
        }
    }
}
