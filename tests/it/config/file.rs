//! The configuration: discovery, reading, mistakes with their places, and bundles.

use std::collections::BTreeSet;

use ownerlint::config::{Config, MAPPINGS, Mapping};
use ownerlint::text::SourceFile;
use serde_json::Value;

use crate::support::Repository;

const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";

fn schema() -> Value {
    serde_json::from_str(&ownerlint::report::schema("config").expect("a schema")).expect("JSON")
}

fn mistake(text: &str) -> String {
    let repository = Repository::new();
    repository.write("ownerlint.yaml", text);
    let (status, _, error) = repository.run(&[], "");
    assert_eq!(status, 2, "{error}");
    error
}

#[test]
fn configuration_errors_point_at_their_location() {
    let mistakes = [
        "",
        "version: 2\n",
        "version: 1\nbundels: {}\n",
        "version: 1\nrules:\n  owner-cross-namspace: {severity: off}\n",
        "version: 1\nrules:\n  owner-cross-namespace:\n    severity: fatal\n",
        "version: 1\nrules:\n  duplicate-key:\n    ignore:\n      - object: '*'\n",
        "version: 1\nrules:\n  duplicate-key:\n    ignore:\n      - {object: '*', reason: why, expires: tomorrow}\n",
        "version: 1\nbundles:\n  prod: {namespace: shop}\n",
        "version: 1\nbundles:\n  prod:\n    paths: {a: b}\n",
        "version: 1\nbundles:\n  prod: {paths: [a], delivery: argo}\n",
        "version: 1\nbundles:\n  prod: {paths: [a], cluster: [east, west]}\n",
        "version: 1\nkubernetes-version: latest\n",
        "version: 1\nnamespace: Shop_X\n",
        "version: 1\nworld: flat\nworld: open\n",
        "version: 1\nscopes: [{group: example.com, kind: Widget}]\n",
        "version: 1\n  namespace: x\n",
        "version: 1\nclusters: [{name: a}]\n",
        "version: 1\nclusters: [{name: a, server: b}, {name: a, server: c}]\n",
        "version: 1\ncontrollers: [{name: a}]\n",
        "version: 1\ncontrollers: {name: a}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com]}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com], images: [a], workload: Deployment.apps/a/a}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com], workload: Deployment/a/a}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com], workload: operator}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [a b], kinds: [A.x.com], images: [a]}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [x.com/v1/A], images: [a]}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com], images: [a//b]}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizers: [x.com/a], kinds: [A.x.com], images: [a], adds: runtime}\n",
        "version: 1\ncontrollers:\n- {name: a, finalizer: [x.com/a], kinds: [A.x.com], images: [a]}\n",
        "version: 1\ngenerators: [{kind: Vault.example.com}]\n",
        "version: 1\ngenerators: [{kind: example.com/v1/Vault, product: {kind: Secret, name: spec.secret}}]\n",
        "version: 1\ngenerators: [{kind: Vault.example.com, product: {kind: Secret, name: spec..secret}}]\n",
        "version: 1\ngenerators: [{kind: Vault.example.com, product: {kind: Secret, name: a}, owns: [Owner]}]\n",
        "version: 1\ndata: [{kind: Bucket.example.com, keep: spec.policy}]\n",
        "version: 1\ndata: [{kind: Bucket.example.com, keep: spec.policy, values: [[a]]}]\n",
        "version: 1\ndelivery: flux\n",
        "version: 1\ncluster: east\n",
        "version: 1\nbundles:\n  a: {paths: [a], fail-on: warning}\n",
        "version: 1\nhosts: [charts.example.org]\n",
    ];
    let shown: Vec<_> = mistakes.into_iter().map(mistake).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn schema_and_parser_accept_equal_keys() {
    let schema = schema();
    for Mapping { name, keys, .. } in MAPPINGS {
        let mapping = if name == "config" {
            &schema
        } else {
            &schema["$defs"][name]
        };
        let properties = mapping["properties"].as_object().expect("properties");
        let published: BTreeSet<_> = properties.keys().map(String::as_str).collect();
        assert_eq!(published, keys.iter().copied().collect(), "{name}");
        assert_eq!(
            mapping["additionalProperties"],
            Value::Bool(false),
            "{name}"
        );
    }
}

#[test]
fn configuration_with_every_key_is_valid_for_schema_and_parser() {
    let text = "\
version: 1
bundles:
  prod: {paths: [rendered/prod], exclude: '**/x.yaml', namespace: shop, world: closed, cluster: east, delivery: flux, render: [helm, template, .], timeout: 90s}
namespace: default
world: open
exclude: ['**/tests/**']
kubernetes-version: 1.30
scopes:
  - {group: example.com, kind: Widget, versions: [v1], scope: Namespaced}
  - {group: '', kind: Gadget, scope: Cluster}
fail-on: never
baseline: known.json
rules:
  duplicate-key: {severity: off}
  owner-cross-namespace:
    severity: info
    ignore: [{object: Deployment.apps/shop/*, reason: why, expires: 2031-12-31}]
controllers:
  - {name: own, images: [team/own, team/own-*], finalizers: example.com/own, kinds: [Login.example.com, '*.more.example.com'], adds: run-time}
  - {name: other, workload: Deployment.apps/system/other, finalizers: [example.com/other], kinds: [Login.example.com]}
operators: [login.yaml]
generators:
  - kind: Login.example.com
    product: {kind: Secret, name: 'spec.secret|metadata.name', namespace: 'spec.namespaces[]'}
    policy: spec.keep
    owns: [no, Never]
    default: no
data:
  - {kind: '*.buckets.example.com', keep: 'metadata.annotations[\"example.com/keep\"]', values: retain}
clusters:
  - {name: eu, server: 'https://eu', labels: {tier: prod, size: '3'}, annotations: {region: eu}}
charts: {hosts: [charts.example.org], timeout: 2m}
limits: {instances: 1000000, deliveries: 100000, bundles: 5000, nesting: 100, text: 1000000}
";
    let config = Config::read(SourceFile::new("ownerlint.yaml", text)).expect("it reads");
    assert_eq!(
        config
            .kubernetes_version
            .map(|release| release.to_string())
            .as_deref(),
        Some("1.30")
    );
    assert_eq!(
        (config.off, config.fail_on),
        (vec!["duplicate-key"], Some(None))
    );
    assert_eq!(
        config.ignores[0]
            .expires
            .map(|date| date.to_string())
            .as_deref(),
        Some("2031-12-31")
    );
    let value: Value = serde_yaml::from_str(text).expect("YAML");
    let errors: Vec<_> = jsonschema::validator_for(&schema())
        .expect("a schema")
        .iter_errors(&value)
        .map(|e| e.to_string())
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    let used = |name: &str, value: &Value| {
        let keys: BTreeSet<_> = value
            .as_object()
            .expect("a mapping")
            .keys()
            .cloned()
            .collect();
        let mut mappings = MAPPINGS.iter();
        let known = mappings.find(|mapping| mapping.name == name);
        let known = known.expect("a mapping").keys;
        assert_eq!(
            keys,
            known.iter().map(|key| (*key).to_owned()).collect(),
            "{name}"
        );
    };
    used("config", &value);
    used("bundle", &value["bundles"]["prod"]);
    used("scope", &value["scopes"][0]);
    used("charts", &value["charts"]);
    used("rule", &value["rules"]["owner-cross-namespace"]);
    used(
        "ignore",
        &value["rules"]["owner-cross-namespace"]["ignore"][0],
    );
    let controllers = value["controllers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_object);
    used(
        "controller",
        &Value::Object(
            controllers
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
    );
    used("limits", &value["limits"]);
    used("generator", &value["generators"][0]);
    used("product", &value["generators"][0]["product"]);
    used("data", &value["data"][0]);
}

#[test]
fn nearest_configuration_is_used_and_search_ends_at_repository_root() {
    let repository = Repository::new();
    repository
        .write("ownerlint.yaml", "version: 1\nfail-on: info\n")
        .write("a/b/x.yaml", OWNED);
    repository.write("a/b/y.yaml", OWNER);
    let status = |folder: &str, arguments: &[&str]| repository.run_in(folder, arguments, "").0;
    let bad = ["--namespace", "other"];
    assert_eq!(status(".", &[&bad[..], &["a/b"]].concat()), 1);
    assert_eq!(status("a/b", &bad), 1, "found above the working directory");
    assert_eq!(
        status(".", &[&bad[..], &["--no-config", "a/b"]].concat()),
        0
    );
    repository.write("a/.ownerlint.yaml", "version: 1\n");
    assert_eq!(
        status(".", &[&bad[..], &["a/b/x.yaml", "a/b/y.yaml"]].concat()),
        0,
        "the nearer one"
    );
    assert_eq!(
        status(
            ".",
            &[&bad[..], &["--config", "ownerlint.yaml", "a/b"]].concat()
        ),
        1
    );
    std::fs::create_dir_all(repository.path().join("a/b/.git")).expect("a repository of its own");
    repository.write("a/.ownerlint.yaml", "nonsense");
    assert_eq!(
        status(".", &[&bad[..], &["a/b"]].concat()),
        0,
        "the search ended below"
    );
}

#[test]
fn command_line_overrides_configuration_from_environment() {
    let repository = Repository::new();
    repository.write("a.yaml", OWNED).write("b.yaml", OWNER);
    repository.write(
        "strict.yml",
        "version: 1\nfail-on: info\nnamespace: other\n",
    );
    let status = |arguments: &[&str]| {
        let mut command = crate::support::ownerlint();
        command
            .current_dir(repository.path())
            .env("OWNERLINT_CONFIG", "strict.yml")
            .args(arguments);
        command.output().expect("it runs").status.code()
    };
    assert_eq!(status(&[]), Some(1));
    assert_eq!(status(&["--fail-on", "error"]), Some(0));
    assert_eq!(status(&["--namespace", "shop"]), Some(0));
    assert_eq!(status(&["--no-config"]), Some(0));
    assert_eq!(status(&["--config", "missing.yml"]), Some(2));
}

#[test]
fn two_configurations_in_one_folder_are_rejected() {
    let repository = Repository::new();
    repository
        .write("ownerlint.yaml", "version: 1\n")
        .write(".ownerlint.yaml", "version: 1\n");
    let (status, _, error) = repository.run(&[], "");
    assert_eq!(status, 2);
    assert_eq!(
        error,
        "error: both `ownerlint.yaml` and `.ownerlint.yaml` are configurations\n  help: keep one of them, or choose with `--config`\n"
    );
}

fn bundled() -> Repository {
    let repository = Repository::new();
    for bundle in ["dev", "prod"] {
        repository
            .write(&format!("{bundle}/a.yaml"), OWNED)
            .write(&format!("{bundle}/b.yaml"), OWNER);
    }
    repository
        .write("loose/a.yaml", OWNED)
        .write("loose/b.yaml", OWNER);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles:\n  prod: {paths: [prod], namespace: other}\n  dev: {paths: ['dev/**/*.yaml'], namespace: shop}\n",
    );
    repository
}

fn places(repository: &Repository, folder: &str, arguments: &[&str]) -> Vec<String> {
    let (status, out, error) = repository.run_in(
        folder,
        &[&["--output", "concise", "--show", "info"], arguments].concat(),
        "",
    );
    match status {
        1 => assert!(error.contains("; why, and how to fix it:\n"), "{error}"),
        _ => assert_eq!(error, ""),
    }
    out.lines()
        .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn each_bundle_has_its_own_inventory_and_namespace() {
    let repository = bundled();
    // As one bundle, everything is duplicated three times. As separate bundles, only the namespace of prod differs.
    assert!(
        places(&repository, ".", &["--no-config", "."])
            .iter()
            .any(|line| line.contains("duplicate-object"))
    );
    assert_eq!(
        places(&repository, ".", &[]),
        ["prod/a.yaml:6:35: warning[owner-cross-namespace]"]
    );
    assert_eq!(
        places(&repository, "dev", &["--select", "owner-cross-namespace"]),
        ["../prod/a.yaml:6:35: warning[owner-cross-namespace]"]
    );
    let (_, out, _) = repository.run(&["list", "--output", "json"], "");
    let listing: Value = serde_json::from_str(&out).expect("JSON");
    let keys: Vec<_> = listing["objects"]
        .as_array()
        .expect("objects")
        .iter()
        .map(|o| o["key"].as_str())
        .collect();
    assert_eq!(keys.len(), 4);
    assert_eq!(keys[0], Some("ConfigMap/shop/settings"));
    assert_eq!(keys[2], Some("ConfigMap/other/settings"));
}

#[test]
fn paths_are_read_with_the_settings_of_their_bundles() {
    let repository = bundled();
    assert_eq!(
        places(&repository, ".", &["dev", "prod", "loose"]),
        ["prod/a.yaml:6:35: warning[owner-cross-namespace]"]
    );
    assert_eq!(places(&repository, ".", &["dev", "loose"]), [""; 0]);
    assert_eq!(
        places(&repository, ".", &["prod/a.yaml", "./prod/b.yaml"]).len(),
        1
    );
    assert_eq!(
        places(&repository, ".", &["prod/a.yaml", "loose"]),
        ["prod/a.yaml:6:35: warning[owner-cross-namespace]"],
        "the rest of its bundle is context"
    );
}

#[test]
fn bundle_with_missing_path_is_named_in_error() {
    let repository = Repository::new();
    repository.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {prod: {paths: [nowhere]}}\n",
    );
    let (status, _, error) = repository.run(&[], "");
    assert_eq!(status, 2);
    assert!(
        error.starts_with("error: bundle `prod`: cannot read `nowhere`: no such file or folder"),
        "{error}"
    );
}

#[test]
fn finding_in_file_of_two_bundles_is_reported_once() {
    let repository = Repository::new();
    repository
        .write("shared/a.yaml", OWNED)
        .write("shared/b.yaml", OWNER);
    repository.write(
        "ownerlint.yaml",
        "version: 1\nnamespace: other\nbundles: {a: {paths: [shared]}, b: {paths: [shared/a.yaml, shared/b.yaml]}}\n",
    );
    assert_eq!(
        places(&repository, ".", &[]),
        ["shared/a.yaml:6:35: warning[owner-cross-namespace]"]
    );
}

#[test]
fn configured_severities_and_scopes_are_applied() {
    let repository = Repository::new();
    repository.write("a.yaml", OWNED).write("b.yaml", OWNER);
    repository.write(
        "c.yaml",
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n",
    );
    repository.write(
        "ownerlint.yaml",
        "version: 1\nnamespace: other\nscopes: [{group: example.com, kind: Widget, scope: Cluster}]\nrules: {owner-cross-namespace: {severity: error}}\n",
    );
    assert_eq!(
        places(&repository, ".", &[]),
        ["a.yaml:6:35: error[owner-cross-namespace]"]
    );
    let (_, out, _) = repository.run(&["list", "--output", "json"], "");
    assert!(
        out.contains("\"scopeSource\": \"config\"") || out.contains("\"scopeSource\":\"config\""),
        "{out}"
    );
    repository.write(
        "ownerlint.yaml",
        "version: 1\nnamespace: other\nrules: {owner-cross-namespace: {severity: off}}\n",
    );
    assert_eq!(places(&repository, ".", &[]), [""; 0]);
    assert_eq!(
        places(&repository, ".", &["--select", "owner-cross-namespace"]).len(),
        1,
        "asked for by name"
    );
}

#[test]
fn ignore_suppresses_object_and_is_reported_if_unused_or_expired() {
    let repository = Repository::new();
    repository.write("a.yaml", OWNED).write("b.yaml", OWNER);
    let config = |object: &str, expires: &str| {
        format!(
            "version: 1\nnamespace: other\nrules:\n  owner-cross-namespace:\n    ignore:\n      - object: {object}\n        reason: why\n{expires}"
        )
    };
    repository.write(
        "ownerlint.yaml",
        &config("ConfigMap/*/settings", "        expires: 9999-12-31\n"),
    );
    let (_, out, _) = repository.run(&[], "");
    assert!(out.ends_with("; 1 suppressed\n"), "{out}");
    repository.write("ownerlint.yaml", &config("Deployment.apps/*/web", ""));
    let shown = places(&repository, ".", &[]);
    assert_eq!(
        shown[1..],
        ["ownerlint.yaml:6:17: warning[suppression-unused]"]
    );
    repository.write(
        "ownerlint.yaml",
        &config("ConfigMap/*/settings", "        expires: 2020-01-01\n"),
    );
    let (_, out, _) = repository.run(&["--output", "concise"], "");
    assert!(out.contains("ownerlint.yaml:6:17: warning[suppression-unused] the ignore of `owner-cross-namespace` on `ConfigMap/*/settings` expired on 2020-01-01"), "{out}");
}

#[test]
fn configuration_and_baseline_are_not_checked_as_manifests() {
    let repository = Repository::new();
    repository.write("a/web.yaml", OWNER);
    let counted = |arguments: &[&str]| {
        let (_, printed, _) =
            repository.run(&[&["--output", "json", "-v"], arguments].concat(), "");
        let report: Value = serde_json::from_str(&printed).expect("JSON");
        let summary = &report["summary"];
        (
            summary["files"].as_u64(),
            summary["documents"].as_u64(),
            report["skipped"].as_array().map(Vec::len),
        )
    };
    let alone = counted(&["."]);
    repository.write(
        "a/ownerlint.yaml",
        "version: 1\nbundles: {all: {paths: [.]}}\n",
    );
    assert_eq!(repository.run_in("a", &["baseline", "write"], "").0, 0);
    assert_eq!(counted(&["--config", "a/ownerlint.yaml"]), alone);
    let (_, printed, _) = repository.run_in("a", &[], "");
    assert_eq!(printed, "nothing found in 1 file (1 document, 1 object)\n");
}

#[test]
fn unmatched_ignore_is_reported_only_if_all_files_were_read() {
    let repository = Repository::new();
    repository
        .write("one.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n")
        .write(
            "ownerlint.yaml",
            "version: 1\nrules:\n  owner-not-found:\n    ignore:\n      - {object: ConfigMap/b/gone, reason: because}\n",
        );
    for everything in [
        &["check", "-o", "concise"][..],
        &["check", "./", "-o", "concise"][..],
    ] {
        let (_, out, error) = repository.run(everything, "");
        assert!(
            out.contains("ownerlint.yaml:5:") && out.contains("suppression-unused"),
            "{out}{error}"
        );
    }
    let (_, out, _) = repository.run(&["check", "one.yaml", "-o", "concise"], "");
    assert!(!out.contains("suppression-unused"), "{out}");
}

#[test]
fn severity_in_place_of_settings_of_rule_is_explained() {
    for word in ["off", "info"] {
        let said = mistake(&format!("version: 1\nrules: {{owner-self: {word}}}\n"));
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("expects a mapping for rule `owner-self`"),
            "{said}"
        );
        let help = format!("help: write `owner-self: {{severity: {word}}}`");
        assert!(said.contains(&help), "{said}");
    }
}
