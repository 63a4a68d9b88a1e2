//! Deliveries that were suspended: objects that left their sources meanwhile are in neither state.

use serde_json::Value;

use super::argo::{DIRECTORIES, delivered, set};
use super::flux::{compared, config, kustomization, root};

const SUSPENDED: &str = "  suspend: true\n";

/// Returns the verdict, and the subjects of the objects that were not pruned.
fn unpruned(document: &Value) -> (String, Vec<String>) {
    let verdict = document["summary"]["verdict"].as_str().expect("a verdict");
    let unread = document["unread"].as_array().expect("a list").iter();
    let unpruned = unread.filter(|one| one["what"] == "unpruned");
    let subjects = unpruned.map(|one| one["subject"].as_str().expect("a subject").to_owned());
    (verdict.to_owned(), subjects.collect())
}

#[test]
fn resumed_kustomization_makes_deletions_unknown() {
    let both = root("prod") + &format!("== apps/web/a.yaml\n{}", config("a"));
    let web = |more: &str| {
        let web = kustomization("web", "./apps/web", more);
        format!("== clusters/prod/web.yaml\n{web}")
    };
    let (on, off) = (web(""), web(SUSPENDED));
    let subject = "objects that Kustomization flux-system/web did not prune while it was suspended";
    let resumed = ("unknown".to_owned(), vec![subject.to_owned()]);
    let nothing = ("nothing".to_owned(), Vec::new());
    assert_eq!(unpruned(&compared(&both, &off, &on)), resumed);
    assert_eq!(unpruned(&compared(&both, &on, &off)), nothing);
    assert_eq!(unpruned(&compared(&both, &off, &off)), nothing);
    // Without pruning, a resumed Kustomization deletes nothing.
    let off = off.replace("prune: true", "prune: false");
    let on = on.replace("prune: true", "prune: false");
    assert_eq!(unpruned(&compared(&both, &off, &on)), nothing);
}

#[test]
fn set_that_deletes_again_makes_deletions_unknown() {
    let both = super::argo::root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let of = |more: &str| set(DIRECTORIES, "{{path.basename}}", "{{path}}", more);
    let (keeps, deletes) = (
        of("  syncPolicy: {applicationsSync: create-only}\n"),
        of(""),
    );
    let subject = "Applications that ApplicationSet argocd/all did not delete";
    let lifted = ("unknown".to_owned(), vec![subject.to_owned()]);
    assert_eq!(unpruned(&compared(&both, &keeps, &deletes)), lifted);
    let nothing = ("nothing".to_owned(), Vec::new());
    assert_eq!(unpruned(&compared(&both, &deletes, &keeps)), nothing);
}

#[test]
fn resumed_helm_release_makes_deletions_unknown() {
    let both = root("prod");
    let release = |more: &str| {
        format!(
            "== clusters/prod/web.yaml\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: shop}}\nspec:\n  interval: 1h\n{more}  chart: {{spec: {{chart: web, version: 1.0.0, sourceRef: {{kind: HelmRepository, name: charts}}}}}}\n"
        )
    };
    let (on, off) = (release(""), release(SUSPENDED));
    let document = compared(&both, &off, &on);
    let subject = "objects that HelmRelease shop/web did not delete while it was suspended";
    let resumed = ("unknown".to_owned(), vec![subject.to_owned()]);
    assert_eq!(unpruned(&document), resumed);
    let delivery =
        "clusters/prod|Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system";
    assert_eq!(document["unread"][0]["delivery"], delivery);
    let nothing = ("nothing".to_owned(), Vec::new());
    assert_eq!(unpruned(&compared(&both, &on, &off)), nothing);
    // This also holds if nothing delivers the HelmRelease.
    assert_eq!(unpruned(&compared("", &off, &on)), resumed);
}

#[test]
fn resumed_or_automated_application_makes_deletions_unknown() {
    let on = delivered();
    let web = |from: &str, to: &str| {
        let (before, web) = on.split_once("== argocd/apps/web.yaml").expect("the file");
        format!("{before}== argocd/apps/web.yaml{}", web.replace(from, to))
    };
    let manual = web("{automated: {prune: true}}", "{}");
    let skipped = web(
        "namespace: argocd,",
        "namespace: argocd, annotations: {argocd.argoproj.io/skip-reconcile: 'true'},",
    );
    for (off, when) in [(manual, ""), (skipped, " while it was suspended")] {
        let subject = format!("objects that Application argocd/web did not prune{when}");
        let begins = ("unknown".to_owned(), vec![subject]);
        assert_eq!(unpruned(&compared("", &off, &on)), begins);
    }
}
