//! Generators of large inputs, and runs of the program within limits.

use std::fmt::Write;

use crate::limits::limited;
use crate::support::Repository;

/// Returns the output of the program for a text, within the limits. In `arguments`, `@` is its file.
pub(super) fn within_limits(text: &str, arguments: &str) -> String {
    let inside = Repository::new();
    inside.write("input.yaml", text);
    within_limits_in(&inside, arguments)
}

/// Returns the output of the program in a folder with `input.yaml` and other files.
pub(super) fn within_limits_in(inside: &Repository, arguments: &str) -> String {
    let run = limited(&inside.path(), &arguments.replace('@', "input.yaml"));
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(
        matches!(run.status.code(), Some(0 | 1)),
        "{:?}: {error}",
        run.status
    );
    String::from_utf8(run.stdout).expect("UTF-8")
}

pub(super) const CHECK: &str = "check --no-config --threads 1 --output concise @";

/// Checks a text within the limits, and returns the findings. No object may be rejected for its size: the rules would
/// not see it.
pub(super) fn checked(text: &str) -> String {
    let printed = within_limits(text, CHECK);
    let unread = printed
        .lines()
        .find(|line| line.contains("[unreadable-document]"));
    assert_eq!(unread, None);
    printed
}

/// Plans the deletion of the namespace `shop` with this content, within the limits.
pub(super) fn deleted(content: &str) {
    within_limits(&namespace(content), "plan delete ns/shop -f @");
}

/// Returns the namespace `shop` with this content.
pub(super) fn namespace(content: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n{content}")
}

pub(super) fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{}", line(number)).expect("a string takes everything");
        text
    })
}

pub(super) fn documents(count: usize, document: impl Fn(usize) -> String) -> String {
    lines(count, |number| format!("---\n{}", document(number)))
}

/// Returns a list of `count` objects, each on one line.
pub(super) fn list(count: usize, object: impl Fn(usize) -> String) -> String {
    format!(
        "apiVersion: v1\nkind: List\nitems:\n{}",
        lines(count, |number| format!("- {{{}}}", object(number)))
    )
}

pub(super) fn uid(number: usize) -> String {
    format!("3f2a61c8-9d1e-4a77-b0c5-{number:012x}")
}

/// Returns an object with `count` owner references.
pub(super) fn with_references(count: usize, reference: impl Fn(usize) -> String) -> String {
    let references = lines(count, |number| format!("  - {{{}}}", reference(number)));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n  ownerReferences:\n{references}"
    )
}

/// Returns an object with `count` finalizers.
pub(super) fn with_finalizers(count: usize, finalizer: impl Fn(usize) -> String) -> String {
    let finalizers = lines(count, |number| format!("  - {}", finalizer(number)));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n  finalizers:\n{finalizers}"
    )
}

/// Returns an operator, and an object in `namespace` that it handles.
pub(super) fn operator_and_object(number: usize, namespace: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: argocd-{number}, namespace: shop}}\nspec: {{template: {{spec: \
         {{containers: [{{name: argocd, image: 'quay.io/argoproj/argocd:v3.1.0'}}]}}}}}}\n---\napiVersion: \
         argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web-{number}, namespace: {namespace}, finalizers: \
         [resources-finalizer.argocd.argoproj.io]}}"
    )
}

/// Returns objects of one name in `count` namespaces, and as many in another one that refer to that name.
pub(super) fn namesakes_and_references(count: usize) -> String {
    let namesakes = documents(count, |number| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop-{number}}}"
        )
    });
    let dependents = documents(count, |number| {
        let owner = format!(
            "{{apiVersion: v1, kind: ConfigMap, name: web, uid: {}}}",
            uid(number)
        );
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, ownerReferences: [{owner}]}}"
        )
    });
    namesakes + &dependents
}
