//! Values of Secrets are in no output, whatever errors are beside them.

use ownerlint::manifest::ParsedFile;
use ownerlint::text::SourceFile;

use super::support::repository;
use crate::diff::Folder;
use crate::support::ownerlint;

/// The secret value; no other text contains `MARK`.
const MARK: &str = "hunterMARKtwo";

/// Returns Secrets with a defect on, before and after each line with a value.
fn secrets() -> Vec<String> {
    let head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: shop\n  finalizers: [bad, example.com/x]\n";
    [
        // A finding on the line before, on the value's key, on the value, and after it.
        format!("{head}data:\n  a: {MARK}\n  a: {MARK}\n  b: {MARK}\nbogus: x\n"),
        format!("{head}  unknown: 1\nstringData: {{a: {MARK}, a: {MARK}}}\n"),
        format!("{head}stringData:\n  a: |\n    {MARK}\n    {MARK}\n  a: >-\n    {MARK}\n"),
        format!("{head}stringData: &x {{a: {MARK}}}\nstringData: {{<<: *x, b: *x}}\n"),
        format!("{head}data: [{MARK}]\nstringData: {MARK}\n"),
        format!("{head}# {MARK}\ndata: {{a: 1, b: {MARK}}} \n...\n{MARK}: apiVersion\n"),
        // The copy that kubectl keeps in an annotation, with a defect beside it.
        format!("{head}  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{{\"data\":{{\"a\":\"{MARK}\"}}}}'\n    a: 5\n  uid: 5\n"),
        // Unreadable texts.
        format!("{head}data:\n\ta: {MARK}\n  b: {MARK}\n"),
        format!("{head}data:\n  a: \"{MARK}\n  b: {MARK}\n"),
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {{\"name\": \"a\"}}, \"data\": {{\"a\": \"{MARK}\",, }}}}\n"),
        format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: a, finalizers: [bad]}}\n  data: {{a: {MARK}, a: {MARK}}}\n"),
        format!("kind: Secret\nmetadata: {{name: a}}\ndata: {{a: {MARK}}}\napiVersion: v1\nkind: Secret\n"),
        // Everything on one line, with something to fix on either side.
        format!("{{apiVersion: v1, stringData: {{a: {MARK}}}, kind: Secret, metadata: {{name: a, finalizers: [bad, x/y, x/y], uid: }}, data: {{b: {MARK}}}}}\n"),
        format!("{{\"data\":{{\"a\":\"{MARK}\"}},\"kind\":\"Secret\",\"metadata\":{{\"finalizers\":[\"x/y\",\"x/y\"],\"name\":\"a\"}},\"apiVersion\":\"v1\"}}\n"),
        // Without an apiVersion it is not an object, although a Secret is meant.
        format!("kind: Secret\nmetadata: {{name: a}}\nstringData:\n  a: {MARK}\n  a: {MARK}\n"),
        // Messages that quote their subject.
        format!("{head}stringData:\n  a: *{MARK}\n"),
        format!("{head}stringData:\n  a: !!int {MARK}\n"),
        // Data one level too deep.
        format!("{head}  stringData:\n    a: {MARK}\n  data: {{a: {MARK}}}\n  a: {MARK}\n"),
        // Misspelt kinds: a Secret is meant.
        format!("{head}stringData: {{a: {MARK}, a: {MARK}}}\n").replace("Secret", "secret"),
        format!("{head}data: {{a: {MARK}, a: {MARK}}}\n").replace("Secret", "Secrets"),
        format!("{head}stringData: {{a: {MARK}, a: {MARK}}}\n").replace("Secret", "Sceret"),
        // Messages about other objects quote scalars that YAML versions read differently.
        format!("{head}stringData:\n  0777: {MARK}\n  yes: {MARK}\n  a: !!binary {MARK}\n  b: 0o7{MARK}\n"),
    ]
    .into()
}

