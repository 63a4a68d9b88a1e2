//! Unread inputs whose files stay, while nothing delivers them any more.

use serde_json::{Value, json};

use super::argo::{DIRECTORIES, application, delivered, root, set};
use super::flux::{self, compared, config, kustomization, text_of};

/// Returns the subjects of the unread inputs, each with its side.
fn unread(document: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let unread = document["unread"].as_array().expect("a list").iter();
    unread
        .map(|one| format!("{}, {}", text(&one["subject"]), text(&one["side"])))
        .collect()
}

/// Returns a folder whose kustomization renders a chart.
fn charted() -> &'static str {
    "== svc/web/kustomization.yaml\nhelmCharts: [{name: web, repo: 'https://charts.example.org', version: 1.0.0}]\n"
}

#[test]
fn chart_of_a_removed_set_is_unread() {
    let both = root() + charted();
    let removed = |more: &str| set(DIRECTORIES, "{{path.basename}}", "{{path}}", more);
    let document = compared(&both, &removed(""), "");
    assert_eq!(unread(&document), ["chart web 1.0.0, base"]);
    assert_eq!(
        document["unread"][0]["delivery"],
        ".|Application.argoproj.io/argocd/web"
    );
    let note =
        "charts were not rendered: `--render` renders them with helm and shows their deletions";
    let notes = document["notes"].as_array().expect("notes");
    assert!(notes.contains(&json!(note)), "{notes:?}");
    // The Applications are deleted, and their objects stay.
    let preserving = removed("  syncPolicy: {preserveResourcesOnDeletion: true}\n");
    assert_eq!(unread(&compared(&both, &preserving, "")), [""; 0]);
}

#[test]
fn chart_folder_of_a_removed_application_is_unread() {
    let both = root() + "== charts/web/Chart.yaml\nname: web\nversion: 1.0.0\n";
    let web = format!(
        "== argocd/apps/web.yaml\n{}",
        application("web", "charts/web", "")
    );
    let document = compared(&both, &web, "");
    assert_eq!(unread(&document), ["chart web 1.0.0, base"]);
}

#[test]
fn remote_resource_of_a_removed_kustomization_is_unread() {
    let listed =
        |remote: &str| format!("== apps/kustomization.yaml\nresources: [a.yaml{remote}]\n");
    let remote = listed(", 'https://github.com/example/base?ref=v1.0.0'");
    let both = flux::root("prod") + &format!("== apps/a.yaml\n{}", config("a"));
    let apps = format!(
        "== clusters/prod/apps.yaml\n{}",
        kustomization("apps", "./apps", "")
    );
    let remotes = |both: &str| {
        let mut found = unread(&compared(both, &apps, ""));
        found.retain(|subject| subject.contains("github.com"));
        found
    };
    assert_eq!(
        remotes(&(both.clone() + &remote)),
        ["resource https://github.com/example/base v1.0.0, base"]
    );
    assert_eq!(remotes(&(both + &listed(""))), [""; 0]);
}

#[test]
fn chart_that_a_delivery_no_longer_includes_is_unread() {
    let both = delivered() + charted();
    let listed = |more: &str| format!("== web/kustomization.yaml\nresources: [a.yaml{more}]\n");
    let document = compared(&both, &listed(", ../svc/web"), &listed(""));
    assert_eq!(unread(&document), ["chart web 1.0.0, base"]);
    let said = text_of(&both, &listed(", ../svc/web"), &listed(""), &[]);
    let sentence = "ownerlint cannot tell: the change no longer delivers chart web 1.0.0, which cannot be read";
    assert!(said.replace('\n', " ").contains(sentence), "{said}");
    let document = compared(&both, &listed(", ../svc/web"), &listed(", ../svc/web"));
    assert_eq!(unread(&document), [""; 0]);
}

#[test]
fn chart_that_moves_is_not_called_removed() {
    let chart = |folder: &str| {
        format!(
            "== {folder}/Chart.yaml\nname: web\nversion: 1.0.0\n== {folder}/templates/a.yaml\nname: {{{{ .Values.name }}}}\n"
        )
    };
    let (base, head) = (chart("charts/web"), chart("deploy/web"));
    let document = compared("", &base, &head);
    assert_eq!(unread(&document), ["chart web 1.0.0, both"]);
    assert_eq!(document["unread"][0]["was"], "base/charts/web/Chart.yaml");
    let said = text_of("", &base, &head, &["--allow-empty"]).replace('\n', " ");
    for part in [
        "ownerlint cannot tell: the change moves chart web 1.0.0, which cannot be read",
        "head/deploy/web/Chart.yaml:1, before in base/charts/web/Chart.yaml",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}
