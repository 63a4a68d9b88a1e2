//! Deliveries whose source is not this tree, another revision of it, or one of its folders.

use super::flux::{compared, config, effects, kustomization, root, unread};

const APPS: &str = "  sourceRef: {kind: GitRepository, name: apps}\n";

/// Returns a Kustomization of another repository, delivered by a Kustomization that fills in variables.
fn tenant(path: &str, more: &str) -> String {
    let own = "  sourceRef: {kind: GitRepository, name: flux-system}\n";
    let tenant = kustomization("web", path, more).replace(own, APPS);
    let from = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: info}]}\n";
    format!(
        "== clusters/prod/tenants.yaml\n{}== tenants/web.yaml\n{tenant}",
        kustomization("tenants", "./tenants", from)
    )
}

/// Returns the ConfigMap with the variables.
fn info(environment: &str) -> String {
    format!(
        "== clusters/prod/info.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: info, namespace: flux-system}}\ndata: {{ENVIRONMENT: {environment}}}\n"
    )
}

const NAME: &str = "source of Kustomization flux-system/web";
const REASON: &str = "its objects are not read, and these settings decide which objects it has";

#[test]
fn changed_path_in_another_repository_is_unread() {
    let both = root("prod") + &info("staging");
    let document = compared(&both, &tenant("./web/a", ""), &tenant("./web/b", ""));
    assert_eq!(unread(&document), [format!("{NAME}: {REASON}")]);
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn changed_variable_in_path_of_another_repository_is_unread() {
    let both = root("prod") + &tenant("./web/${ENVIRONMENT}", "");
    let document = compared(&both, &info("staging"), &info("prod"));
    assert_eq!(unread(&document), [format!("{NAME}: {REASON}")]);
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn changed_variables_of_another_repository_are_unread() {
    let from = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: info}]}\n";
    let both = root("prod") + &tenant("./web", from);
    let document = compared(&both, &info("staging"), &info("prod"));
    assert_eq!(unread(&document), [format!("{NAME}: {REASON}")]);
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn changed_target_namespace_of_another_repository_is_unread() {
    let both = root("prod") + &info("staging");
    let head = tenant("./web", "  targetNamespace: shop\n");
    let document = compared(&both, &tenant("./web", ""), &head);
    assert_eq!(unread(&document), [format!("{NAME}: {REASON}")]);
    let quiet = tenant("./web", "  interval: 1h\n");
    let document = compared(&both, &tenant("./web", ""), &quiet);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn changed_artifact_generator_is_unread() {
    let generator = |from: &str| {
        format!(
            "== clusters/prod/web.yaml\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{name: web, namespace: flux-system}}\nspec:\n  artifacts: [{{name: web, copy: [{{from: '@repo/{from}/**', to: '@artifact/'}}]}}]\n"
        )
    };
    let document = compared(&root("prod"), &generator("web"), &generator("api"));
    assert_eq!(document["summary"]["verdict"], "unknown");
}

/// Returns the file of an Application that delivers a revision of the folder `web`.
fn pinned(revision: &str) -> String {
    format!(
        "== app.yaml\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  source: {{repoURL: 'https://git.example.org/fleet.git', path: web, targetRevision: {revision}}}\n  destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
    )
}

#[test]
fn application_of_fixed_revision_deletes_nothing_at_merge() {
    let kept = format!("== web/a.yaml\n{}", config("a"));
    let gone = format!("== web/b.yaml\n{}", config("b"));
    let of = |revision: &str| {
        let document = compared(&(pinned(revision) + &kept), &gone, "");
        (effects(&document), document["summary"]["verdict"].clone())
    };
    let sha = "0123456789abcdef0123456789abcdef01234567";
    for fixed in ["v1.2.3", "1.2.3-rc.1", "refs/tags/stable", sha] {
        let kept = vec!["kept ConfigMap/shop/b certain, .".to_owned()];
        assert_eq!(of(fixed), (kept, "nothing".into()), "{fixed}");
    }
    for moving in ["HEAD", "main", "v1.2", "release-1.2.3"] {
        let deleted = vec!["deleted ConfigMap/shop/b certain, .".to_owned()];
        assert_eq!(of(moving), (deleted, "deletes".into()), "{moving}");
    }
}

#[test]
fn raised_revision_deletes_possibly() {
    let root = pinned("HEAD").replace("== app.yaml", "== root.yaml");
    let root = root
        .replace("name: web,", "name: root,")
        .replace("path: web,", "path: apps,");
    let [was, is] = ["v1.0.0", "v2.0.0"]
        .map(|revision| pinned(revision).replace("== app.yaml", "== apps/app.yaml"));
    let both = root + &format!("== web/a.yaml\n{}", config("a"));
    let gone = format!("== web/b.yaml\n{}", config("b"));
    let document = compared(&both, &(was + &gone), &is);
    assert_eq!(effects(&document), ["deleted ConfigMap/shop/b possible, ."]);
}

#[test]
fn folder_of_fixed_revision_may_exist_there() {
    let base = format!("== web/a.yaml\n{}", config("a"));
    let document = compared(&pinned("v1.2.3"), &base, "== other/x.txt\n");
    assert_eq!(document["failed"], serde_json::json!([]));
}

#[test]
fn kustomization_of_tagged_repository_deletes_nothing_at_merge() {
    let source = "== clusters/prod/source.yaml\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: 'https://git.example.org/fleet.git', ref: {tag: v1.0.0}}\n";
    let apps =
        kustomization("apps", "./apps", "").replace("name: flux-system}\n---", "name: fleet}\n---");
    let both = root("prod")
        + source
        + &format!(
            "== clusters/prod/apps.yaml\n{apps}== apps/a.yaml\n{}",
            config("a")
        );
    let gone = format!("== apps/b.yaml\n{}", config("b"));
    let document = compared(&both, &gone, "");
    assert_eq!(
        effects(&document),
        ["kept ConfigMap/shop/b certain, clusters/prod"]
    );
}

#[test]
fn artifact_of_a_folder_is_read_from_that_folder() {
    let oci = |name: &str, path: &str| {
        kustomization(name, path, "").replace("GitRepository", "OCIRepository")
    };
    let both = format!(
        "== deploy/clusters/prod/all.yaml\n{}{}",
        oci("flux-system", "./clusters/prod"),
        oci("apps", "./apps")
    );
    let both = both + &format!("== deploy/apps/a.yaml\n{}", config("a"));
    let gone = format!("== deploy/apps/b.yaml\n{}", config("b"));
    let document = compared(&both, &gone, "");
    assert_eq!(document["failed"], serde_json::json!([]));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, deploy/clusters/prod"]
    );
}

