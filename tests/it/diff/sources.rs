//! kustomize's sources, compared by what is applied, although they are not rendered.

use serde_json::{Value, json};

use super::flux::compared;
use super::places::{Folder, changed, config, lines, object};
use crate::support::ownerlint;

const BASE: &str = "resources: [a.yaml, b.yaml]\n";

fn overlay(more: &str) -> String {
    format!("resources: [../base]\n{more}")
}

#[test]
fn object_in_shared_base_belongs_to_every_overlay() {
    let (a, b, overlay) = (config("a"), config("b"), overlay(""));
    let common = [
        ("base/kustomization.yaml", BASE),
        ("prod/kustomization.yaml", &*overlay),
        ("dev/kustomization.yaml", &*overlay),
    ];
    let old = [&common[..], &[("base/a.yaml", &*a), ("base/b.yaml", &*b)]].concat();
    let new = [&common[..], &[("base/a.yaml", &*a)]].concat();
    assert_eq!(
        changed(&old, &new),
        ["removed ConfigMap/?/b", "removed ConfigMap/?/b"]
    );
}

#[test]
fn removed_resource_entry_removes_its_objects() {
    let (a, b) = (config("a"), config("b"));
    let files = [("base/a.yaml", &*a), ("base/b.yaml", &*b)];
    let with = |list: &'static str| [&[("base/kustomization.yaml", list)], &files[..]].concat();
    assert_eq!(
        changed(&with(BASE), &with("resources: [a.yaml]\n")),
        ["removed ConfigMap/?/b"]
    );
    assert_eq!(
        changed(&with("resources: [a.yaml]\n"), &with(BASE)),
        ["added ConfigMap/?/b"]
    );
}

#[test]
fn delete_patch_removes_object_from_one_overlay() {
    let (a, b) = (config("a"), config("b"));
    let files = [
        ("base/kustomization.yaml", BASE),
        ("base/a.yaml", &*a),
        ("base/b.yaml", &*b),
    ];
    let with = |prod: &'static str| {
        let overlays = [
            ("dev/kustomization.yaml", "resources: [../base]\n"),
            ("prod/kustomization.yaml", prod),
        ];
        [&files[..], &overlays].concat()
    };
    let delete = "resources: [../base]\npatches:\n- patch: |\n    $patch: delete\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: b}\n";
    assert_eq!(
        changed(&with("resources: [../base]\n"), &with(delete)),
        ["removed ConfigMap/?/b"]
    );
}

#[test]
fn root_kustomization_sets_namespace_prefix_and_suffix() {
    let folder = Folder::new();
    folder.write(
        "base/kustomization.yaml",
        "resources: [ns.yaml, a.yaml, r.yaml]\nnamePrefix: x-\n",
    );
    folder
        .write("base/ns.yaml", &object("v1", "Namespace", "shop"))
        .write("base/a.yaml", &config("a"));
    folder.write(
        "base/r.yaml",
        &object("rbac.authorization.k8s.io/v1", "ClusterRole", "r"),
    );
    folder.write(
        "prod/kustomization.yaml",
        "resources: [../base]\nnamespace: prod\nnameSuffix: -y\n",
    );
    let empty = Folder::new();
    let document = folder
        .run(
            "",
            &["--base", ".", "--head", &empty.path().display().to_string()],
        )
        .expect("changes");
    assert_eq!(
        lines(&document),
        [
            "removed ConfigMap/prod/x-a-y",
            "removed Namespace//prod",
            "removed ClusterRole.rbac.authorization.k8s.io//x-r-y",
        ]
    );
    let written: Vec<&Value> = document["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|c| &c["written"])
        .collect();
    assert_eq!(
        written,
        [
            &json!("ConfigMap/?/a"),
            &json!("Namespace//shop"),
            &json!("ClusterRole.rbac.authorization.k8s.io//r")
        ]
    );
    assert_eq!(document["changes"][0]["bundle"], json!("prod"));
}

#[test]
fn component_prefix_renames_objects_of_its_user() {
    let a = config("a");
    let files = |component: &'static str| {
        [
            ("c/kustomization.yaml", component),
            (
                "prod/kustomization.yaml",
                "resources: [a.yaml]\ncomponents: [../c]\n",
            ),
            ("prod/a.yaml", &*a),
        ]
    };
    let plain = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    let prefix = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: p-\n";
    assert_eq!(
        changed(&files(plain), &files(prefix)),
        ["renamed ConfigMap/?/a -> ConfigMap/?/p-a"]
    );
}

