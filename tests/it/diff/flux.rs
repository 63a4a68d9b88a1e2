//! The objects that Flux applies from a tree, and those that it deletes when the tree changes.

use serde_json::Value;

use super::places::Folder;
use crate::support::ownerlint;

/// Writes the files of a tree, each of which begins with `== path`.
fn write(folder: &Folder, side: &str, tree: &str) {
    for file in tree.split("== ").skip(1) {
        let (path, text) = file.split_once('\n').expect("a path on a line");
        folder.write(&format!("{side}/{path}"), text);
    }
}

/// Compares two trees: `both` are files of both, `base` and `head` are added to one side or replace files there.
pub(super) fn compared(both: &str, base: &str, head: &str) -> Value {
    comparison(both, base, head).expect("a comparison")
}

/// Returns the comparison as human output.
pub(super) fn text_of(both: &str, base: &str, head: &str, arguments: &[&str]) -> String {
    sides(both, base, head).text(arguments)
}

/// Creates a folder with two states of a tree.
fn sides(both: &str, base: &str, head: &str) -> Folder {
    let folder = Folder::new();
    for (side, own) in [("base", base), ("head", head)] {
        write(&folder, side, both);
        write(&folder, side, own);
    }
    folder
}

/// Returns the comparison, or the reason why it fails.
pub(super) fn comparison(both: &str, base: &str, head: &str) -> Result<Value, String> {
    sides(both, base, head).run("", &["--base", "base", "--head", "head"])
}

/// Returns the effects on objects other than the Kustomizations themselves, as `effect key certainty, cluster`.
pub(super) fn effects(document: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let effects = document["effects"].as_array().expect("a list").iter();
    effects
        .map(|one| {
            let (effect, key) = (text(&one["effect"]), text(&one["key"]));
            format!(
                "{effect} {key} {}, {}",
                text(&one["certainty"]),
                text(&one["cluster"])
            )
        })
        .collect()
}

/// Returns a Kustomization named `name` that builds `path`, with `more` in its spec.
pub(super) fn kustomization(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec:\n  path: {path}\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n{more}---\n"
    )
}

/// Returns the file that `flux bootstrap` commits for a cluster.
pub(super) fn root(cluster: &str) -> String {
    let path = format!("./clusters/{cluster}");
    format!(
        "== clusters/{cluster}/flux-system/gotk-sync.yaml\n{}",
        kustomization("flux-system", &path, "")
    )
}

pub(super) fn config(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {{a: b}}\n---\n"
    )
}

/// Returns the Kustomization `apps` of the cluster `prod`.
fn delivered(more: &str) -> String {
    let apps = kustomization("apps", "./apps", more);
    format!("== clusters/prod/apps.yaml\n{apps}")
}

#[test]
fn object_removed_from_one_cluster_is_deleted_only_there() {
    let apps = |cluster: &str, names: &[&str]| {
        let objects: String = names.iter().map(|name| config(name)).collect();
        format!("== clusters/{cluster}/apps.yaml\n{objects}")
    };
    let both = root("prod") + &root("stage") + &apps("stage", &["cart", "web"]);
    let document = compared(
        &both,
        &apps("prod", &["cart", "web"]),
        &apps("prod", &["web"]),
    );
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
    let delivery = &document["effects"][0]["delivery"];
    assert_eq!(
        delivery["id"],
        "clusters/prod|Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system"
    );
    assert_eq!(
        (&delivery["tool"], &delivery["path"]),
        (&"flux".into(), &"clusters/prod".into())
    );
}

#[test]
fn object_moved_between_clusters_is_deleted_in_the_first() {
    let app = |cluster: &str| format!("== clusters/{cluster}/cart.yaml\n{}", config("cart"));
    let both = root("prod") + &root("stage");
    let document = compared(&both, &app("prod"), &app("stage"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
}

#[test]
fn removed_kustomization_deletes_its_objects_in_remote_cluster() {
    let remote = kustomization(
        "edge",
        "./edge",
        "  kubeConfig: {secretRef: {name: edge-cluster}}\n",
    );
    let both = root("prod")
        + &format!("== edge/cart.yaml\n{}", config("cart"))
        + &format!("== clusters/prod/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &format!("== clusters/prod/edge.yaml\n{remote}"), "");
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/cart certain, clusters/prod/edge-cluster",
            "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/edge certain, clusters/prod"
        ]
    );
}

#[test]
fn unlisted_kustomization_is_deleted_with_its_objects() {
    let apps = |list: &str| format!("== apps/kustomization.yaml\nresources: [{list}]\n");
    let both = root("prod")
        + &delivered("")
        + &format!("== apps/web/ks.yaml\n{}", kustomization("web", "./web", ""))
        + &format!(
            "== apps/cart/ks.yaml\n{}",
            kustomization("cart", "./cart", "")
        )
        + &format!("== web/web.yaml\n{}", config("web"))
        + &format!("== cart/cart.yaml\n{}", config("cart"));
    let document = compared(
        &both,
        &apps("web/ks.yaml, cart/ks.yaml"),
        &apps("web/ks.yaml"),
    );
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/cart certain, clusters/prod",
            "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/cart certain, clusters/prod"
        ]
    );
    // An object that was not applied before is not affected.
    let both = both + &apps("web/ks.yaml");
    let more = format!("== cart/more.yaml\n{}", config("more"));
    let document = compared(&both, &more, "");
    assert!(
        !effects(&document)
            .contains(&"deleted ConfigMap/shop/more certain, clusters/prod".to_owned()),
        "{document}"
    );
}

