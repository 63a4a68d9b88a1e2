//! Objects that move to another deliverer, or may do so.

use serde_json::Value;

use super::flux::{compared, config, effects, kustomization, root, text_of};

/// Returns the entry point of a cluster and its Kustomizations.
fn cluster(kustomizations: &[String]) -> String {
    root("prod") + "== clusters/prod/apps.yaml\n" + &kustomizations.concat()
}

fn claim(path: &str, name: &str) -> String {
    format!(
        "== {path}\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: {name}\n  namespace: shop\nspec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}\n"
    )
}

/// Returns the findings as `severity rule: message`.
fn findings(document: &Value) -> Vec<String> {
    let found = document["findings"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    found
        .map(|one| {
            let [severity, rule, message] =
                ["severity", "rule", "message"].map(|key| text(&one[key]));
            format!("{severity} {rule}: {message}")
        })
        .collect()
}

#[test]
fn claim_with_unknown_name_is_possibly_renamed() {
    let from = "  postBuild: {substituteFrom: [{kind: Secret, name: vars}]}\n";
    let both = cluster(&[kustomization("apps", "./apps", from)])
        + "== apps/pod.yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers: [{name: web, image: web}]\n  volumes: [{name: data, persistentVolumeClaim: {claimName: 'data-${X}'}}]\n";
    let compared_with = |name: &str| {
        let base = claim("apps/claim.yaml", "data-${X}");
        compared(&both, &base, &claim("apps/claim.yaml", name))
    };
    for name in ["data-${Y}", "data-web"] {
        let document = compared_with(name);
        assert_eq!(
            findings(&document),
            [format!(
                "warning volume-removed: renaming PersistentVolumeClaim `data-${{X}}` to `{name}` \
                 may delete its volume, unless it is retained; head still uses it"
            )]
        );
        let reason = document["findings"][0]["reason"].as_str().expect("a text");
        assert!(
            reason.starts_with("If its name changes, Flux deletes"),
            "{reason}"
        );
        let deleted = "stuck PersistentVolumeClaim/shop/data-${X} possible, clusters/prod";
        assert!(
            effects(&document).contains(&deleted.to_owned()),
            "{document}"
        );
    }
    let document = compared_with("store-${X}");
    assert!(findings(&document)[0].starts_with("error volume-removed"));
}

#[test]
fn moved_object_of_unknown_scope_is_possibly_deleted() {
    let widget = |path: &str| {
        format!(
            "== {path}\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: one}}\nspec: {{a: 1, b: 2}}\n"
        )
    };
    let into = |namespace: &str| format!("  targetNamespace: {namespace}\n");
    let both = cluster(&[
        kustomization("a", "./a", &into("a")),
        kustomization("b", "./b", &into("b")),
    ]) + "== a/config.yaml\n"
        + &config("a")
        + "== b/config.yaml\n"
        + &config("b");
    let document = compared(&both, &widget("a/one.yaml"), &widget("b/one.yaml"));
    assert_eq!(
        effects(&document),
        ["deleted Widget.example.com/a/one possible, clusters/prod"]
    );
    // An operator file says that Issuers are namespaced.
    let known = |path: &str| {
        widget(path)
            .replace("Widget", "Issuer")
            .replace("example.com", "cert-manager.io")
    };
    let document = compared(&both, &known("a/one.yaml"), &known("b/one.yaml"));
    assert_eq!(
        effects(&document),
        ["deleted Issuer.cert-manager.io/a/one certain, clusters/prod"]
    );
    // Base has both objects, so they are in two namespaces.
    let both = both + &widget("b/one.yaml");
    let document = compared(&both, &widget("a/one.yaml"), "");
    assert_eq!(
        effects(&document),
        ["deleted Widget.example.com/a/one certain, clusters/prod"]
    );
}

#[test]
fn object_moved_to_blocked_kustomization_is_not_created_again() {
    let both = "== a/config.yaml\n".to_owned() + &config("a");
    let a = |more: &str| kustomization("a", "./a", more);
    let b = |more: &str| kustomization("b", "./b", more);
    let checked = "  healthChecks: [{apiVersion: v1, kind: PersistentVolumeClaim, name: data, namespace: shop}]\n";
    let waits = |name: &str| format!("  dependsOn: [{{name: {name}}}]\n");
    let moved = |kustomizations: &[String]| {
        let base = cluster(&[a(checked)]) + &claim("a/claim.yaml", "data");
        let head = cluster(kustomizations) + &claim("b/claim.yaml", "data");
        let document = compared(&both, &base, &head);
        assert_eq!(
            effects(&document),
            [
                "deleted PersistentVolumeClaim/shop/data certain, clusters/prod",
                "data-lost PersistentVolumeClaim/shop/data possible, clusters/prod",
            ]
        );
        document
    };
    let document = moved(&[a(checked), b(&waits("a"))]);
    assert_eq!(
        findings(&document),
        [
            "error move-deletes: moving PersistentVolumeClaim `data` to Kustomization `flux-system/b` deletes it, possibly with its data, and it is not created again"
        ]
    );
    assert_eq!(
        document["findings"][0]["reason"],
        "`flux-system/a` deletes it, and `flux-system/b` never applies it: it waits for `flux-system/a`, which checks the health \
         of PersistentVolumeClaim `data`, deletes it and so never becomes ready."
    );
    let suspended = kustomization("c", "./a", &format!("  suspend: true\n{}", waits("b")));
    for (kustomizations, why) in [
        (
            vec![a(""), b(&waits("b"))],
            "whose dependencies form a cycle",
        ),
        (vec![a(""), b(&waits("c")), suspended], "which is suspended"),
    ] {
        let document = moved(&kustomizations);
        assert_eq!(
            findings(&document),
            [
                "error volume-removed: moving PersistentVolumeClaim `data` elsewhere deletes its \
                 volume, unless it is retained"
            ]
        );
        let failed = document["failed"].as_array().expect("a list").iter();
        let mut reasons = failed.filter_map(|one| one["reason"].as_str());
        assert!(reasons.any(|reason| reason.ends_with(why)), "{document}");
    }
}

#[test]
fn objects_moved_to_kustomization_that_nothing_applies_are_deleted() {
    let other = "== clusters/prod/other.yaml\n".to_owned()
        + &kustomization("other", "./other", "")
        + "== other/config.yaml\n"
        + &config("other");
    let both = root("prod") + &other;
    let delivered = |file: &str, name: &str, folder: &str| {
        format!(
            "== {file}\n{}== {folder}/config.yaml\n{}",
            kustomization(name, &format!("./{folder}"), ""),
            config("web")
        )
    };
    let base = delivered("clusters/prod/web.yaml", "web", "web");
    for head in [
        delivered("lost/web.yaml", "web", "web"),
        delivered("lost/web.yaml", "web", "lost/web"),
        delivered("lost/new.yaml", "new", "lost/web"),
    ] {
        let document = compared(&both, &base, &head);
        assert_eq!(
            effects(&document),
            [
                "deleted ConfigMap/shop/web certain, clusters/prod",
                "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web certain, clusters/prod",
            ],
            "{head}"
        );
    }
    let text = text_of(
        &both,
        &base,
        &delivered("lost/new.yaml", "new", "lost/web"),
        &[],
    );
    assert!(
        text.ends_with("Merging this deletes 2 objects: Kustomization `web` and ConfigMap `web`\n"),
        "{text}"
    );
    // A new cluster applies itself.
    let head = base.clone() + &root("new") + &delivered("clusters/new/web.yaml", "new", "new");
    assert_eq!(effects(&compared(&both, &base, &head)), [""; 0]);
}

/// Recorded: flux-parent-removed-orphan-children.
#[test]
fn kustomization_that_its_removed_parent_leaves_still_delivers() {
    let both = root("prod")
        + "== infra/net.yaml\n"
        + &kustomization("net", "./net", "")
        + "== net/config.yaml\n"
        + &config("web");
    let parent = format!(
        "== clusters/prod/infra.yaml\n{}",
        kustomization("infra", "./infra", "  deletionPolicy: Orphan\n")
    );
    let document = compared(&both, &parent, "");
    let kustomization = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system";
    assert_eq!(
        effects(&document),
        [
            format!("deleted {kustomization}/infra certain, clusters/prod"),
            format!("orphaned {kustomization}/net certain, clusters/prod"),
        ]
    );
}

#[test]
fn removed_retained_volume_keeps_its_storage() {
    let claim = "== apps/claim.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {storageClassName: '', volumeName: data, accessModes: [ReadWriteOnce]}\n";
    let volume = |policy: &str| {
        format!(
            "== apps/volume.yaml\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: data}}\nspec:\n  capacity: {{storage: 1Gi}}\n  accessModes: [ReadWriteOnce]\n{policy}  nfs: {{server: nas, path: /data}}\n"
        )
    };
    let both = cluster(&[kustomization("apps", "./apps", "")]) + claim;
    for policy in ["  persistentVolumeReclaimPolicy: Retain\n", ""] {
        let document = compared(&both, &volume(policy), "");
        assert_eq!(
            findings(&document),
            [
                "warning volume-removed: removing PersistentVolume `data` leaves it stuck in \
                 Terminating; the storage behind it is kept"
            ]
        );
        let reason = document["findings"][0]["reason"].as_str().expect("a text");
        assert!(
            reason.contains("Its reclaim policy keeps the storage"),
            "{reason}"
        );
    }
    let document = compared(
        &both,
        &volume("  persistentVolumeReclaimPolicy: Delete\n"),
        "",
    );
    assert!(
        findings(&document)[0].starts_with("error volume-removed"),
        "{document}"
    );
}