/// Returns objects that create or contain Secrets, with a defect beside each value.
fn makers() -> Vec<String> {
    let maker = |version: &str, kind: &str, rest: &str| {
        format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: db, namespace: shop}}\n{rest}"
        )
    };
    let template = |indent: &str| {
        format!(
            "{indent}metadata: {{finalizers: [bad]}}\n{indent}data:\n{indent}  a: {MARK}\n{indent}  a: {MARK}\n{indent}  b: |\n{indent}    {MARK}\n{indent}# {MARK}\n{indent}stringData: {{a: {MARK}, a: {MARK}}}\n"
        )
    };
    let external = maker(
        "external-secrets.io/v1",
        "ExternalSecret",
        &format!("spec:\n  target:\n    template:\n{}", template("      ")),
    );
    [
        external.clone(),
        external.replace("spec:\n", "spec:\n\tx: 1\n"),
        maker("external-secrets.io/v1", "ClusterExternalSecret", &format!("spec:\n  externalSecretSpec:\n    target:\n      template:\n{}", template("        "))),
        maker("bitnami.com/v1alpha1", "SealedSecret", &format!("spec:\n  template:\n{}", template("    "))),
        maker("example.com/v1", "Bundle", &format!("spec:\n  objects:\n  - apiVersion: v1\n    kind: Secret\n{}", template("    "))),
        maker("example.com/v1", "Bundle", &format!("spec:\n  object:\n    apiVersion: v1\n    kind: Secret\n{}", template("    "))),
        format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: SecretList\n  items:\n  - apiVersion: v1\n    kind: Secret\n{}", template("    ")),
        // Items without a kind.
        format!("apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {{name: a, finalizers: [bad]}}\n  data:\n    a: {MARK}\n    a: {MARK}\n  bogus: 1\n"),
        // Manifests as text.
        format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a.yaml: |\n    kind: Secret\n    stringData: {{a: {MARK}}}\nmetadata: {{name: a, bogus: 1}}\n"),
        format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  a: \"{{\\\"kind\\\": \\\"Secret\\\", \\\"data\\\": {{\\\"a\\\": \\\"{MARK}\\\"}}}}\"\nmetadata: {{name: a, bogus: 1}}\n"),
        // Dropped text after the end of a document: only people read it.
        maker("v1", "ConfigMap", &format!("bogus: 1\n...\nkind: Secret\ndata: {{a: {MARK}}}\napiVersion: v1\n")),
    ]
    .into()
}

/// Scalars that YAML 1.1 and 1.2 read differently.
const DISPUTED: [&str; 5] = [
    "0777717777",
    "7_777_177_77",
    "12:34:56:77",
    "0b1010101010101",
    ".77771e7777",
];

#[test]
fn secret_values_are_hidden_in_every_command_and_format() {
    let inside = repository();
    for (number, secret) in secrets().iter().chain(&makers()).enumerate() {
        inside.write(&format!("rendered/secret-{number}.yaml"), secret);
    }
    let generated = format!(
        "resources: [good.yaml, nowhere.yaml]\nnamespace: 5\nsecretGenerator:\n- name: db\n  literals:\n  - a={MARK}\n  - a={MARK}\n"
    );
    inside.write("rendered/kustomization.yaml", &generated);
    inside.write(
        "rendered/broken/kustomization.yaml",
        &generated.replace("- a=", "\t- a="),
    );
    let check = |arguments: &[&str]| {
        let (_, out, error) = inside.run(arguments, "");
        for text in [out, error] {
            let shown = text.lines().find(|line| line.contains(MARK));
            assert!(shown.is_none(), "{arguments:?}: {shown:?}");
        }
    };
    for format in ownerlint::report::Format::ALL {
        check(&["-v", "--show", "info", "-o", format.as_str(), "rendered"]);
    }
    check(&["--fix-dry-run", "rendered"]);
    check(&["--fix-dry-run", "--suggested", "-v", "rendered"]);
    for format in ["human", "json"] {
        check(&["list", "-v", "-o", format, "rendered"]);
    }
    for format in ownerlint::report::plan::PlanFormat::ALL {
        check(&[
            "plan",
            "delete",
            "ns/shop",
            "-v",
            "-f",
            "rendered",
            "-o",
            format.as_str(),
        ]);
        check(&[
            "plan",
            "teardown",
            "--by",
            "helm",
            "-v",
            "rendered",
            "-o",
            format.as_str(),
        ]);
    }
    check(&["baseline", "write", "rendered"]);
    assert!(!inside.read("ownerlint-baseline.json").contains(MARK));
    check(&["init", "rendered"]);
    check(&["--fix", "--suggested", "--no-baseline", "-v", "rendered"]);
}

