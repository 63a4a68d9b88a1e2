//! The output of a first run: errors come first, infos are shown on request, and omissions are announced.

use serde_json::Value;

use crate::support::{Repository, corpus, ownerlint};

/// An info: a namespace on a cluster-scoped object.
const INFO: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, namespace: shop}\n";
/// A warning: a duplicate key.
const WARNING: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice, namespace: shop}\ndata:\n  a: '1'\n  a: '2'\n";
/// An error: a kind that no release serves.
const ERROR: &str = "apiVersion: policy/v1\nkind: PodSecurityPolicy\nmetadata: {name: psp}\n";

fn all() -> Repository {
    let repository = Repository::new();
    repository
        .write("m/a-info.yaml", INFO)
        .write("m/b-warning.yaml", WARNING)
        .write("m/c-error.yaml", ERROR);
    repository
}

/// Returns the severities of the findings in the order of the output.
fn severities(text: &str) -> Vec<&str> {
    let word = |line: &'_ str| {
        ["error", "warning", "info"]
            .into_iter()
            .find(|s| line.contains(&format!("{s}[")))
    };
    text.lines().filter_map(word).collect()
}

#[test]
fn errors_come_first_and_infos_are_counted() {
    for format in ["human", "concise"] {
        let (status, out, error) = all().run(&["-o", format, "m"], "");
        assert_eq!(
            (status, severities(&out)),
            (1, vec!["error", "warning"]),
            "{out}"
        );
        let count = "1 info not shown (`--show info` or `-v` shows everything):\n  1  namespace-on-cluster-scoped  ";
        assert!((out + &error).contains(count), "{format}: {error}");
    }
}

#[test]
fn infos_are_shown_with_show_verbose_or_fail_on() {
    for asked in [&["--show", "info"][..], &["-v"], &["--fail-on", "info"]] {
        let (_, out, _) = all().run(&[&["-o", "concise"], asked, &["m"]].concat(), "");
        assert_eq!(severities(&out), ["error", "warning", "info"], "{asked:?}");
    }
    let (_, out, _) = all().run(&["--show", "error", "m"], "");
    assert_eq!(severities(&out), ["error"]);
    assert!(out.contains("1 warning and 1 info not shown"), "{out}");
    let (status, _, error) = all().run(&["--show", "all", "m"], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("write `error`, `warning` or `info`"),
        "{error}"
    );
}

#[test]
fn machine_readable_formats_include_infos() {
    for format in [
        "json", "sarif", "gitlab", "rdjson", "github", "junit", "lsp", "markdown", "jsonl",
    ] {
        let (_, out, _) = all().run(&["-o", format, "m"], "");
        assert!(out.contains("namespace-on-cluster-scoped"), "{format}");
    }
}

#[test]
fn a_long_report_ends_with_a_table() {
    let repository = Repository::new();
    for at in 0..6 {
        repository.write(
            &format!("m/old/{at}.yaml"),
            &ERROR.replace("policy/v1", &format!("policy/v1alpha{at}")),
        );
    }
    repository.write("m/new/b.yaml", WARNING);
    let (_, out, _) = repository.run(&["m"], "");
    assert!(
        out.contains("7 findings by rule and folder:\n  6  kind-not-served  m/old\n  1  "),
        "{out}"
    );
    let (_, out, _) = all().run(&["m"], "");
    assert!(!out.contains("by rule and folder"), "a short one does not");
}

#[test]
fn finding_names_the_source_template_in_every_format() {
    let rendered = format!(
        "---\n# Source: web/templates/psp.yaml\n{ERROR}---\n# Source: web/templates/foo.yaml\n{INFO}"
    );
    for format in [
        "human", "concise", "json", "jsonl", "sarif", "github", "gitlab", "rdjson", "junit", "lsp",
        "markdown",
    ] {
        let (_, out, _) = Repository::new().run(&["-o", format, "-"], &rendered);
        assert!(out.contains("web/templates/psp.yaml"), "{format}: {out}");
    }
    let (_, out, _) = Repository::new().run(&["-"], &rendered);
    assert!(
        out.contains("--> -:3:13\n") && out.contains("= template: web/templates/psp.yaml\n"),
        "{out}"
    );
    let (_, out, _) = Repository::new().run(&["-o", "json", "-"], ERROR);
    assert!(out.contains("\"template\": null"), "{out}");
}

