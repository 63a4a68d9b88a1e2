//! Controllers that remove finalizers, according to `rules/operators`.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use ownerlint::knowledge::{Added, Handles, KnownFinalizer, KnownFinalizers, Tables};

fn finalizers() -> &'static KnownFinalizers {
    static TABLES: LazyLock<Arc<Tables>> = LazyLock::new(Tables::bundled);
    &TABLES.finalizers
}

#[test]
fn every_finalizer_is_found_under_its_own_name() {
    for known in finalizers().iter() {
        let name = known.finalizer.replace('*', "example");
        let found = finalizers().find(&name).expect(&name);
        assert_eq!(found.finalizer, known.finalizer, "{name}");
    }
}

#[test]
fn proven_remover_has_an_image_or_is_control_plane() {
    for known in finalizers().iter() {
        for row in &known.controllers {
            let somewhere = row.control_plane || !row.images.is_empty();
            let proven = row.images_proven && row.place.is_none();
            assert!(
                somewhere || !proven,
                "{}: proven without image or control plane",
                known.finalizer
            );
        }
    }
}

fn handles(finalizer: &str, group: &str, kind: &str) -> Handles {
    finalizers()
        .find(finalizer)
        .expect(finalizer)
        .handles(group, kind)
}

#[test]
fn finalizer_is_handled_only_on_kinds_of_its_controllers() {
    assert_eq!(
        handles("kubernetes.io/pvc-protection", "", "PersistentVolumeClaim"),
        Handles::Yes
    );
    assert_eq!(
        handles("kubernetes.io/pvc-protection", "", "Secret"),
        Handles::No
    );
    assert_eq!(
        handles(
            "resources-finalizer.argocd.argoproj.io",
            "argoproj.io",
            "Application"
        ),
        Handles::Yes
    );
    assert_eq!(
        handles(
            "resources-finalizer.argocd.argoproj.io",
            "apps",
            "Deployment"
        ),
        Handles::Unlisted
    );
    assert_eq!(
        handles("foregroundDeletion", "apps", "Deployment"),
        Handles::Yes
    );
    assert_eq!(
        handles(
            "finalizers.fluxcd.io",
            "helm.toolkit.fluxcd.io",
            "HelmRelease"
        ),
        Handles::Yes
    );
}

#[test]
fn kinds_of_forks_sharing_a_finalizer_are_listed() {
    for (finalizer, group, kind) in [
        (
            "postgres-operator.crunchydata.com/finalizer",
            "upstream.pgv2.percona.com",
            "PostgresCluster",
        ),
        (
            "percona.com/delete-ssl",
            "pgv2.percona.com",
            "PerconaPGCluster",
        ),
        (
            "internal.percona.com/stop-watchers",
            "pgv2.percona.com",
            "PerconaPGCluster",
        ),
        (
            "storagesystem.odf.openshift.io",
            "odf.openshift.io",
            "StorageSystem",
        ),
        ("noobaa.io/finalizer", "noobaa.io", "BackingStore"),
        (
            "configconnector.cnrm.cloud.google.com/finalizer",
            "core.cnrm.cloud.google.com",
            "ConfigConnectorContext",
        ),
        (
            "configconnector.cnrm.cloud.google.com/finalizer",
            "rbac.authorization.k8s.io",
            "RoleBinding",
        ),
        (
            "cnrm.cloud.google.com/finalizer",
            "rbac.authorization.k8s.io",
            "RoleBinding",
        ),
    ] {
        assert_eq!(
            handles(finalizer, group, kind),
            Handles::Yes,
            "{finalizer} on {kind}"
        );
    }
}

#[test]
fn kubernetes_finalizer_in_metadata_has_no_remover() {
    // [FIN-16]
    assert_eq!(handles("kubernetes", "", "Namespace"), Handles::No);
    assert_eq!(handles("kubernetes", "apps", "Deployment"), Handles::No);
}

#[test]
fn only_builtin_finalizers_are_denied_on_unlisted_kinds() {
    for known in finalizers().iter() {
        let own = known.finalizer == "kubernetes" || known.finalizer.starts_with("kubernetes.io/");
        assert_eq!(
            known.handles("example.com", "Nothing") == Handles::No,
            own,
            "{}",
            known.finalizer
        );
        if known.controllers.iter().any(|row| !row.kinds_proven) {
            assert_ne!(
                known.handles("example.com", "Nothing"),
                Handles::Unlisted,
                "{}",
                known.finalizer
            );
        }
    }
    assert_eq!(
        handles("longhorn.io", "longhorn.io", "Volume"),
        Handles::Yes
    );
    assert_eq!(
        handles("longhorn.io", "longhorn.io", "Novelty"),
        Handles::Unproven,
        "an operator learns kinds"
    );
    assert_eq!(
        handles("longhorn.io", "apps", "Deployment"),
        Handles::Unlisted
    );
}

