//! Suppressions and baselines through the binary, and the date, which only the library can set.

use ownerlint::engine::{Check, check};
use ownerlint::suppression::{Ignore, ObjectPattern};
use ownerlint::text::{SourceFile, Span};

use crate::support::{Repository, inventory_of};

const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: other
  ownerReferences:
    - apiVersion: apps/v1
      kind: Deployment
      name: web
      uid: '<uid>'
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
";

const SERVED: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine, namespace: shop}\n";

fn concise(repository: &Repository, arguments: &[&str]) -> String {
    repository
        .run(
            &[&["--output", "concise", "--show", "info"], arguments].concat(),
            "",
        )
        .1
}

/// Inserts a line before the one that begins with `anchor`.
fn with_line(anchor: &str, line: &str) -> String {
    let at = OWNED.find(anchor).expect("an anchor");
    format!("{}{line}\n{}", &OWNED[..at], &OWNED[at..])
}

fn rules_and_suppressed(text: &str) -> (Vec<&'static str>, usize) {
    let report = check(inventory_of("a.yaml", text), &Check::default());
    (
        report
            .findings
            .iter()
            .map(|reported| reported.finding.rule)
            .collect(),
        report.summary.suppressed,
    )
}

#[test]
fn comment_suppresses_findings_in_the_next_node() {
    let directive = "# ownerlint: ignore[owner-cross-namespace] why";
    for (anchor, indent) in [
        ("metadata:", ""),
        ("  ownerReferences:", "  "),
        ("    - apiVersion: apps", "    "),
        ("      kind: Dep", "      "),
    ] {
        let text = with_line(anchor, &format!("{indent}{directive}"));
        assert_eq!(rules_and_suppressed(&text), (vec![], 1), "above `{anchor}`");
    }
    for line in [
        "metadata:",
        "  ownerReferences:",
        "    - apiVersion: apps/v1",
        "      kind: Deployment",
    ] {
        let text = OWNED.replacen(&format!("{line}\n"), &format!("{line} {directive}\n"), 1);
        assert_eq!(rules_and_suppressed(&text), (vec![], 1), "behind `{line}`");
    }
}

#[test]
fn comment_does_not_suppress_findings_outside_the_next_node() {
    let directive = "# ownerlint: ignore[owner-cross-namespace] why";
    for (anchor, indent) in [
        ("  name: settings", "  "),
        ("apiVersion: v1", ""),
        ("      uid:", "      "),
    ] {
        let text = with_line(anchor, &format!("{indent}{directive}"));
        let (rules, suppressed) = rules_and_suppressed(&text);
        assert_eq!(
            (rules.len(), suppressed),
            (2, 0),
            "above `{anchor}`: {rules:?}"
        );
    }
}

#[test]
fn unreadable_document_can_be_suppressed() {
    let text =
        "# ownerlint: ignore-document[unreadable-document] a template of another tool\nkind: [\n";
    assert_eq!(rules_and_suppressed(text), (vec![], 1));
}

/// A `---` follows the comment, so it belongs to a document of its own.
#[test]
fn directive_in_document_of_comments_is_malformed() {
    let directive = "# ownerlint: ignore-document[owner-cross-namespace] why\n";
    let (rules, suppressed) = rules_and_suppressed(&format!("{directive}---\n{OWNED}"));
    assert_eq!(
        (rules, suppressed),
        (vec!["suppression-malformed", "owner-cross-namespace"], 0)
    );
    let text = format!("# ownerlint checks this file\n---\n{directive}{OWNED}");
    assert_eq!(rules_and_suppressed(&text).1, 1);
}

#[test]
fn comment_on_alias_does_not_cover_the_anchor() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: x}
a: &anchor {k: 1, k: 2}
# ownerlint: ignore[duplicate-key] the alias lies at its anchor
b: *anchor
";
    assert_eq!(
        rules_and_suppressed(text),
        (vec!["duplicate-key", "suppression-unused"], 0)
    );
}

fn ignoring(object: &str, expires: &str, today: &str) -> Check {
    let text = "version: 1\n# the place of the ignore\n";
    let ignore = Ignore {
        rule: "owner-cross-namespace",
        object: ObjectPattern::new(object).expect("a pattern"),
        reason: "why".to_owned(),
        expires: Some(expires.parse().expect("a date")),
        place: Span::new(11, 13),
    };
    let config = SourceFile::new("ownerlint.yaml", text);
    Check {
        ignores: Some((config, vec![ignore])),
        today: Some(today.parse().expect("a date")),
        ..Check::default()
    }
}