/// Returns the effects when `apps/cart.yaml` is removed and the Kustomization `apps` changes.
fn left(before: &str, after: &str) -> Vec<String> {
    let both = root("prod") + &format!("== apps/web.yaml\n{}", config("web"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    effects(&compared(
        &both,
        &(delivered(before) + &cart),
        &delivered(after),
    ))
}

#[test]
fn suspension_with_a_removal_races_and_orphan_policy_comes_too_late() {
    let raced = ["deleted ConfigMap/shop/cart race, clusters/prod"];
    assert_eq!(left("", "  suspend: true\n"), raced);
    assert_eq!(
        left("", "  deletionPolicy: Orphan\n"),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
    assert_eq!(
        left("  suspend: true\n", "  suspend: true\n"),
        ["orphaned ConfigMap/shop/cart certain, clusters/prod"]
    );
}

/// The file of a Kustomization stays, but the list that applies it no longer names it.
#[test]
fn unlisted_kustomization_is_deleted_with_its_own_policy() {
    let list = |names: &str| {
        format!(
            "== clusters/prod/kustomization.yaml\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{names}]\n"
        )
    };
    let effects_of = |policy: &str| {
        let both = root("prod") + &delivered(policy) + "== apps/cart.yaml\n" + &config("cart");
        effects(&compared(
            &both,
            &list("flux-system/gotk-sync.yaml, apps.yaml"),
            &list("flux-system/gotk-sync.yaml"),
        ))
    };
    let on_cart = |policy: &str| {
        let mut effects = effects_of(policy);
        effects.retain(|effect| effect.contains("ConfigMap/shop/cart"));
        effects
    };
    assert_eq!(
        on_cart(""),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
    assert_eq!(
        on_cart("  deletionPolicy: Orphan\n"),
        ["orphaned ConfigMap/shop/cart certain, clusters/prod"]
    );
}

/// The kustomization places the HelmRelease: its file has no namespace.
#[test]
fn release_that_names_its_own_namespace_does_not_move() {
    let release = |more: &str| {
        format!(
            "== apps/web.yaml\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web}}\nspec:\n  interval: 1h\n  \
             chart: {{spec: {{chart: web, version: 1.0.0, sourceRef: {{kind: HelmRepository, name: charts}}}}}}\n{more}"
        )
    };
    let list = "== apps/kustomization.yaml\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: shop\nresources: [web.yaml]\n";
    let both = root("prod") + &delivered("") + list;
    let moves = |more: &str| {
        let text = text_of(&both, &release(""), &release(more), &["-v"]);
        text.contains("another namespace")
    };
    assert!(!moves(
        "  targetNamespace: shop\n  releaseName: web\n  storageNamespace: shop\n"
    ));
    assert!(moves("  targetNamespace: cart\n  releaseName: web\n"));
}

#[test]
fn prune_disabled_by_common_metadata_keeps_object() {
    let marked = "  commonMetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}}\n";
    assert_eq!(
        left(marked, marked),
        ["kept ConfigMap/shop/cart certain, clusters/prod"]
    );
}

/// `reconcile: disabled` and `ssa: Ignore` are never applied to an existing object.
#[test]
fn reconcile_disabled_and_ssa_ignore_make_deletion_possible() {
    let both = root("prod") + &delivered("") + &format!("== apps/web.yaml\n{}", config("web"));
    for (mark, certainty) in [
        ("reconcile: disabled", "possible"),
        ("ssa: Ignore", "possible"),
        ("ssa: Merge", "certain"),
    ] {
        let marked = format!("annotations: {{kustomize.toolkit.fluxcd.io/{mark}}}, name: cart");
        let cart = format!("== apps/cart.yaml\n{}", config("cart"));
        let cart = cart.replace("name: cart", &marked);
        assert_eq!(
            effects(&compared(&both, &cart, "")),
            [format!(
                "deleted ConfigMap/shop/cart {certainty}, clusters/prod"
            )]
        );
    }
}

/// The Kustomization reconciles the new sources once before its parent removes the variable.
#[test]
fn removed_variable_fails_build_after_a_last_prune() {
    let of = |variables: &str| {
        let build = format!("  postBuild: {{substitute: {{{variables}}}}}\n");
        delivered(&build)
    };
    let both = root("prod") + &format!("== apps/web.yaml\n{}", config("'web${COLOR}'"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &(of("COLOR: -blue, A: b") + &cart), &of("A: b"));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/cart race, clusters/prod",
            "kept ConfigMap/shop/web-blue certain, clusters/prod"
        ]
    );
    let reason = document["failed"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("nothing defines"), "{reason}");
}

#[test]
fn values_of_variables_name_products_and_decide_the_volume_of_a_claim() {
    let class = "== apps/class.yaml\napiVersion: storage.k8s.io/v1\nkind: StorageClass\n\
                 metadata: {name: local}\nprovisioner: example.com/local\nreclaimPolicy: Delete\n";
    let removed = "== apps/web.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\n\
                   metadata: {name: '${APP}', namespace: shop}\nspec: {storageClassName: '${CLASS:=local}'}\n\
                   ---\napiVersion: dragonflydb.io/v1alpha1\nkind: Dragonfly\n\
                   metadata: {name: '${APP}-db', namespace: shop}\nspec: {replicas: 1}\n";
    let build = "  postBuild: {substitute: {APP: web}}\n";
    let both = root("prod") + &delivered(build) + class;
    let document = compared(&both, removed, "");
    assert_eq!(
        effects(&document),
        [
            "deleted PersistentVolumeClaim/shop/web certain, clusters/prod",
            "data-lost PersistentVolumeClaim/shop/web certain, clusters/prod",
            "generated-deleted Service/shop/web-db certain, -",
            "generated-deleted StatefulSet.apps/shop/web-db certain, -",
            "deleted Dragonfly.dragonflydb.io/shop/web-db certain, clusters/prod"
        ]
    );
}

#[test]
fn newly_failing_build_is_reported_beside_one_that_failed_before() {
    let both = "== one/kustomization.yaml\nresources: [gone.yaml, a.yaml]\n== one/a.yaml\nkind: [\n\
                == two/kustomization.yaml\nresources: [b.yaml]\n";
    let old = format!("== two/b.yaml\n{}", config("b"));
    let said = text_of(both, &old, "", &[]);
    let sentence = "The change makes a delivery fail, and the objects that it delivers stay as \
                    they are: ";
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains("two/kustomization.yaml:1)"), "{said}");
    assert!(!text_of(both, &old, &old, &[]).contains(sentence));
}

/// `--fail-on unknown` also fails for a delivery that the change breaks: it deletes nothing until it is repaired.
#[test]
fn newly_failing_build_can_fail_the_run() {
    let both = "== two/kustomization.yaml\nresources: [b.yaml]\n";
    let old = format!("== two/b.yaml\n{}", config("b"));
    let status = |head: &str, more: &[&str]| {
        let mut command = ownerlint();
        let folder = sides(both, &old, head);
        command.current_dir(folder.path());
        command.args(["diff", "--base", "base", "--head", "head"]);
        let output = command.args(more).output().expect("it runs");
        output.status.code()
    };
    assert_eq!(status("", &[]), Some(0));
    assert_eq!(status("", &["--fail-on", "error,unknown"]), Some(1));
    assert_eq!(status(&old, &["--fail-on", "error,unknown"]), Some(0));
}

#[test]
fn missing_dependency_prevents_pruning() {
    let waits = kustomization("apps", "./apps", "  dependsOn: [{name: base}]\n");
    let both = root("prod")
        + &format!("== clusters/prod/apps.yaml\n{waits}")
        + &format!("== apps/web.yaml\n{}", config("web"))
        + &format!("== base/base.yaml\n{}", config("base"));
    let awaited = format!(
        "== clusters/prod/base.yaml\n{}",
        kustomization("base", "./base", "")
    );
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let base = awaited + &cart;
    let said = text_of(&both, &base, "", &[]);
    let sentence = "The change makes a delivery fail, and the objects that it delivers stay as \
                    they are: ";
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains(", after the change\n"), "{said}");
    let said = text_of(&both, &base, "", &["--output", "markdown"]);
    assert!(said.contains(sentence), "{said}");
    let document = compared(&both, &base, "");
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/base certain, clusters/prod",
            "kept ConfigMap/shop/cart certain, clusters/prod",
            "deleted Kustomization.kustomize.toolkit.fluxcd.io/flux-system/base certain, clusters/prod"
        ]
    );
    let reason = document["failed"][0]["reason"].as_str().expect("a reason");
    assert!(
        reason.contains("needs Kustomization.kustomize.toolkit.fluxcd.io/flux-system/base"),
        "{reason}"
    );
}