#[test]
fn fix_diff_masks_secret_values() {
    let inside = repository();
    let lines = [
        "apiVersion: v1",
        "kind: Secret",
        "metadata:",
        "  name: db",
        "  namespace: shop",
        "  finalizer: [x.y/z]",
    ];
    let values = ["data:", "  a: aHVudGVyMg==", ""];
    inside.write(
        "rendered/secret.yaml",
        &[&lines[..], &values].concat().join("\r\n"),
    );
    let (status, out, error) = inside.run(&["--fix-dry-run", "rendered/secret.yaml"], "");
    assert_eq!(status, 1, "{error}");
    let expected =
        "-  finalizer: [x.y/z]\r\n+  finalizers: [x.y/z]\r\n data:\r\n   a: ************\r\n";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn lsp_messages_hide_secret_values() {
    use lsp_server::{Connection, Message, Notification, Request};
    let folder = tempfile::tempdir().expect("a folder");
    for secret in secrets().into_iter().chain(makers()) {
        let uri = format!("file://{}/a.yaml", folder.path().display());
        let (client, server) = Connection::memory();
        let mut asked = 0;
        let mut send = |method: &str, params: serde_json::Value, is_request: bool| {
            asked += i32::from(is_request);
            let message = if is_request {
                Message::from(Request::new(asked.into(), method.to_owned(), params))
            } else {
                Notification::new(method.to_owned(), params).into()
            };
            client
                .sender
                .send(message)
                .expect("a channel without a limit");
        };
        let root = format!("file://{}", folder.path().display());
        send(
            "initialize",
            serde_json::json!({"capabilities": {}, "rootUri": root}),
            true,
        );
        send("initialized", serde_json::json!({}), false);
        let item =
            serde_json::json!({"uri": uri, "languageId": "yaml", "version": 1, "text": secret});
        send(
            "textDocument/didOpen",
            serde_json::json!({"textDocument": item}),
            false,
        );
        let document = serde_json::json!({"uri": uri});
        for line in 0..secret.lines().count() {
            for character in [0, 3, 6, 12] {
                let at = serde_json::json!({"textDocument": document, "position": {"line": line, "character": character}});
                send("textDocument/hover", at.clone(), true);
                send("textDocument/definition", at, true);
                let place = serde_json::json!({"line": line, "character": character});
                let range = serde_json::json!({"start": place, "end": place});
                let actions = serde_json::json!({"textDocument": document, "range": range, "context": {"diagnostics": []}});
                send("textDocument/codeAction", actions, true);
            }
        }
        send(
            "textDocument/documentSymbol",
            serde_json::json!({"textDocument": document}),
            true,
        );
        send(
            "textDocument/codeLens",
            serde_json::json!({"textDocument": document}),
            true,
        );
        send(
            "workspace/symbol",
            serde_json::json!({"query": "hunter"}),
            true,
        );
        // The thread ends when the connection is closed. By then, the server has published diagnostics.
        let serving = std::thread::spawn(move || ownerlint::lsp::serve(&server));
        let shown = client.receiver.iter().find(|message| {
            let text = format!("{message:?}");
            assert!(!text.contains(MARK), "{text}");
            text.contains("publishDiagnostics")
        });
        assert!(shown.is_some());
        drop(client);
        serving
            .join()
            .expect("no panic")
            .expect("a conversation that ends");
    }
}

#[test]
fn ambiguous_secret_scalars_are_not_quoted() {
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nstringData:\n";
    for value in DISPUTED {
        let secret = format!("{head}  a: {value}\n  a: {value}\n");
        let (_, out, error) = repository().run(&["-v", "--show", "info", "-"], &secret);
        assert!(
            out.contains("[duplicate-key]") && out.contains("a: ***"),
            "{value}: {out}"
        );
        assert!(
            !out.contains(value) && !error.contains(value),
            "{value}: {out}"
        );
    }
}

#[test]
fn diff_hides_old_and_new_secret_values() {
    let folder = Folder::new();
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nimmutable: true\ntype: Opaque\n";
    folder.write("base/a.yaml", &format!("{head}data: {{a: {MARK}}}\n"));
    folder.write("head/a.yaml", &format!("{head}data: {{a: {MARK}2}}\n"));
    for format in ownerlint::report::Format::ALL {
        let mut command = ownerlint();
        let output = command
            .current_dir(folder.path())
            .args([
                "diff",
                "-v",
                "--base",
                "base",
                "--head",
                "head",
                "-o",
                format.as_str(),
            ])
            .output();
        let output = output.expect("it runs");
        for text in [output.stdout, output.stderr] {
            assert!(!String::from_utf8_lossy(&text).contains(MARK));
        }
    }
}

#[test]
fn passwords_in_addresses_of_repositories_are_in_no_output() {
    let folder = Folder::new();
    let address = format!("https://bob:a@{MARK}@example.com/x");
    let manifests = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a, namespace: argocd}}\n\
         spec: {{source: {{repoURL: \"{address}\", path: apps}}, syncPolicy: {{automated: {{prune: true}}}}}}\n\
         ---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: b, namespace: flux-system}}\n\
         spec: {{url: \"{address}\", ref: {{tag: VERSION}}}}\n"
    );
    let kustomization = format!("resources: [all.yaml, \"{address}//deploy?ref=VERSION\"]\n");
    for (side, version) in [("base", "v1"), ("head", "v2")] {
        for (file, text) in [("all", &manifests), ("kustomization", &kustomization)] {
            let text = text.replace("VERSION", version);
            folder.write(&format!("{side}/{file}.yaml"), &text);
        }
    }
    let commands: [&[&str]; 5] = [
        &["diff", "--base", "base", "--head", "head"],
        &["diff", "--base", "base", "--head", "head", "-o", "json"],
        &["list", "--deliveries", "head"],
        &["list", "--deliveries", "head", "-o", "json"],
        &["check", "-v", "head"],
    ];
    for command in commands {
        let output = ownerlint()
            .current_dir(folder.path())
            .args(command)
            .output();
        let output = output.expect("it runs");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains(MARK), "{command:?}: {text}");
        let names_address = text.contains("https://example.com/x");
        assert_eq!(names_address, command[0] != "check", "{command:?}: {text}");
    }
}

#[test]
fn credentials_of_generators_and_charts_are_in_no_output() {
    let folder = Folder::new();
    let chart = format!("https://bob:{MARK}@example.com/x");
    let manifests = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a, namespace: shop}}\n\
         spec: {{chart: {{spec: {{chart: '{chart}', version: VERSION, sourceRef: {{kind: HelmRepository, name: z}}}}}}}}\n\
         ---\napiVersion: helm.cattle.io/v1\nkind: HelmChart\nmetadata: {{name: b, namespace: kube-system}}\n\
         spec: {{chart: '{chart}', version: VERSION}}\n"
    );
    let remote =
        format!("resources: ['https://example.com/a//b?access_token={MARK}&ref=VERSION']\n");
    let literal = format!("secretGenerator: [{{name: z, literals: ['{MARK}VERSION']}}]\n");
    for (side, version) in [("base", "v1"), ("head", "v2")] {
        for (file, text) in [
            ("all", &manifests),
            ("remote/kustomization", &remote),
            ("literal/kustomization", &literal),
        ] {
            let text = text.replace("VERSION", version);
            folder.write(&format!("{side}/{file}.yaml"), &text);
        }
    }
    for format in ["human", "json", "markdown", "html"] {
        let diff = ["diff", "--base", "base", "--head", "head", "-o", format];
        let list = ["list", "--deliveries", "head", "-o", format];
        let is_listed = format != "markdown";
        for arguments in [Some(&diff[..]), is_listed.then_some(&list[..])] {
            let Some(arguments) = arguments else { continue };
            let output = ownerlint()
                .current_dir(folder.path())
                .args(arguments)
                .output();
            let output = output.expect("it runs");
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains(MARK), "{arguments:?}: {text}");
            let is_said = text.contains("is not `key=value`") || format == "markdown";
            assert!(is_said, "{arguments:?}: {text}");
        }
    }
}

