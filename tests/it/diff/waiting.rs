//! Kustomizations that wait for others (`spec.dependsOn`).

use serde_json::Value;

use super::flux::{compared, config, effects, kustomization, root};

const WAITS: &str = "  dependsOn: [{name: base}]\n";
const REMOTE: &str = "  kubeConfig: {secretRef: {name: edge}}\n";

fn deployment(app: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  selector: {{matchLabels: {{app: {app}}}}}\n  template:\n    metadata: {{labels: {{app: {app}}}}}\n    spec: {{containers: [{{name: web, image: 'web:1'}}]}}\n"
    )
}

/// Returns the effect on the ConfigMap `cart`, which leaves the Kustomization `apps`. `both` are files of both states,
/// and `base` and `head` those of one.
fn of_cart(both: &str, base: &str, head: &str) -> (String, Value) {
    let both = root("prod") + both + &format!("== apps/web.yaml\n{}", config("web"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &(base.to_owned() + &cart), head);
    let all = effects(&document);
    let mut all = all.iter().filter(|one| one.contains("/cart "));
    let effect = all.next().cloned().unwrap_or_default();
    (effect, document)
}

/// Returns the file with the Kustomizations `apps` and `base`.
fn kustomizations(apps: &str, base: &str) -> String {
    format!(
        "== clusters/prod/apps.yaml\n{}{}",
        kustomization("apps", "./apps", apps),
        kustomization("base", "./base", base)
    )
}

#[test]
fn dependency_is_in_the_cluster_of_its_object() {
    let suspended = "  suspend: true\n";
    let configs = format!("== base/base.yaml\n{}", config("base"));
    for (apps, base) in [(WAITS, REMOTE), (REMOTE, ""), (REMOTE, REMOTE)] {
        let apps = apps.replace(WAITS, "") + WAITS;
        let both = configs.clone() + &kustomizations(&apps, &(base.to_owned() + suspended));
        let (effect, document) = of_cart(&both, "", "");
        assert!(
            effect.starts_with("kept ConfigMap/shop/cart certain"),
            "{apps} {base}: {document}"
        );
    }
}

#[test]
fn removed_dependency_is_missed_in_the_cluster_of_its_object() {
    let apps = format!(
        "== clusters/prod/apps.yaml\n{}",
        kustomization("apps", "./apps", &(REMOTE.to_owned() + WAITS))
    );
    let awaited = format!(
        "== clusters/prod/base.yaml\n{}== base/base.yaml\n{}",
        kustomization("base", "./base", ""),
        config("base")
    );
    let (effect, document) = of_cart(&apps, &awaited, "");
    assert!(
        effect.starts_with("kept ConfigMap/shop/cart certain"),
        "{document}"
    );
}

#[test]
fn patched_dependency_decides_which_kustomization_applies_first() {
    let moved = |patch: &str| {
        let patches = format!(
            "== clusters/prod/kustomization.yaml\nresources: [apps.yaml, flux-system/gotk-sync.yaml]\npatches:\n- target: {{kind: Kustomization, name: apps}}\n  patch: |\n    - {{op: test, path: /metadata/name, value: apps}}\n{patch}"
        );
        let both = root("prod")
            + &patches
            + &kustomizations("", "")
            + &format!(
                "== apps/web.yaml\n{}== base/base.yaml\n{}",
                config("web"),
                config("base")
            );
        let cart = |folder: &str| format!("== {folder}/cart.yaml\n{}", config("cart"));
        effects(&compared(&both, &cart("base"), &cart("apps")))
    };
    assert_eq!(
        moved(""),
        ["recreated ConfigMap/shop/cart race, clusters/prod"]
    );
    let waits = "    - {op: add, path: /spec/dependsOn, value: [{name: base}]}\n";
    assert_eq!(
        moved(waits),
        ["recreated ConfigMap/shop/cart certain, clusters/prod"]
    );
}

#[test]
fn rejected_update_makes_dependants_wait() {
    let state = |apps: &str, base: &str, app: &str| {
        kustomizations(apps, base) + &format!("== base/web.yaml\n{}", deployment(app))
    };
    let (effect, document) = of_cart("", &state(WAITS, "", "a"), &state(WAITS, "", "b"));
    assert_eq!(
        effect,
        "orphaned ConfigMap/shop/cart certain, clusters/prod"
    );
    let said = "the Kustomization flux-system/apps waits for a Kustomization that can no longer apply its sources, because \
                the API server rejects the update of Deployment.apps/shop/web: 1 object that left stays in the cluster";
    assert!(document.to_string().contains(said), "{document}");
    let (effect, _) = of_cart("", &state("", "", "a"), &state("", "", "b"));
    assert_eq!(effect, "deleted ConfigMap/shop/cart certain, clusters/prod");
    // `apps` may reconcile once before its parent makes it wait.
    let (effect, _) = of_cart("", &state("", "", "a"), &state(WAITS, "", "b"));
    assert_eq!(effect, "deleted ConfigMap/shop/cart race, clusters/prod");
    // The objects of both may be in different clusters.
    for (apps, base, cluster) in [(WAITS, REMOTE, ""), (REMOTE, "", "/edge")] {
        let apps = apps.replace(WAITS, "") + WAITS;
        let (effect, _) = of_cart("", &state(&apps, base, "a"), &state(&apps, base, "b"));
        assert_eq!(
            effect,
            format!("orphaned ConfigMap/shop/cart certain, clusters/prod{cluster}")
        );
    }
    let force = "  force: true\n";
    let (effect, _) = of_cart("", &state(WAITS, force, "a"), &state(WAITS, force, "b"));
    assert_eq!(effect, "deleted ConfigMap/shop/cart certain, clusters/prod");
}

#[test]
fn rejected_update_is_that_of_the_same_deliverer() {
    let web = |folder: &str, app: &str| format!("== {folder}/web.yaml\n{}", deployment(app));
    let leaving = |folder: &str| {
        let both = root("prod") + &kustomizations("", "") + &web("apps", "a");
        let cart = format!("== {folder}/cart.yaml\n{}", config("cart"));
        effects(&compared(
            &both,
            &(web("base", "a") + &cart),
            &web("base", "b"),
        ))
    };
    assert_eq!(
        leaving("base"),
        ["orphaned ConfigMap/shop/cart certain, clusters/prod"]
    );
    assert_eq!(
        leaving("apps"),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
}

#[test]
fn dependency_that_nothing_applies_makes_deletions_possible() {
    let apps = |more: &str| {
        let apps = kustomization("apps", "./apps", more);
        format!("== clusters/prod/apps.yaml\n{apps}")
    };
    let waits = apps("  dependsOn: [{name: bse}]\n");
    let (effect, document) = of_cart("", &apps(""), &waits);
    assert_eq!(
        effect,
        "deleted ConfigMap/shop/cart possible, clusters/prod"
    );
    let said = "the Kustomization flux-system/apps waits for Kustomization.kustomize.toolkit.fluxcd.io/flux-system/bse, which nothing \
                here applies: if the cluster does not have it, nothing is deleted";
    assert!(document["notes"].to_string().contains(said), "{document}");
    // `apps` has applied the object, so its dependency is in the cluster.
    let (effect, _) = of_cart(&waits, "", "");
    assert_eq!(effect, "deleted ConfigMap/shop/cart certain, clusters/prod");
}

#[test]
fn namespace_that_nothing_creates_makes_deletions_possible() {
    let apps = |namespace: &str| {
        let apps = kustomization(
            "apps",
            "./apps",
            &format!("  targetNamespace: {namespace}\n"),
        );
        format!("== clusters/prod/apps.yaml\n{apps}")
    };
    let moved = |more: &str, to: &str| {
        let both = root("prod") + &format!("== apps/web.yaml\n{}{more}", config("web"));
        let document = compared(&both, &apps("shop"), &apps(to));
        (effects(&document), document["notes"].to_string())
    };
    let (found, notes) = moved("", "tools");
    assert_eq!(
        found,
        ["deleted ConfigMap/shop/web possible, clusters/prod"]
    );
    assert!(
        notes.contains("applies objects to the namespace tools, which nothing here creates"),
        "{notes}"
    );
    let certain = ["deleted ConfigMap/shop/web certain, clusters/prod"];
    let created =
        "== clusters/prod/ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: tools}\n";
    assert_eq!(moved(created, "tools").0, certain);
    assert_eq!(moved("", "default").0, certain);
}
