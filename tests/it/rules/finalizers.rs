//! Removers of finalizers, the commands that release stuck objects, and cases without findings.

use ownerlint::engine::Check;
use ownerlint::finding::{Finding, Severity};
use ownerlint::ownership::{Evidence, Ownership, Remover};

use crate::support::{check_text, fixture, inventory_of};

fn findings(text: &str) -> Vec<Finding> {
    let report = check_text("input.yaml", text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .collect()
}

fn the<'a>(findings: &'a [Finding], rule: &str) -> &'a Finding {
    let found: Vec<_> = findings
        .iter()
        .filter(|finding| finding.rule == rule)
        .collect();
    assert_eq!(found.len(), 1, "{rule}: {findings:#?}");
    found[0]
}

fn widget(metadata: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: probe, {metadata}}}\n")
}

#[test]
fn single_finalizer_is_removed_by_a_testing_json_patch() {
    let found = findings(&widget("namespace: shop, finalizers: [example.com/hold]"));
    let command = concat!(
        r#"`kubectl patch Widget.example.com probe -n shop --type=json -p '[{"op":"test","path":"/metadata/finalizers/0","#,
        r#""value":"example.com/hold"},{"op":"remove","path":"/metadata/finalizers/0"}]'`"#
    );
    assert!(
        the(&found, "finalizer-unknown").help.contains(command),
        "{found:#?}"
    );
}

#[test]
fn one_of_several_finalizers_is_removed_by_a_testing_json_patch() {
    let found = findings(&widget(
        "namespace: shop, finalizers: [orphan, example.com/hold]",
    ));
    let command = concat!(
        r#"`kubectl patch Widget.example.com probe -n shop --type=json -p '[{"op":"test","path":"/metadata/finalizers/1","#,
        r#""value":"example.com/hold"},{"op":"remove","path":"/metadata/finalizers/1"}]'`"#
    );
    assert!(
        the(&found, "finalizer-unknown").help.contains(command),
        "{found:#?}"
    );
}

#[test]
fn template_finalizer_keeps_its_position_after_other_types() {
    let found = findings(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n\
         spec: {template: {metadata: {finalizers: [1, example.com/hold]}}}\n",
    );
    let finding = the(&found, "template-finalizer");
    assert_eq!(
        finding.field.as_deref(),
        Some("spec.template.metadata.finalizers[1]")
    );
    assert!(
        finding.help.contains(r#""path":"/metadata/finalizers/1""#),
        "{found:#?}"
    );
}

#[test]
fn unknown_name_and_namespace_are_shown_in_capitals() {
    let found = findings(
        "apiVersion: v1\nkind: Secret\nmetadata: {generateName: probe-, finalizers: [example.com/hold]}\n",
    );
    assert!(
        the(&found, "finalizer-unknown")
            .help
            .contains("kubectl patch Secret NAME -n NAMESPACE "),
        "{found:#?}"
    );
    let found = findings(
        "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk, finalizers: [example.com/hold]}\n",
    );
    assert!(
        the(&found, "finalizer-unknown")
            .help
            .contains("kubectl patch PersistentVolume disk --type"),
        "{found:#?}"
    );
}

#[test]
fn namespace_help_uses_the_finalize_subresource() {
    let found = findings(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\nspec: {finalizers: [example.com/hold]}\n",
    );
    let command = "`kubectl get namespace shop -o json | jq 'del(.spec.finalizers[] | select(. == \"example.com/hold\"))' | kubectl \
                   replace --raw /api/v1/namespaces/shop/finalize -f -`";
    assert!(
        the(&found, "namespace-spec-finalizers")
            .help
            .contains(command),
        "{found:#?}"
    );
}

#[test]
fn known_finalizer_finding_names_its_controller() {
    let scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web, namespace: shop, finalizers: [finalizer.keda.sh]}\n";
    let absent = findings(scaled);
    let reason = &the(&absent, "finalizer-runtime").reason;
    assert!(
        reason.starts_with(
            "The KEDA operator (image kedacore/keda) removes it, but is not in the input"
        ),
        "{reason}"
    );

    let present = findings(&format!(
        "{}---\n{scaled}",
        fixture("rules/finalizer-runtime/bad/with-its-controller.yaml")
    ));
    let with_workload: Vec<_> = present
        .iter()
        .filter(|finding| finding.rule == "finalizer-runtime")
        .collect();
    for finding in &with_workload {
        assert!(
            finding.reason.contains(
                "that is Deployment `keda-operator`, which runs `ghcr.io/kedacore/keda:2.17.0`"
            ),
            "{finding:#?}"
        );
        assert_eq!(finding.related.len(), 1);
    }
    assert_eq!(with_workload.len(), 2);

    let claim = findings(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, finalizers: [kubernetes.io/pvc-protection]}\n",
    );
    assert!(
        the(&claim, "finalizer-runtime")
            .reason
            .starts_with("The PVC protection controller (kube-controller-manager) removes it.")
    );
}