/// Returns the text in the form of snippets.
fn lines(text: &str) -> String {
    let file = ParsedFile::parse(SourceFile::new("f", text));
    let shown = (1..=file.source().line_count())
        .map(|line| file.source().shown_line(line).into_owned() + "\n");
    shown.collect()
}

#[test]
fn snippets_mask_values_but_not_keys_and_metadata() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: aGk=\n  key: |\n    line é\nstringData: {a: hunter2}\n";
    let expected = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: ****\n  key: *\n    **** **\nstringData: {a: ********\n";
    assert_eq!(lines(text), expected);
}

#[test]
fn duplicate_keys_and_comments_of_secrets_are_masked() {
    let twice = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\ndata:\n  user: first\n  user: second\n# old: hunter2\n";
    let shown = lines(twice);
    assert!(
        !["first", "second", "hunter2"]
            .iter()
            .any(|value| shown.contains(value)),
        "{shown}"
    );
}

#[test]
fn last_applied_configuration_of_secrets_is_masked() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"a\":\"hunter2\"}}'\n";
    let shown = lines(text);
    assert!(
        shown.contains("last-applied-configuration: ***") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn unreadable_secrets_are_masked() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n\tuser: hunter2\n  key: |\n    hunter3\n";
    let shown = lines(text);
    assert!(shown.contains("  name: db\n"), "{shown}");
    assert!(!shown.contains("hunter"), "{shown}");
    let json = "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"data\": {\"a\": \"hunter2\",, }}";
    assert!(!lines(json).contains("hunter"));
}

