//! `--output html`: one file that embeds the JSON report, and in which untrusted text is only data.

mod page;

use std::fs;

use serde_json::Value;

pub(crate) use page::HtmlPage;
use page::hash;

use crate::cli::scope::git;
use crate::support::{Repository, ownerlint, root};

/// The maximum number of bytes of a page without its data.
const MOST: usize = 300_000;

fn output(arguments: &[&str], format: &str) -> String {
    let output = ownerlint()
        .args(arguments)
        .args(["--output", format])
        .output()
        .expect("the program runs");
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the output is text")
}

/// Returns the page of a command, and checks that it embeds the command's JSON output.
fn page(arguments: &[&str]) -> HtmlPage {
    let page = HtmlPage::read(&output(arguments, "html"));
    let contract: Value = serde_json::from_str(&output(arguments, "json")).expect("the contract");
    assert_eq!(page.contract, contract, "{arguments:?}");
    page
}

fn object<'p>(page: &'p HtmlPage, name: &str) -> &'p Value {
    let objects = page.beside["stories"][0]["objects"]
        .as_array()
        .expect("objects");
    objects
        .iter()
        .find(|object| object["name"] == name)
        .unwrap_or_else(|| panic!("{name} is in the story"))
}

const ROOK: [&str; 5] = [
    "plan",
    "delete",
    "ns/rook-ceph",
    "-f",
    "fixtures/bundles/rook",
];

#[test]
fn content_security_policy_hashes_match_the_assets() {
    let assets = root().join("src/report/html/assets");
    let file = root().join("src/report/html/assets.rs");
    let source = fs::read_to_string(&file).expect("the list of parts");
    let mut expected = source.clone();
    for name in ["STYLE", "SCRIPT", "LAYOUT"] {
        let (_, parts) = source
            .split_once(&format!("const {name}: &str ="))
            .expect("a part");
        let (parts, _) = parts.split_once(");").expect("its end");
        let texts = parts.split("include_str!(\"assets/").skip(1).map(|part| {
            let name = part.split('"').next().expect("a name");
            fs::read_to_string(assets.join(name)).expect("a part of the page")
        });
        let text: String = texts.collect();
        let text = if name == "SCRIPT" {
            format!("(() => {{\n\"use strict\";\n{text}}})();\n")
        } else {
            text
        };
        assert!(
            !text.contains("##") && !text.contains("\n::"),
            "{name}: a runner would take it for a command"
        );
        let (_, rest) = source
            .split_once(&format!("const {name}_HASH: &str = \""))
            .expect("a hash");
        let (old, _) = rest.split_once('"').expect("its end");
        expected = expected.replace(
            &format!("{name}_HASH: &str = \"{old}\""),
            &format!("{name}_HASH: &str = \"{}\"", hash(&text)),
        );
    }
    if std::env::var_os("UPDATE_DOCS").is_some() && source != expected {
        fs::write(file, &expected).expect("a file of ours");
    }
    assert_eq!(
        source, expected,
        "UPDATE_DOCS=1 cargo test --test it html writes the hashes"
    );
}

#[test]
fn page_embeds_the_json_report_of_its_command() {
    page(&ROOK);
    page(&["plan", "teardown", "--by", "helm", "fixtures/bundles/rook"]);
    page(&["check", "fixtures/bundles"]);
    page(&[
        "diff",
        "--base",
        "fixtures/bundles/rook",
        "--head",
        "fixtures/bundles/cross-namespace",
    ]);
}

#[test]
fn page_shows_effect_reason_and_location_of_objects() {
    let page = page(&ROOK);
    let operator = object(&page, "rook-ceph-operator");
    assert_eq!(operator["effect"], "deleted");
    assert_eq!(operator["why"], "in the namespace");
    assert_eq!(operator["file"], "fixtures/bundles/rook/operator.yaml");
    assert!(operator["line"].as_u64().is_some_and(|line| line > 1));
    let driver = object(&page, "rook-ceph.rbd.csi.ceph.com");
    assert_eq!(
        (&driver["effect"], driver["why"].as_str()),
        (
            &"kept".into(),
            Some("never collected: it is cluster-scoped and its owner is not")
        )
    );
    let cited = operator["cites"][0].as_str().expect("a citation");
    assert!(
        page.beside["citations"][cited]
            .as_str()
            .is_some_and(|sentence| sentence.len() > 20)
    );
}

#[test]
fn stuck_object_shows_the_command_that_releases_it() {
    let folder = Repository::new();
    folder.write(
        "held.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: shop, finalizers: [example.com/hold]}}",
    );
    let (_, text, _) = folder.run(
        &[
            "plan",
            "delete",
            "configmap/held",
            "-n",
            "shop",
            "-o",
            "html",
        ],
        "",
    );
    let page = HtmlPage::read(&text);
    assert_eq!(object(&page, "held")["finalizers"][0], "example.com/hold");
    let held = &page.beside["stories"][0]["stuck"][0]["holds"][0];
    assert_eq!(held["what"], "is held by finalizer example.com/hold");
    assert!(
        held["commands"][0]
            .as_str()
            .is_some_and(|command| command.starts_with("kubectl ")),
        "{held}"
    );
}

#[test]
fn layout_script_is_embedded_only_with_a_graph() {
    assert_eq!(page(&ROOK).scripts.len(), 2);
    assert_eq!(page(&["check", "fixtures/bundles"]).scripts.len(), 1);
}

