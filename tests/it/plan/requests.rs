//! The requests of each tool when objects are removed: order, policy, and waits.

use ownerlint::cluster::Analysis;
use ownerlint::delivery::flux::{DeletionPolicy, HelmReleaseSettings, KustomizationSettings};
use ownerlint::delivery::helm::HelmVersion;
use ownerlint::delivery::{
    Leaving, Op, ToolRequest, Withdrawal, argocd, flux, helm, kubectl, namespace,
};
use ownerlint::inventory::Inventory;
use ownerlint::kube::{Policy, Wait};

use crate::support::inventory_of;

/// An operator with its kind, an instance and a webhook, in alphabetical order and not in the order of any tool.
const OPERATOR: &str = "
{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, namespace: shop}}
---
{apiVersion: shop.example.net/v1, kind: Cake, metadata: {name: one, namespace: shop}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cakes.shop.example.net}
spec: {group: shop.example.net, scope: Namespaced, names: {kind: Cake, plural: cakes}, versions: [{name: v1, served: true}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: hook}}
---
{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: shop}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
";

/// Calls `ask` with all objects of a text.
fn of<T>(text: &str, ask: impl FnOnce(&Leaving<'_>) -> T) -> T {
    let inventory = inventory_of("a.yaml", text);
    let analysis = Analysis::of(&inventory);
    ask(&leaving(&inventory, &analysis))
}

fn leaving<'a>(inventory: &'a Inventory, analysis: &'a Analysis<'a>) -> Leaving<'a> {
    Leaving {
        inventory,
        deliveries: analysis.deliveries(),
        members: inventory.members.iter().collect(),
    }
}

/// Returns lines such as `delete Kind/name`, with a bar after each request that the tool waits for.
fn lines(withdrawal: &Withdrawal<'_>) -> Vec<String> {
    let one = |request: &ToolRequest| {
        let op = match request.op {
            Op::Delete => "delete",
            Op::Create => "create",
            Op::Update => "update",
        };
        let wait = match request.wait {
            Wait::None => "",
            Wait::Named | Wait::Gone => " |",
            Wait::Settled => " ||",
        };
        format!("{op} {}/{}{wait}", request.key.kind(), request.key.name)
    };
    withdrawal.requests.iter().map(one).collect()
}

fn kinds(withdrawal: &Withdrawal<'_>) -> Vec<String> {
    withdrawal
        .requests
        .iter()
        .map(|request| request.key.kind().to_string())
        .collect()
}

fn spared(withdrawal: &Withdrawal<'_>) -> usize {
    withdrawal.spared.len()
}

fn config_map(name: &str, metadata: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop{metadata}}}\n"
    )
}

// --- Helm ---

#[test]
fn helm_3_deletes_by_kind_and_unknown_kinds_last() {
    let uninstalled = of(OPERATOR, |all| {
        lines(&helm::uninstall(all, HelmVersion::V3, Policy::Background))
    });
    assert_eq!(
        uninstalled,
        [
            "delete Service/hook",
            "delete Deployment/operator",
            "delete CustomResourceDefinition/cakes.shop.example.net",
            "delete ServiceAccount/op",
            "delete Namespace/shop",
            "delete Cake/one",
            "delete ValidatingWebhookConfiguration/hook",
        ]
    );
}

#[test]
fn helm_4_deletes_webhook_configurations_first() {
    let uninstalled = of(OPERATOR, |all| {
        kinds(&helm::uninstall(all, HelmVersion::V4, Policy::Background))
    });
    assert_eq!(
        uninstalled.first().map(String::as_str),
        Some("ValidatingWebhookConfiguration")
    );
    assert_eq!(uninstalled.last().map(String::as_str), Some("Cake"));
}

#[test]
fn helm_uninstall_uses_the_given_policy() {
    let policies = |policy| {
        of(OPERATOR, |all| {
            let requests = helm::uninstall(all, HelmVersion::V3, policy).requests;
            requests
                .iter()
                .all(|request| request.policy == Some(policy))
        })
    };
    assert!(
        [Policy::Background, Policy::Foreground, Policy::Orphan]
            .into_iter()
            .all(policies)
    );
}

#[test]
fn helm_orders_custom_resource_like_builtin_kind_of_same_name() {
    let text = "
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web, namespace: shop}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator, namespace: shop}}
";
    let uninstalled = of(text, |all| {
        kinds(&helm::uninstall(all, HelmVersion::V3, Policy::Background))
    });
    assert_eq!(uninstalled, ["Service", "Deployment"]);
}