#[test]
fn exact_finalizer_names_win_and_patterns_stop_at_slashes() {
    let table = finalizers();
    let found = |name: &str| table.find(name).map(|known| known.finalizer.as_str());
    assert_eq!(
        found("external-attacher/ebs-csi-aws-com"),
        Some("external-attacher/*")
    );
    assert_eq!(
        found("group.ingress.k8s.aws/shared"),
        Some("group.ingress.k8s.aws/*")
    );
    assert_eq!(
        found("cephcluster.ceph.rook.io"),
        Some("cephcluster.ceph.rook.io"),
        "the exact row wins"
    );
    assert_eq!(found("cephrbdmirror.ceph.rook.io"), Some("*.ceph.rook.io"));
    assert_eq!(
        found("finalizers.sqs.services.k8s.aws/Queue"),
        Some("finalizers.*.services.k8s.aws/*")
    );
    assert_eq!(
        found("deletion.finalizers.queues.rabbitmq.com"),
        Some("deletion.finalizers.*.rabbitmq.com")
    );
    assert_eq!(
        found("deletion.finalizers.rabbitmqclusters.rabbitmq.com"),
        Some("deletion.finalizers.rabbitmqclusters.rabbitmq.com")
    );
    assert_eq!(found("ceph.rook.io/other"), None);
    assert_eq!(found("example.com/finalizer"), None);
}

#[test]
fn builtin_finalizers_are_removed_by_the_control_plane() {
    let table = finalizers();
    let control_plane: BTreeSet<&str> = table
        .iter()
        .filter(|known| known.controllers.iter().any(|row| row.control_plane))
        .map(|known| known.finalizer.as_str())
        .collect();
    for finalizer in [
        "kubernetes.io/pvc-protection",
        "kubernetes.io/pv-protection",
        "batch.kubernetes.io/job-tracking",
        "customresourcecleanup.apiextensions.k8s.io",
        "service.kubernetes.io/load-balancer-cleanup",
        "scheduling.k8s.io/podgroup-protection",
    ] {
        assert!(control_plane.contains(finalizer), "{finalizer}");
    }
    assert!(!control_plane.contains("karpenter.sh/termination"));
}

#[test]
fn finalizers_record_who_adds_them() {
    let added = |finalizer: &str| -> BTreeSet<String> {
        let known = finalizers().find(finalizer).expect(finalizer);
        known
            .controllers
            .iter()
            .map(|row| format!("{:?}", row.added))
            .collect()
    };
    let words = |added: Added| BTreeSet::from([format!("{added:?}")]);
    assert_eq!(
        added("resources-finalizer.argocd.argoproj.io"),
        words(Added::Both)
    );
    assert_eq!(added("percona.com/delete-pxc-pvc"), words(Added::Written));
    assert_eq!(
        added("actions.github.com/cleanup-protection"),
        words(Added::Written)
    );
    assert_eq!(
        added("kubernetes.io/pvc-protection"),
        words(Added::Sometimes)
    );
}

#[test]
fn image_maps_to_the_finalizers_it_removes() {
    let table = finalizers();
    let removed = |image: &str| -> BTreeSet<&str> {
        let runs_in = |known: &&KnownFinalizer| {
            let mut controllers = known.controllers.iter();
            controllers.any(|controller| controller.runs_in(image))
        };
        let removed = table.iter().filter(runs_in);
        removed.map(|known| known.finalizer.as_str()).collect()
    };
    assert!(
        removed("quay.io/argoproj/argocd:v3.0.0").contains("argocd.argoproj.io/hook-finalizer")
    );
    assert!(
        removed("gcr.io/k8s-staging-cluster-api/cluster-api-controller:dev")
            .contains("cluster.cluster.x-k8s.io")
    );
    assert!(removed("ghcr.io/kedacore/keda:2.17.0").contains("finalizer.keda.sh"));
    assert!(removed("ghcr.io/kedacore/keda-metrics-apiserver:2.17.0").is_empty());
    assert!(removed("nginx").is_empty());
    assert!(!removed("quay.io/argoproj/argocd:v3.0.0").contains("finalizer.keda.sh"));
}

#[test]
fn kind_maps_to_the_finalizers_it_may_carry() {
    let carried: Vec<&str> = finalizers()
        .of_kind("cluster.x-k8s.io", "Machine")
        .filter(|(_, row)| row.is_proven())
        .map(|(known, _)| known.finalizer.as_str())
        .collect();
    assert!(carried.contains(&"machine.cluster.x-k8s.io"), "{carried:?}");
    assert!(
        !carried.contains(&"cluster.cluster.x-k8s.io"),
        "{carried:?}"
    );
}
