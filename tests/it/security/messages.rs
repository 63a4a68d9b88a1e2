//! Human output: the worst finding is always shown, and text of an attacker is never interpreted.

use crate::support::{Repository, ownerlint};

const CLUSTER_ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: zz-important\n  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}]\n";

/// Creates a repository with equal errors, and another error after them.
fn crowded(errors: usize) -> Repository {
    let repository = Repository::new();
    let stuck = |n| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: 'a{n}', namespace: shop, finalizers: [bad]}}\n"
        )
    };
    repository
        .write("a.yaml", &(0..errors).map(stuck).collect::<String>())
        .write("z.yaml", CLUSTER_ROLE);
    repository
}

#[test]
fn repeated_errors_do_not_displace_other_rules() {
    let repository = crowded(300);
    let (_, comment, _) = repository.run(&["-o", "markdown", "--markdown-bytes", "15000"], "");
    assert!(comment.len() <= 15_000, "{} bytes", comment.len());
    assert!(
        comment.contains("zz-important") && comment.contains("left out here"),
        "{comment}"
    );
    let (_, annotations, _) = repository.run(&["-o", "github"], "");
    assert!(annotations.contains("zz-important"), "{annotations}");
    // If there is room for all, findings on one object stay together.
    let (_, whole, _) = repository.run(&["-o", "markdown"], "");
    assert!(whole.contains("a299") && whole.contains("zz-important"));
}

#[test]
fn long_name_leaves_room_for_the_most_severe_finding() {
    let repository = crowded(300);
    let long = "@".repeat(30_000);
    repository.write(
        "z.yaml",
        &CLUSTER_ROLE.replace("name: zz-important", &format!("name: '{long}'")),
    );
    let (_, comment, _) = repository.run(&["-o", "markdown", "--markdown-bytes", "15000"], "");
    assert!(
        comment.len() <= 15_000 && comment.contains("owner-of-cluster-scoped"),
        "{comment}"
    );
}

#[test]
fn long_name_in_verdict_respects_the_byte_limit() {
    let (base, head) = (Repository::new(), Repository::new());
    let name = "a".repeat(200_000);
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: all, namespace: flux-system}\nspec: {path: ./m, prune: true}\n";
    for (side, rest) in [
        (
            &base,
            format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"),
        ),
        (&head, String::new()),
    ] {
        side.write("flux.yaml", flux).write(
            "m/a.yaml",
            &format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: shop}}\n{rest}"
            ),
        );
    }
    let (base, head) = (
        base.path().display().to_string(),
        head.path().display().to_string(),
    );
    let output = ownerlint()
        .args([
            "diff",
            "--base",
            &base,
            "--head",
            &head,
            "-o",
            "markdown",
            "--markdown-bytes",
            "30000",
        ])
        .output()
        .expect("it runs");
    assert!(
        output.stdout.len() <= 30_000,
        "{} bytes",
        output.stdout.len()
    );
}

#[test]
fn hostile_arguments_are_escaped_in_errors() {
    let repository = Repository::new();
    let hostile = "x\u{1b}[2J\u{1b}]8;;http://evil\u{7}\n::error::pwned\r\u{202e}";
    for arguments in [
        vec![format!("--{hostile}")],
        vec![format!("--output={hostile}")],
        vec![format!("--output=json:{hostile}/x"), ".".to_owned()],
        vec![format!("--fail-on={hostile}")],
        vec![format!("--threads={hostile}")],
        vec![format!("--kubernetes-version={hostile}")],
        vec![format!("--namespace={hostile}")],
        vec![format!("--color={hostile}")],
        vec![hostile.to_owned()],
        vec!["explain".to_owned(), hostile.to_owned()],
        vec!["plan".to_owned(), "delete".to_owned(), hostile.to_owned()],
        vec!["plan".to_owned(), format!("--{hostile}")],
        vec!["schema".to_owned(), hostile.to_owned()],
        vec!["completions".to_owned(), hostile.to_owned()],
        vec!["diff".to_owned(), format!("--by={hostile}")],
    ] {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (status, out, error) = repository.run(&words, "");
        assert_ne!(status, 0, "{arguments:?}: {out}{error}");
        let shown = out + &error;
        assert!(
            !shown.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']),
            "{arguments:?}: {shown:?}"
        );
        assert!(
            !shown.lines().any(|line| line.starts_with("::error")),
            "{arguments:?}: {shown}"
        );
    }
}

/// Manifests with defects beside likely passwords; no other text contains `hunterMARK`.
const PASSWORDS: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  finalizers: [bad]
  ownerReference: []
spec:
  template:
    spec:
      containers:
        - name: web
          env:
            - name: DB_PASSWORD
              value: hunterMARK1
              valu: hunterMARK2
            - {name: API_TOKEN, value: hunterMARK3, bogus: 1}
          args: [--password=hunterMARK4, --bogus]
          args: [--password=hunterMARK5]
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd, finalizers: [bad]}
spec:
  source:
    helm:
      parameters:
        - name: db.password
          value: hunterMARK6
          value: hunterMARK7
      values: |
        adminPassword: hunterMARK8
      valuesObject: {apiKey: hunterMARK9, apiKey: hunterMARK10}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, finalizers: [bad]}
data:
  DATABASE_URL: postgres://web:hunterMARK11@db/web
  DATABASE_URL: postgres://web:hunterMARK12@db/web
  bogus: 1
";

#[test]
fn likely_passwords_appear_in_no_output_format() {
    let repository = Repository::new();
    repository.write("a.yaml", PASSWORDS);
    for format in ownerlint::report::Format::ALL {
        let (_, out, error) =
            repository.run(&["-v", "--show", "info", "-o", format.as_str(), "."], "");
        let shown = out + &error;
        assert!(
            !shown.contains("hunterMARK"),
            "{format}: {:?}",
            shown.lines().find(|line| line.contains("hunterMARK"))
        );
    }
    let (_, out, _) = repository.run(&["--fix-dry-run", "--suggested", "."], "");
    assert!(!out.contains("hunterMARK"), "{out}");
    // Columns stay correct, and names of credentials are shown.
    let (_, out, _) = repository.run(&["--show", "info", "."], "");
    assert!(
        out.contains("value: ***********") && out.contains("name: db.password"),
        "{out}"
    );
}