#[test]
fn helm_uninstall_keeps_hooks_and_objects_with_resource_policy() {
    let text = [
        config_map("plain", ""),
        config_map("kept", ", annotations: {helm.sh/resource-policy: keep}"),
        config_map("odd", ", annotations: {helm.sh/resource-policy: delete}"),
        config_map("hook", ", annotations: {helm.sh/hook: post-install}"),
    ];
    of(&text.concat(), |all| {
        let withdrawal = helm::uninstall(all, HelmVersion::V3, Policy::Background);
        assert_eq!(lines(&withdrawal), ["delete ConfigMap/plain"]);
        assert_eq!(spared(&withdrawal), 3);
    });
}

/// Returns the requests of an upgrade from `old` to `new`, if updates of the object `rejected` fail.
fn upgrade(old: &str, new: &str, rejected: &str) -> Vec<String> {
    of(old, |old| {
        of(new, |new| {
            lines(&helm::upgrade(old, new, HelmVersion::V3, |key| {
                key.name == rejected
            }))
        })
    })
}

#[test]
fn helm_upgrade_writes_first_then_deletes_in_install_order() {
    let old = [OPERATOR, &config_map("stays", "")].concat();
    let new = [config_map("stays", ""), config_map("new", "")].concat();
    assert_eq!(
        upgrade(&old, &new, ""),
        [
            "update ConfigMap/stays",
            "create ConfigMap/new",
            "delete Namespace/shop",
            "delete ServiceAccount/op",
            "delete CustomResourceDefinition/cakes.shop.example.net",
            "delete Service/hook",
            "delete Deployment/operator",
            "delete Cake/one",
            "delete ValidatingWebhookConfiguration/hook",
        ]
    );
}

#[test]
fn failed_helm_upgrade_creates_new_objects_and_deletes_nothing() {
    let old = [config_map("changed", ""), config_map("leaves", "")].concat();
    let new = [config_map("changed", ""), config_map("new", "")].concat();
    assert_eq!(
        upgrade(&old, &new, "changed"),
        ["update ConfigMap/changed", "create ConfigMap/new"]
    );
}

#[test]
fn only_post_upgrade_hook_recreates_its_object() {
    let old = [config_map("a", ""), config_map("stays", "")].concat();
    let hooked = |event: &str| {
        let new = [
            config_map(
                "a",
                &format!(", annotations: {{helm.sh/hook: \"{event}\"}}"),
            ),
            config_map("stays", ""),
        ];
        upgrade(&old, &new.concat(), "")
    };
    assert_eq!(
        hooked("post-install"),
        ["update ConfigMap/stays", "delete ConfigMap/a"]
    );
    assert_eq!(
        hooked("pre-upgrade"),
        [
            "create ConfigMap/a",
            "update ConfigMap/stays",
            "delete ConfigMap/a"
        ]
    );
    assert_eq!(
        hooked("post-install, post-upgrade"),
        [
            "update ConfigMap/stays",
            "delete ConfigMap/a",
            "create ConfigMap/a"
        ]
    );
}

#[test]
fn helm_upgrade_honours_only_an_exact_keep_policy() {
    let old = [
        config_map("kept", ", annotations: {helm.sh/resource-policy: keep}"),
        config_map("odd", ", annotations: {helm.sh/resource-policy: Keep}"),
    ];
    assert_eq!(
        upgrade(&old.concat(), &config_map("new", ""), ""),
        ["create ConfigMap/new", "delete ConfigMap/odd"]
    );
}

// --- kubectl ---

#[test]
fn kubectl_deletes_in_file_order_and_waits_at_the_end() {
    let text = [
        config_map("b", ""),
        config_map("a", ""),
        config_map("b", ""),
    ]
    .concat();
    let deleted = of(&text, |all| {
        lines(&kubectl::delete(all, Policy::Background))
    });
    assert_eq!(deleted, ["delete ConfigMap/b", "delete ConfigMap/a |"]);
}

#[test]
fn kubectl_does_not_delete_object_with_generate_name() {
    let text = "{apiVersion: batch/v1, kind: Job, metadata: {generateName: job-, namespace: shop}}";
    assert_eq!(
        of(text, |all| lines(&kubectl::delete(all, Policy::Background))),
        [""; 0]
    );
}

// --- Argo CD ---

