//! Templates of rendered charts that are left out, suppressed or fixed, and charts that several tools deliver.

use std::process::Output;

use super::surroundings::{Surroundings, effects, unread};

/// Creates a tree with a chart that no delivery names. It renders to these objects, and has a template for each.
fn chart(objects: &[(&str, String)]) -> Surroundings {
    let tree = Surroundings::with_fake_helm();
    tree.write(&[(
        "charts/web/Chart.yaml",
        "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    )]);
    render(&tree, objects);
    tree
}

/// Makes the chart render to these objects.
fn render(tree: &Surroundings, objects: &[(&str, String)]) {
    let mut all = String::new();
    for (name, text) in objects {
        tree.write(&[(&format!("charts/web/templates/{name}.yaml"), "{{ x }}\n")]);
        all.push_str(&format!("---\n# Source: web/templates/{name}.yaml\n{text}"));
    }
    tree.write(&[("charts/web/objects.txt", &all)]);
    tree.folder.commit();
}

fn claim(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {name}, namespace: shop}}\n"
    )
}

/// Returns a ConfigMap with an owner reference that lacks its uid. `comment` is a line before it, `inner` one within.
fn owned(name: &str, comment: &str, inner: &str) -> String {
    format!(
        "{comment}apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: shop\n  ownerReferences:\n{inner}    - {{apiVersion: apps/v1, kind: Deployment, name: x}}\n"
    )
}

fn run(tree: &Surroundings, arguments: &[&str]) -> Output {
    tree.ownerlint().args(arguments).output().expect("it runs")
}

/// Returns the standard output and the standard error of a check of rendered charts.
fn checked(tree: &Surroundings, more: &[&str]) -> (String, String) {
    let output = run(
        tree,
        &[&["check", "--render", "-o", "concise"], more].concat(),
    );
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn excluded_template_is_not_checked() {
    let tree = chart(&[("a", owned("a", "", "")), ("b", owned("b", "", ""))]);
    assert_eq!(checked(&tree, &[]).0.lines().count(), 2);
    for glob in ["charts/web/templates/a.yaml", "**/a.yaml"] {
        let (found, _) = checked(&tree, &["--exclude", glob]);
        assert!(found.contains("`b`") && !found.contains("`a`"), "{found}");
    }
    tree.write(&[("ownerlint.yaml", "version: 1\nexclude: ['**/a.yaml']\n")]);
    let (found, _) = checked(&tree, &[]);
    assert!(found.contains("`b`") && !found.contains("`a`"), "{found}");
}

#[test]
fn excluded_chart_and_chart_outside_the_bundles_are_not_checked() {
    let tree = chart(&[("a", owned("a", "", ""))]);
    let cm = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\n";
    tree.write(&[("apps/c.yaml", cm)]);
    for arguments in [&["--exclude", "charts/**"][..], &[]] {
        let (found, said) = checked(&tree, arguments);
        assert!(
            found.is_empty() && !said.contains("error:"),
            "{said}{found}"
        );
        tree.write(&[(
            "ownerlint.yaml",
            "version: 1\nbundles: {apps: {paths: [apps]}}\n",
        )]);
    }
}

#[test]
fn named_template_is_read_as_it_is_with_a_warning() {
    let tree = chart(&[("a", owned("a", "", ""))]);
    let (_, said) = checked(&tree, &["charts/web/templates/a.yaml"]);
    let warning = "warning: charts/web: files of this chart are read as they are, because it is rendered only if its folder is named";
    assert!(said.contains(warning), "{said}");
    assert!(!checked(&tree, &["charts/web"]).1.contains("warning"));
}

#[test]
fn excluded_and_unnamed_templates_are_not_compared() {
    let tree = chart(&[("a", claim("a")), ("b", claim("b")), ("c", claim("c"))]);
    render(&tree, &[("c", claim("c"))]);
    let deleted = |more: &[&str]| {
        let all = effects(&tree.diff(&[&["--render"], more].concat()));
        let deleted = all.into_iter();
        let deleted = deleted.filter_map(|one| Some(one.strip_prefix("deleted ")?.to_owned()));
        deleted.collect::<Vec<_>>().join(" ")
    };
    let [a, b] = ["a", "b"].map(|name| format!("PersistentVolumeClaim/shop/{name}"));
    assert_eq!(deleted(&[]), format!("{a} {b}"));
    let template = "charts/web/templates/a.yaml";
    assert_eq!(deleted(&["--exclude", template]), b);
    assert_eq!(deleted(&[template]), a);
    for whole in ["charts", "charts/web", "charts/web/templates"] {
        assert_eq!(deleted(&[whole]), format!("{a} {b}"), "{whole}");
    }
}

#[test]
fn fixes_leave_rendered_charts_and_say_so() {
    let tree = chart(&[("a", owned("a", "", ""))]);
    let output = run(
        &tree,
        &["check", "--render", "--fix", "--suggested", "-o", "concise"],
    );
    let said = String::from_utf8(output.stderr).expect("text");
    let summary = "fixed nothing; not fixed: 1 finding in rendered charts, whose templates have to be changed";
    assert!(said.contains(summary), "{said}");
    let found = String::from_utf8(output.stdout).expect("text");
    assert!(
        found.starts_with("charts/web/web (rendered).yaml:"),
        "{found}"
    );
    tree.write(&[("own.yaml", &owned("own", "", ""))]);
    let (_, said) = checked(&tree, &["--fix", "--suggested"]);
    assert!(said.contains("fixed 1 finding in 1 file"), "{said}");
    let own = std::fs::read_to_string(tree.folder.path().join("own.yaml"));
    assert!(!own.expect("a file").contains("ownerReferences"));
}

#[test]
fn comments_that_helm_prints_suppress_findings() {
    let document = "# ownerlint: ignore-document[owner-missing-field] a test\n";
    let inner = "    # ownerlint: ignore[owner-missing-field] a test\n";
    let tree = chart(&[
        ("a", owned("a", document, "")),
        ("b", owned("b", "", inner)),
        ("c", owned("c", "", "")),
    ]);
    let (found, _) = checked(&tree, &[]);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.contains("`c`"), "{found}");
}

