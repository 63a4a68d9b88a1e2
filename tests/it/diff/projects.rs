//! The limits that AppProjects set to Applications.

use serde_json::Value;

use super::argo::{DIRECTORIES, application, root, set};
use super::flux::{compared, config, effects};

const KEPT: &str = "kept ConfigMap/shop/b certain, .";
const DELETED: &str = "deleted ConfigMap/shop/b certain, .";
const RACE: &str = "deleted ConfigMap/shop/b race, .";

/// The limits of a project that permits everything.
const ALL: &str = "destinations: [{server: '*', namespace: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]";

/// Returns the file of the project `team` with a spec.
fn project(spec: &str) -> String {
    format!(
        "== argocd/apps/project.yaml\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {{name: team, namespace: argocd}}\nspec: {{{spec}}}\n"
    )
}

/// Returns the file of the Application `web` of the project `team`.
fn web() -> String {
    format!(
        "== argocd/apps/web.yaml\n{}",
        application("web", "web", "  project: team\n")
    )
}

fn object(name: &str) -> String {
    format!("== web/{name}.yaml\n{}", config(name))
}

/// Returns the effect on the ConfigMap `b`, which leaves the Application `web`, and why that fails in head.
fn of_b(both: &str, base: &str, head: &str) -> (String, String) {
    let both = root() + &web() + &object("a") + both;
    let document = compared(&both, &(base.to_owned() + &object("b")), head);
    let all = effects(&document);
    let mut all = all.into_iter().filter(|one| one.contains("/b "));
    (all.next().unwrap_or_default(), reason(&document))
}

fn reason(document: &Value) -> String {
    let reason = document["failed"][0]["reason"].as_str();
    reason.unwrap_or_default().to_owned()
}

#[test]
fn application_outside_its_project_deletes_nothing() {
    let destination = "AppProject team does not permit its destination, namespace `shop`";
    for spec in [
        "",
        "destinations: [{server: '*', namespace: 'other'}]",
        "destinations: [{server: 'https://other', namespace: '*'}]",
        "destinations: [{server: '*', namespace: '*'}, {server: '*', namespace: '!sh*'}]",
        "destinations: [{namespace: 'shop'}]",
    ] {
        let found = of_b(&project(spec), "", "");
        assert_eq!(found, (KEPT.to_owned(), destination.to_owned()), "{spec}");
    }
    for spec in [
        ALL,
        "destinations: [{server: 'https://kubernetes.*', namespace: 's?op'}]",
        // Argo CD's own cluster may have another name.
        "destinations: [{name: 'in-cluster', namespace: 'shop'}]",
        "destinations: [{server: '*', namespace: '*'}, {server: '*', namespace: '!kube-system'}]",
        "destinations: [{server: '*', namespace: '${NAMESPACE}'}]",
    ] {
        let found = of_b(&project(spec), "", "");
        assert_eq!(found, (DELETED.to_owned(), String::new()), "{spec}");
    }
}

#[test]
fn project_with_too_many_items_forbids_nothing() {
    let found = |items: usize| {
        let item = "{server: '*', namespace: other}, ";
        of_b(
            &project(&format!("destinations: [{}]", item.repeat(items))),
            "",
            "",
        )
        .0
    };
    assert_eq!(found(999), KEPT);
    assert_eq!(found(1000), DELETED);
}

#[test]
fn sync_with_a_forbidden_object_deletes_nothing() {
    let elsewhere = config("c").replace("shop", "other");
    let elsewhere = format!("== web/c.yaml\n{elsewhere}");
    let namespace = "== web/c.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let shop = "destinations: [{server: '*', namespace: shop}]";
    for (files, spec, reason) in [
        (
            elsewhere.as_str(),
            shop.to_owned(),
            "the namespace of ConfigMap/other/c",
        ),
        (namespace, shop.to_owned(), "the kind of Namespace//shop"),
        (
            "",
            format!("{shop}, namespaceResourceBlacklist: [{{group: '', kind: 'Config*'}}]"),
            "the kind of ConfigMap/shop/a",
        ),
        (
            "",
            format!("{shop}, namespaceResourceWhitelist: [{{group: apps, kind: '*'}}]"),
            "the kind of ConfigMap/shop/a",
        ),
    ] {
        let (effect, said) = of_b(&(project(&spec) + files), "", "");
        assert_eq!(effect, KEPT, "{spec}");
        assert_eq!(said, format!("AppProject team does not permit {reason}"));
    }
    let (effect, _) = of_b(&(project(ALL) + namespace + &elsewhere), "", "");
    assert_eq!(effect, DELETED);
}

#[test]
fn project_that_may_permit_more_is_assumed_to_do_so() {
    let global = "== argocd/apps/cm.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n  globalProjects: '[]'\n";
    let (effect, _) = of_b(&(project("") + global), "", "");
    assert_eq!(effect, DELETED);
    // Nothing delivers this project.
    let elsewhere = project("").replace("argocd/apps/", "old/");
    let (effect, _) = of_b(&elsewhere, "", "");
    assert_eq!(effect, DELETED);
}

#[test]
fn limit_that_comes_with_the_removal_may_be_too_late() {
    let (allows, forbids) = (project(ALL), project(""));
    let (effect, said) = of_b("", &allows, &forbids);
    assert_eq!(effect, RACE);
    assert!(said.contains("namespace `shop`"), "{said}");
    let (effect, _) = of_b("", &forbids, &allows);
    assert_eq!(effect, DELETED);
}

#[test]
fn application_that_is_forbidden_takes_nothing_over() {
    let both = root() + &project("") + &object("b");
    let team = application("other", "web", "  project: team\n");
    let free = application("web", "web", "");
    let document = compared(
        &both,
        &format!("== argocd/apps/web.yaml\n{free}"),
        &format!("== argocd/apps/other.yaml\n{team}"),
    );
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/b certain, .",
            "deleted Application.argoproj.io/argocd/web certain, ."
        ]
    );
}

#[test]
fn application_that_moves_into_a_forbidding_project_is_not_delivered_again() {
    let sets = |folder: &str| {
        let teams = [("free", "default"), ("team", "team")].map(|(folder, project)| {
            let directories = DIRECTORIES.replace("svc", folder);
            let set = set(&directories, "{{path.basename}}", "{{path}}", "");
            let set = set.replace("name: all", &format!("name: {folder}"));
            let set = set.replace(
                "      source:",
                &format!("      project: {project}\n      source:"),
            );
            set.replace("set.yaml", &format!("{folder}.yaml"))
        });
        teams.concat() + &format!("== {folder}/web/a.yaml\n{}", config("a"))
    };
    let beside = format!(
        "== free/x/x.yaml\n{}== team/y/y.yaml\n{}",
        config("x"),
        config("y")
    );
    let both = root() + &project("") + &beside;
    let document = compared(&both, &sets("free"), &sets("team"));
    let found = effects(&document);
    assert!(
        found.contains(&"cascaded ConfigMap/shop/a certain, .".to_owned())
            && found
                .contains(&"recreated Application.argoproj.io/argocd/web certain, .".to_owned()),
        "{document}"
    );
    let notes = document["notes"].to_string();
    assert!(!notes.contains("stays in the cluster"), "{notes}");
    let message = document["findings"][0]["message"].as_str();
    assert!(
        message.is_some_and(|text| text.ends_with("and not all of them are created again")),
        "{message:?}"
    );
}