#[test]
fn argo_cd_deletes_the_highest_wave_first_and_waits_for_each() {
    let wave = |name: &str, wave: &str| config_map(name, &format!(", annotations: {{{wave}}}"));
    let text = [
        wave("first", "argocd.argoproj.io/sync-wave: '-1'"),
        config_map("middle", ""),
        wave("last", "argocd.argoproj.io/sync-wave: '2'"),
        wave("weight", "helm.sh/hook-weight: '2'"),
        wave("unreadable", "argocd.argoproj.io/sync-wave: two"),
    ];
    let deleted = of(&text.concat(), |all| {
        lines(&argocd::application_deleted(all, Policy::Foreground))
    });
    assert_eq!(
        deleted,
        [
            "delete ConfigMap/last",
            "delete ConfigMap/weight |",
            "delete ConfigMap/middle",
            "delete ConfigMap/unreadable |",
            "delete ConfigMap/first |",
        ]
    );
}

#[test]
fn argo_cd_keeps_crds_owned_and_protected_objects() {
    let owned = ", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: plain, uid: u}]";
    let text = [
        OPERATOR.to_owned(),
        config_map("owned", owned),
        config_map(
            "kept",
            ", annotations: {argocd.argoproj.io/sync-options: Delete=false}",
        ),
        config_map("helm", ", annotations: {helm.sh/resource-policy: keep}"),
        config_map(
            "pruned",
            ", annotations: {argocd.argoproj.io/sync-options: Prune=false}",
        ),
    ];
    of(&text.concat(), |all| {
        let withdrawal = argocd::application_deleted(all, Policy::Foreground);
        assert_eq!(spared(&withdrawal), 4);
        assert!(!kinds(&withdrawal).contains(&"CustomResourceDefinition".to_owned()));
        assert!(
            lines(&withdrawal).contains(&"delete ConfigMap/pruned |".to_owned()),
            "{:?}",
            lines(&withdrawal)
        );
    });
}

#[test]
fn argo_cd_prune_keeps_crds_and_honours_prune_last() {
    let last =
        ", annotations: {argocd.argoproj.io/sync-options: \"Validate=false, PruneLast=true\"}";
    let text = [OPERATOR.to_owned(), config_map("last", last)].concat();
    of(&text, |all| {
        let withdrawal = argocd::prune(all, Policy::Foreground);
        assert!(!kinds(&withdrawal).contains(&"CustomResourceDefinition".to_owned()));
        assert_eq!(
            lines(&withdrawal).last().map(String::as_str),
            Some("delete ConfigMap/last |")
        );
    });
}

#[test]
fn application_finalizer_decides_the_deletion_policy() {
    let policy = |finalizer: &str| {
        let text = format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: web, namespace: argocd, finalizers: [{finalizer}]}}}}"
        );
        let inventory = inventory_of("a.yaml", &text);
        argocd::policy_of(&inventory.members[0].object)
    };
    assert_eq!(
        policy("resources-finalizer.argocd.argoproj.io"),
        Some(Policy::Foreground)
    );
    assert_eq!(
        policy("resources-finalizer.argocd.argoproj.io/foreground"),
        Some(Policy::Foreground)
    );
    assert_eq!(
        policy("resources-finalizer.argocd.argoproj.io/background"),
        Some(Policy::Background)
    );
    assert_eq!(policy("example.com/other"), None);
    assert_eq!(policy(""), None);
}

// --- Flux ---

#[test]
fn flux_deletes_custom_resources_before_operator_and_crds_last() {
    let deleted = of(OPERATOR, |all| {
        lines(&flux::kustomization_deleted(
            all,
            KustomizationSettings::default(),
        ))
    });
    assert_eq!(
        deleted,
        [
            "delete ValidatingWebhookConfiguration/hook",
            "delete Cake/one",
            "delete Deployment/operator",
            "delete Service/hook",
            "delete ServiceAccount/op",
            "delete Namespace/shop",
            "delete CustomResourceDefinition/cakes.shop.example.net",
        ]
    );
}

#[test]
fn flux_deletes_in_reverse_group_namespace_and_name_order() {
    let text = "
{apiVersion: a.example.com/v1, kind: Z, metadata: {name: a, namespace: a}}
---
{apiVersion: b.example.com/v1, kind: A, metadata: {name: a, namespace: a}}
---
{apiVersion: b.example.com/v1, kind: A, metadata: {name: b, namespace: a}}
---
{apiVersion: b.example.com/v1, kind: A, metadata: {name: a, namespace: b}}
";
    let order: Vec<String> = of(text, |all| {
        let requests = flux::prune(all, KustomizationSettings::default()).requests;
        requests
            .iter()
            .map(|request| request.key.to_string())
            .collect()
    });
    assert_eq!(
        order,
        [
            "A.b.example.com/b/a",
            "A.b.example.com/a/b",
            "A.b.example.com/a/a",
            "Z.a.example.com/a/a"
        ]
    );
}

