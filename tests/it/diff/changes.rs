//! The kinds of changes.

use super::places::{changed, config, object};

#[test]
fn object_on_one_side_is_added_or_removed() {
    assert_eq!(
        changed(&[("a.yaml", &config("a"))], &[]),
        ["removed ConfigMap/?/a"]
    );
    assert_eq!(
        changed(&[], &[("a.yaml", &config("a"))]),
        ["added ConfigMap/?/a"]
    );
}

#[test]
fn comments_key_order_and_json_notation_are_no_change() {
    let yaml = "# old\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {x: w, z: \"1\"}}\ndata: {k: v}\n";
    let other = "data:\n  k: 'v'\nkind: ConfigMap\nmetadata:\n  labels:\n    z: '1'\n    x: w\n  name: a\napiVersion: v1\n";
    let json = r#"{"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "v"}, "metadata": {"name": "a", "labels": {"z": "1", "x": "w"}}}"#;
    assert_eq!(changed(&[("a.yaml", yaml)], &[("a.yaml", other)]), [""; 0]);
    assert_eq!(changed(&[("a.yaml", yaml)], &[("a.yaml", json)]), [""; 0]);
}

#[test]
fn changed_value_and_changed_scalar_type_are_changes() {
    let with = |value: &str| object("v1", "ConfigMap", "a") + &format!("data: {{k: {value}}}\n");
    assert_eq!(
        changed(&[("a.yaml", &with("x"))], &[("a.yaml", &with("y"))]),
        ["changed ConfigMap/?/a"]
    );
    assert_eq!(
        changed(&[("a.yaml", &with("1"))], &[("a.yaml", &with("'1'"))]),
        ["changed ConfigMap/?/a"]
    );
}

#[test]
fn object_in_another_file_is_moved() {
    let (a, b) = (config("a"), config("b"));
    let both = format!("{a}---\n{b}");
    assert_eq!(
        changed(&[("all.yaml", &both)], &[("all.yaml", &a), ("b.yaml", &b)]),
        ["moved ConfigMap/?/b"]
    );
    assert_eq!(
        changed(&[("x/a.yaml", &a)], &[("y/a.yaml", &a)]),
        ["moved ConfigMap/?/a"]
    );
}

#[test]
fn object_removed_from_one_of_two_folders_is_removed() {
    let a = config("a");
    assert_eq!(
        changed(&[("x/a.yaml", &a), ("y/a.yaml", &a)], &[("y/a.yaml", &a)]),
        ["removed ConfigMap/?/a"]
    );
}

#[test]
fn removing_a_duplicate_in_one_destination_is_a_move() {
    let a = config("a");
    assert_eq!(
        changed(&[("a.yaml", &a), ("b.yaml", &a)], &[("b.yaml", &a)]),
        ["moved ConfigMap/?/a"]
    );
}

#[test]
fn equal_content_with_another_name_or_namespace_is_renamed() {
    let there = config("a").replace("  name: a\n", "  name: a\n  namespace: shop\n");
    let here = there.replace("shop", "store");
    assert_eq!(
        changed(&[("a.yaml", &config("a"))], &[("a.yaml", &config("b"))]),
        ["renamed ConfigMap/?/a -> ConfigMap/?/b"]
    );
    assert_eq!(
        changed(&[("a.yaml", &there)], &[("a.yaml", &here)]),
        ["renamed ConfigMap/shop/a -> ConfigMap/store/a"]
    );
}

#[test]
fn different_content_with_another_name_is_removed_and_added() {
    let other =
        object("v1", "ConfigMap", "b") + "data: {v: six, w: seven, x: eight, y: nine, z: ten}\n";
    assert_eq!(
        changed(&[("a.yaml", &config("a"))], &[("b.yaml", &other)]),
        ["removed ConfigMap/?/a", "added ConfigMap/?/b"]
    );
}

