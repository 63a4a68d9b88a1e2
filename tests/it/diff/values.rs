//! ConfigMaps with the values of HelmReleases that are not rendered.

use super::flux::{compared, kustomization, root, unread};

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec:\n  chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}\n  valuesFrom: [{kind: ConfigMap, name: values}]\n";

/// Returns two Kustomizations, the first of which delivers the HelmRelease.
fn tree() -> String {
    let both = ["apps", "other"].map(|name| kustomization(name, &format!("./{name}"), ""));
    root("prod")
        + "== clusters/prod/apps.yaml\n"
        + &both.concat()
        + "== apps/release.yaml\n"
        + RELEASE
}

fn values(path: &str, namespace: &str, data: &str) -> String {
    format!(
        "== {path}\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: values, namespace: {namespace}}}\ndata: {{values.yaml: '{data}'}}\n"
    )
}

#[test]
fn moved_config_maps_with_values_are_unchanged() {
    let [shop, other] = ["shop", "other"];
    let base = values("apps/a.yaml", shop, "a: 1") + &values("other/b.yaml", other, "b: 1");
    let head = values("apps/sub/z.yaml", shop, "a: 1") + &values("other/a.yaml", other, "b: 1");
    let document = compared(&tree(), &base, &head);
    assert_eq!(unread(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "nothing");
    // Two ConfigMaps of one namespace change their order.
    let head = values("apps/z.yaml", shop, "a: 1") + &values("apps/b.yaml", shop, "b: 1");
    let base = values("apps/a.yaml", shop, "a: 1") + &values("apps/b.yaml", shop, "b: 1");
    assert_eq!(unread(&compared(&tree(), &base, &head)), [""; 0]);
}

#[test]
fn only_config_maps_of_namespace_of_release_count() {
    let own = values("apps/a.yaml", "shop", "a: 1");
    let [one, two] = ["b: 1", "b: 2"].map(|data| values("other/b.yaml", "other", data));
    let both = tree() + &own;
    assert_eq!(unread(&compared(&both, &one, &two)), [""; 0]);
    let changed = values("apps/a.yaml", "shop", "a: 2");
    let document = compared(&(tree() + &one), &own, &changed);
    assert_eq!(unread(&document).len(), 1, "{document}");
}

#[test]
fn kustomizations_decide_namespaces_of_values() {
    let kustomized = "== apps/kustomization.yaml\nnamespace: shop\nresources: [release.yaml]\nconfigMapGenerator:\n- {name: values, files: [settings.yaml]}\ngeneratorOptions: {disableNameSuffixHash: true}\n";
    let elsewhere = "== other/kustomization.yaml\nnamespace: other\nconfigMapGenerator:\n- {name: values, files: [settings.yaml]}\ngeneratorOptions: {disableNameSuffixHash: true}\n";
    let both = tree().replace(", namespace: shop", "") + kustomized + elsewhere;
    let file = |folder: &str, data: &str| format!("== {folder}/settings.yaml\na: {data}\n");
    let other = both.clone() + &file("apps", "1");
    let document = compared(&other, &file("other", "1"), &file("other", "2"));
    assert_eq!(unread(&document), [""; 0]);
    let own = both + &file("other", "1");
    let document = compared(&own, &file("apps", "1"), &file("apps", "2"));
    assert_eq!(unread(&document).len(), 1, "{document}");
}

#[test]
fn failing_build_elsewhere_changes_no_values() {
    let generated = |name: &str, more: &str| {
        format!(
            "== {name}/kustomization.yaml\nresources: [{more}]\nconfigMapGenerator:\n- {{name: values, files: [settings.yaml]}}\ngeneratorOptions: {{disableNameSuffixHash: true}}\n== {name}/settings.yaml\na: 1\n"
        )
    };
    let into = |name: &str| {
        kustomization(
            name,
            &format!("./{name}"),
            &format!("  targetNamespace: {name}\n"),
        )
    };
    let both = root("prod")
        + "== clusters/prod/apps.yaml\n"
        + &into("apps")
        + &into("other")
        + &generated("apps", "release.yaml")
        + "== apps/release.yaml\n"
        + &RELEASE.replace(", namespace: shop", "");
    let [base, head] = ["", "missing.yaml"].map(|more| generated("other", more));
    let document = compared(&both, &base, &head);
    assert_eq!(
        unread(&document),
        ["resource other/missing.yaml: the file does not exist, so that nothing is built"]
    );
}
