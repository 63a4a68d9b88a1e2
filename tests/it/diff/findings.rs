//! The findings of a change: output, suppressions and counts.

use ownerlint::finding::Severity;
use ownerlint::report::{Format, Note};
use ownerlint::{CompareRequest, Comparison, StateChoice};
use serde_json::Value;

use super::places::{Folder, config, object};
use crate::support::ownerlint;

const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux-system}\nspec: {path: ./shop, prune: true}\n";

fn in_shop(text: &str) -> String {
    text.replacen("metadata:\n", "metadata:\n  namespace: shop\n", 1)
}

/// Removes a Namespace, while head still applies an object in it. `metadata` is added to the Namespace.
fn namespace_leaves(metadata: &str) -> Folder {
    let folder = Folder::new();
    let namespace = object("v1", "Namespace", "shop") + metadata;
    folder.write("base/shop/ns.yaml", &namespace);
    for side in ["base", "head"] {
        folder.write(&format!("{side}/flux.yaml"), FLUX);
        folder.write(&format!("{side}/shop/a.yaml"), &in_shop(&config("a")));
    }
    folder
}

/// Returns lines such as `namespace-removed error Namespace//shop`.
fn found(folder: &Folder, more: &[&str]) -> Vec<String> {
    let document = folder
        .run(
            "",
            &[&["--base", "base", "--head", "head"][..], more].concat(),
        )
        .expect("a comparison");
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let said = document["findings"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| {
            format!(
                "{} {} {}",
                text(&finding["rule"]),
                text(&finding["severity"]),
                text(&finding["object"])
            )
        });
    said.collect()
}

/// Returns the exit status and standard output.
fn run(folder: &Folder, command: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = ownerlint()
        .current_dir(folder.path())
        .arg(command)
        .args(arguments)
        .output()
        .expect("it runs");
    (
        output.status.code(),
        String::from_utf8(output.stdout).expect("text"),
    )
}

fn diff(folder: &Folder, more: &[&str]) -> (Option<i32>, String) {
    run(
        folder,
        "diff",
        &[&["--base", "base", "--head", "head"][..], more].concat(),
    )
}

#[test]
fn removed_kustomization_is_one_finding_for_all_its_objects() {
    let folder = Folder::new();
    let cluster = FLUX
        .replace("name: shop", "name: cluster")
        .replace("./shop", "./clusters");
    for side in ["base", "head"] {
        folder.write(&format!("{side}/clusters/cluster.yaml"), &cluster);
    }
    folder
        .write("base/clusters/shop.yaml", FLUX)
        .write("base/shop/ns.yaml", &object("v1", "Namespace", "shop"));
    folder.write("head/shop/ns.yaml", &object("v1", "Namespace", "shop"));
    for at in 0..9 {
        let text = in_shop(&config(&format!("a{at}")));
        folder
            .write(&format!("base/shop/{at}.yaml"), &text)
            .write(&format!("head/shop/{at}.yaml"), &text);
    }
    assert_eq!(
        found(&folder, &[]),
        ["delivery-removed error Kustomization.kustomize.toolkit.fluxcd.io/flux-system/shop"]
    );
    let (_, text) = diff(&folder, &["-o", "concise"]);
    assert!(
        text.contains(
            "deletes Namespace `shop` and 9 other objects that nothing applies any more, although \
             their files stay in Git",
        ),
        "{text}"
    );
}

