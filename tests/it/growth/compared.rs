//! The cost of `diff`.

use super::support::{documents, within_limits_in};
use crate::support::Repository;

/// Head lacks all definitions of a rendering: each finding mentions it.
#[test]
fn removed_definitions_with_one_instance_each() {
    let definition = |number: usize| {
        format!(
            "# Source: web/templates/crd.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: \
             {{name: cakes{number}.example.com}}\nspec: {{group: example.com, names: {{kind: Cake{number}, plural: \
             cakes{number}}}, scope: Namespaced, versions: [{{name: v1, served: true, storage: true}}]}}"
        )
    };
    let instances = documents(4_000, |number| {
        format!(
            "# Source: web/templates/cake.yaml\napiVersion: example.com/v1\nkind: Cake{number}\nmetadata: {{name: web, namespace: shop}}"
        )
    });
    let inside = Repository::new();
    inside.write(
        "base/web.yaml",
        &(documents(4_000, definition) + &instances),
    );
    inside.write("head/web.yaml", &instances);
    let printed = within_limits_in(&inside, "diff --base base --head head --output concise");
    assert!(
        printed.contains("error[crd-removed]") && printed.contains("(and 3999 more)"),
        "{printed}"
    );
}
