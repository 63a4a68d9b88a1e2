//! HelmReleases whose charts come from a GitRepository, and the releases that a change replaces.

use super::flux::{compared, kustomization, root, unread};

fn repository(name: &str, url: &str) -> String {
    format!(
        "== clusters/prod/{name}.yaml\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{interval: 1m, url: '{url}'}}\n"
    )
}

fn release(chart: &str, source: &str) -> String {
    format!(
        "== apps/web.yaml\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: shop}}\nspec:\n  chart: {{spec: {{chart: {chart}, sourceRef: {{kind: {source}, namespace: flux-system}}}}}}\n"
    )
}

/// Returns the findings and unread inputs of a change of the chart.
fn findings_and_unread(base: &str, head: &str) -> (Vec<String>, Vec<String>) {
    let chart = |name: &str| format!("== charts/{name}/Chart.yaml\nname: {name}\nversion: 1.0.0\n");
    let both = root("prod")
        + &repository("flux-system", "ssh://git@git.example.com/acme/fleet")
        + &repository("alias", "https://git.example.com/acme/fleet.git")
        + &repository("charts", "https://git.example.com/acme/charts")
        + &format!(
            "== clusters/prod/apps.yaml\n{}",
            kustomization("apps", "./apps", "")
        )
        + &chart("one")
        + &chart("two");
    let document = compared(&both, base, head);
    let findings = document["findings"].as_array().expect("a list").iter();
    let findings = findings.filter_map(|one| one["message"].as_str());
    (findings.map(str::to_owned).collect(), unread(&document))
}

#[test]
fn chart_of_another_repository_is_not_that_in_the_tree() {
    let replaced = "HelmRelease `web` installs another release: Flux uninstalls release \
                    `shop/web`, whose objects are not known";
    for source in ["flux-system", "alias"] {
        let source = format!("GitRepository, name: {source}");
        let (findings, _) = findings_and_unread(
            &release("./charts/one", &source),
            &release("./charts/two", &source),
        );
        assert_eq!(findings, [replaced], "{source}");
    }
    let other = "GitRepository, name: charts";
    let (findings, unread) = findings_and_unread(
        &release("./charts/one", other),
        &release("./charts/two", other),
    );
    assert_eq!(findings, [""; 0]);
    assert_eq!(
        unread,
        [
            "chart ./charts/two: the name of a chart is not in the tree: if it changes, this uninstalls the release and installs another one, and the objects of the chart are deleted and created again"
        ]
    );
}

#[test]
fn chart_of_unknown_name_may_replace_the_release() {
    let (findings, unread) = findings_and_unread(
        &release("web", "HelmRepository, name: acme"),
        &release("./charts/one", "GitRepository, name: charts"),
    );
    assert_eq!(findings, [""; 0]);
    assert!(
        unread[0].contains("the name of a chart is not in the tree"),
        "{unread:?}"
    );
}
