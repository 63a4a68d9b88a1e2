//! Kinds that the API server serves in two groups but stores once: references and simulations see one object.

use ownerlint::engine::Check;
use ownerlint::finding::Finding;
use serde_json::Value;

use crate::support::{Repository, check_text};

fn findings(text: &str) -> Vec<Finding> {
    let report = check_text("dump.yaml", text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .filter(|finding| finding.rule != "live-object")
        .collect()
}

fn dumped(api_version: &str, kind: &str, name: &str, uid: u32, owner: &str) -> String {
    let references = if owner.is_empty() {
        String::new()
    } else {
        format!(", ownerReferences: [{{{owner}}}]")
    };
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop, uid: u-{uid}, resourceVersion: '7'{references}}}\n"
    )
}

/// Returns an owner in one group, and a dependent that names it in another group.
fn pair(kind: &str, stored: &str, named: &str) -> String {
    let reference = format!("apiVersion: {named}, kind: {kind}, name: web, uid: u-1");
    format!(
        "{}---\n{}",
        dumped(stored, kind, "web", 1, ""),
        dumped("v1", "ConfigMap", "settings", 2, &reference)
    )
}

const PAIRS: [(&str, &str, &str); 6] = [
    ("ReplicaSet", "extensions/v1beta1", "apps/v1"),
    ("Deployment", "extensions/v1beta1", "apps/v1"),
    ("DaemonSet", "extensions/v1beta1", "apps/v1"),
    ("Ingress", "extensions/v1beta1", "networking.k8s.io/v1"),
    (
        "NetworkPolicy",
        "extensions/v1beta1",
        "networking.k8s.io/v1",
    ),
    ("Event", "v1", "events.k8s.io/v1"),
];

#[test]
fn owner_is_found_through_its_other_api_group() {
    for (kind, one, other) in PAIRS {
        let found = findings(&pair(kind, one, other));
        let wrong = [
            "owner-identity-mismatch",
            "deleted-on-arrival",
            "owner-not-found",
            "owner-cross-namespace",
        ];
        assert!(
            found.iter().all(|finding| !wrong.contains(&finding.rule)),
            "{kind}: {found:#?}"
        );
    }
}

#[test]
fn reference_in_removed_group_triggers_one_owner_rule() {
    for (kind, one, other) in PAIRS.iter().filter(|(kind, ..)| *kind != "Event") {
        let found = findings(&pair(kind, other, one));
        let about_owners: Vec<_> = found
            .iter()
            .filter(|finding| finding.rule != "kind-not-served")
            .collect();
        assert_eq!(
            about_owners
                .iter()
                .map(|finding| finding.rule)
                .collect::<Vec<_>>(),
            ["owner-kind-unresolvable"],
            "{found:#?}"
        );
    }
}

#[test]
fn both_groups_of_an_older_release_name_one_object() {
    let repository = Repository::new();
    for (kind, one, other) in [
        ("ReplicaSet", "extensions/v1beta1", "apps/v1"),
        ("Ingress", "extensions/v1beta1", "networking.k8s.io/v1beta1"),
    ] {
        for (stored, named) in [(one, other), (other, one)] {
            repository.write("dump.yaml", &pair(kind, stored, named));
            let (status, out, err) = repository.run(
                &[
                    "check",
                    ".",
                    "--kubernetes-version",
                    "1.15",
                    "--world",
                    "closed",
                ],
                "",
            );
            assert_eq!(status, 0, "{kind} {stored} {named}: {out}{err}");
            let (_, out, err) = repository.run(
                &[
                    "plan",
                    "delete",
                    &format!("{kind}/web"),
                    "-n",
                    "shop",
                    "-o",
                    "json",
                    "--kubernetes-version",
                    "1.15",
                    "-f",
                    "dump.yaml",
                ],
                "",
            );
            let plan: Value =
                serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
            let last = plan["steps"]
                .as_array()
                .and_then(|steps| steps.last())
                .expect("a step");
            assert_eq!(
                last["outcomes"][0]["objects"]["ConfigMap/shop/settings"], "gone",
                "{kind} {stored} {named}: {out}"
            );
        }
    }
}

#[test]
fn object_written_in_both_groups_is_a_duplicate() {
    let object = |api_version: &str| {
        format!(
            "apiVersion: {api_version}\nkind: Ingress\nmetadata: {{name: web, namespace: shop}}\n"
        )
    };
    let found = findings(&format!(
        "{}---\n{}",
        object("extensions/v1beta1"),
        object("networking.k8s.io/v1")
    ));
    assert!(
        found
            .iter()
            .any(|finding| finding.rule == "duplicate-object"),
        "{found:#?}"
    );
    let other = format!(
        "{}---\n{}",
        object("example.com/v1"),
        object("networking.k8s.io/v1")
    );
    assert!(
        findings(&other)
            .iter()
            .all(|finding| finding.rule != "duplicate-object")
    );
}

#[test]
fn kinds_of_one_name_are_distinguished_by_group() {
    let found = findings(&pair("Ingress", "example.com/v1", "networking.k8s.io/v1"));
    let mismatch = found
        .iter()
        .find(|finding| finding.rule == "owner-identity-mismatch")
        .expect("a finding");
    let expected = "names Ingress `web` of `networking.k8s.io/v1` as its owner, but the uid belongs to Ingress `web` of `example.com/v1`";
    assert!(mismatch.message.contains(expected), "{}", mismatch.message);
}

#[test]
fn ip_address_is_deleted_with_its_service() {
    let address = |service: &str| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: IPAddress\nmetadata: {{name: 10.0.0.7, uid: u-7, resourceVersion: '7'}}\nspec: {{parentRef: {{group: '', resource: services, namespace: shop, name: {service}}}}}\n"
        )
    };
    let repository = Repository::new();
    let fate = |service: &str| {
        repository.write(
            "dump.yaml",
            &format!(
                "{}---\n{}",
                dumped("v1", "Service", "web", 1, ""),
                address(service)
            ),
        );
        let (_, out, err) = repository.run(
            &[
                "plan",
                "delete",
                "svc/web",
                "-n",
                "shop",
                "-o",
                "json",
                "-f",
                "dump.yaml",
            ],
            "",
        );
        let plan: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        let last = plan["steps"]
            .as_array()
            .and_then(|steps| steps.last())
            .expect("a step")
            .clone();
        last["outcomes"][0]["objects"]["IPAddress.networking.k8s.io//10.0.0.7"].clone()
    };
    assert_eq!(fate("web"), "gone");
    assert_ne!(fate("another"), "gone");
}