#[test]
fn references_to_secrets_are_not_masked() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  ownerReferences: [{apiVersion: v1, kind: Secret, name: b, uid: c}]\ndata: {x: shown}\n";
    assert_eq!(lines(text), text);
    let keys = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: a}\nspec:\n  target: {name: b, template: {type: Opaque, data: {a: hunter2}}}\n  data: [{secretKey: a, remoteRef: {key: shop/db}}]\n";
    assert_eq!(lines(keys), keys.replace("hunter2}", "********"));
}

#[test]
fn only_secrets_of_a_list_are_masked() {
    let text = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: shown}}, {apiVersion: v1, kind: Secret, metadata: {name: b}, data: {y: hunter2}}]}\n";
    let shown = lines(text);
    assert!(
        shown.contains("data: {x: shown}") && !shown.contains("hunter2"),
        "{shown}"
    );
}

#[test]
fn secrets_without_api_version_in_a_long_file_are_masked() {
    // The second Secret has an escaped `kind` that no text search finds.
    let secrets = "kind: Secret\ndata: {a: hunter2}\n---\n\"\\x6bind\": Secret\ndata: {a: hunter3}\n---\n# kind: Secret\n# data: hunter4\n";
    let shown = lines(&format!("{}{secrets}", "a: 1\n---\n".repeat(40_000)));
    assert!(shown.ends_with(
        "kind: Secret\ndata: {a: ********\n---\n\"\\x6bind\": Secret\ndata: {a: ********\n---\n# kind: ******\n# data: *******\n"
    ));
}