#[test]
fn unlisted_kustomization_of_artifact_deletes_its_objects() {
    let oci = |name: &str, path: &str| {
        kustomization(name, path, "").replace("GitRepository", "OCIRepository")
    };
    let both = format!(
        "== deploy/root/all.yaml\n{}== deploy/all/apps.yaml\n{}== deploy/apps/a.yaml\n{}== deploy/all/x.yaml\n{}",
        oci("all", "./all"),
        oci("apps", "./apps"),
        config("a"),
        config("x")
    );
    let list =
        |more: &str| format!("== deploy/all/kustomization.yaml\nresources: [x.yaml{more}]\n");
    let document = compared(&both, &list(", apps.yaml"), &list(""));
    let deleted = effects(&document);
    assert!(
        deleted.contains(&"deleted ConfigMap/shop/a certain, deploy/all".to_owned()),
        "{deleted:?}"
    );
}

#[test]
fn folder_of_another_repository_is_not_missing() {
    let apps = kustomization("apps", "./deploy", "")
        .replace("name: flux-system}\n---", "name: apps}\n---");
    let both = format!("== apply/apps.yaml\n{apps}");
    let [was, is] =
        ["1", "2"].map(|value| format!("== x.yaml\n{}", config("x").replace("a: b", value)));
    let document = compared(
        &both,
        &was.replace("{1}", "{a: '1'}"),
        &is.replace("{2}", "{a: '2'}"),
    );
    assert_eq!(document["failed"], serde_json::json!([]));
}