/// In base, the folder may exist uncommitted, so the root is built without it. Head has the folder.
#[test]
fn folder_that_a_root_lacked_is_built_once_it_is_added() {
    let (a, b) = (config("a"), config("b"));
    let base = [
        (
            "app/kustomization.yaml",
            "resources: [a.yaml, more]\nnamePrefix: x-\n",
        ),
        ("app/a.yaml", &a),
    ];
    let more = [
        ("app/more/kustomization.yaml", "resources: [b.yaml]\n"),
        ("app/more/b.yaml", &b),
    ];
    let head = [base, more].concat();
    assert_eq!(changed(&base, &head), ["added ConfigMap/?/x-b"]);
}

#[test]
fn changed_root_namespace_renames_all_objects() {
    let (a, b) = (config("a"), config("b"));
    let files = |root: &'static str| {
        [
            ("kustomization.yaml", root),
            ("a.yaml", &*a),
            ("b.yaml", &*b),
        ]
    };
    let changes = changed(
        &files("resources: [a.yaml, b.yaml]\nnamespace: old\n"),
        &files("resources: [a.yaml, b.yaml]\nnamespace: new\n"),
    );
    assert_eq!(
        changes,
        [
            "renamed ConfigMap/old/a -> ConfigMap/new/a",
            "renamed ConfigMap/old/b -> ConfigMap/new/b"
        ]
    );
}

const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: app, namespace: flux-system}\nspec:\n  path: ./app\n  prune: true\n  targetNamespace: shop\n";

#[test]
fn flux_kustomization_sets_target_namespace_of_its_folder() {
    let a = config("a");
    let old = [("clusters/app.yaml", FLUX), ("app/sub/a.yaml", &*a)];
    assert_eq!(
        changed(&old, &[("clusters/app.yaml", FLUX)]),
        ["removed ConfigMap/shop/a"]
    );
}

#[test]
fn unapplied_flux_kustomization_sets_no_namespace() {
    let a = config("a");
    let files = |list: &'static str| {
        [
            ("clusters/kustomization.yaml", list),
            ("clusters/app.yaml", FLUX),
            ("app/a.yaml", &*a),
        ]
    };
    let without = |list: &'static str| changed(&files(list), &files(list)[..2]);
    assert_eq!(
        without("resources: [app.yaml]\n"),
        ["removed ConfigMap/shop/a"]
    );
    assert_eq!(
        without("resources: []\n#- app.yaml\n"),
        ["removed ConfigMap/?/a"]
    );
}

#[test]
fn kustomization_below_flux_folder_is_no_separate_root() {
    let a = config("a");
    let files = [
        ("clusters/app.yaml", FLUX),
        ("app/sub/kustomization.yaml", "resources: [a.yaml]\n"),
        ("app/sub/a.yaml", &*a),
    ];
    let empty = [files[0], ("app/sub/kustomization.yaml", "resources: []\n")];
    assert_eq!(changed(&files, &empty), ["removed ConfigMap/shop/a"]);
}

#[test]
fn nested_flux_kustomization_sets_target_namespace() {
    let a = config("a");
    let root = FLUX
        .replace("name: app", "name: root")
        .replace("./app", "./clusters/all")
        .replace("  targetNamespace: shop\n", "");
    let files = [
        ("clusters/kustomization.yaml", "resources: [root.yaml]\n"),
        ("clusters/root.yaml", &*root),
        ("clusters/all/app.yaml", FLUX),
        ("app/a.yaml", &*a),
    ];
    assert_eq!(changed(&files, &files[..3]), ["removed ConfigMap/shop/a"]);
}