/// A parent that does not prune leaves the Kustomization in the cluster: it is ready as long as its folder exists.
#[test]
fn dependency_that_stays_in_the_cluster_is_no_obstacle() {
    let waits = kustomization("apps", "./apps", "  dependsOn: [{name: base}]\n");
    let both = root("prod").replace("prune: true", "prune: false")
        + &format!("== clusters/prod/apps.yaml\n{waits}")
        + &format!("== apps/web.yaml\n{}", config("web"));
    let awaited = format!(
        "== clusters/prod/base.yaml\n{}",
        kustomization("base", "./base", "")
    );
    let folder = format!("== base/base.yaml\n{}", config("base"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let of_cart = |both: &str, base: &str| {
        let effects = effects(&compared(both, base, ""));
        let mut effects = effects.into_iter().filter(|one| one.contains("/cart "));
        effects.next().expect("an effect")
    };
    let deleted = of_cart(&(both.clone() + &folder), &(awaited.clone() + &cart));
    assert_eq!(
        deleted,
        "deleted ConfigMap/shop/cart certain, clusters/prod"
    );
    let kept = of_cart(&both, &(awaited + &folder + &cart));
    assert_eq!(kept, "kept ConfigMap/shop/cart certain, clusters/prod");
}

/// Returns the effect on a ConfigMap that leaves a Kustomization while the image of its Job changes.
fn beside_a_changed_job(metadata: &str, spec: &str) -> String {
    let job = |image: &str| {
        format!(
            "== apps/job.yaml\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: once, namespace: shop{metadata}}}\nspec:\n{spec}  template:\n    spec: {{restartPolicy: Never, containers: [{{name: once, image: '{image}'}}]}}\n"
        )
    };
    let both = root("prod") + &delivered("");
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &(job("a:1") + &cart), &job("a:2"));
    effects(&document).join("; ")
}

#[test]
fn changed_job_prevents_pruning_unless_flux_skips_it_or_it_may_be_gone() {
    let effect = "ConfigMap/shop/cart";
    let left = format!("orphaned {effect} certain, clusters/prod");
    assert_eq!(beside_a_changed_job("", ""), left);
    let ttl = "  ttlSecondsAfterFinished: 60\n";
    let possible = format!("deleted {effect} possible, clusters/prod");
    assert_eq!(beside_a_changed_job("", ttl), possible);
    let deleted = format!("deleted {effect} certain, clusters/prod");
    for mark in ["ssa: IfNotPresent", "ssa: Ignore", "reconcile: disabled"] {
        let mark = format!(", annotations: {{kustomize.toolkit.fluxcd.io/{mark}}}");
        assert_eq!(beside_a_changed_job(&mark, ""), deleted, "{mark}");
    }
    let both = ", annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}, labels: {kustomize.toolkit.fluxcd.io/ssa: Ignore}";
    assert_eq!(beside_a_changed_job(both, ""), deleted);
}

#[test]
fn missing_substitution_config_map_prevents_pruning() {
    let reads = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}\n";
    let both =
        root("prod") + &delivered(reads) + &format!("== apps/web.yaml\n{}", config("'${NAME}'"));
    let settings = "== clusters/prod/settings.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {NAME: web}\n";
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &(settings.to_owned() + &cart), "");
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/flux-system/settings certain, clusters/prod",
            "kept ConfigMap/shop/cart certain, clusters/prod",
            "kept ConfigMap/shop/web certain, clusters/prod"
        ]
    );
}

