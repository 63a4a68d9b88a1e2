//! Applications and ApplicationSets that leave the tree and stay in the cluster.

use serde_json::Value;

use super::argo::{DIRECTORIES, application, root, set};
use super::flux::{compared, config, effects};

/// Returns the file of an ApplicationSet over `svc`.
fn over_folders() -> String {
    set(DIRECTORIES, "{{path.basename}}", "{{path}}", "")
}

/// Marks the set, so that Argo CD does not prune it.
fn never_pruned(set: &str) -> String {
    set.replace(
        "{name: all, namespace: argocd}",
        "{name: all, namespace: argocd, annotations: {argocd.argoproj.io/sync-options: Prune=false}}",
    )
}

/// The effects on the object of the Application `web` of a kept set, and on the Application.
const WEB: [&str; 2] = [
    "kept ConfigMap/shop/a certain, .",
    "kept Application.argoproj.io/argocd/web certain, .",
];

/// Returns the effects of the removal of an ApplicationSet, without those on `web`, which is kept.
fn effects_beside_web(document: &Value) -> Vec<String> {
    let (web, rest): (Vec<String>, Vec<String>) = effects(document)
        .into_iter()
        .partition(|effect| WEB.contains(&effect.as_str()));
    assert_eq!(web, WEB);
    rest
}

fn web() -> String {
    format!("== svc/web/a.yaml\n{}", config("a"))
}

#[test]
fn set_that_is_never_pruned_keeps_its_applications() {
    let both = root() + &web();
    assert_eq!(
        effects_beside_web(&compared(&both, &never_pruned(&over_folders()), "")),
        ["kept ApplicationSet.argoproj.io/argocd/all certain, ."]
    );
}

#[test]
fn kept_set_deletes_the_application_of_a_removed_folder() {
    let both = root() + &web();
    let base = never_pruned(&over_folders()) + &format!("== svc/api/b.yaml\n{}", config("b"));
    assert_eq!(
        effects_beside_web(&compared(&both, &base, "")),
        [
            "deleted ConfigMap/shop/b certain, .",
            "deleted Application.argoproj.io/argocd/api certain, .",
            "kept ApplicationSet.argoproj.io/argocd/all certain, ."
        ]
    );
}

#[test]
fn set_of_an_application_that_does_not_prune_keeps_its_applications() {
    let both = root().replace("prune: true", "prune: false") + &web();
    assert_eq!(
        effects_beside_web(&compared(&both, &over_folders(), "")),
        ["orphaned ApplicationSet.argoproj.io/argocd/all certain, ."]
    );
}

#[test]
fn kept_set_still_delivers_sets_and_their_applications() {
    let inner = over_folders()
        .replace("argocd/apps/set.yaml", "teams/a/set.yaml")
        .replace("name: all", "name: inner");
    let both = root() + &inner + &web();
    let outer = over_folders().replace("svc/*", "teams/*");
    let document = compared(&both, &never_pruned(&outer), "");
    assert_eq!(
        effects_beside_web(&document),
        [
            "kept Application.argoproj.io/argocd/a certain, .",
            "kept ApplicationSet.argoproj.io/argocd/all certain, .",
            "kept ApplicationSet.argoproj.io/argocd/inner certain, ."
        ]
    );
    // The inner set is still evaluated.
    assert_eq!(document["unread"], serde_json::json!([]));
}

#[test]
fn kept_application_prunes_what_leaves_its_folder() {
    let both = root().replace("prune: true", "prune: false") + &web();
    let web = format!(
        "== argocd/apps/web.yaml\n{}== svc/web/b.yaml\n{}",
        application("web", "svc/web", ""),
        config("b")
    );
    assert_eq!(
        effects(&compared(&both, &web, "")),
        [
            "kept ConfigMap/shop/a certain, .",
            "deleted ConfigMap/shop/b certain, .",
            "orphaned Application.argoproj.io/argocd/web certain, ."
        ]
    );
}

/// Argo CD does not prune the set, because its Application would become empty.
#[test]
fn set_that_would_leave_its_application_empty_keeps_its_applications() {
    let both = format!("== root.yaml\n{}", application("root", "argocd/apps", "")) + &web();
    let head = "== argocd/apps/README.md\nempty\n";
    assert_eq!(
        effects_beside_web(&compared(&both, &over_folders(), head)),
        ["kept ApplicationSet.argoproj.io/argocd/all certain, ."]
    );
}

#[test]
fn set_of_a_deleted_application_without_finalizer_keeps_its_applications() {
    let finalizer = ", finalizers: [resources-finalizer.argocd.argoproj.io]";
    let both = root() + &web();
    let sets = over_folders().replace("argocd/apps/set.yaml", "argocd/sets/set.yaml");
    let of_sets = application("sets", "argocd/sets", "").replace(finalizer, "");
    let base = format!("== argocd/apps/sets.yaml\n{of_sets}");
    assert_eq!(
        effects_beside_web(&compared(&(both + &sets), &base, "")),
        [
            "deleted Application.argoproj.io/argocd/sets certain, .",
            "orphaned ApplicationSet.argoproj.io/argocd/all certain, ."
        ]
    );
}

/// A kept Application delivers the child, and may update it first or last.
#[test]
fn child_of_a_kept_application_stops_pruning_in_a_race() {
    let kept = application("group", "group", "").replace(
        "namespace: argocd,",
        "namespace: argocd, annotations: {argocd.argoproj.io/sync-options: Prune=false},",
    );
    let both = root() + &web();
    let group = format!("== argocd/apps/group.yaml\n{kept}");
    let child = |prune: &str| {
        let child = application("web", "svc/web", "");
        format!("== group/web.yaml\n{}", child.replace("prune: true", prune))
    };
    let b = format!("== svc/web/b.yaml\n{}", config("b"));
    let document = compared(
        &both,
        &(group + &child("prune: true") + &b),
        &child("prune: false"),
    );
    let effects = effects(&document);
    assert!(
        effects.contains(&"deleted ConfigMap/shop/b race, .".to_owned()),
        "{effects:?}"
    );
}

/// Two control planes have an Application of the same name.
#[test]
fn kept_applications_of_two_planes_are_not_mixed_up() {
    let plane = |name: &str, object: &str| {
        let root = application("root", &format!("{name}/apps"), "");
        let web = application("web", &format!("{name}/web"), "").replace(
            "namespace: argocd,",
            "namespace: argocd, annotations: {argocd.argoproj.io/sync-options: Prune=false},",
        );
        (
            format!(
                "== {name}/root.yaml\n{root}== {name}/apps/beside.yaml\n{}== {name}/web/{object}.yaml\n{}",
                config("beside"),
                config(object)
            ),
            format!("== {name}/apps/web.yaml\n{web}"),
        )
    };
    let ((one, web_of_one), (two, web_of_two)) = (plane("one", "x"), plane("two", "z"));
    let both = one + &two + &web_of_two;
    let w = format!("== one/web/w.yaml\n{}", config("w"));
    assert_eq!(
        effects(&compared(&both, &(web_of_one + &w), "")),
        [
            "deleted ConfigMap/shop/w certain, one",
            "kept ConfigMap/shop/x certain, one",
            "kept Application.argoproj.io/argocd/web certain, one"
        ]
    );
}