#[test]
fn objects_of_a_delivery_go_only_if_it_goes() {
    let apps = kustomization("apps", "./web", "");
    let both = format!(
        "== web/a.yaml\n{}== kept/kustomization.yaml\nresources: [x.yaml]\n== kept/x.yaml\n{}",
        config("a"),
        config("x")
    );
    let with = "== all/kustomization.yaml\nresources: [apps.yaml, y.yaml]\n== all/y.yaml\n";
    let base = format!("{with}{}== all/apps.yaml\n{apps}", config("y"));
    let head = format!(
        "== all/kustomization.yaml\nresources: [y.yaml]\n== all/y.yaml\n{}",
        config("y")
    );
    let document = compared(&both, &base, &head);
    let certain = effects(&document)
        .into_iter()
        .filter(|effect| effect.contains(" certain"));
    assert_eq!(certain.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn one_name_in_two_versions_is_built() {
    let cake = |version: &str| {
        format!(
            "== all/{version}.yaml\napiVersion: example.com/{version}\nkind: Cake\nmetadata: {{name: plain}}\n"
        )
    };
    let both = root("prod")
        + &format!(
            "== clusters/prod/apps.yaml\n{}",
            kustomization("apps", "./all", "  targetNamespace: shop\n")
        )
        + &cake("v1")
        + &cake("v2");
    let list =
        |more: &str| format!("== all/kustomization.yaml\nresources: [v1.yaml, v2.yaml{more}]\n");
    let base = list(", b.yaml") + &format!("== all/b.yaml\n{}", config("b"));
    let document = compared(&both, &base, &list(""));
    assert_eq!(document["failed"], serde_json::json!([]));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, clusters/prod"]
    );
}

#[test]
fn pruning_enabled_by_the_removing_change_races() {
    let with = |prune: &str| {
        let apps = kustomization("apps", "./apps", "");
        let apps = apps.replace("prune: true", &format!("prune: {prune}"));
        format!("== clusters/prod/apps.yaml\n{apps}")
    };
    let both = root("prod") + &format!("== apps/a.yaml\n{}", config("a"));
    let gone = format!("== apps/b.yaml\n{}", config("b"));
    let document = compared(&both, &(with("false") + &gone), &with("true"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b race, clusters/prod"]
    );
    let document = compared(&both, &(with("true") + &gone), &with("true"));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, clusters/prod"]
    );
}

#[test]
fn folder_of_another_repository_is_not_that_of_this_tree() {
    let source = |name: &str, address: &str| {
        format!(
            "== clusters/prod/{name}.yaml\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{url: '{address}'}}\n"
        )
    };
    let own = source("flux-system", "https://git.example.org/fleet.git");
    let both = root("prod") + &info("staging") + &tenant("./web", "");
    let both = both + &format!("== web/web.yaml\n{}", config("web"));
    let cart = format!("== web/cart.yaml\n{}", config("cart"));
    let other = source("apps", "https://git.example.org/apps.git");
    let document = compared(&(both.clone() + &own + &other), &cart, "");
    assert!(
        !effects(&document).contains(&"deleted ConfigMap/shop/cart certain, clusters/prod".into()),
        "{document}"
    );
    assert_eq!(document["summary"]["verdict"], "unknown");
    // The address is equal to that of this repository, or the latter is unknown.
    let same = source("apps", "ssh://git@ssh.example.org:443/fleet");
    for sources in [own + &same, other, String::new()] {
        let document = compared(&(both.clone() + &sources), &cart, "");
        assert_eq!(
            effects(&document),
            ["deleted ConfigMap/shop/cart certain, clusters/prod"],
            "{sources}"
        );
    }
}