#[test]
fn columns_agree_in_text_formats() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice, namespace: shop}\ndata: {ä: '1', ä: '2'}\n";
    let place = |format| {
        let repository = Repository::new();
        repository.write("a.yaml", text);
        let (_, out, _) = repository.run(&["-o", format, "a.yaml"], "");
        let at = out.find("a.yaml:4:").unwrap_or_else(|| panic!("{out}"));
        out[at..]
            .chars()
            .skip("a.yaml:4:".len())
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    };
    assert_eq!(place("human"), place("concise"));
    assert_eq!(place("concise"), place("junit"));
}

#[test]
fn only_with_a_missing_path_is_an_error() {
    let (status, _, error) = all().run(&["--only", "typo", "m"], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("`--only typo`: there is no such file or folder"),
        "{error}"
    );
    assert_eq!(all().run(&["--only", "m/a-info.yaml", "m"], "").0, 0);
}

#[test]
fn skipped_documents_and_notes_are_reported_in_every_format() {
    let repository = Repository::new();
    repository
        .write("m/a.yaml", INFO)
        .write("m/values.yaml", "replicas: 2\n");
    repository.write("chart/Chart.yaml", "name: chart\nversion: 1.0.0\n");
    repository.write(
        "chart/templates/web.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n",
    );
    for format in [
        "human", "concise", "github", "gitlab", "rdjson", "junit", "lsp", "jsonl", "json", "sarif",
        "markdown",
    ] {
        let (_, out, error) = repository.run(&["-o", format, "m", "chart"], "");
        assert!(
            (out + &error).contains("1 unrendered template"),
            "{format}: {error}"
        );
    }
    let (_, out, _) = repository.run(&["m", "chart"], "");
    assert!(
        out.contains("3 skipped") || out.contains("2 skipped"),
        "{out}"
    );
    let (_, out, _) = repository.run(&["-v", "m", "chart"], "");
    assert!(
        out.contains("m/values.yaml:1: skipped: not-a-manifest"),
        "{out}"
    );
    let (_, out, _) = repository.run(&["-o", "json", "m", "chart"], "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(1), "{out}");
    let skipped = report["skipped"].as_array().expect("a list");
    assert!(
        skipped
            .iter()
            .any(|skip| skip["file"] == "m/values.yaml" && skip["reason"] == "not-a-manifest")
    );
}

#[test]
fn json_report_lists_rules_configuration_and_suppressed_findings() {
    let repository = Repository::new();
    let suppressed = WARNING.replace(
        "  a: '2'",
        "  # ownerlint: ignore[duplicate-key] the last one counts\n  a: '2'",
    );
    repository
        .write("a.yaml", &suppressed)
        .write("b.yaml", ERROR);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nrules:\n  kind-not-served:\n    severity: info\n",
    );
    let (_, out, _) = repository.run(&["-o", "json"], "");
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(report["suppressed"][0]["finding"]["rule"], "duplicate-key");
    assert_eq!(report["suppressed"][0]["reason"], "the last one counts");
    assert_eq!(report["run"]["configuration"], "ownerlint.yaml");
    assert_eq!(report["run"]["bundles"][0]["world"], "open");
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["severity"], &finding["certainty"]),
        (&"info".into(), &"certain".into())
    );
    let rules = report["rules"].as_array().expect("the rules");
    assert!(
        rules
            .iter()
            .any(|rule| rule["id"] == "kind-not-served" && rule["severity"] == "info")
    );
}