/// The files of a component stay if another app uses it; the app's own objects are deleted with the app.
#[test]
fn removed_app_with_shared_component_is_a_warning() {
    let folder = Folder::new();
    let app = |name: &str| {
        FLUX.replace("name: shop", &format!("name: {name}"))
            .replace("./shop", &format!("./apps/{name}"))
    };
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: backup}\nspec: {chart: {spec: {chart: \
                   backup}}}\n";
    for side in ["base", "head"] {
        folder
            .write(
                &format!("{side}/component/kustomization.yaml"),
                "kind: Component\nresources: [release.yaml]\n",
            )
            .write(&format!("{side}/component/release.yaml"), release);
    }
    for (side, name) in [("base", "one"), ("base", "other"), ("head", "other")] {
        folder
            .write(&format!("{side}/clusters/{name}.yaml"), &app(name))
            .write(
                &format!("{side}/apps/{name}/kustomization.yaml"),
                &format!("namespace: {name}\ncomponents: [../../component]\n"),
            );
    }
    let cluster = FLUX
        .replace("name: shop", "name: cluster")
        .replace("./shop", "./clusters");
    for side in ["base", "head"] {
        folder.write(&format!("{side}/clusters/cluster.yaml"), &cluster);
    }
    assert_eq!(
        found(&folder, &[]),
        ["delivery-removed warning Kustomization.kustomize.toolkit.fluxcd.io/flux-system/one"]
    );
}

