//! Targets for fixes and editors, in which texts change.

use lsp_server::{Connection, Message, Notification, Request};
use ownerlint::finding::{Applicability, Severity};
use ownerlint::report::Report;
use ownerlint::text::replaced;
use serde_json::{Value, json};

use super::{check_every, folder, text};

/// The longest text to fix: each fix is checked by another run.
const LONGEST: usize = 3_000;

/// Each fix of any text removes its finding, loses no object and adds no error.
pub(crate) fn fixes(data: &[u8]) {
    let text = text(&data[..data.len().min(LONGEST)]);
    let before = check_every(&text);
    for reported in &before.findings {
        let (finding, Some(fix)) = (&reported.finding, &reported.finding.fix) else {
            continue;
        };
        let edits = fix
            .edits
            .iter()
            .map(|edit| (edit.span, edit.replacement.as_str()));
        let fixed = replaced(&text, edits).expect("the edits of a fix do not overlap");
        let after = check_every(&fixed);
        let same = |report: &Report| {
            let found = report.findings.iter().map(|reported| &reported.finding);
            found
                .filter(|other| (other.rule, &other.message) == (finding.rule, &finding.message))
                .count()
        };
        assert!(
            same(&after) < same(&before),
            "{} stays: {fixed:?}",
            finding.rule
        );
        // Without server fields, a placeholder in a key counts as a template, and `(spec)` as a test's assertion.
        let objects = |report: &Report| {
            let unlike_dumps = ["template", "not-a-manifest"];
            report.summary.objects
                + report
                    .skipped
                    .iter()
                    .filter(|skip| unlike_dumps.contains(&skip.reason))
                    .count()
        };
        assert_eq!(
            objects(&before),
            objects(&after),
            "{}: objects are lost: {fixed:?}",
            finding.rule
        );
        let unreadable = |report: &Report| {
            let found = report.findings.iter().map(|reported| &reported.finding);
            found
                .filter(|finding| {
                    finding.severity == Severity::Error && finding.rule.starts_with("unreadable")
                })
                .count()
        };
        assert!(
            unreadable(&after) <= unreadable(&before),
            "{}: {fixed:?}",
            finding.rule
        );
        assert!(fix.applicability <= Applicability::Suggested && !fix.title.is_empty());
    }
}

/// The requests of an editor about a position.
const METHODS: [&str; 12] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "textDocument/codeLens",
    "textDocument/codeAction",
    "workspace/symbol",
    "codeLens/resolve",
    "workspace/executeCommand",
    "textDocument/didChange",
    "textDocument/didClose",
    "$/cancelRequest",
];

/// Every request of an editor is answered once, in any order of messages.
pub(crate) fn lsp(data: &[u8]) {
    let (script, document) = data.split_at(data.len().min(24));
    let (text, folder) = (text(document), folder("editor"));
    let uri = format!("file://{}/a.yaml", folder.display());
    let (client, server) = Connection::memory();
    let send = |message: Message| {
        client
            .sender
            .send(message)
            .expect("a channel without a limit");
    };
    let mut asked = Vec::new();
    let mut request = |method: &str, params: Value| {
        let id = asked.len() as i32;
        asked.push(id);
        send(Request::new(id.into(), method.to_owned(), params).into());
    };
    request(
        "initialize",
        json!({"capabilities": {}, "rootUri": format!("file://{}", folder.display())}),
    );
    send(Notification::new("initialized".to_owned(), json!({})).into());
    let item = json!({"uri": uri, "languageId": "yaml", "version": 1, "text": text});
    send(
        Notification::new(
            "textDocument/didOpen".to_owned(),
            json!({"textDocument": item}),
        )
        .into(),
    );
    for (version, bytes) in (2..).zip(script.chunks(3)) {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
        let position = json!({"line": byte(1), "character": byte(2)});
        let method = METHODS[usize::from(byte(0)) % METHODS.len()];
        let half = text
            .char_indices()
            .nth(text.chars().count() / 2)
            .map_or(0, |(at, _)| at);
        let mut params = json!({
            "textDocument": {"uri": uri, "version": version}, "position": position, "context": {"includeDeclaration": true, "diagnostics": []},
            "range": {"start": position, "end": {"line": byte(2), "character": byte(1)}}, "query": text.chars().take(20).collect::<String>(),
            "contentChanges": [{"text": &text[half..]}], "command": text, "arguments": [text], "id": byte(1),
            "data": {"path": uri, "offset": byte(1)},
        });
        // Some messages are nonsense.
        if byte(0) >= 240 {
            params = serde_json::from_str(&text).unwrap_or(Value::Null);
        }
        match method {
            "textDocument/didChange" | "textDocument/didClose" | "$/cancelRequest" => {
                send(Notification::new(method.to_owned(), params).into());
            }
            _ => request(method, params),
        }
    }
    request("shutdown", Value::Null);
    send(Notification::new("exit".to_owned(), Value::Null).into());
    ownerlint::lsp::serve(&server).expect("a conversation that ends");
    drop(server);
    let answers = client.receiver.try_iter();
    let answered = answers
        .filter(|message| matches!(message, Message::Response(_)))
        .count();
    assert_eq!(answered, asked.len());
}