#[test]
fn ignore_entry_applies_through_its_expiry_date() {
    let messages = |object: &str, today: &str| {
        let report = check(
            inventory_of("a.yaml", OWNED),
            &ignoring(object, "2026-03-31", today),
        );
        report
            .findings
            .iter()
            .map(|reported| reported.finding.message.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        messages("ConfigMap/other/*", "2026-03-31"),
        Vec::<String>::new()
    );
    let expired = messages("ConfigMap/other/*", "2026-04-01");
    assert_eq!(expired.len(), 2);
    assert_eq!(
        expired[1],
        "the ignore of `owner-cross-namespace` on `ConfigMap/other/*` expired on 2026-03-31"
    );
    // The input contains the object, without such a finding.
    let idle = messages("Deployment.apps/**", "2026-03-31");
    assert_eq!(
        idle[1],
        "`owner-cross-namespace` has nothing to suppress on `Deployment.apps/**`"
    );
    // An object that is not in the input proves nothing.
    assert_eq!(messages("ConfigMap/elsewhere/*", "2026-03-31").len(), 1);
}

#[test]
fn baseline_is_written_found_pruned_and_updated() {
    let repository = Repository::new();
    repository.write("a.yaml", OWNED);
    let (status, out, _) = repository.run(&["baseline", "write"], "");
    assert_eq!(
        (status, out.as_str()),
        (0, "`ownerlint-baseline.json` lists 1 finding\n")
    );
    let written: serde_json::Value =
        serde_json::from_str(&repository.read("ownerlint-baseline.json")).expect("JSON");
    let schema: serde_json::Value =
        serde_json::from_str(&ownerlint::report::schema("baseline").expect("a schema"))
            .expect("JSON");
    assert!(jsonschema::is_valid(&schema, &written));
    assert_eq!(written["findings"][0]["object"], "ConfigMap/other/settings");

    let (status, out, _) = repository.run(&["--fail-on", "info"], "");
    assert_eq!(status, 0);
    assert!(out.ends_with("1 known to the baseline\n"), "{out}");
    assert_eq!(
        repository
            .run(&["--no-baseline", "--fail-on", "info"], "")
            .0,
        1
    );

    repository.write("a.yaml", SERVED);
    assert_eq!(
        concise(&repository, &[]),
        "ownerlint-baseline.json:5:15: warning[baseline-stale] `owner-cross-namespace` on `ConfigMap/other/settings` is no longer found\n"
    );
    assert_eq!(
        repository.run(&["baseline", "prune"], "").1,
        "`ownerlint-baseline.json` lists 0 findings: 1 gone\n"
    );
    assert_eq!(concise(&repository, &[]), "");

    repository.write("a.yaml", OWNED);
    assert_eq!(
        repository.run(&["baseline", "prune"], "").1,
        "`ownerlint-baseline.json` lists 0 findings: 0 gone\n"
    );
    assert_eq!(
        repository.run(&["baseline", "update"], "").1,
        "`ownerlint-baseline.json` lists 1 finding: 1 new, 0 gone\n"
    );
}

#[test]
fn baseline_keeps_entries_of_unread_files() {
    let repository = Repository::new();
    let other = OWNED
        .replace("settings", "others")
        .replace("name: web", "name: db");
    repository
        .write("a/a.yaml", OWNED)
        .write("b/b.yaml", &other);
    repository.run(&["baseline", "write"], "");
    let written = repository.read("ownerlint-baseline.json");
    // `b` is not read, so nothing is reported about it or removed from the baseline.
    assert_eq!(concise(&repository, &["a"]), "");
    let kept = "`ownerlint-baseline.json` lists 2 findings: 0 gone; 1 finding kept, because this run could not check them\n";
    assert_eq!(repository.run(&["baseline", "prune", "a"], "").1, kept);
    repository.run(&["baseline", "update", "a"], "");
    assert_eq!(repository.read("ownerlint-baseline.json"), written);
    // The object and its owner were read, and the finding is gone.
    let gone = OWNED.replace(
        "namespace: other\n  ownerReferences:",
        "namespace: other\n  x-was:",
    );
    repository.write("a/a.yaml", &gone);
    assert!(concise(&repository, &["a"]).contains("`ConfigMap/other/settings` is no longer found"));
    let (_, out, _) = repository.run(&["baseline", "prune", "a"], "");
    assert!(
        out.starts_with("`ownerlint-baseline.json` lists 1 finding: 1 gone"),
        "{out}"
    );
    // If the owner's file is not read, the owner may be as wrong as before.
    let (dependent, owner) = other.split_once("---\n").expect("two documents");
    repository
        .write("b/b.yaml", dependent)
        .write("c/c.yaml", owner);
    assert!(!concise(&repository, &["b"]).contains("baseline-stale"));
    assert!(
        repository
            .run(&["baseline", "prune", "b"], "")
            .1
            .contains(": 0 gone")
    );
    // An unreadable file may contain any object.
    repository.write("b/b.yaml", "kind: [\napiVersion: v1\n");
    assert!(
        repository
            .run(&["baseline", "prune"], "")
            .1
            .contains(": 0 gone")
    );
    repository
        .write("b/b.yaml", SERVED)
        .write("c/c.yaml", SERVED);
    assert!(
        repository
            .run(&["baseline", "prune"], "")
            .1
            .contains("lists 0 findings: 1 gone")
    );
}

#[test]
fn checking_one_bundle_keeps_baseline_entries_of_others() {
    let repository = Repository::new();
    repository
        .write("dev/a.yaml", OWNED)
        .write("prod/a.yaml", OWNED);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {dev: {paths: [dev]}, prod: {paths: [prod]}}\n",
    );
    repository.run(&["baseline", "write"], "");
    assert_eq!(concise(&repository, &["dev"]), "");
    assert!(
        repository
            .run(&["baseline", "prune", "dev"], "")
            .1
            .contains("lists 2 findings: 0 gone")
    );
}