#[test]
fn application_sets_namespace_of_included_files_without_one() {
    let app = |directory: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app, namespace: argocd}}\nspec:\n  source: {{path: app, directory: {{{directory}}}}}\n  destination: {{namespace: shop}}\n"
        )
    };
    let (a, role) = (
        config("a"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "r"),
    );
    let there = config("b").replace("  name: b\n", "  name: b\n  namespace: there\n");
    let removed = |directory: &str| {
        let app = app(directory);
        let old = [
            ("app.yaml", &*app),
            ("app/a.yaml", &a),
            ("app/there.yaml", &there),
            ("app/r.yaml", &role),
        ];
        changed(&old, &old[..1])
    };
    let (given, not_read) = ("removed ConfigMap/shop/a", "removed ConfigMap/?/a");
    let rest = [
        "removed ConfigMap/there/b",
        "removed ClusterRole.rbac.authorization.k8s.io//r",
    ];
    for (directory, first) in [
        ("", given),
        ("include: '{a,r}.yaml'", given),
        ("include: '{r,there}.yaml'", not_read),
        ("include: '*', exclude: 'a*'", not_read),
        ("include: '*', exclude: 'sub/*'", given),
    ] {
        assert_eq!(
            removed(directory),
            [&[first], &rest[..]].concat(),
            "{directory}"
        );
    }
}

#[test]
fn renamed_kustomization_folder_is_moved() {
    let a = config("a");
    let old = [
        ("x/kustomization.yaml", "resources: [a.yaml]\n"),
        ("x/a.yaml", &*a),
    ];
    let new = [
        ("y/kustomization.yaml", "resources: [a.yaml]\n"),
        ("y/a.yaml", &*a),
    ];
    assert_eq!(changed(&old, &new), ["moved ConfigMap/?/a"]);
}

#[test]
fn patch_and_generator_inputs_are_no_objects() {
    let a = config("a");
    let root = "resources: [a.yaml]\npatches: [{path: p.yaml}]\nconfigMapGenerator: [{name: g, files: [g.yaml]}]\n";
    let old = [
        ("kustomization.yaml", root),
        ("a.yaml", &*a),
        ("p.yaml", &*a),
        ("g.yaml", &*a),
    ];
    let new = [
        ("kustomization.yaml", "resources: [a.yaml]\n"),
        ("a.yaml", &*a),
    ];
    assert_eq!(changed(&old, &new), ["removed ConfigMap/?/g-d9m7586fk4"]);
}

