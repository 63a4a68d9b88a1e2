//! Command lines that newcomers type out of habit from kubectl, Helm and other linters. Each works, or the error says
//! what to type.

use std::path::Path;

use predicates::str::contains;

use crate::support::ownerlint;

const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
";

/// The files of the folder in which the commands are run.
const FILES: [(&str, &str); 10] = [
    ("web.yaml", WEB),
    ("empty/notes.txt", "nothing here"),
    (
        "chart/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 0.1.0\n",
    ),
    (
        "chart/templates/cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n",
    ),
    ("overlay/kustomization.yaml", "resources: [../web.yaml]\n"),
    (
        "tabs.yaml",
        "version: 1\nbundles:\n\tdev: {paths: [web.yaml]}\n",
    ),
    ("key.yaml", "version: 1\nbundels: {}\n"),
    ("version.yaml", "version: 2\n"),
    ("steps.yaml", "- op: destroy\n  target: deployment/web\n"),
    (
        "bad.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, ownerReferences: {}}\n",
    ),
];

/// The arguments of `ownerlint`, a part of the output on either stream, and the exit status.
type Row = (&'static str, &'static str, i32);

/// Guessed command lines that work.
const WORKING: &[Row] = &[
    (
        "--color never plan delete ns/shop -f web.yaml",
        "delete Namespace//shop (Background)",
        0,
    ),
    ("--no-config list web.yaml", "Deployment.apps/shop/web", 0),
    (
        "-n shop plan delete deployment/web -f web.yaml",
        "delete Deployment.apps/shop/web (Background)",
        0,
    ),
    (
        "-f web.yaml plan delete ns/shop",
        "delete Namespace//shop (Background)",
        0,
    ),
    (
        "plan -n shop delete deploy/web -f web.yaml",
        "delete Deployment.apps/shop/web (Background)",
        0,
    ),
    (
        "--output json check web.yaml",
        "\"schema\": \"ownerlint.report/",
        0,
    ),
    ("--fail-on warning check web.yaml", "", 0),
    (
        "plan delete ns shop -f web.yaml",
        "delete Namespace//shop (Background)",
        0,
    ),
    (
        "plan delete deploy web -n shop -f web.yaml",
        "delete Deployment.apps/shop/web (Background)",
        0,
    ),
    (
        "plan delete Deployment/web -f web.yaml",
        "delete Deployment.apps/shop/web (Background)",
        0,
    ),
    ("--kubernetes-version v1.30.2 web.yaml", "", 0),
    (
        "--kubernetes-version 1.99 web.yaml",
        "Kubernetes 1.99 is not known yet; the kinds of 1.37 are used",
        0,
    ),
    ("--help list", "List the objects", 0),
    ("list -h", "List the objects", 0),
    ("-V list", "ownerlint 0.", 0),
    ("help plan delete", "Usage: ownerlint plan delete", 0),
    ("explain owner-self --output text", "[owner-self]: ", 0),
    ("explain gc-22", "", 0),
    ("explain", "owner-self", 0),
    ("man plan delete", ".TH ownerlint-plan-delete 1", 0),
    ("- web.yaml", "", 0),
];

/// Options of other programs.
const OPTIONS: &[Row] = &[
    (
        "check -f web.yaml",
        "tip: write files and folders without an option: `ownerlint rendered/`",
        2,
    ),
    (
        "--filename web.yaml",
        "tip: write files and folders without an option",
        2,
    ),
    ("--format json web.yaml", "tip: the format is `--output`", 2),
    (
        "--output-format=json web.yaml",
        "tip: the format is `--output`",
        2,
    ),
    (
        "-q web.yaml",
        "tip: `--output concise` prints a line per finding",
        2,
    ),
    ("list -l app=web", "tip: there are no selectors", 2),
    (
        "list -A",
        "tip: leave it out: every namespace in the input is read",
        2,
    ),
    (
        "--all-namespaces web.yaml",
        "tip: leave it out: every namespace in the input is read",
        2,
    ),
    (
        "plan delete --all -n shop -f web.yaml",
        "`ownerlint plan delete ns/shop`",
        2,
    ),
    (
        "plan delete ns/shop --dry-run=client -f web.yaml",
        "tip: leave it out: ownerlint changes nothing",
        2,
    ),
    (
        "plan delete pod/x --force --grace-period=0",
        "write a step `op: force-delete`",
        2,
    ),
    (
        "-R web.yaml",
        "tip: leave it out: folders are always read recursively",
        2,
    ),
    (
        "-k overlay",
        "`kustomize build overlays/prod | ownerlint -`",
        2,
    ),
    ("--strict web.yaml", "tip: write `--fail-on warning`", 2),
    ("--write web.yaml", "tip: write `--fix`", 2),
    (
        "--unsafe-fixes web.yaml",
        "tip: write `--fix --suggested`",
        2,
    ),
    (
        "--disable owner-self web.yaml",
        "tip: write `--ignore RULE`",
        2,
    ),
    ("--no-color web.yaml", "tip: write `--color never`", 2),
    (
        "--kubeconfig admin.conf",
        "tip: ownerlint does not connect to a cluster",
        2,
    ),
    (
        "list --fail-on error web.yaml",
        "tip: `--fail-on` is an option of `ownerlint check`",
        2,
    ),
    (
        "check --cascade orphan web.yaml",
        "tip: `--cascade` is an option of `ownerlint diff`, `ownerlint plan delete`",
        2,
    ),
    (
        "rules owner-self",
        "tip: write `ownerlint explain owner-self`",
        2,
    ),
];