#[test]
fn namespace_is_renamed_only_within_one_file() {
    let namespace = |name: &str| object("v1", "Namespace", name);
    assert_eq!(
        changed(
            &[("a.yaml", &namespace("a"))],
            &[("a.yaml", &namespace("b"))]
        ),
        ["renamed Namespace//a -> Namespace//b"]
    );
    assert_eq!(
        changed(
            &[("a.yaml", &namespace("a"))],
            &[("b.yaml", &namespace("b"))]
        ),
        ["removed Namespace//a", "added Namespace//b"]
    );
}

#[test]
fn definition_of_another_kind_is_removed_and_added() {
    let crd = |plural: &str, kind: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.example.com}}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]\n"
        )
    };
    let changes = changed(
        &[("crd.yaml", &crd("foos", "Foo"))],
        &[("crd.yaml", &crd("bars", "Bar"))],
    );
    assert_eq!(
        changes,
        [
            "added CustomResourceDefinition.apiextensions.k8s.io//bars.example.com",
            "removed CustomResourceDefinition.apiextensions.k8s.io//foos.example.com",
        ]
    );
}

#[test]
fn changed_hash_suffix_is_a_change_not_a_removal() {
    let hashed = |hash: &str, value: &str| {
        object("v1", "ConfigMap", &format!("settings-{hash}"))
            + &format!("data: {{key: {value}}}\n")
    };
    assert_eq!(
        changed(
            &[("a.yaml", &hashed("7kdmk8ft9h", "x"))],
            &[("a.yaml", &hashed("2f4ch8b6gt", "y"))]
        ),
        ["changed ConfigMap/?/settings-7kdmk8ft9h -> ConfigMap/?/settings-2f4ch8b6gt"]
    );
}

#[test]
fn base_and_head_may_be_differently_named_files() {
    let folder = super::places::Folder::new();
    folder
        .write("old.yaml", &config("a"))
        .write("new.yaml", &config("a"));
    assert_eq!(
        folder.changes(&["--base", "old.yaml", "--head", "new.yaml"]),
        [""; 0]
    );
}

#[test]
fn beside_definitions_give_scope_and_are_no_changes() {
    let folder = super::places::Folder::new();
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {kind: Foo, plural: foos}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n";
    folder
        .write("crd.yaml", crd)
        .write("old.yaml", &object("example.com/v1", "Foo", "one"))
        .write("new.yaml", "");
    let arguments = [
        "--base", "old.yaml", "--head", "new.yaml", "--beside", "crd.yaml",
    ];
    assert_eq!(folder.changes(&arguments), ["removed Foo.example.com//one"]);
}

/// Returns a CRD of kind Shelf.
fn shelves(scope: &str) -> String {
    object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "shelves.example.com",
    ) + &format!(
        "spec:\n  group: example.com\n  scope: {scope}\n  names: {{kind: Shelf, plural: shelves}}\n"
    ) + "  versions: [{name: v1, served: true, storage: true}]\n"
}

#[test]
fn definition_on_one_side_gives_scope_on_both_sides() {
    let (definition, shelf) = (shelves("Cluster"), object("example.com/v1", "Shelf", "top"));
    let with = [("crd.yaml", &*definition), ("shelf.yaml", &*shelf)];
    let without = [("shelf.yaml", &*shelf)];
    let key = "CustomResourceDefinition.apiextensions.k8s.io//shelves.example.com";
    assert_eq!(changed(&with, &without), [format!("removed {key}")]);
    assert_eq!(changed(&without, &with), [format!("added {key}")]);
}

#[test]
fn definition_in_another_bundle_gives_scope() {
    let config =
        "version: 1\nbundles:\n  crds: {paths: [crds]}\n  shop: {paths: [shop], namespace: shop}\n";
    let (definition, shelf) = (
        shelves("Namespaced"),
        object("example.com/v1", "Shelf", "top"),
    );
    let base = [
        ("ownerlint.yaml", config),
        ("crds/crd.yaml", &*definition),
        ("shop/shelf.yaml", &*shelf),
    ];
    assert_eq!(
        changed(&base, &base[..2]),
        ["removed Shelf.example.com/shop/top"]
    );
}