#[test]
fn chart_values_of_equal_size_are_unread() {
    let web = config("web");
    let kustomization = "resources: [web.yaml]\nhelmCharts: [{name: shop, repo: 'https://charts.example.org', version: 1.0.0, valuesFile: shop.txt}]\n";
    let folder = Folder::new();
    for (side, values) in [("base", "a: b"), ("head", "a: c")] {
        for (path, text) in [
            ("kustomization.yaml", kustomization),
            ("web.yaml", &web),
            ("shop.txt", values),
        ] {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    let unread = |head: &str| {
        let document = folder.run("", &["--base", "base", "--head", head]);
        document.expect("a comparison")["unread"].clone()
    };
    assert_eq!(unread("head")[0]["subject"], "values of chart shop");
    assert_eq!(unread("base"), json!([]));
}

#[test]
fn kustomizations_that_include_each_other_terminate() {
    let a = config("a");
    let old = [
        ("x/kustomization.yaml", "resources: [../y, a.yaml]\n"),
        ("y/kustomization.yaml", "resources: [../x]\n"),
        ("x/a.yaml", &*a),
        ("z/kustomization.yaml", "resources: [../x]\n"),
    ];
    changed(&old, &[]);
}

#[test]
fn configured_bundle_is_one_destination() {
    let a = config("a");
    let config = "version: 1\nbundles:\n  shop: {paths: [shop], namespace: shop}\n";
    let old = [
        ("ownerlint.yaml", config),
        ("shop/x/a.yaml", &*a),
        ("shop/y/a.yaml", &*a),
    ];
    let new = [("ownerlint.yaml", config), ("shop/y/a.yaml", &*a)];
    assert_eq!(changed(&old, &new), ["moved ConfigMap/shop/a"]);
}

/// Passwords are in no commit; they are present only where the kustomization is built.
#[test]
fn missing_secret_generator_file_does_not_stop_the_comparison() {
    let (a, b) = (config("a"), config("b"));
    let root = |list: &str| {
        format!("resources: [{list}]\nsecretGenerator: [{{name: login, envs: [.env]}}]\n")
    };
    let (both, one) = (root("a.yaml, b.yaml"), root("a.yaml"));
    let files = [("a.yaml", &*a), ("b.yaml", &*b)];
    let old = [&[("kustomization.yaml", &*both)], &files[..]].concat();
    let new = [&[("kustomization.yaml", &*one)], &files[..]].concat();
    assert_eq!(changed(&old, &new), ["removed ConfigMap/?/b"]);
}

#[test]
fn changed_generator_changes_object_instead_of_moving_it() {
    let root = "configMapGenerator: [{name: g, literals: [a=b]}]\n";
    let old = [("kustomization.yaml", root)];
    assert_eq!(changed(&old, &old), [""; 0]);
    let other = root.replace("a=b", "a=c");
    assert_eq!(
        changed(&old, &[("kustomization.yaml", &other)]),
        ["changed ConfigMap/?/g-4h2mbtbbt6 -> ConfigMap/?/g-8f2d5hh62d"],
        "its name has another hash"
    );
}

#[test]
fn headline_replaces_a_name_with_a_placeholder() {
    let folder = Folder::new();
    folder
        .write("base/web.yaml", &object("v1", "Service", "${APP}-web"))
        .write("head/none.yaml", "");
    for side in ["base", "head"] {
        folder.write(&format!("{side}/a.yaml"), &config("a"));
    }
    let output = ownerlint()
        .current_dir(folder.path())
        .args(["diff", "--base", "base", "--head", "head"])
        .env("COLUMNS", "1000")
        .output();
    let said = String::from_utf8(output.expect("it runs").stdout).expect("text");
    assert!(
        said.contains(
            "cannot tell: the change removes Service with a placeholder in its name, in base/web.yaml, which cannot be read"
        ),
        "{said}"
    );
}

#[test]
fn inputs_of_programs_make_change_unknown() {
    let verdict = |path: &str, base: &str, head: &str| {
        let both = format!("== a.yaml\n{}", config("a"));
        let [base, head] = [base, head].map(|text| format!("== {path}\n{text}\n"));
        let document = compared(&both, &base, &head);
        document["summary"]["verdict"].as_str().map(str::to_owned)
    };
    let pointer = |id: &str| {
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize 12345")
    };
    for (path, base, head) in [
        (
            "helmfile.d/01.yaml",
            "releases:\n- {name: a}",
            "releases: []",
        ),
        (
            "helmfile.d/01.yaml.gotmpl",
            "releases:\n- name: a",
            "releases: []",
        ),
        ("fleet.yaml", "namespace: a", "namespace: b"),
        ("b.yaml.j2", "kind: Secret\nmetadata: {name: {{ x }}}", ""),
        ("b.yaml", &*pointer("4d7a"), &*pointer("5d7a")),
    ] {
        let found = verdict(path, base, head);
        assert_eq!(found.as_deref(), Some("unknown"), "{path}");
    }
}

#[test]
fn changed_and_removed_packed_charts_are_unread() {
    let a = config("a");
    let folder = Folder::new();
    for (path, text) in [
        ("base/a.yaml", &*a),
        ("head/a.yaml", &*a),
        ("base/charts/foo-1.2.3.tgz", "one"),
        ("head/charts/foo-1.3.0.tgz", "two"),
        ("none/a.yaml", &*a),
        ("base/fixtures/data.tgz", "three"),
    ] {
        folder.write(path, text);
    }
    let unread = |head: &str| {
        let document = folder.run("", &["--base", "base", "--head", head]);
        let document = document.expect("a comparison");
        assert_eq!(document["summary"]["verdict"], "unknown");
        assert_eq!(document["notes"], json!([]));
        document["unread"].clone()
    };
    let [changed, removed] = ["head", "none"].map(unread);
    assert_eq!(changed[0]["subject"], "packed chart foo 1.2.3 → 1.3.0");
    assert_eq!(removed[0]["subject"], "packed chart foo 1.2.3");
    assert_eq!(removed[1], json!(null));
}