#[test]
fn baseline_entry_without_namespace_matches_any_namespace() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '1', a: '2'}\n",
    );
    repository.run(&["baseline", "write"], "");
    assert!(
        repository
            .read("ownerlint-baseline.json")
            .contains("ConfigMap/?/x")
    );
    assert_eq!(concise(&repository, &["-n", "shop"]), "");
    repository.run(&["baseline", "write", "-n", "shop"], "");
    assert_eq!(concise(&repository, &[]), "");
}

#[test]
fn baseline_stale_fixtures_have_expected_findings() {
    let run = |folder: &str| {
        let folder = format!("fixtures/rules/baseline-stale/{folder}");
        let baseline = format!("{folder}/ownerlint-baseline.json");
        let repository = Repository::of_copies(&[&folder]);
        let shown = ["--output", "concise", "--show", "info"];
        let arguments = [&shown[..], &["--baseline", &baseline, &folder]].concat();
        repository.run(&arguments, "").1
    };
    assert_eq!(run("good"), "");
    assert!(
        run("bad")
            .contains("ownerlint-baseline.json:5:15: warning[baseline-stale] `duplicate-key`")
    );
}

#[test]
fn malformed_baseline_error_points_at_its_location() {
    let repository = Repository::new();
    repository.write("a.yaml", SERVED);
    repository.write(
        "ownerlint-baseline.json",
        "{\n  \"schema\": \"ownerlint.baseline/1\",\n  \"findngs\": []\n}\n",
    );
    let (status, _, error) = repository.run(&[], "");
    assert_eq!(status, 2);
    insta::assert_snapshot!(error);
    let (status, _, error) = repository.run(&["--baseline", "missing.json"], "");
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "error: cannot read the baseline `missing.json`: no such file\n  help: `ownerlint baseline write` writes it\n"
    );
}

#[test]
fn init_writes_valid_configuration_and_does_not_overwrite() {
    let repository = Repository::new();
    repository
        .write("rendered/dev/a.yaml", OWNED)
        .write("rendered/prod/a.yaml", OWNED)
        .write("crds/a.yaml", SERVED);
    let (status, out, _) = repository.run(&["init"], "");
    assert_eq!(status, 0);
    assert!(
        out.starts_with("wrote `ownerlint.yaml` for 5 objects"),
        "{out}"
    );
    insta::assert_snapshot!(repository.read("ownerlint.yaml"));
    let (status, out, error) = repository.run(&["--output", "concise", "--show", "info"], "");
    assert_eq!((status, error.as_str()), (0, ""));
    assert_eq!(
        out.lines().count(),
        2,
        "each variant by itself, the rest with both: {out}"
    );
    let (status, _, error) = repository.run(&["init"], "");
    assert_eq!(
        (status, error.as_str()),
        (
            2,
            "error: `ownerlint.yaml` exists\n  help: `--force` overwrites it\n"
        )
    );
    assert_eq!(repository.run(&["init", "--force"], "").0, 0);
}

#[test]
fn completions_and_man_pages_include_options() {
    let repository = Repository::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (status, out, _) = repository.run(&["completions", shell], "");
        assert_eq!(status, 0, "{shell}");
        assert!(out.contains("only-changed-from"), "{shell}");
    }
    // Names that a user would otherwise have to look up.
    let (_, out, _) = repository.run(&["completions", "bash"], "");
    for name in [
        "owner-cross-namespace",
        "concise",
        "mermaid",
        "warning",
        "steps",
    ] {
        assert!(out.contains(name), "{name}");
    }
    let (status, page, _) = repository.run(&["man"], "");
    assert_eq!(status, 0);
    assert!(page.contains(".TH ownerlint 1"));
    assert_eq!(
        repository.run(&["man", "--folder", "."], ""),
        (0, String::new(), String::new())
    );
    for page in [
        "ownerlint.1",
        "ownerlint-baseline-prune.1",
        "ownerlint-plan-delete.1",
    ] {
        assert!(repository.read(page).contains(".SH OPTIONS"), "{page}");
    }
}
