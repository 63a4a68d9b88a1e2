//! Values of Secrets are in no output, whatever is wrong beside them.

use ownerlint::manifest::ParsedFile;
use ownerlint::text::SourceFile;

use super::support::repository;
use crate::diff::Folder;
use crate::support::ownerlint;

/// The value; `MARK` is in no other text.
const MARK: &str = "hunterMARKtwo";

/// Secrets with something wrong on, before and after each line that has a value.
fn secrets() -> Vec<String> {
    let head =
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\n  finalizers: [bad, example.com/x]\n";
    [
        // A finding on the line before, on the value's key, on the value, and after it.
        format!("{head}data:\n  a: {MARK}\n  a: {MARK}\n  b: {MARK}\nbogus: x\n"),
        format!("{head}  unknown: 1\nstringData: {{a: {MARK}, a: {MARK}}}\n"),
        format!("{head}stringData:\n  a: |\n    {MARK}\n    {MARK}\n  a: >-\n    {MARK}\n"),
        format!("{head}stringData: &x {{a: {MARK}}}\nstringData: {{<<: *x, b: *x}}\n"),
        format!("{head}data: [{MARK}]\nstringData: {MARK}\n"),
        format!("{head}# {MARK}\ndata: {{a: 1, b: {MARK}}} \n...\n{MARK}: apiVersion\n"),
        // The copy that kubectl keeps, with a defect beside it.
        format!("{head}  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{{\"data\":{{\"a\":\"{MARK}\"}}}}'\n    a: 5\n  uid: 5\n"),
        // Texts that cannot be read.
        format!("{head}data:\n\ta: {MARK}\n  b: {MARK}\n"),
        format!("{head}data:\n  a: \"{MARK}\n  b: {MARK}\n"),
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {{\"name\": \"a\"}}, \"data\": {{\"a\": \"{MARK}\",, }}}}\n"),
        format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: a, finalizers: [bad]}}\n  data: {{a: {MARK}, a: {MARK}}}\n"),
        format!("kind: Secret\nmetadata: {{name: a}}\ndata: {{a: {MARK}}}\napiVersion: v1\nkind: Secret\n"),
        // Scalars that readers disagree on are quoted in messages elsewhere.
        format!("{head}stringData:\n  0777: {MARK}\n  yes: {MARK}\n  a: !!binary {MARK}\n  b: 0o7{MARK}\n"),
    ]
    .into()
}

/// Scalars that YAML 1.1 and 1.2 read differently: a message about one would quote it.
const DISPUTED: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nstringData:\n  a: 0777717777\n  b: 7_777_177_77\n  c: 12:34:56:77\n  d: 0b1010101010101\n  e: .77771e7777\n";

#[test]
fn no_format_of_any_command_shows_a_value() {
    let inside = repository();
    for (number, secret) in secrets().iter().enumerate() {
        inside.write(&format!("rendered/secret-{number}.yaml"), secret);
    }
    let check = |arguments: &[&str]| {
        let (_, out, error) = inside.run(arguments, "");
        for text in [out, error] {
            let shown = text.lines().find(|line| line.contains("MARK"));
            assert!(shown.is_none(), "{arguments:?}: {shown:?}");
        }
    };
    for format in
        ["human", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "lsp", "markdown"]
    {
        check(&["-v", "--show", "info", "-o", format, "rendered"]);
    }
    for format in ["human", "json"] {
        check(&["list", "-v", "-o", format, "rendered"]);
    }
    for format in ["human", "json", "dot", "mermaid", "markdown"] {
        check(&["plan", "delete", "ns/shop", "-v", "-f", "rendered", "-o", format]);
        check(&["plan", "teardown", "--by", "helm", "-v", "rendered", "-o", format]);
    }
    check(&["baseline", "write", "rendered"]);
    assert!(!inside.read("ownerlint-baseline.json").contains("MARK"));
    check(&["init", "rendered"]);
}

#[test]
fn no_message_quotes_a_disputed_value() {
    let (_, out, error) = repository().run(&["-v", "--show", "info", "-"], DISPUTED);
    for value in ["0777717777", "7_777_177_77", "12:34:56:77", "0b1010101010101", ".77771e7777"] {
        assert!(!out.contains(value) && !error.contains(value), "{value}: {out}");
    }
}

#[test]
fn a_change_of_a_value_shows_neither_the_old_nor_the_new_one() {
    let folder = Folder::new();
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nimmutable: true\ntype: Opaque\n";
    folder.write("base/a.yaml", &format!("{head}data: {{a: {MARK}}}\n"));
    folder.write("head/a.yaml", &format!("{head}data: {{a: {MARK}2}}\n"));
    for format in ["human", "json"] {
        let mut command = ownerlint();
        let output = command
            .current_dir(folder.path())
            .args(["diff", "--base", "base", "--head", "head", "-o", format])
            .output();
        let output = output.expect("it runs");
        for text in [output.stdout, output.stderr] {
            assert!(!String::from_utf8_lossy(&text).contains("MARK"));
        }
    }
}

/// The text as snippets show it.
fn lines(text: &str) -> String {
    let file = ParsedFile::parse(SourceFile::new("f", text));
    let shown = (1..=file.source().line_count()).map(|line| file.source().shown_line(line).into_owned() + "\n");
    shown.collect()
}

#[test]
fn keys_and_metadata_stay_and_values_do_not() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: aGk=\n  key: |\n    line é\nstringData: {a: hunter2}\n";
    let expected = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: ****\n  key: *\n    **** **\nstringData: {a: ********\n";
    assert_eq!(lines(text), expected);
}

#[test]
fn what_the_api_server_never_sees_is_hidden_too() {
    let twice =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: first\n  user: second\n# old: hunter2\n";
    let shown = lines(twice);
    assert!(!["first", "second", "hunter2"].iter().any(|value| shown.contains(value)), "{shown}");
}

#[test]
fn the_copy_that_kubectl_keeps_is_hidden() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"a\":\"hunter2\"}}'\n";
    let shown = lines(text);
    assert!(shown.contains("last-applied-configuration: ***") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_secret_that_cannot_be_read_shows_no_value() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n\tuser: hunter2\n  key: |\n    hunter3\n";
    let shown = lines(text);
    assert!(shown.contains("  name: db\n"), "{shown}");
    assert!(!shown.contains("hunter"), "{shown}");
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"data\": {\"a\": \"hunter2\",, }}";
    assert!(!lines(json).contains("hunter"));
}

#[test]
fn of_a_list_only_the_secrets_are_hidden() {
    let text = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: shown}}, {apiVersion: v1, kind: Secret, metadata: {name: b}, data: {y: hunter2}}]}\n";
    let shown = lines(text);
    assert!(shown.contains("data: {x: shown}") && !shown.contains("hunter2"), "{shown}");
}