#[test]
fn removing_service_account_with_its_kustomization_races_pruning() {
    let account = "== clusters/prod/account.yaml\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: deployer, namespace: flux-system}\n";
    let apps = kustomization("apps", "./apps", "  serviceAccountName: deployer\n");
    let both = root("prod") + &format!("== apps/cart.yaml\n{}", config("cart"));
    let base = format!("== clusters/prod/apps.yaml\n{apps}{account}");
    let lines = effects(&compared(&both, &base, ""));
    assert!(
        lines.contains(&"deleted ConfigMap/shop/cart race, clusters/prod".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn force_recreates_object_with_rejected_update() {
    let fixed = |value: &str| {
        format!(
            "== apps/web.yaml\n{}",
            config("web")
                .replace("{a: b}", value)
                .replace("\n---", "\nimmutable: true\n---")
        )
    };
    let lines = |more: &str| {
        let apps = kustomization("apps", "./apps", more);
        let both = root("prod") + &format!("== clusters/prod/apps.yaml\n{apps}");
        effects(&compared(&both, &fixed("{a: b}"), &fixed("{a: c}")))
    };
    assert_eq!(
        lines("  force: true\n"),
        ["recreated ConfigMap/shop/web certain, clusters/prod"]
    );
    assert_eq!(lines(""), [""; 0]);
}

#[test]
fn rejected_update_of_moved_object_blocks_no_pruning() {
    let fixed = |folder: &str, value: &str| {
        let fixed = config("web")
            .replace("{a: b}", value)
            .replace("\n---", "\nimmutable: true\n---");
        format!("== {folder}/web.yaml\n{fixed}")
    };
    let of_cart = |folder: &str| {
        let [apps, other] = ["apps", "other"].map(|name| {
            let kustomization = kustomization(name, &format!("./{name}"), "");
            format!("== clusters/prod/{name}.yaml\n{kustomization}")
        });
        let rest = format!("== other/rest.yaml\n{}", config("rest"));
        let cart = format!("== apps/cart.yaml\n{}", config("cart"));
        let kept = format!("== apps/kept.yaml\n{}", config("kept"));
        let document = compared(
            &(root("prod") + &apps + &other + &rest + &kept),
            &(fixed("apps", "{a: b}") + &cart),
            &fixed(folder, "{a: c}"),
        );
        let effects = effects(&document).into_iter();
        effects
            .filter(|one| one.contains("/cart "))
            .collect::<Vec<_>>()
            .join("; ")
    };
    assert_eq!(
        of_cart("other"),
        "deleted ConfigMap/shop/cart certain, clusters/prod"
    );
    assert_eq!(
        of_cart("apps"),
        "orphaned ConfigMap/shop/cart certain, clusters/prod"
    );
}

/// Returns a Kustomization without a parent, in `clusters/`, that delivers the folder `name` into a remote cluster.
fn remote(name: &str, cluster: &str) -> String {
    let more = format!("  kubeConfig: {{secretRef: {{name: {cluster}}}}}\n");
    format!(
        "== clusters/{name}.yaml\n{}",
        kustomization(name, &format!("./{name}"), &more)
    )
}

#[test]
fn remote_entry_point_delivers_into_a_cluster_of_its_own() {
    let both = format!(
        "== clusters/shop.yaml\n{}{}",
        kustomization("shop", "./shop", ""),
        remote("store", "edge")
            + "== store/cart.yaml\n"
            + &config("cart")
            + "== shop/web.yaml\n"
            + &config("web")
    );
    let document = compared(&both, &format!("== shop/cart.yaml\n{}", config("cart")), "");
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/cart certain, shop"]
    );
}

#[test]
fn remote_entry_points_of_one_folder_share_clusters() {
    let both = remote("store", "edge") + &remote("stock", "edge");
    let document = compared(
        &both,
        &format!("== store/cart.yaml\n{}", config("cart")),
        &format!("== stock/cart.yaml\n{}", config("cart")),
    );
    assert_eq!(
        effects(&document),
        ["recreated ConfigMap/shop/cart race, clusters/edge"]
    );
}

/// Returns the reasons of unread inputs.
pub(super) fn unread(document: &Value) -> Vec<String> {
    let unread = document["unread"].as_array().expect("a list").iter();
    unread
        .map(|one| {
            format!(
                "{}: {}",
                one["subject"].as_str().unwrap_or_default(),
                one["reason"].as_str().unwrap_or_default()
            )
        })
        .collect()
}

fn release(more: &str) -> String {
    format!(
        "== apps/release.yaml\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: shop}}\nspec:\n  chart: {{spec: {{chart: web, sourceRef: {{kind: HelmRepository, name: charts}}}}}}\n{more}"
    )
}

#[test]
fn helm_release_edits_that_reinstall_are_noted_as_unread() {
    let both = root("prod") + &delivered("");
    let lines =
        |before: &str, after: &str| unread(&compared(&both, &release(before), &release(after)));
    let again = "chart web: this uninstalls the release and installs another one: the objects of the chart are deleted and created again, and the chart is not rendered";
    assert_eq!(lines("", "  releaseName: shop\n"), [again]);
    assert_eq!(lines("", "  storageNamespace: helm\n"), [again]);
    let moved = lines("", "  targetNamespace: prod\n");
    assert!(
        moved[0].contains("stay behind where they name none"),
        "{moved:?}"
    );
    // The default name is equal to the written one.
    assert_eq!(
        lines("", "  releaseName: web\n"),
        ["chart web: the chart is not rendered"]
    );
}

#[test]
fn removed_helm_release_is_unread_without_rendering() {
    let both = root("prod") + &release("");
    let base = delivered("");
    assert_eq!(
        unread(&compared(&both, &base, "")),
        ["chart web: the chart is not rendered"]
    );
}

#[test]
fn children_of_kustomization_with_failing_build_still_reconcile() {
    let both = root("prod")
        + &delivered("")
        + &format!("== apps/web.yaml\n{}", kustomization("web", "./web", ""))
        + &format!("== apps/gone.yaml\n{}", kustomization("gone", "./gone", ""))
        + &format!("== web/web.yaml\n{}", config("web"))
        + &format!("== gone/gone.yaml\n{}", config("gone"));
    let list = |names: &str| format!("== apps/kustomization.yaml\nresources: [{names}]\n");
    let cart = format!("== web/cart.yaml\n{}", config("cart"));
    let base = list("web.yaml, gone.yaml") + &cart;
    // Listing a resource twice is an error.
    let document = compared(&both, &base, &list("web.yaml, web.yaml"));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/cart certain, clusters/prod",
            "kept Kustomization.kustomize.toolkit.fluxcd.io/flux-system/gone certain, clusters/prod"
        ],
        "what is left in its own sources is pruned, and nothing else"
    );
}

