//! `--kubernetes-version` determines how a cluster deletes, not only which kinds it serves.

use serde_json::Value;

use crate::formats::schemas::parsed;
use crate::support::ownerlint;

fn plan(arguments: &[&str], manifests: &str) -> Value {
    let mut command = ownerlint();
    command
        .args(["plan", "delete"])
        .args(arguments)
        .args(["--output", "json"])
        .write_stdin(manifests);
    let output = command.output().expect("the program runs");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    parsed(std::str::from_utf8(&output.stdout).expect("the output is text"))
}

/// Returns the objects of the input that remain after the last step, in the verdict.
fn left(plan: &Value) -> Vec<&str> {
    let last = plan["steps"]
        .as_array()
        .and_then(|steps| steps.last())
        .expect("a step");
    let objects = last["outcomes"][0]["objects"].as_object().expect("objects");
    objects
        .iter()
        .filter(|(_, fate)| *fate != "gone")
        .map(|(key, _)| key.as_str())
        .collect()
}

const DRIVER: &str = "CSIDriver.storage.k8s.io//rook-ceph.rbd.csi.ceph.com";
const CONFIG: &str = "ConfigMap/rook-ceph/rook-ceph-csi-config";

/// rook/rook#6162: the collector looked up the driver's owner without a namespace, did not find it, and cached its uid
/// as absent. So it also deleted the ConfigMap, although its owner existed.
#[test]
fn before_1_20_rook_csi_driver_and_config_map_are_collected() {
    let rook = [
        "sa/rook-ceph-system",
        "-n",
        "rook-ceph",
        "-f",
        "fixtures/bundles/rook",
    ];
    let incident = plan(&[&rook[..], &["--kubernetes-version", "1.19"]].concat(), "");
    let settled = &incident["steps"][0];
    assert_eq!(settled["op"], "settle", "nobody asks for it");
    assert_eq!(settled["outcomes"][0]["objects"][DRIVER], "gone");
    assert_eq!(settled["outcomes"][0]["objects"][CONFIG], "gone");
    assert_eq!(
        settled["outcomes"][0]["objects"]["Deployment.apps/rook-ceph/rook-ceph-operator"]["terminating"],
        false
    );
    assert_eq!(settled["why"][DRIVER]["rules"][0], "GC-20a");
    assert_eq!(settled["why"][CONFIG]["rules"][0], "GC-17a");
    assert_eq!(
        settled["events"],
        Value::Array(Vec::new()),
        "1.20 is the first release that reports it"
    );

    for since in ["1.20", "1.36"] {
        let today = plan(&[&rook[..], &["--kubernetes-version", since]].concat(), "");
        assert!(
            left(&today).contains(&DRIVER) && left(&today).contains(&CONFIG),
            "{since}: {today}"
        );
    }
}

#[test]
fn before_1_20_cluster_scoped_driver_is_deleted_with_owner() {
    let operator = [
        "deployment/rook-ceph-operator",
        "-n",
        "rook-ceph",
        "-f",
        "fixtures/bundles/rook",
    ];
    let before = plan(
        &[&operator[..], &["--kubernetes-version", "1.19"]].concat(),
        "",
    );
    assert_eq!(
        left(&before),
        [
            "Namespace//rook-ceph",
            "ServiceAccount/rook-ceph/rook-ceph-system"
        ]
    );
    let today = plan(&operator, "");
    assert_eq!(
        left(&today),
        [
            "Namespace//rook-ceph",
            "ServiceAccount/rook-ceph/rook-ceph-system",
            DRIVER
        ]
    );
}

/// A namespace with a Pod that has a finalizer.
const HELD_POD: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Pod, metadata: {name: held, namespace: shop, finalizers: [example.com/wait]}, spec: {containers: [{name: c, image: c}]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: shop}}
";

#[test]
fn before_1_33_a_namespace_does_not_wait_for_its_pods() {
    let ordered = plan(&["ns/shop", "-f", "-"], HELD_POD);
    assert_eq!(
        left(&ordered),
        ["ConfigMap/shop/config", "Namespace//shop", "Pod/shop/held"]
    );
    let unordered = plan(
        &["ns/shop", "-f", "-", "--kubernetes-version", "1.32"],
        HELD_POD,
    );
    assert_eq!(left(&unordered), ["Namespace//shop", "Pod/shop/held"]);
    let conditions =
        unordered["steps"][0]["outcomes"][0]["objects"]["Namespace//shop"]["conditions"]
            .to_string();
    assert!(
        conditions.contains("pods. has 1 resource instances"),
        "{conditions}"
    );
}

const SET: &str = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {
  serviceName: db, selector: {matchLabels: {app: db}}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete},
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}},
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce]}}]}}
";

#[test]
fn before_1_27_stateful_set_retention_policy_is_ignored() {
    let claim = |plan: &Value| {
        let implied = plan["implied"].as_array().expect("a list");
        let claim = implied
            .iter()
            .find(|object| object["key"] == "PersistentVolumeClaim/shop/data-db-0");
        claim.expect("the claim is implied")["outcomes"][0].clone()
    };
    assert_eq!(
        claim(&plan(
            &["sts/db", "-f", "-", "--kubernetes-version", "1.27"],
            SET
        )),
        "gone"
    );
    assert_eq!(
        claim(&plan(
            &["sts/db", "-f", "-", "--kubernetes-version", "1.26"],
            SET
        ))["terminating"],
        false
    );
}

#[test]
fn before_1_20_finding_says_other_dependents_are_deleted() {
    let check = |version: &str| {
        let arguments = [
            "check",
            "fixtures/bundles/rook",
            "--kubernetes-version",
            version,
            "--exit-zero",
            "-o",
            "json",
        ];
        let output = ownerlint()
            .args(arguments)
            .output()
            .expect("the program runs");
        let report = parsed(std::str::from_utf8(&output.stdout).expect("the output is text"));
        let findings = report["findings"].as_array().expect("findings").clone();
        let errors = findings
            .into_iter()
            .filter(|finding| finding["severity"] == "error");
        errors
            .map(|finding| (finding["rule"].clone(), finding["reason"].to_string()))
            .collect::<Vec<_>>()
    };
    let [(rule, reason)] = &check("1.19")[..] else {
        panic!("one fault, one error")
    };
    assert_eq!(rule, "owner-of-cluster-scoped");
    assert!(
        reason.contains("every other dependent of that owner") && !reason.contains("outlives"),
        "{reason}"
    );
    let [(_, reason)] = &check("1.36")[..] else {
        panic!("one fault, one error")
    };
    assert!(reason.contains("outlives its owner forever"), "{reason}");
}