/// Commands of other programs, and misplaced words.
const WORDS: &[Row] = &[
    ("lint .", "did you mean `ownerlint check`?", 2),
    ("get web.yaml", "did you mean `ownerlint list`?", 2),
    ("delete ns/shop", "did you mean `ownerlint plan delete`?", 2),
    ("plna delete ns/shop", "did you mean `ownerlint plan`?", 2),
    ("version", "did you mean `ownerlint --version`?", 2),
    (
        "web.yaml list",
        "the command comes first: `ownerlint list web.yaml`",
        2,
    ),
    (
        "plan",
        "`ownerlint plan delete TARGET -f rendered/`, with a target like `deployment/web`",
        2,
    ),
    (
        "plan web.yaml",
        "`ownerlint plan delete TARGET -f web.yaml`",
        2,
    ),
    (
        "plan delete -f web.yaml",
        "tip: name an object: `ownerlint plan delete deployment/web -f web.yaml`",
        2,
    ),
    ("plan delete web.yaml", "read files with `-f`", 2),
    (
        "plan delete web -f web.yaml",
        "write a kind and a name, `deployment/web` or `deployment web`",
        2,
    ),
    (
        "plan delete deploy,cm -f web.yaml",
        "write a kind and a name, `deployment/web` or `deployment web`",
        2,
    ),
    (
        "plan delete deployment/wbe -n shop -f web.yaml",
        "`Deployment.apps/shop/web`",
        2,
    ),
    (
        "plan delete widget/x -f web.yaml",
        "there is no `widget` in the input",
        2,
    ),
    (
        "plan delete ns/shop --cascade=true -f web.yaml",
        "[possible values: background, foreground, orphan, none]",
        2,
    ),
    ("explain GC-999", "`ownerlint rules` lists all rules", 2),
    ("explain owner-slef", "did you mean `owner-self`?", 2),
    ("schema", "<NAME>", 2),
    (
        "schema foo",
        "schemas are: baseline, config, deliveries, diff, list, operator, plan, report, steps",
        2,
    ),
    (
        "completions tcsh",
        "[possible values: bash, elvish, fish, powershell, zsh]",
        2,
    ),
    ("man foo", "`ownerlint --help` lists the commands", 2),
    ("baseline", "ownerlint baseline write", 2),
];

