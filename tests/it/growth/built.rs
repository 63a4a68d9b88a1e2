//! The cost of builds.

use super::support::{documents, lines, within_limits_in};
use crate::support::Repository;

fn map(name: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {{a: b}}"
    )
}

/// Builds a kustomization, whose file `x.yaml` has `objects`, within the limits.
fn built(kustomization: &str, objects: &str, more: &[(String, String)]) -> String {
    let inside = Repository::new();
    inside.write("kustomization.yaml", kustomization);
    inside.write("x.yaml", objects);
    for (path, text) in more {
        inside.write(path, text);
    }
    let printed = within_limits_in(&inside, "list --deliveries --output json");
    assert!(!printed.contains("cannot be built"), "{printed}");
    printed
}

#[test]
fn generators_of_one_kustomization() {
    let generators = lines(4_000, |at| format!("- {{name: c{at}, literals: [a=b]}}"));
    built(&format!("configMapGenerator:\n{generators}"), "", &[]);
}

#[test]
fn literals_of_one_generator() {
    let literals = lines(20_000, |at| format!("  - a{at}=b"));
    let text = format!("configMapGenerator:\n- name: c\n  literals:\n{literals}");
    built(&text, "", &[]);
}

#[test]
fn patches_with_one_target_each() {
    let patches = lines(2_000, |at| {
        format!(
            "- target: {{kind: ConfigMap, name: x{at}}}\n  patch: |\n    - {{op: add, path: /data/c, value: d}}"
        )
    });
    let text = format!("resources: [x.yaml]\npatches:\n{patches}");
    built(&text, &documents(2_000, |at| map(&format!("x{at}"))), &[]);
}

#[test]
fn components_with_one_object_each() {
    let components = lines(1_000, |at| format!("- c{at}"));
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [y.yaml]\n";
    let files = (0..1_000).flat_map(|at| {
        [
            (format!("c{at}/kustomization.yaml"), component.to_owned()),
            (format!("c{at}/y.yaml"), map(&format!("y{at}"))),
        ]
    });
    let files: Vec<_> = files.collect();
    let text = format!("resources: [x.yaml]\ncomponents:\n{components}");
    built(
        &text,
        &documents(1_000, |at| map(&format!("x{at}"))),
        &files,
    );
}

#[test]
fn operations_of_one_json_patch() {
    let operations = lines(20_000, |at| {
        format!("- {{op: add, path: /data/k{at}, value: a}}")
    });
    let text = "resources: [x.yaml]\npatches:\n- {target: {kind: ConfigMap}, path: p.yaml}\n";
    built(text, &map("x"), &[("p.yaml".to_owned(), operations)]);
}

#[test]
fn keys_of_one_strategic_patch() {
    let keys = lines(20_000, |at| format!("  k{at}: a"));
    let patch = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: shop}}\ndata:\n{keys}"
    );
    let text = "resources: [x.yaml]\npatches: [{path: p.yaml}]\n";
    built(text, &map("x"), &[("p.yaml".to_owned(), patch)]);
}

#[test]
fn variables_in_keys_of_one_object() {
    let inside = Repository::new();
    inside.write(
        "flux/apps.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
         spec: {path: ./apps, postBuild: {substitute: {A: b}}}\n",
    );
    let keys = lines(20_000, |at| format!("  k{at}: ${{A}}"));
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: shop}}\ndata:\n{keys}"
    );
    inside.write("apps/x.yaml", &text);
    within_limits_in(&inside, "list --deliveries --output json");
}