#[test]
fn suspended_unpruned_or_orphaning_kustomization_deletes_nothing() {
    let usual = KustomizationSettings::default();
    let sent = |settings| {
        of(OPERATOR, |all| {
            flux::kustomization_deleted(all, settings).requests.len()
        })
    };
    assert_eq!(sent(usual), 7);
    assert_eq!(
        sent(KustomizationSettings {
            suspended: true,
            ..usual
        }),
        0
    );
    assert_eq!(
        sent(KustomizationSettings {
            prune: false,
            ..usual
        }),
        0
    );
    let policy = |deletion_policy, prune| KustomizationSettings {
        deletion_policy,
        prune,
        ..usual
    };
    assert_eq!(sent(policy(DeletionPolicy::Orphan, true)), 0);
    assert_eq!(sent(policy(DeletionPolicy::Delete, false)), 7);
    let waiting = policy(DeletionPolicy::WaitForTermination, false);
    let waits = of(OPERATOR, |all| {
        lines(&flux::kustomization_deleted(all, waiting))
    });
    let awaited: Vec<usize> = (0..waits.len())
        .filter(|at| waits[*at].ends_with('|'))
        .collect();
    assert_eq!(awaited, [6]);
}

#[test]
fn flux_settings_are_read_from_flux_objects() {
    let object = |kind: &str, spec: &str| {
        let text = format!(
            "{{apiVersion: toolkit.fluxcd.io/v1, kind: {kind}, metadata: {{name: web, namespace: flux-system}}, spec: {spec}}}"
        );
        inventory_of("a.yaml", &text)
    };
    let inventory = object(
        "Kustomization",
        "{prune: true, suspend: true, deletionPolicy: Orphan}",
    );
    let said = KustomizationSettings::of(&inventory.members[0].object);
    assert_eq!(
        said,
        KustomizationSettings {
            prune: true,
            suspended: true,
            deletion_policy: DeletionPolicy::Orphan
        }
    );
    let inventory = object("Kustomization", "{}");
    assert!(
        !KustomizationSettings::of(&inventory.members[0].object).prune,
        "prune has no default"
    );
    let inventory = object(
        "HelmRelease",
        "{uninstall: {deletionPropagation: foreground, disableWait: true}}",
    );
    let said = HelmReleaseSettings::of(&inventory.members[0].object);
    assert_eq!(
        said,
        HelmReleaseSettings {
            suspended: false,
            propagation: Policy::Foreground,
            disable_wait: true
        }
    );
}

#[test]
fn helm_release_deletion_uninstalls_and_waits() {
    let usual = HelmReleaseSettings::default();
    let deleted = |settings| {
        of(OPERATOR, |all| {
            lines(&flux::helm_release_deleted(all, HelmVersion::V3, settings))
        })
    };
    assert_eq!(
        deleted(usual).first().map(String::as_str),
        Some("delete Service/hook")
    );
    assert_eq!(
        deleted(usual).last().map(String::as_str),
        Some("delete ValidatingWebhookConfiguration/hook |")
    );
    let silent = deleted(HelmReleaseSettings {
        disable_wait: true,
        ..usual
    });
    assert_eq!(
        silent.last().map(String::as_str),
        Some("delete ValidatingWebhookConfiguration/hook")
    );
    assert_eq!(
        deleted(HelmReleaseSettings {
            suspended: true,
            ..usual
        }),
        [""; 0]
    );
}

// --- a Namespace ---

#[test]
fn namespace_deletion_is_one_request_and_lists_outside_objects() {
    let names = ["shop".to_owned()].into();
    of(OPERATOR, |all| {
        let withdrawal = namespace::delete(all, &names, Policy::Background);
        assert_eq!(lines(&withdrawal), ["delete Namespace/shop |"]);
        let outside: Vec<&str> = withdrawal
            .outside
            .iter()
            .map(|id| all.inventory.member(*id).key.kind())
            .collect();
        assert_eq!(
            outside,
            ["CustomResourceDefinition", "ValidatingWebhookConfiguration"]
        );
    });
}