#[test]
fn comment_before_the_first_key_suppresses_a_finding_of_diff() {
    let comment = "# ownerlint: ignore-document[volume-removed] a test\n";
    let tree = chart(&[("a", claim("a")), ("b", format!("{comment}{}", claim("b")))]);
    render(&tree, &[]);
    let document = tree.diff(&["--render"]);
    let findings = document["findings"].as_array().expect("a list").iter();
    let objects: Vec<_> = findings.map(|one| one["object"].as_str()).collect();
    assert_eq!(objects, [Some("PersistentVolumeClaim/shop/a")]);
}

/// A comment belongs to the object of its document, but the items of a list share one document.
#[test]
fn comment_above_a_list_belongs_to_none_of_its_items() {
    let comment = "# ownerlint: ignore-document[volume-removed] a test\n";
    let items = ["a", "b"].map(|name| {
        format!(
            "- {{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}, namespace: shop}}}}\n"
        )
    });
    let list = format!(
        "{comment}apiVersion: v1\nkind: List\nitems:\n{}",
        items.concat()
    );
    let tree = chart(&[("list", list)]);
    render(&tree, &[]);
    let document = tree.diff(&["--render"]);
    let findings = document["findings"].as_array().expect("a list").iter();
    let objects: Vec<_> = findings.map(|one| one["object"].as_str()).collect();
    let expected = ["a", "b"].map(|name| format!("PersistentVolumeClaim/shop/{name}"));
    assert_eq!(objects, expected.each_ref().map(|key| Some(key.as_str())));
}

/// Returns the note and the help of the only finding, and the key of the delivery of the first effect, of a change
/// that removes a claim from a chart which a HelmRelease and an Application deliver. `sync` is the Application's policy.
fn delivered_twice(sync: &str) -> [String; 3] {
    let tree = chart(&[("a", claim("a")), ("b", claim("b"))]);
    let flux = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {url: 'https://example.com/fleet'}\n---\n\
        apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\nspec: {path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n\
        spec: {chart: {spec: {chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}}\n";
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\n\
         spec: {{destination: {{namespace: shop, server: 'https://kubernetes.default.svc'}}, source: {{repoURL: 'https://example.com/fleet', path: charts/web}}, syncPolicy: {sync}}}\n"
    );
    tree.write(&[
        ("clusters/prod/gotk-sync.yaml", flux),
        ("clusters/prod/web.yaml", release),
        ("argo/web.yaml", &application),
    ]);
    render(&tree, &[("a", claim("a")), ("b", claim("b"))]);
    render(&tree, &[("a", claim("a"))]);
    let document = tree.diff(&["--render"]);
    let finding = &document["findings"][0];
    let delivery = &document["effects"][0]["delivery"];
    [&finding["reason"], &finding["help"], &delivery["key"]]
        .map(|value| value.as_str().unwrap_or_default().to_owned())
}

#[test]
fn finding_names_every_tool_that_deletes() {
    let [reason, help, _] = delivered_twice("{automated: {prune: true}}");
    assert!(
        reason.starts_with("Each of Argo CD and Flux deletes the PersistentVolumeClaim."),
        "{reason}"
    );
    let steps = "annotate the claim with `argocd.argoproj.io/sync-options: Prune=false,Delete=false`, merge that and wait until it is synced; then annotate it with `helm.sh/resource-policy: keep`, merge that and wait until the HelmRelease is upgraded, and remove the claim in a second change";
    assert!(help.contains(steps), "{help}");
}

#[test]
fn finding_names_only_the_tool_that_deletes() {
    let [reason, help, delivery] = delivered_twice("{}");
    assert!(
        reason.starts_with("Flux deletes the Persistent"),
        "{reason}"
    );
    assert!(!help.contains("argocd"), "{help}");
    assert_eq!(delivery, "HelmRelease.helm.toolkit.fluxcd.io/shop/web");
}

#[test]
fn packed_chart_is_not_rendered() {
    let tree = chart(&[("a", claim("a"))]);
    tree.write(&[
        ("packed/foo-1.2.3.tgz", "one"),
        ("own.yaml", &owned("own", "", "")),
    ]);
    tree.folder.commit().remove("packed/foo-1.2.3.tgz").commit();
    let document = tree.diff(&["--render"]);
    let reason = "packed chart foo 1.2.3: ownerlint does not read packed charts";
    assert_eq!(unread(&document), [reason]);
    assert_eq!(document["summary"]["verdict"], "unknown");
}