#[test]
fn permissions_are_evidence_for_a_finalizer_remover() {
    let inventory = inventory_of(
        "input.yaml",
        &fixture("rules/finalizer-unknown/good/somebody-removes-it.yaml"),
    );
    let removers = Ownership::of(&inventory).removers;
    let member = |kind: &str| {
        inventory
            .members
            .iter()
            .find(|member| member.key.kind() == kind)
            .expect(kind)
    };
    let remover = removers.remover(&inventory, member("Widget"), "example.com/hold");
    let Remover::Workload {
        id,
        evidence:
            Evidence::Access {
                service_account,
                binding,
                role,
            },
        controller: None,
    } = remover
    else {
        panic!("{remover:?}");
    };
    assert_eq!(
        inventory.member(id).key.to_string(),
        "Deployment.apps/system/operator"
    );
    assert_eq!(service_account, "operator");
    assert_eq!(inventory.member(binding).key.kind(), "ClusterRoleBinding");
    assert_eq!(
        role.map(|role| inventory.member(role).key.kind()),
        Some("ClusterRole")
    );
    // A known finalizer on a kind of its controller, which is not in the input; no workload may change these objects.
    let remover = removers.remover(
        &inventory,
        member("Application"),
        "resources-finalizer.argocd.argoproj.io",
    );
    assert!(matches!(remover, Remover::KnownElsewhere(_)), "{remover:?}");
    // Permissions do not make a controller handle a kind that it does not know.
    let remover = removers.remover(&inventory, member("Widget"), "kubernetes.io/pvc-protection");
    assert!(matches!(remover, Remover::Unknown), "{remover:?}");
}

#[test]
fn controllers_in_bare_pods_and_init_containers_are_found() {
    let pod = |list: &str| {
        format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: one, namespace: a}}\nspec:\n  {list}: [{{name: c, image: 'docker.io/rook/ceph:v1'}}]\n---\n\
             apiVersion: ceph.rook.io/v1\nkind: CephCluster\nmetadata: {{name: c, namespace: b}}\n"
        )
    };
    for list in ["containers", "initContainers"] {
        let inventory = inventory_of("input.yaml", &pod(list));
        let removers = Ownership::of(&inventory).removers;
        let remover = removers.remover(
            &inventory,
            &inventory.members[1],
            "cephcluster.ceph.rook.io",
        );
        assert!(
            matches!(
                remover,
                Remover::Workload {
                    evidence: Evidence::Image { .. },
                    ..
                }
            ),
            "{list}: {remover:?}"
        );
    }
}

#[test]
fn live_object_gets_no_warning_for_controller_finalizers() {
    let dump = |finalizer: &str| {
        let metadata = format!(
            "namespace: shop, uid: 11111111-2222-3333-4444-000000000001, resourceVersion: '7', finalizers: [{finalizer}]"
        );
        findings(&widget(&metadata))
    };
    for finalizer in [
        "example.com/hold",
        "hold",
        "karmada.io/binding-controller",
        "foregroundDeletion",
    ] {
        let found = dump(finalizer);
        assert!(
            found
                .iter()
                .all(|finding| finding.severity == Severity::Info),
            "{finalizer}: {found:#?}"
        );
    }
    assert_eq!(
        the(&dump("kubernetes"), "finalizer-misplaced").severity,
        Severity::Warning
    );
}

#[test]
fn unverified_rows_give_only_infos() {
    let found = findings(
        "apiVersion: opensearch.opster.io/v1\nkind: OpenSearchCluster\nmetadata: {name: v, namespace: l, finalizers: [Opster]}\n",
    );
    assert_eq!(the(&found, "finalizer-runtime").severity, Severity::Info);
    assert_eq!(
        the(&found, "finalizer-unqualified").severity,
        Severity::Info
    );
    let found = findings(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: v, namespace: l, finalizers: [foregroundDeleteVirtualMachine]}\n",
    );
    assert_eq!(the(&found, "finalizer-runtime").severity, Severity::Info);
}

#[test]
fn finalizer_on_unlisted_kind_is_info_and_blocks_nothing() {
    let text = "\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: owner, namespace: shop, uid: 11111111-2222-3333-4444-000000000001}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: fork
  namespace: shop
  finalizers: [cephcluster.ceph.rook.io]
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: owner, uid: 11111111-2222-3333-4444-000000000001, blockOwnerDeletion: true}
";
    let found = findings(text);
    let misplaced = the(&found, "finalizer-misplaced");
    assert_eq!(misplaced.severity, Severity::Info);
    assert!(
        misplaced
            .reason
            .starts_with("According to the table of known finalizers, the Rook operator"),
        "{misplaced:#?}"
    );
    for rule in ["foreground-deadlock", "namespace-never-empties"] {
        assert!(
            found.iter().all(|finding| finding.rule != rule),
            "{found:#?}"
        );
    }
    let own = findings(&text.replace("cephcluster.ceph.rook.io", "kubernetes.io/pvc-protection"));
    assert_eq!(the(&own, "finalizer-misplaced").severity, Severity::Warning);
    the(&own, "foreground-deadlock");
    the(&own, "namespace-never-empties");
}

#[test]
fn workload_with_permissions_may_remove_a_finalizer() {
    let operator = fixture("rules/finalizer-unknown/good/somebody-removes-it.yaml");
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n";
    let widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: here, namespace: system, finalizers: [example.com/hold]}\n";
    let found = findings(&format!("{operator}---\n{namespace}---\n{widget}"));
    let finding = the(&found, "namespace-shared-with-operator");
    assert!(
        finding.message.contains(
            "may get stuck: the Pods of Deployment `operator` are deleted first, and no other controller is known to release"
        ),
        "{finding:#?}"
    );
    assert!(
        finding.reason.contains("may be the one that removes"),
        "{finding:#?}"
    );

    let known = operator
        .replace("example.com", "argoproj.io")
        .replace("widgets/finalizers", "applications");
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: b, finalizers: [argocd.argoproj.io/hook-finalizer]}\n";
    let found = findings(&format!("{known}---\n{application}"));
    let reason = &the(&found, "finalizer-runtime").reason;
    assert!(
        reason.contains(
            "in the input, Deployment `operator` may remove it: its ServiceAccount `operator` may change such objects"
        ),
        "{reason}"
    );
}
