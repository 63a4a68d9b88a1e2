//! Plans with a known remover of a finalizer: a workload of the input that runs the image of a known controller.

use serde_json::{Value, json};

use crate::support::ownerlint;

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: storage}\n---\n";
const CLUSTER: &str = "apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {name: main, namespace: storage}\n---\n";
const CLUSTER_KEY: &str = "CephCluster.ceph.rook.io/storage/main";
const FINALIZER: &str = "cephcluster.ceph.rook.io";

/// Returns the controller of `CephCluster`s, in a namespace.
fn operator(namespace: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: operator, namespace: {namespace}}}\nspec:\n  selector: {{matchLabels: \
         {{app: o}}}}\n  template:\n    metadata: {{labels: {{app: o}}}}\n    spec: {{containers: [{{name: o, image: 'rook/ceph:v1.15'}}]}}\n---\n"
    )
}

fn run(manifests: &str, arguments: &[&str]) -> String {
    let mut command = ownerlint();
    command
        .args(["plan", "delete", "-f", "-"])
        .args(arguments)
        .write_stdin(manifests);
    String::from_utf8(command.output().expect("it runs").stdout).expect("UTF-8")
}

fn plan(manifests: &str, arguments: &[&str]) -> Value {
    serde_json::from_str(&run(manifests, &[arguments, &["-o", "json"]].concat())).expect("JSON")
}

fn outcomes(plan: &Value) -> &[Value] {
    let steps = plan["steps"].as_array().expect("steps");
    steps.last().expect("a step")["outcomes"]
        .as_array()
        .expect("a list")
}

#[test]
fn namespace_with_its_operator_may_get_stuck() {
    let manifests = [NAMESPACE, CLUSTER, &operator("storage")].concat();
    let plan = plan(&manifests, &["ns/storage"]);
    let [verdict, other] = outcomes(&plan) else {
        panic!("two outcomes: {plan}")
    };
    assert_eq!(
        verdict["objects"][CLUSTER_KEY]["finalizers"],
        json!([FINALIZER])
    );
    assert_eq!(
        verdict["objects"]["Namespace//storage"]["terminating"],
        true
    );
    assert_eq!(
        (
            &other["objects"][CLUSTER_KEY],
            &other["objects"]["Namespace//storage"]
        ),
        (&json!("gone"), &json!("gone"))
    );
    assert!(run(&manifests, &["ns/storage"]).contains("unless its controller removes it before"));
}

#[test]
fn a_namespace_whose_operator_is_elsewhere_is_deleted() {
    let plan = plan(
        &[NAMESPACE, CLUSTER, &operator("system")].concat(),
        &["ns/storage"],
    );
    let [only] = outcomes(&plan) else {
        panic!("one outcome: {plan}")
    };
    assert_eq!(only["objects"]["Namespace//storage"], "gone");
}

#[test]
fn a_custom_resource_is_deleted_while_its_operator_runs() {
    let plan = plan(
        &[CLUSTER, &operator("storage")].concat(),
        &["cephcluster/main"],
    );
    assert_eq!(outcomes(&plan)[0]["objects"][CLUSTER_KEY], "gone");
    let notes = plan["notes"].to_string();
    assert!(
        notes.contains("cephcluster.ceph.rook.io on CephCluster.ceph.rook.io"),
        "{notes}"
    );
    assert!(!notes.contains("A rendering does not contain"), "{notes}");
}

#[test]
fn no_finalizer_is_assumed_without_an_operator() {
    let plan = plan(&[NAMESPACE, CLUSTER].concat(), &["ns/storage"]);
    assert_eq!(outcomes(&plan)[0]["objects"]["Namespace//storage"], "gone");
    assert!(
        plan["notes"]
            .to_string()
            .contains("A rendering does not contain"),
        "{}",
        plan["notes"]
    );
}

#[test]
fn without_kubelet_no_operator_removes_finalizers() {
    let manifests = [
        NAMESPACE,
        &CLUSTER.replace("}\n", ", finalizers: [cephcluster.ceph.rook.io]}\n"),
        &operator("storage"),
    ]
    .concat();
    let plan = plan(&manifests, &["cephcluster/main", "--kubelet", "no"]);
    assert_eq!(
        outcomes(&plan)[0]["objects"][CLUSTER_KEY]["terminating"],
        true
    );
}

#[test]
fn permissions_alone_do_not_make_a_workload_remove_a_finalizer() {
    let manifests = CLUSTER.replace("}\n", ", finalizers: [example.com/own]}\n")
        + &operator("storage").replace("rook/ceph:v1.15", "example.com/own")
        + "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: [{apiGroups: [ceph.rook.io], resources: \
           ['*'], verbs: [update]}]\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: \
           r}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: r}\nsubjects: [{kind: ServiceAccount, name: \
           default, namespace: storage}]\n";
    let plan = plan(&manifests, &["cephcluster/main"]);
    assert_eq!(
        outcomes(&plan)[0]["objects"][CLUSTER_KEY]["terminating"],
        true
    );
}

/// Returns an object in the form in which a cluster returns it.
fn dumped(manifest: &str, uid: u8, more: &str) -> String {
    let metadata =
        format!("{{uid: 0a000000-0000-4000-8000-{uid:012}, resourceVersion: '1'{more}, ");
    manifest.replacen("metadata: {", &format!("metadata: {metadata}"), 1)
}

#[test]
fn dumped_operator_releases_new_but_not_earlier_deletions() {
    let operator = dumped(&operator("storage"), 1, "");
    let now = dumped(CLUSTER, 2, ", finalizers: [cephcluster.ceph.rook.io]") + &operator;
    assert_eq!(
        outcomes(&plan(&now, &["cephcluster/main"]))[0]["objects"][CLUSTER_KEY],
        "gone"
    );
    let stuck = dumped(
        CLUSTER,
        2,
        ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [cephcluster.ceph.rook.io]",
    ) + &operator;
    assert_eq!(
        outcomes(&plan(&stuck, &["cephcluster/main"]))[0]["objects"][CLUSTER_KEY]["terminating"],
        true
    );
}

/// The permissions of an operator in namespace `storage` for Ceph clusters there.
const GRANT: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ceph}
rules: [{apiGroups: [ceph.rook.io], resources: [cephclusters], verbs: [update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ceph}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ceph}
subjects: [{kind: ServiceAccount, name: default, namespace: storage}]
---
";

#[test]
fn operator_without_permission_releases_nothing() {
    let manifests = [CLUSTER, GRANT, &operator("storage")].concat();
    let steps = |first: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("steps.json");
        let delete = |target: &str| json!({"op": "delete", "target": target});
        std::fs::write(
            &file,
            json!([delete(first), delete(CLUSTER_KEY)]).to_string(),
        )
        .expect("a file");
        let mut command = ownerlint();
        command
            .args(["plan", "-", "-o", "json", "--steps"])
            .arg(&file)
            .write_stdin(&*manifests);
        let plan: Value =
            serde_json::from_slice(&command.output().expect("it runs").stdout).expect("JSON");
        outcomes(&plan)[0]["objects"][CLUSTER_KEY].clone()
    };
    for lost in ["ClusterRoleBinding", "ClusterRole"] {
        let state = steps(&format!("{lost}.rbac.authorization.k8s.io//ceph"));
        assert_eq!(state["finalizers"], json!([FINALIZER]), "{lost}");
    }
    assert_eq!(steps("Namespace//elsewhere"), "gone", "nothing is lost");
}
