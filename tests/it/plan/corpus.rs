//! Plans of real inputs. The snapshots were reviewed line by line against the manifests and the cited rules.

use crate::support::{corpus, ownerlint};

/// Returns human output with citations for an input of the corpus, run in its folder so that no local path is shown.
fn plan(arguments: &[&str]) -> Option<String> {
    let corpus = corpus()?;
    let output = ownerlint()
        .current_dir(corpus)
        .arg("plan")
        .args(arguments)
        .arg("-v")
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Tests a plan against a snapshot, if the corpus is present.
macro_rules! is_planned {
    ($name:ident, $($argument:literal),+) => {
        #[test]
        fn $name() {
            let Some(text) = plan(&[$($argument),+]) else { return };
            insta::assert_snapshot!(text);
        }
    };
}

// A dump without the definition of Rollouts: its objects prove that they are served.
is_planned!(
    rollout,
    "delete",
    "rollout/canary-demo",
    "-n",
    "jesse-test",
    "-f",
    "ownership/graph-argo-rollouts-canary"
);
is_planned!(
    rollout_orphaned,
    "delete",
    "rollout/canary-demo",
    "-n",
    "jesse-test",
    "--cascade",
    "orphan",
    "-f",
    "ownership/graph-argo-rollouts-canary"
);
// A rendering of an operator's dependents, with the operator's finalizer and without a definition.
is_planned!(
    datadog,
    "delete",
    "datadogagentinternal/datadog-agent",
    "-f",
    "ownership/datadog-operator__internal__controller__testutils__renderer__testdata__golden__suppression-autopilot.golden.yaml"
);
// A Deployment whose owner is not in the rendering.
is_planned!(
    grafana,
    "delete",
    "deploy/grafana-deployment",
    "-f",
    "ownership/grafana-operator__tests__e2e__examples__crossnamespace__assertions.yaml"
);
// Two big renderings.
is_planned!(
    kube_prometheus,
    "delete",
    "ns/monitoring",
    "-f",
    "kube-prometheus"
);
// KEDA: its aggregated API is deleted with the namespace, but its APIService stays.
is_planned!(keda, "delete", "ns/keda", "-f", "keda/rendered");
is_planned!(
    rook,
    "delete",
    "ns/rook-ceph",
    "crd/cephclusters.ceph.rook.io",
    "-f",
    "rook/deploy/examples"
);

// --- teardowns ---

/// Rook's operator with a cluster and a pool, to which it adds finalizers at run time.
const ROOK: [&str; 4] = [
    "rook/deploy/examples/crds.yaml",
    "rook/deploy/examples/common.yaml",
    "rook/deploy/examples/operator.yaml",
    "rook/deploy/examples/cluster-test.yaml",
];

fn teardown(by: &str, paths: &[&str]) -> Option<String> {
    plan(&[&["teardown", "--no-config", "--by", by], paths].concat())
}

macro_rules! is_torn_down {
    ($name:ident, $by:literal, $paths:expr) => {
        #[test]
        fn $name() {
            let Some(text) = teardown($by, $paths) else {
                return;
            };
            insta::assert_snapshot!(text);
        }
    };
}

is_torn_down!(teardown_rook_helm, "helm", &ROOK);
is_torn_down!(teardown_rook_argocd, "argocd", &ROOK);
is_torn_down!(teardown_rook_namespace, "namespace", &ROOK);
// Webhooks, and hooks of Helm that are deleted after they have run.
is_torn_down!(
    teardown_cert_manager_helm,
    "helm",
    &[
        "cert-manager/rendered/helm-cert-manager.yaml",
        "-n",
        "cert-manager"
    ]
);
// An aggregated API whose Service is deleted with the namespace.
is_torn_down!(
    teardown_keda_namespace,
    "namespace",
    &["keda", "-n", "keda"]
);
is_torn_down!(teardown_kube_prometheus, "kubectl", &["kube-prometheus"]);
is_torn_down!(
    teardown_home_ops,
    "flux",
    &["home-ops/kubernetes/apps/cert-manager/cert-manager/app"]
);