#[test]
fn undelivered_change_is_noted_but_not_listed() {
    let folder = Folder::new();
    for side in ["base", "head"] {
        folder
            .write(&format!("{side}/clusters/shop.yaml"), FLUX)
            .write(
                &format!("{side}/shop/kustomization.yaml"),
                "resources: [a.yaml]\n",
            )
            .write(&format!("{side}/shop/a.yaml"), &in_shop(&config("a")));
    }
    folder.write("head/shop/b.yaml", &in_shop(&config("b")));
    let (_, text) = diff(&folder, &["-o", "json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&document["summary"]["added"], &document["changes"]),
        (&serde_json::json!(0), &serde_json::json!([]))
    );
    assert_eq!(
        document["notes"][0],
        "1 changed object is in a file that nothing in this repository includes or delivers (something else may apply it): ConfigMap/shop/b (head/shop/b.yaml:1)"
    );
}

#[test]
fn exit_status_follows_severity_and_selected_rules() {
    let folder = namespace_leaves("");
    assert_eq!(diff(&folder, &[]).0, Some(1));
    assert_eq!(diff(&folder, &["--fail-on", "never"]).0, Some(0));
    assert_eq!(diff(&folder, &["--exit-zero"]).0, Some(0));
    assert_eq!(diff(&folder, &["--ignore", "namespace-removed"]).0, Some(0));
    assert_eq!(diff(&folder, &["--select", "crd-removed"]).0, Some(0));
}

#[test]
fn base_configuration_sets_severities() {
    let warning = vec!["namespace-removed warning Namespace//shop"];
    for (severity, expected) in [("warning", warning), ("off", vec![])] {
        let folder = namespace_leaves("");
        folder.write(
            "base/ownerlint.yaml",
            &format!("version: 1\nrules: {{namespace-removed: {{severity: {severity}}}}}\n"),
        );
        folder.write(
            "head/ownerlint.yaml",
            "version: 1\nrules: {namespace-removed: {severity: info}}\n",
        );
        assert_eq!(found(&folder, &[]), expected);
    }
}

#[test]
fn annotation_in_base_suppresses_and_is_not_unused_in_check() {
    let folder =
        namespace_leaves("  annotations: {ignore.ownerlint/namespace-removed: it is empty}\n");
    assert_eq!(found(&folder, &[]), [""; 0]);
    assert_eq!(
        run(
            &folder,
            "check",
            &["base", "--show", "info", "-o", "concise"]
        ),
        (Some(0), String::new())
    );
}

#[test]
fn suppressions_added_by_the_change_are_ignored() {
    let folder = namespace_leaves("");
    folder.write("head/ownerlint.yaml", "version: 1\nnamespace: shop\n");
    folder.write("base/ownerlint.yaml", "version: 1\n");
    let annotated = object("v1", "Namespace", "other")
        + "  annotations: {ignore.ownerlint/namespace-removed: x}\n";
    folder.write(
        "head/shop/other.yaml",
        &format!("# ownerlint: ignore-document[namespace-removed] x\n{annotated}"),
    );
    assert_eq!(
        found(&folder, &[]),
        ["namespace-removed error Namespace//shop"]
    );
}

#[test]
fn github_and_sarif_point_at_the_causing_line_in_head() {
    let folder = namespace_leaves("");
    folder.write(
        "base/shop/kustomization.yaml",
        "resources:\n- ns.yaml\n- a.yaml\n",
    );
    folder.write(
        "head/shop/kustomization.yaml",
        "namePrefix: ''\nresources:\n- a.yaml\n",
    );
    let (_, github) = diff(&folder, &["-o", "github"]);
    assert!(
        github.starts_with("::error file=head/shop/kustomization.yaml,line=2,"),
        "{github}"
    );
    assert!(
        github.contains("(in base: base/shop/ns.yaml:4)"),
        "{github}"
    );
    let (_, sarif) = diff(&folder, &["-o", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"]["uri"],
        "head/shop/kustomization.yaml"
    );
    assert_eq!(place["region"]["startLine"], 2);
}

#[test]
fn github_points_at_base_if_nothing_in_head_changed() {
    let folder = namespace_leaves("");
    let (_, github) = diff(&folder, &["-o", "github"]);
    assert!(
        github.starts_with("::error file=base/shop/ns.yaml,line=1,"),
        "not on what is deleted with it: {github}"
    );
}

#[test]
fn every_format_contains_the_finding() {
    let folder = namespace_leaves("");
    for format in ownerlint::report::Format::ALL {
        let (_, text) = diff(&folder, &["-o", format.as_str()]);
        assert!(text.contains("namespace-removed"), "{format}: {text}");
    }
}

#[test]
fn a_finding_keeps_its_fingerprint_when_lines_move() {
    let print = |folder: &Folder| {
        let document = folder
            .run("", &["--base", "base", "--head", "head"])
            .expect("a comparison");
        document["findings"][0]["fingerprint"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    let moved = namespace_leaves("");
    moved.write(
        "base/shop/ns.yaml",
        &format!("# one\n# two\n{}", object("v1", "Namespace", "shop")),
    );
    assert_eq!(print(&namespace_leaves("")), print(&moved));
}

#[test]
fn selecting_a_rule_of_another_command_names_that_command() {
    let folder = namespace_leaves("");
    for (command, arguments, rule, other) in [
        ("check", &["base"][..], "crd-removed", "diff"),
        (
            "diff",
            &["--base", "base", "--head", "head"],
            "owner-self",
            "check",
        ),
    ] {
        let output = ownerlint()
            .current_dir(folder.path())
            .arg(command)
            .args(arguments)
            .args(["--select", rule])
            .output();
        let output = output.expect("it runs");
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(&format!("`ownerlint {other}` runs it")),
            "{said}"
        );
    }
}

#[test]
fn orphaned_kustomization_has_no_finding() {
    let folder = Folder::new();
    let cluster = FLUX
        .replace("name: shop", "name: cluster")
        .replace("./shop", "./clusters");
    for side in ["base", "head"] {
        folder.write(
            &format!("{side}/clusters/cluster.yaml"),
            &cluster.replace("prune: true", "prune: false"),
        );
        folder.write(
            &format!("{side}/shop/ns.yaml"),
            &object("v1", "Namespace", "shop"),
        );
        folder.write(&format!("{side}/shop/a.yaml"), &in_shop(&config("a")));
    }
    folder.write("base/clusters/shop.yaml", FLUX);
    assert_eq!(found(&folder, &["--show", "info"]), [""; 0]);
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("a comparison");
    let effects = document["effects"].as_array().expect("a list").iter();
    let deleted: Vec<&Value> = effects
        .filter(|effect| effect["effect"] == "deleted")
        .collect();
    assert!(deleted.is_empty(), "{deleted:?}");
}

#[test]
fn only_unknown_finalizers_cause_a_warning() {
    let of = |finalizer: &str| {
        let folder = Folder::new();
        let runners = in_shop(&object("v1", "ServiceAccount", "runners"));
        let held = runners.replacen(
            "metadata:\n",
            &format!("metadata:\n  finalizers: [{finalizer}]\n"),
            1,
        );
        folder
            .write("base/flux.yaml", FLUX)
            .write("head/flux.yaml", FLUX)
            .write("base/shop/runners.yaml", &held);
        folder.write("base/shop/ns.yaml", &object("v1", "Namespace", "shop"));
        folder.write("base/shop/stays.yaml", &object("v1", "Namespace", "stays"));
        folder.write("head/shop/stays.yaml", &object("v1", "Namespace", "stays"));
        found(&folder, &[])
    };
    assert_eq!(of("actions.github.com/cleanup-protection"), [""; 0]);
    assert_eq!(
        of("example.com/nobody"),
        ["namespace-removed warning Namespace//shop"]
    );
}

#[test]
fn definition_possibly_in_new_remote_resource_is_a_warning() {
    let folder = Folder::new();
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true, storage: true}]}\n";
    for (side, resources) in [
        ("base", "crd.yaml"),
        ("head", "github.com/example/widgets//crds?ref=v1"),
    ] {
        folder.write(&format!("{side}/flux.yaml"), FLUX);
        folder.write(
            &format!("{side}/shop/kustomization.yaml"),
            &format!("resources:\n- {resources}\n- widget.yaml\n"),
        );
        folder.write(
            &format!("{side}/shop/widget.yaml"),
            &in_shop(&object("example.com/v1", "Widget", "one")),
        );
    }
    folder.write("base/shop/crd.yaml", definition);
    assert_eq!(
        found(&folder, &[]),
        ["crd-removed warning CustomResourceDefinition.apiextensions.k8s.io//widgets.example.com"]
    );
    let said = diff(&folder, &[])
        .1
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        said.contains("if that contains the CustomResourceDefinition, nothing is deleted"),
        "{said}"
    );
}

