//! Objects that a sync of Argo CD deletes and creates again, although the change keeps them as they are.

use super::argo::{application, root};
use super::flux::{compared, config, effects};

/// Returns a claim that Argo CD replaces.
fn claim() -> String {
    "== web/data.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop, annotations: {argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n".to_owned()
}

/// Returns the files of an Application with a sync policy.
fn web(policy: &str) -> String {
    let written = application("web", "web", &format!("  syncPolicy: {{{policy}}}\n"));
    let written = written.replacen("  syncPolicy: {automated: {prune: true}}\n", "", 1);
    format!("{}== argocd/apps/web.yaml\n{written}", root())
}

/// Returns the effects of a change of another object of the Application.
fn of_change(both: &str) -> Vec<String> {
    let other = format!("== web/a.yaml\n{}", config("a"));
    let changed = other.replace("a: b", "a: c");
    effects(&compared(both, &other, &changed))
}

#[test]
fn sync_recreates_unchanged_object_with_force_and_replace() {
    let again = [
        "data-lost PersistentVolumeClaim/shop/data possible, .",
        "recreated PersistentVolumeClaim/shop/data certain, .",
    ];
    let automated = web("automated: {prune: true}");
    assert_eq!(of_change(&(automated.clone() + &claim())), again);
    let unmarked = claim().replace("Force=true,", "");
    assert_eq!(of_change(&(automated + &unmarked)), [""; 0]);
    for policy in [
        "automated: {prune: true}, syncOptions: [ApplyOutOfSyncOnly=true]",
        "syncOptions: [CreateNamespace=true]",
    ] {
        assert_eq!(of_change(&(web(policy) + &claim())), [""; 0], "{policy}");
    }
}

#[test]
fn replaced_claim_in_use_is_stuck() {
    let pods = "== web/web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers: [{name: web, image: 'web:1'}]\n      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n";
    let both = web("automated: {prune: true}") + &claim() + pods;
    assert_eq!(
        of_change(&both),
        [
            "stuck PersistentVolumeClaim/shop/data certain, .",
            "data-lost PersistentVolumeClaim/shop/data possible, ."
        ]
    );
    let idle = both.replace("spec:\n  selector", "spec:\n  replicas: 0\n  selector");
    assert!(of_change(&idle)[1].starts_with("recreated"));
}