#[test]
fn one_line_formats_name_dependent_and_owner() {
    let repository = Repository::new();
    repository.write(
        "owned.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: other\n  ownerReferences:\n    \
         - {apiVersion: apps/v1, kind: Deployment, name: web, uid: 7b1d5ad6-9a6f-4d5e-8d0b-2f6f1f0f0a01}\n",
    );
    repository.write(
        "owner.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, uid: 7b1d5ad6-9a6f-4d5e-8d0b-2f6f1f0f0a01}\n",
    );
    for format in ["concise", "github", "gitlab", "rdjson"] {
        let (_, out, _) = repository.run(&["-o", format, "--show", "info"], "");
        assert!(
            out.contains("owned.yaml") && out.contains("owner.yaml:3:"),
            "{format}: {out}"
        );
    }
}

#[test]
fn run_without_objects_exits_3_and_says_nothing_to_check() {
    let repository = Repository::new();
    repository.write("values.yaml", "replicas: 2\n");
    let (status, out, error) = repository.run(&["values.yaml"], "");
    assert_eq!(status, 3);
    assert_eq!(
        out,
        "nothing to check in 1 file (1 document, 0 objects, 1 skipped)\n"
    );
    assert!(
        error.contains("no Kubernetes object found in 1 file;"),
        "{error}"
    );
}

#[test]
fn output_error_prints_its_cause_once() {
    let (status, _, error) = all().run(&["-o", "json:missing/folder/out.json", "m"], "");
    assert_eq!(
        (status, error.matches("No such file").count()),
        (2, 1),
        "{error}"
    );
}

#[test]
fn colours_and_line_drawing_follow_environment_variables() {
    let run = |variables: &[(&str, &str)]| {
        let mut command = ownerlint();
        command
            .envs(variables.iter().copied())
            .args(["-"])
            .write_stdin(ERROR);
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    let plain = run(&[]);
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(
        plain.contains("= more: ownerlint explain kind-not-served\n"),
        "{plain}"
    );
    assert!(
        run(&[("FORCE_COLOR", "1")]).contains("\u{1b}[1m: kind PodSecurityPolicy"),
        "a bold headline"
    );
    assert!(!run(&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
    let repository = Repository::of_copies(&["fixtures/bundles/rook"]);
    let chain = |variables: &[(&str, &str)]| {
        let mut command = ownerlint();
        command
            .envs(variables.iter().copied())
            .args(["--no-config", "fixtures/bundles/rook"])
            .current_dir(repository.path());
        String::from_utf8(command.output().expect("it runs").stdout).expect("text")
    };
    assert!(chain(&[("LANG", "C")]).is_ascii());
    assert!(chain(&[("LC_ALL", "POSIX"), ("LANG", "en_GB.UTF-8")]).is_ascii());
    assert!(!chain(&[("LC_ALL", "C.UTF-8")]).is_ascii());
}

#[test]
fn list_output_is_aligned_in_columns() {
    let repository = all();
    let (_, out, _) = repository.run(&["list", "m"], "");
    let column = |name: &str| {
        let line = out
            .lines()
            .find(|line| line.contains(name))
            .unwrap_or_else(|| panic!("{name}: {out}"));
        line.find(" m/")
    };
    assert_eq!(column("a-info.yaml"), column("b-warning.yaml"));
    assert_eq!(column("a-info.yaml"), column("c-error.yaml"));
}

#[test]
fn first_run_on_real_project_prints_at_most_40_lines() {
    let Some(corpus) = corpus() else { return };
    for project in ["argo-cd", "istio", "kube-prometheus"] {
        let mut command = ownerlint();
        let output = command
            .current_dir(corpus)
            .args(["check", "--no-config", project])
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let error = String::from_utf8(output.stderr).expect("text");
        let lines = text.lines().count() + error.lines().count();
        assert!(lines <= 40, "{project}: {lines} lines\n{text}{error}");
        insta::assert_snapshot!(format!("first_run_{project}"), format!("{text}{error}"));
    }
}