#[test]
fn removed_conversion_webhook_of_single_version_kind_is_info() {
    let of = |versions: &str| {
        let folder = Folder::new();
        let definition = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.example.com}}\nspec: {{group: example.com, scope: Namespaced, names: {{kind: Widget, plural: widgets}}, versions: [{versions}], conversion: {{strategy: Webhook, webhook: {{conversionReviewVersions: [v1], clientConfig: {{service: {{name: hook, namespace: shop}}}}}}}}}}\n"
        );
        for side in ["base", "head"] {
            folder
                .write(&format!("{side}/flux.yaml"), FLUX)
                .write(&format!("{side}/shop/crd.yaml"), &definition);
        }
        folder.write(
            "base/shop/hook.yaml",
            &in_shop(&object("v1", "Service", "hook")),
        );
        found(&folder, &[])
    };
    let (one, other) = (
        "{name: v1, served: true, storage: true}",
        "{name: v2, served: true, storage: false}",
    );
    assert_eq!(
        of(one),
        ["conversion-webhook-removed info Service/shop/hook"]
    );
    assert_eq!(
        of(&format!("{one}, {other}")),
        ["conversion-webhook-removed error Service/shop/hook"]
    );
}

#[test]
fn findings_with_one_cause_are_merged_in_concise_output() {
    let folder = Folder::new();
    for side in ["base", "head"] {
        folder
            .write(&format!("{side}/clusters/shop.yaml"), FLUX)
            .write(
                &format!("{side}/shop/data/kustomization.yaml"),
                "resources: [a.yaml, b.yaml, c.yaml, d.yaml]\n",
            )
            .write(&format!("{side}/shop/a.yaml"), &in_shop(&config("a")));
        for name in ["a", "b", "c", "d"] {
            let claim = in_shop(&object("v1", "PersistentVolumeClaim", name));
            folder.write(&format!("{side}/shop/data/{name}.yaml"), &claim);
        }
    }
    folder
        .write(
            "base/shop/kustomization.yaml",
            "resources:\n- a.yaml\n- data\n",
        )
        .write("head/shop/kustomization.yaml", "resources:\n- a.yaml\n");
    assert_eq!(found(&folder, &[]).len(), 4, "JSON has each");
    let (_, text) = diff(&folder, &["-o", "concise"]);
    let found: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("volume-removed"))
        .collect();
    assert_eq!(found.len(), 1, "{text}");
    assert!(found[0].contains("`a` deletes its volume"), "{text}");
    assert!(found[0].contains("(and 3 more)"), "{text}");
    assert!(
        found[0].starts_with("head/shop/kustomization.yaml:1:1: "),
        "{text}"
    );
}

