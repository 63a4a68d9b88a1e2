//! Documents that look like objects to a reader, but are lists to kubectl, Helm, Flux or Argo CD.

use ownerlint::engine::{Check, check};
use ownerlint::{CompareRequest, Comparison, DiffReport, StateChoice};

use crate::support::{inventory_at, root};

/// Returns the objects in an attack tree, and the messages of `dropped-content`.
fn read(attack: &str) -> (Vec<String>, Vec<String>) {
    let inventory = inventory_at(&[&format!("fixtures/security/{attack}")]);
    let objects = inventory
        .members
        .iter()
        .map(|member| member.key.to_string())
        .collect();
    let report = check(inventory, &Check::default());
    let findings = report.findings.iter().map(|reported| &reported.finding);
    let dropped = findings.filter(|finding| finding.rule == "dropped-content");
    (
        objects,
        dropped.map(|finding| finding.message.clone()).collect(),
    )
}

fn compared(attack: &str) -> DiffReport {
    let side = |name: &str| {
        StateChoice::Path(
            root()
                .join("fixtures/security")
                .join(attack)
                .join(name)
                .display()
                .to_string(),
        )
    };
    let comparison = Comparison::open(&CompareRequest::new(side("base"), side("head")))
        .expect("both sides are read");
    comparison.report().expect("a report")
}

#[test]
fn items_in_the_document_of_an_object_are_read() {
    let (objects, dropped) = read("object-with-items");
    assert_eq!(
        objects,
        [
            "ConfigMap/shop/settings",
            "Namespace//stage",
            "ConfigMap/shop/typed"
        ]
    );
    assert_eq!(
        dropped,
        [
            "ConfigMap `settings` is never applied: because of `items`, its document is read as a list"
        ]
    );
}

#[test]
fn object_with_empty_items_is_read_and_reported() {
    let (objects, dropped) = read("object-with-empty-items");
    assert_eq!(objects, ["Deployment.apps/shop/web"]);
    assert_eq!(
        dropped,
        ["Deployment `web` is never applied: because of `items`, its document is read as a list"]
    );
}

#[test]
fn null_or_non_list_items_are_reported() {
    let (objects, dropped) = read("object-with-null-items");
    assert_eq!(objects, ["ConfigMap/shop/settings"]);
    assert_eq!(
        dropped,
        ["ConfigMap `settings` is an object for some tools and an empty list for others"]
    );
    let (objects, dropped) = read("object-with-other-items");
    assert_eq!(objects, ["ConfigMap/shop/settings"]);
    assert_eq!(
        dropped,
        ["kubectl and Helm reject ConfigMap `settings`: `items` is not a list"]
    );
}

#[test]
fn nested_list_is_read_as_object_and_items() {
    let (objects, dropped) = read("list-in-a-list");
    assert_eq!(
        objects,
        [
            "ConfigMap/shop/outer",
            "ConfigMap/shop/inner",
            "ConfigMap/shop/typed",
            "List/?/"
        ]
    );
    assert_eq!(
        dropped,
        ["ConfigMap `outer` is an object for some tools and a list for others"]
    );
}

#[test]
fn custom_kind_called_list_is_read() {
    let (objects, dropped) = read("custom-kind-called-list");
    let lists = ["plain", "empty", "null"].map(|name| format!("AllowList.example.com/shop/{name}"));
    assert_eq!(objects[1..], lists);
    assert_eq!(
        dropped,
        [
            "AllowList `empty` is never applied: because of `items`, its document is read as a list",
            "AllowList `null` is an object for some tools and an empty list for others",
        ]
    );
}

#[test]
fn items_of_list_without_version_are_read() {
    assert_eq!(read("list-without-version").0, ["ConfigMap/shop/smuggled"]);
}

#[test]
fn object_that_becomes_a_list_is_deleted() {
    let report = compared("object-becomes-list");
    let findings = report
        .findings
        .findings
        .iter()
        .map(|reported| (reported.finding.rule, reported.finding.message.as_str()));
    let deletes = "removing PersistentVolumeClaim `data` deletes its volume, unless it is retained";
    assert_eq!(findings.collect::<Vec<_>>(), [("volume-removed", deletes)]);
}
