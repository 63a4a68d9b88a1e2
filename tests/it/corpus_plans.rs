//! What `plan` says of real inputs. The snapshots were read line by line against the manifests and the rules they name.

use crate::support::{corpus, ownerlint};

/// The human output, with citations, for an input of the corpus, run from its folder so that no path of the machine shows.
fn plan(arguments: &[&str]) -> Option<String> {
    let corpus = corpus()?;
    let output = ownerlint().current_dir(corpus).arg("plan").args(arguments).arg("-v").output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// A snapshot of a plan, where the corpus is.
macro_rules! is_planned {
    ($name:ident, $($argument:literal),+) => {
        #[test]
        fn $name() {
            let Some(text) = plan(&[$($argument),+]) else { return };
            insta::assert_snapshot!(text);
        }
    };
}

// A dump without the definition of its Rollouts: the objects prove that they are served.
is_planned!(rollout, "delete", "rollout/canary-demo", "-n", "jesse-test", "-f", "ownership/graph-argo-rollouts-canary");
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
// A rendering of an operator's children, with the operator's finalizer and no definition.
is_planned!(
    datadog,
    "delete",
    "datadogagentinternal/datadog-agent",
    "-f",
    "ownership/datadog-operator__internal__controller__testutils__renderer__testdata__golden__suppression-autopilot.golden.yaml"
);
// A Deployment in a rendering, below an owner that is elsewhere.
is_planned!(
    grafana,
    "delete",
    "deploy/grafana-deployment",
    "-f",
    "ownership/grafana-operator__tests__e2e__examples__crossnamespace__assertions.yaml"
);
// Two big renderings.
is_planned!(kube_prometheus, "delete", "ns/monitoring", "-f", "kube-prometheus");
// KEDA: its aggregated API goes with the namespace, and stays announced.
is_planned!(keda, "delete", "ns/keda", "-f", "keda/rendered");
is_planned!(rook, "delete", "ns/rook-ceph", "crd/cephclusters.ceph.rook.io", "-f", "rook/deploy/examples");