/// Adds `shop`, which delivers `web`, which substitutes a name.
fn nested(folder: &Folder, side: &str) {
    let web = FLUX
        .replace("name: shop", "name: web")
        .replace("./shop", "./web, postBuild: {substitute: {APP: cart}}");
    folder
        .write(&format!("{side}/clusters/shop.yaml"), FLUX)
        .write(
            &format!("{side}/shop/kustomization.yaml"),
            "resources:\n- a.yaml\n- web.yaml\n",
        )
        .write(&format!("{side}/shop/a.yaml"), &in_shop(&config("a")))
        .write(&format!("{side}/shop/web.yaml"), &web)
        .write(&format!("{side}/web/b.yaml"), &in_shop(&config("${APP}")));
}

/// Returns lines such as `deleted ConfigMap/shop/a`, and the unread inputs.
fn effects(folder: &Folder) -> (Vec<String>, Value) {
    let (_, text) = diff(folder, &["-o", "json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let effects = document["effects"].as_array().expect("a list").iter();
    let effects = effects.map(|one| {
        let text = |key: &str| one[key].as_str().expect("text").to_owned();
        format!("{} {}", text("effect"), text("key"))
    });
    (effects.collect(), document["unread"].clone())
}

#[test]
fn removed_entry_point_deletes_nested_kustomizations_and_objects() {
    let folder = Folder::new();
    nested(&folder, "base");
    nested(&folder, "head");
    std::fs::remove_file(folder.path().join("head/clusters/shop.yaml")).expect("a file");
    folder.write("head/README.md", "");
    let (effects, unread) = effects(&folder);
    let gone = [
        "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web",
        "deleted ConfigMap/shop/a",
        "deleted ConfigMap/shop/cart",
    ];
    for one in gone {
        assert!(effects.iter().any(|effect| effect == one), "{effects:?}");
    }
    assert!(
        effects
            .iter()
            .all(|effect| !effect.starts_with("recreated")),
        "{effects:?}"
    );
    assert_eq!(unread, serde_json::json!([]));
}

#[test]
fn unlisted_kustomization_has_no_unread_inputs() {
    let folder = Folder::new();
    nested(&folder, "base");
    nested(&folder, "head");
    folder.write("head/shop/kustomization.yaml", "resources:\n- a.yaml\n");
    let (effects, unread) = effects(&folder);
    assert!(
        effects.contains(&"deleted ConfigMap/shop/cart".to_owned()),
        "{effects:?}"
    );
    assert_eq!(unread, serde_json::json!([]));
}

/// Recorded as flux-parent-removed-orphan-children.
#[test]
fn removed_orphaning_entry_point_deletes_no_objects() {
    let folder = Folder::new();
    nested(&folder, "base");
    nested(&folder, "head");
    let orphaning = FLUX.replace("prune: true", "prune: true, deletionPolicy: Orphan");
    folder.write("base/clusters/shop.yaml", &orphaning);
    std::fs::remove_file(folder.path().join("head/clusters/shop.yaml")).expect("a file");
    folder.write("head/README.md", "");
    let (effects, _) = effects(&folder);
    let stays = "orphaned Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    assert!(effects.iter().any(|effect| effect == stays), "{effects:?}");
    assert!(
        effects
            .iter()
            .all(|effect| !effect.starts_with("deleted ConfigMap")),
        "{effects:?}"
    );
}

#[test]
fn failed_rule_is_said_in_every_form() {
    let folder = namespace_leaves("");
    let side = |name: &str| StateChoice::Path(folder.path().join(name).display().to_string());
    let request = CompareRequest::new(side("base"), side("head"));
    let comparison = Comparison::open(&request).expect("both sides");
    let mut report = comparison.report().expect("a report");
    report.findings.notes.push(Note {
        severity: Severity::Error,
        message: "rule `namespace-removed` failed on this input".to_owned(),
        path: None,
        line: None,
    });
    for format in [Format::Human, Format::Markdown, Format::Json] {
        let text = report.render(format);
        assert!(text.contains("failed on this input"), "{format:?}: {text}");
    }
}