#[test]
fn self_delivering_kustomization_is_followed_once() {
    let remote = "  kubeConfig: {secretRef: {name: edge}}\n";
    let itself = |more: &str| {
        let again = kustomization("again", "./clusters/prod", remote);
        format!("== clusters/prod/again.yaml\n{again}{more}")
    };
    let document = compared(&root("prod"), &itself(&config("cart")), &itself(""));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/cart certain, clusters/prod",
            "deleted ConfigMap/shop/cart certain, clusters/prod/edge"
        ]
    );
}

/// budimanjojo/home-cluster 93527384: a kustomization sets the namespace of Flux's Kustomization, and one of its
/// objects moves to another file.
#[test]
fn kustomize_sets_namespace_of_flux_kustomization() {
    let app = kustomization("app", "./apps/app", "").replace(", namespace: flux-system", "");
    let both = root("prod")
        + &format!(
            "== clusters/prod/kustomization.yaml\nresources: [flux-system/gotk-sync.yaml, ../../apps]\n== apps/kustomization.yaml\nnamespace: media\nresources: [app.yaml]\n== apps/app.yaml\n{}",
            app.replace("  path", "  targetNamespace: shop\n  path")
        );
    let [one, other] = ["a", "b"].map(|file| format!("== apps/app/{file}.yaml\n{}", config("a")));
    let document = compared(&both, &one, &other);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "nothing");
    let document = compared(&both, &(one + &config("b")), &other);
    let delivery = &document["effects"][0]["delivery"];
    assert_eq!(
        delivery["id"],
        "clusters/prod|Kustomization.kustomize.toolkit.fluxcd.io/media/app"
    );
}

/// onedr0p/home-ops 4b1adee6: the component with the claim of an app is removed from its Kustomization.
#[test]
fn removed_component_deletes_its_claim() {
    let app = |components: &str| {
        format!(
            "== clusters/prod/app.yaml\n{}",
            kustomization(
                "web",
                "./apps/web",
                &format!(
                    "  targetNamespace: shop\n  postBuild: {{substitute: {{APP: web}}}}\n{components}"
                ),
            )
        )
    };
    let both = root("prod")
        + &format!(
            "== apps/web/kustomization.yaml\nresources: [a.yaml]\n== apps/web/a.yaml\n{}== components/volsync/kustomization.yaml\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [claim.yaml]\n== components/volsync/claim.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: '${{APP}}'}}\nspec: {{accessModes: [ReadWriteOnce], storageClassName: fast, resources: {{requests: {{storage: 1Gi}}}}}}\n",
            config("a")
        );
    let document = compared(
        &both,
        &app("  components: [../../components/volsync]\n"),
        &app(""),
    );
    assert_eq!(
        effects(&document),
        [
            "deleted PersistentVolumeClaim/shop/web certain, clusters/prod",
            "data-lost PersistentVolumeClaim/shop/web possible, clusters/prod",
        ]
    );
}

/// Nine repositories move removed files to `.archive/`, which nothing applies: their objects are deleted.
#[test]
fn objects_moved_to_unapplied_archive_are_deleted() {
    let both = root("prod")
        + "== apps/kustomization.yaml\nresources: [web]\n"
        + &delivered("")
        + &format!(
            "== apps/web/kustomization.yaml\nresources: [a.yaml]\n== apps/web/a.yaml\n{}",
            config("a")
        );
    let [there, archived] = ["apps/db", ".archive/db"].map(|folder| {
        format!(
            "== {folder}/kustomization.yaml\nresources: [b.yaml]\n== {folder}/b.yaml\n{}",
            config("b")
        )
    });
    let base = both.replace("[web]", "[web, db]");
    let document = compared("", &(base + &there), &(both + &archived));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, clusters/prod"]
    );
}

/// A Kustomization starts to read its manifests from an artifact, whose content is not read. No
/// object is orphaned.
#[test]
fn switching_to_oci_source_is_unknown_and_orphans_nothing() {
    let both = root("prod") + &format!("== apps/a.yaml\n{}", config("a"));
    let oci = delivered("").replace(
        "kind: GitRepository, name: flux-system",
        "kind: OCIRepository, name: apps",
    );
    let document = compared(&both, &delivered(""), &oci);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(document["summary"]["orphaned"], 0);
    assert_eq!(document["summary"]["verdict"], "unknown");
}