#[test]
fn page_without_its_data_stays_below_size_limit() {
    let shell = page(&ROOK).shell;
    assert!(shell.len() < MOST, "{} bytes", shell.len());
}

#[test]
fn committed_files_link_to_the_given_source_url() {
    let folder = Repository::new();
    folder.write(
        "a b.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}}",
    );
    for arguments in [
        &["init", "-q"][..],
        &["add", "."],
        &["commit", "-qm", "one"],
    ] {
        assert!(git(&folder, arguments), "{arguments:?}");
    }
    let links = |url: &str| {
        let mut command = ownerlint();
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(folder.path());
        command.args([
            "plan",
            "delete",
            "configmap/one",
            "-n",
            "shop",
            "-o",
            "html",
            "--source-url",
            url,
        ]);
        let output = command.output().expect("the program runs");
        HtmlPage::read(&String::from_utf8(output.stdout).expect("text")).beside["links"]["a b.yaml"]
            .clone()
    };
    let link = |before: &str, after: &str| serde_json::json!({"before": before, "after": after});
    assert_eq!(
        links("https://git.example/o/n/blob/abc"),
        link("https://git.example/o/n/blob/abc/a%20b.yaml#L", "")
    );
    assert_eq!(
        links("https://git.example/{path}?line={line}&x"),
        link("https://git.example/a%20b.yaml?line=", "&x")
    );
    let (git_folder, text) = (folder.path().join(".git"), |file| {
        fs::read_to_string(file).expect("a file of git")
    });
    let head = text(git_folder.join("HEAD"));
    let commit = text(git_folder.join(head.trim().trim_start_matches("ref: ")));
    let before = format!("https://git.example/{}/a%20b.yaml#L", commit.trim());
    assert_eq!(links("https://git.example/{commit}"), link(&before, ""));
    folder.write(
        "a b.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop, labels: {a: b}}}",
    );
    assert_eq!(
        links("https://git.example/o/n/blob/abc"),
        Value::Null,
        "its lines are not those of the commit"
    );
}

#[test]
fn a_finding_names_every_bundle_that_reads_its_file() {
    let folder = Repository::new();
    let faulty = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, namespace: shop, finalizers: [x]}}}}"
        )
    };
    for name in ["both", "dev", "rest"] {
        folder.write(&format!("{name}.yaml"), &faulty(name));
    }
    folder.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {dev: {paths: [both.yaml, dev.yaml]}, prod: {paths: [both.yaml]}}\n",
    );
    let (_, text, _) = folder.run(&["check", ".", "-o", "html"], "");
    let page = HtmlPage::read(&text);
    let findings = page.contract["findings"]
        .as_array()
        .expect("findings")
        .iter();
    let files: Vec<&str> = findings
        .filter_map(|finding| finding["location"]["file"].as_str())
        .collect();
    assert_eq!(files, ["both.yaml", "dev.yaml", "rest.yaml"]);
    assert_eq!(
        page.beside["bundles"],
        serde_json::json!([["dev", "prod"], ["dev"], ["outside any bundle"]])
    );
}

#[test]
fn non_http_source_url_is_rejected() {
    for url in ["javascript:alert(1)//{path}", "file:///etc", "example.com"] {
        let output = ownerlint()
            .args(ROOK)
            .args(["-o", "html", "--source-url", url])
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains("https://"), "{error}");
    }
}

#[test]
fn secret_values_do_not_appear_in_the_page() {
    let folder = Repository::new();
    folder.write(
        "secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n  ownerReferences:\n  - {apiVersion: v1, kind: Node, name: n}\ndata: {key: aHVudGVyMg==}\nstringData:\n  other: hunter2\n",
    );
    let (_, text, _) = folder.run(&["check", "-o", "html"], "");
    let page = HtmlPage::read(&text);
    assert!(
        page.contract["findings"]
            .as_array()
            .is_some_and(|findings| !findings.is_empty())
    );
    assert!(!text.contains("hunter2") && !text.contains("aHVudGVyMg"));
}

#[test]
fn hostile_names_stay_inside_the_data_block() {
    let folder = Repository::new();
    let names = [
        "</script><script>alert(1)</script>",
        "<!--<script>",
        "\\\"><img onerror=alert(1)>",
        "\\u202e\\u0000\\u2028]]>",
        "##[error]x",
    ];
    let objects = names.iter().map(|name| {
        format!("{{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {{\"name\": \"{name}\", \"namespace\": \"shop\", \"finalizers\": [\"x.y/{name}\"]}}}}\n")
    });
    folder.write("all.yaml", &objects.collect::<Vec<_>>().join("---\n"));
    folder.write(
        "shop.yaml",
        "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
    );
    for arguments in [
        &["plan", "delete", "ns/shop"][..],
        &["plan", "teardown", "--by", "helm"],
        &["check"],
        &["diff", "--base", ".", "--head", "shop.yaml"],
    ] {
        let (code, text, error) = folder.run(&[arguments, &["-o", "html"]].concat(), "");
        assert!(code < 2, "{arguments:?}: {error}");
        let page = HtmlPage::read(&text);
        assert!(
            !page.shell.contains("alert(1)") && !page.title.contains('<'),
            "{arguments:?}"
        );
    }
}