/// Invalid values.
const VALUES: &[Row] = &[
    (
        "--select owner-slef web.yaml",
        "did you mean `owner-self`?",
        2,
    ),
    (
        "--fail-on errors web.yaml",
        "write `error`, `warning`, `info` or `never`",
        2,
    ),
    ("-o yaml web.yaml", "formats are: human, concise, json", 2),
    ("-o jsn web.yaml", "did you mean `json`?", 2),
    (
        "-o sarif out.sarif",
        "to write the output to this file: `--output sarif:out.sarif`",
        2,
    ),
    (
        "plan delete ns/shop plan.dot -o dot -f web.yaml",
        "`--output dot:plan.dot`",
        2,
    ),
    ("-o json -o concise web.yaml", "`--output concise:FILE`", 2),
    (
        "-o json:no/such/out.json web.yaml",
        "create the folder first: `mkdir -p`",
        2,
    ),
    ("-o json:empty web.yaml", "name a file in the folder", 2),
    (
        "--select owner-self --ignore owner-self web.yaml",
        "no rule is left to run",
        2,
    ),
    (
        "--only typo web.yaml",
        "there is no such file or folder, and nothing that is checked is in it",
        2,
    ),
    (
        "-n Shop_X web.yaml",
        "a namespace has a name of lower-case letters, digits and dashes",
        2,
    ),
    (
        "--world close web.yaml",
        "a similar value exists: 'closed'",
        2,
    ),
    (
        "--kubernetes-version latest web.yaml",
        "write it like `1.37`",
        2,
    ),
    (
        "--threads 0 web.yaml",
        "leave it out to use one thread per core",
        2,
    ),
    ("--threads many web.yaml", "write a whole number", 2),
    (
        "--only-changed-from main web.yaml",
        "cannot tell what changed since `main`",
        2,
    ),
    (
        "--baseline none.json web.yaml",
        "`ownerlint baseline write` writes it",
        2,
    ),
    (
        "baseline update web.yaml",
        "`ownerlint baseline write` writes it",
        2,
    ),
    (
        "--config none.yaml web.yaml",
        "cannot read the configuration `none.yaml`: no such file",
        2,
    ),
    ("--config tabs.yaml web.yaml", "tabs.yaml:3:1", 2),
    ("--config key.yaml web.yaml", "did you mean `bundles`?", 2),
    ("--config version.yaml web.yaml", "write `version: 1`", 2),
    (
        "plan --steps none.yaml web.yaml",
        "cannot read `none.yaml`",
        2,
    ),
    ("plan --steps steps.yaml web.yaml", "steps.yaml:1:7", 2),
    (
        "plan --steps web.yaml web.yaml",
        "keep one of them in this file",
        2,
    ),
];

/// Inputs without anything to check.
const INPUTS: &[Row] = &[
    (
        "nosuch.yaml",
        "cannot read `nosuch.yaml`: no such file or folder",
        2,
    ),
    ("wbe.yaml", "did you mean `web.yaml`?", 2),
    ("'*.yml'", "`**` across folders", 2),
    (
        "https://example.com/web.yaml",
        "`curl -fsSL https://example.com/web.yaml | ownerlint -`",
        2,
    ),
    (
        "plan delete ns/shop -f nosuch.yaml",
        "cannot read `nosuch.yaml`",
        2,
    ),
    ("init nosuch", "cannot read `nosuch`", 2),
    (
        "empty",
        "no Kubernetes object found in 0 files; `--allow-empty`",
        3,
    ),
    ("chart", "`helm template web chart | ownerlint -`", 3),
    ("overlay", "`kustomize build overlay | ownerlint -`", 3),
    ("-", "did the command before `|` fail?", 3),
    ("list empty", "no Kubernetes object found", 3),
    (
        "plan delete ns/shop -f empty",
        "no Kubernetes object found",
        3,
    ),
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in FILES {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        std::fs::write(path, text).expect("written");
    }
    folder
}

fn typed(folder: &Path, rows: &[Row]) {
    for (line, printed, status) in rows {
        let words = shlex::split(line).expect("a line");
        // Other tests distinguish the streams; a terminal shows both.
        let output = ownerlint()
            .env("COLUMNS", "200")
            .current_dir(folder)
            .args(words)
            .write_stdin("")
            .output();
        let output = output.expect("it runs");
        let shown = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8(bytes).expect("text"))
            .concat();
        assert!(
            shown.contains(printed),
            "ownerlint {line}\nlacks: {printed}\n{shown}"
        );
        assert_eq!(
            output.status.code(),
            Some(*status),
            "ownerlint {line}\n{shown}"
        );
        assert!(!shown.contains("panicked"), "ownerlint {line}\n{shown}");
    }
}

#[test]
fn guessed_command_lines_work() {
    typed(folder().path(), WORKING);
}

#[test]
fn options_of_other_tools_get_a_suggestion() {
    typed(folder().path(), OPTIONS);
}

#[test]
fn commands_of_other_tools_get_a_suggestion() {
    typed(folder().path(), WORDS);
}

#[test]
fn invalid_values_get_a_suggestion() {
    typed(folder().path(), VALUES);
}

#[test]
fn input_without_objects_gets_a_suggestion() {
    typed(folder().path(), INPUTS);
}

#[test]
fn unwritable_output_error_gives_its_reason_once() {
    let run = ownerlint()
        .args(["-o", "json:no/such/out.json", "fixtures/bundles"])
        .assert()
        .code(2);
    let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    assert_eq!(text.matches("No such file").count(), 1, "{text}");
    assert!(!text.contains(".ownerlint-"), "{text}");
    run.stderr(contains("cannot write `no/such/out.json`"));
}