/// onedr0p/home-ops 38ca15b9: another target namespace does not rename cluster-scoped objects, even if the definition
/// of their kind is not in the tree.
#[test]
fn target_namespace_does_not_rename_cluster_secret_store() {
    let both = root("prod")
        + "== apps/store.yaml\napiVersion: external-secrets.io/v1\nkind: ClusterSecretStore\nmetadata: {name: vault}\n";
    let [was, is] = ["a", "b"].map(|name| delivered(&format!("  targetNamespace: {name}\n")));
    let document = compared(&both, &was, &is);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

/// Returns the ConfigMap of a cluster that sets the variable `NAME`.
fn settings(cluster: &str, name: &str) -> String {
    format!(
        "== clusters/{cluster}/settings.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: flux-system}}\ndata: {{NAME: {name}}}\n"
    )
}

/// The variables that [`settings`] sets.
const SETTINGS: &str =
    "  postBuild:\n    substituteFrom:\n    - {kind: ConfigMap, name: settings}\n";

#[test]
fn variables_come_from_config_map_of_own_cluster() {
    let apps = delivered(SETTINGS);
    let both = root("dev")
        + &root("prod")
        + &apps
        + &apps.replace("clusters/prod", "clusters/dev")
        + "== apps/a.yaml\n"
        + &config("'a-${NAME}'")
        + &settings("dev", "dev");
    let document = compared(&both, &settings("prod", "old"), &settings("prod", "new"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/a-old certain, clusters/prod"]
    );
}

#[test]
fn patched_config_map_gives_patched_variables() {
    let both = root("prod")
        + &delivered(SETTINGS)
        + &settings("prod", "old")
        + "== apps/a.yaml\n"
        + &config("'a-${NAME}'");
    let list = "== clusters/prod/kustomization.yaml\nresources: [flux-system/gotk-sync.yaml, apps.yaml, settings.yaml]\n";
    let patch = "patches:\n- target: {kind: ConfigMap}\n  patch: |\n    - {op: replace, path: /data/NAME, value: new}\n";
    let document = compared(&both, list, &format!("{list}{patch}"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/a-old certain, clusters/prod"]
    );
}

#[test]
fn variables_of_sibling_built_later_are_known() {
    let vars = kustomization("vars", "./vars/prod", "");
    let other = settings("dev", "dev");
    let both = root("prod")
        + &delivered(SETTINGS)
        + &format!("== clusters/prod/vars.yaml\n{vars}")
        + &other
        + "== apps/a.yaml\n"
        + &config("'a-${NAME}'");
    let [base, head] = ["old", "new"]
        .map(|name| settings("prod", name).replace("clusters/prod/settings", "vars/prod/a"));
    assert_eq!(
        effects(&compared(&both, &base, &head)),
        ["deleted ConfigMap/shop/a-old certain, clusters/prod"]
    );
}

#[test]
fn kustomization_takes_variables_from_its_own_objects() {
    let own = kustomization("flux-system", "./clusters/prod", SETTINGS);
    let both = format!("== clusters/prod/flux-system/gotk-sync.yaml\n{own}")
        + &settings("dev", "dev")
        + "== clusters/prod/a.yaml\n"
        + &config("'a-${NAME}'");
    let document = compared(&both, &settings("prod", "old"), &settings("prod", "new"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/a-old certain, clusters/prod"]
    );
}

#[test]
fn variables_of_unapplied_or_overridable_config_map_are_possible() {
    let both = root("prod");
    let with = |file: String| {
        let apps = delivered(SETTINGS);
        let base = format!("{file}{apps}== apps/a.yaml\n{}", config("'a-${NAME}'"));
        let head = format!("{file}{apps}== apps/a.yaml\n{}", config("b"));
        effects(&compared(&both, &base, &head))
    };
    let possible = ["deleted ConfigMap/shop/a-old possible, clusters/prod"];
    assert_eq!(with(settings("elsewhere", "old")), possible);
    // Two ConfigMaps, neither of which is applied.
    let two = settings("elsewhere", "old") + &settings("other", "older");
    assert!(with(two)[0].starts_with("deleted ConfigMap/shop/a-${NAME}"));
}

#[test]
fn later_secret_overrides_only_its_own_variables() {
    let from = format!("{SETTINGS}    - {{kind: Secret, name: secrets}}\n");
    let both = root("prod") + &delivered(&from) + "== apps/a.yaml\n" + &config("'a-${NAME}'");
    let secret = |key: &str| {
        format!(
            "== clusters/prod/secret.yaml\napiVersion: v1\nkind: Secret\nmetadata: {{name: secrets, namespace: flux-system}}\nstringData: {{{key}: x}}\n"
        )
    };
    let changed = |secret: &str| {
        let [base, head] = ["old", "new"].map(|name| settings("prod", name) + secret);
        effects(&compared(&both, &base, &head))
    };
    assert_eq!(
        changed(&secret("OTHER")),
        ["deleted ConfigMap/shop/a-old certain, clusters/prod"]
    );
    assert_eq!(changed(&secret("NAME")), [""; 0]);
    assert_eq!(
        changed(""),
        ["deleted ConfigMap/shop/a-old possible, clusters/prod"]
    );
}

/// Returns the files of a cluster whose source a patch of its kustomization changes.
fn patched_source(patch: &str, namespace: &str) -> String {
    let source = format!(
        "== clusters/prod/source.yaml\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: flux-system{namespace}}}\nspec: {{interval: 1m, url: 'ssh://git@github.com/x/y'}}\n"
    );
    format!(
        "{source}== clusters/prod/kustomization.yaml\nnamespace: flux-system\nresources: [flux-system/gotk-sync.yaml, apps.yaml, source.yaml]\n{patch}"
    )
}

#[test]
fn built_source_decides_ignored_files() {
    let both = root("prod")
        + &delivered("")
        + &format!(
            "== apps/x/a.yaml\n{}== apps/y/b.yaml\n{}",
            config("a"),
            config("b")
        );
    let patch = "patches:\n- target: {kind: GitRepository}\n  patch: |\n    - {op: add, path: /spec/ignore, value: apps/y/}\n";
    for namespace in [", namespace: flux-system", ""] {
        let [base, head] = ["", patch].map(|patch| patched_source(patch, namespace));
        assert_eq!(
            effects(&compared(&both, &base, &head)),
            ["deleted ConfigMap/shop/b certain, clusters/prod"]
        );
    }
}

#[test]
fn settings_of_unread_source_make_change_unknown() {
    let both = root("prod");
    for kind in ["OCIRepository", "GitRepository"] {
        let of = |more: &str| {
            delivered(more).replace(
                "kind: GitRepository, name: flux-system",
                &format!("kind: {kind}, name: elsewhere"),
            )
        };
        let same = compared(&both, &of(""), &of("  interval: 9m\n"));
        assert_eq!(same["summary"]["verdict"], "nothing");
        for more in [
            "  targetNamespace: a\n",
            "  namePrefix: a-\n",
            "  components: [a]\n",
            "  patches: [{patch: '{}'}]\n",
            "  postBuild: {substitute: {A: b}}\n",
        ] {
            let document = compared(&both, &of(""), &of(more));
            assert_eq!(
                unread(&document),
                [
                    "source of Kustomization flux-system/apps: its objects are not read, and these \
                     settings decide which objects it has"
                ],
                "{more}"
            );
            assert_eq!(document["summary"]["verdict"], "unknown");
        }
        let moved = of("").replace("./apps", "./other");
        assert_eq!(unread(&compared(&both, &of(""), &moved)).len(), 1);
        let removed = compared(&both, &of(""), "");
        assert_eq!(
            unread(&removed),
            [
                "source of Kustomization flux-system/apps: Flux deletes these objects with the Kustomization, and they are not read"
            ]
        );
        let kept = of("  deletionPolicy: Orphan\n");
        assert_eq!(unread(&compared(&both, &kept, "")), [""; 0]);
    }
}

#[test]
fn chart_in_repository_is_named_by_its_chart_file() {
    let release = |folder: &str, name: &str| {
        let release = release("").replace(
            "HelmRepository, name: charts",
            "GitRepository, name: flux-system",
        );
        format!(
            "{}== charts/{folder}/Chart.yaml\napiVersion: v2\nname: {name}\nversion: 1.0.0\n== charts/{folder}/templates/a.yaml\n{}",
            release.replace("chart: web", &format!("chart: ./charts/{folder}")),
            config("a")
        )
    };
    let both = root("prod") + &delivered("");
    let again = |base: &str, head: &str| {
        let unread = unread(&compared(&both, base, head));
        let mut unread = unread.iter();
        unread.any(|reason| reason.contains("uninstalls the release"))
    };
    assert!(again(&release("web", "web"), &release("web", "shop")));
    assert!(!again(&release("web", "web"), &release("shop", "web")));
}

/// Flux puts no links into artifacts, so a file that becomes one is pruned, and one that was one was never applied.
#[cfg(unix)]
#[test]
fn symbolic_links_are_not_applied() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    let both = format!("{}== hidden/a.yaml\n{}", root("prod"), config("a"));
    write(&folder, ".", &both);
    folder.write("clusters/prod/a.yaml", &config("a")).commit();
    folder.remove("clusters/prod/a.yaml");
    let link = folder.path().join("clusters/prod/a.yaml");
    std::os::unix::fs::symlink("../../hidden/a.yaml", link).expect("a link");
    folder
        .commit()
        .remove("clusters/prod/a.yaml")
        .write("b.txt", "b")
        .commit();
    let effects_of = |base: &str, head: &str| {
        let refs = ["--base-ref", base, "--head-ref", head];
        effects(&folder.run("", &refs).expect("a comparison"))
    };
    let deleted = ["deleted ConfigMap/shop/a certain, clusters/prod"];
    assert_eq!(effects_of("HEAD~2", "HEAD~1"), deleted);
    assert_eq!(effects_of("HEAD~1", "HEAD"), [""; 0]);
}

const INSTANCE: &str = "== clusters/prod/instance.yaml\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\n\
    metadata: {name: flux, namespace: flux-system}\n\
    spec: {distribution: {version: 2.x}, sync: {kind: GitRepository, url: 'https://example.org/a.git', path: clusters/prod}}\n";

#[test]
fn removed_flux_instance_uninstalls_flux_and_prunes_nothing() {
    let instance =
        "deleted FluxInstance.fluxcd.controlplane.io/flux-system/flux certain, clusters/prod";
    let web = format!("== apps/web.yaml\n{}", config("web"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let both = delivered("") + &web;
    let document = compared(&both, INSTANCE, "");
    assert_eq!(effects(&document), [instance], "{document}");
    let notes = document["notes"].to_string();
    assert!(
        notes.contains("the Flux Operator uninstalls Flux with FluxInstance"),
        "{notes}"
    );
    // Other removed objects are pruned if the controller is quicker than the uninstall.
    let document = compared(&both, &(INSTANCE.to_owned() + &cart), "");
    assert_eq!(effects(&document).len(), 2, "{document}");
    // Without its folder, the Kustomization cannot be built, and Flux is not uninstalled.
    let document = compared(&web, &(INSTANCE.to_owned() + &delivered("")), "");
    assert!(
        effects(&document)
            .iter()
            .all(|effect| !effect.starts_with("deleted")),
        "{document}"
    );
    // An instance that is edited still decides.
    let none = INSTANCE.replace(", path: clusters/prod", "");
    let document = compared(&both, INSTANCE, &none);
    assert!(
        effects(&document)
            .contains(&"deleted ConfigMap/shop/web certain, clusters/prod".to_owned()),
        "{document}"
    );
}

/// Returns the effect on a ConfigMap that leaves a Kustomization `apps`, which waits for the Kustomization `base`. The
/// arguments are the specifications of `apps` and `base` in both states.
fn leaving_beside_a_dependency(apps: [&str; 2], base: [&str; 2], more: [&str; 2]) -> String {
    let both = root("prod")
        + &format!("== apps/web.yaml\n{}", config("web"))
        + &format!("== base/base.yaml\n{}", config("base"));
    let state = |at: usize| {
        format!(
            "== clusters/prod/apps.yaml\n{}{}{}",
            kustomization("apps", "./apps", apps[at]),
            kustomization("base", "./base", base[at]),
            more[at]
        )
    };
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let document = compared(&both, &(state(0) + &cart), &state(1));
    let effects = effects(&document);
    let mut of_cart = effects.iter().filter(|one| one.contains("/cart "));
    let effect = of_cart.next().expect("an effect").split(" certain").next();
    let reasons = document["failed"].as_array().expect("a list").iter();
    let reasons = reasons.filter(|one| one["side"] == "head");
    let reasons: Vec<&str> = reasons.filter_map(|one| one["reason"].as_str()).collect();
    let reasons = reasons
        .join("; ")
        .replace("Kustomization.kustomize.toolkit.fluxcd.io/flux-system/", "");
    let certainty = if of_cart.count() == 0 { effect } else { None };
    format!("{}: {reasons}", certainty.unwrap_or_default())
}

#[test]
fn dependency_that_is_not_ready_prevents_pruning() {
    let waits = "  dependsOn: [{name: base}]\n";
    let suspended = "  suspend: true\n";
    let none = ["", ""];
    let kept = "kept ConfigMap/shop/cart";
    let deleted = "deleted ConfigMap/shop/cart";
    assert_eq!(
        leaving_beside_a_dependency([waits; 2], none, none),
        format!("{deleted}: ")
    );
    let of = leaving_beside_a_dependency;
    assert_eq!(
        of([waits; 2], [suspended; 2], none),
        format!("{kept}: apps waits for base, which is suspended")
    );
    let fails = "== base/kustomization.yaml\nresources: [gone.yaml]\n";
    assert_eq!(
        of([waits; 2], none, ["", fails]),
        format!("{kept}: apps waits for base, which fails; gone.yaml does not exist")
    );
    let back = "  dependsOn: [{name: apps}]\n";
    assert_eq!(
        of([waits; 2], [back; 2], none),
        format!(
            "{kept}: apps waits for base, whose dependencies form a cycle; base waits for apps, whose dependencies form a cycle"
        )
    );
}

#[test]
fn dependency_that_stops_being_ready_makes_pruning_a_race() {
    let waits = "  dependsOn: [{name: base}]\n";
    let suspended = "  suspend: true\n";
    let race = "deleted ConfigMap/shop/cart race, clusters/prod";
    for (apps, base) in [
        ([waits; 2], ["", suspended]),
        (["", waits], [suspended; 2]),
        ([waits; 2], ["", "  dependsOn: [{name: apps}]\n"]),
    ] {
        let said = leaving_beside_a_dependency(apps, base, ["", ""]);
        assert!(said.starts_with(race), "{apps:?} {base:?}: {said}");
    }
}

#[test]
fn waiting_before_the_change_is_not_its_fault() {
    let waits = "  dependsOn: [{name: base}]\n";
    let suspended = "  suspend: true\n";
    let both = root("prod")
        + &format!(
            "== clusters/prod/apps.yaml\n{}{}",
            kustomization("apps", "./apps", waits),
            kustomization("base", "./base", suspended)
        )
        + &format!("== apps/web.yaml\n{}", config("web"))
        + &format!("== base/base.yaml\n{}", config("base"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let said = text_of(&both, &cart, "", &[]);
    assert!(said.contains("which is suspended"), "{said}");
    assert!(!said.contains("The change makes a delivery fail"), "{said}");
}

#[test]
fn suspended_dependency_stays_ready_for_another_source_or_expression() {
    let suspended = "  suspend: true\n";
    let expression = "  dependsOn: [{name: base, readyExpr: 'true'}]\n";
    let said = leaving_beside_a_dependency([expression; 2], [suspended; 2], ["", ""]);
    assert_eq!(said, "deleted ConfigMap/shop/cart: ");
    let waits = kustomization("apps", "./apps", "  dependsOn: [{name: other}]\n");
    let other = kustomization("other", "./other", suspended).replace(
        "GitRepository, name: flux-system",
        "OCIRepository, name: other",
    );
    let both = root("prod")
        + &format!("== clusters/prod/apps.yaml\n{waits}{other}")
        + &format!("== apps/web.yaml\n{}", config("web"));
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    assert_eq!(
        effects(&compared(&both, &cart, "")),
        ["deleted ConfigMap/shop/cart certain, clusters/prod"]
    );
}

#[test]
fn marks_and_settings_of_the_build_decide_about_rejected_updates() {
    let job = |image: &str| {
        format!(
            "== apps/job.yaml\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: once, namespace: shop}}\nspec:\n  template:\n    spec: {{restartPolicy: Never, containers: [{{name: once, image: '{image}'}}]}}\n"
        )
    };
    let cart = format!("== apps/cart.yaml\n{}", config("cart"));
    let of_cart = |base: &str, head: &str, built: &str| {
        let both = root("prod") + built;
        let document = compared(
            &both,
            &(delivered(base) + &job("a:1") + &cart),
            &(delivered(head) + &job("a:2")),
        );
        let effects = effects(&document).into_iter();
        effects
            .filter(|one| one.contains("/cart "))
            .collect::<Vec<_>>()
            .join("; ")
    };
    let deleted = "deleted ConfigMap/shop/cart certain, clusters/prod";
    for mark in ["ssa: IfNotPresent", "force: enabled"] {
        let marks =
            format!("  commonMetadata: {{annotations: {{kustomize.toolkit.fluxcd.io/{mark}}}}}\n");
        assert_eq!(of_cart(&marks, &marks, ""), deleted, "{mark}");
    }
    let force = "  force: true\n";
    assert_eq!(of_cart("", force, ""), deleted);
    assert_eq!(of_cart(force, "", ""), deleted);
    assert_eq!(
        of_cart("", "", ""),
        "orphaned ConfigMap/shop/cart certain, clusters/prod"
    );
}

#[test]
fn helm_release_with_another_release_is_a_finding() {
    let both = root("prod") + &delivered("");
    let found = |before: &str, after: &str| {
        let document = compared(&both, &release(before), &release(after));
        let findings = document["findings"].as_array().expect("a list").iter();
        let messages = findings.filter_map(|one| one["message"].as_str());
        messages.map(str::to_owned).collect::<Vec<_>>()
    };
    let said = "HelmRelease `web` installs another release: Flux uninstalls release `shop/web`, \
                whose objects are not known";
    for field in ["releaseName", "targetNamespace", "storageNamespace"] {
        assert_eq!(found("", &format!("  {field}: prod\n")), [said], "{field}");
    }
    assert_eq!(found("", "  releaseName: web\n"), [""; 0]);
    assert_eq!(found("", "  suspend: true\n  releaseName: prod\n"), [""; 0]);
    let other = release("").replace("{chart: web,", "{chart: web-ng,");
    let document = compared(&both, &release(""), &other);
    assert_eq!(document["findings"][0]["message"], said, "{document}");
    assert_eq!(document["findings"][0]["severity"], "warning");
}
