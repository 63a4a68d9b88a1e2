//! What a stranger writes costs time and memory by its length, not by the square of it. Each input here once took many times what
//! its limits allow, which the operating system enforces; the program is built without optimisation.

use std::fmt::Write;
use std::process::Command;

use tempfile::TempDir;

/// Checks a text with ten seconds of processor time and half a gigabyte of address space.
fn checked_within_limits(text: &str, arguments: &str) {
    let folder = TempDir::new().expect("a folder");
    let input = folder.path().join("input.yaml");
    std::fs::write(&input, text).expect("the input");
    let line = format!(
        "ulimit -t 10; ulimit -v 524288; exec \"$0\" check --threads 1 --no-config --output concise {arguments} \"$1\""
    );
    let run = Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_ownerlint")]).arg(&input).output().expect("sh");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1)), "{:?}: {error}", run.status);
}

/// One line for each number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{}", line(number)).expect("a string takes everything");
        text
    })
}

/// Documents, one for each number.
fn documents(count: usize, document: impl Fn(usize) -> String) -> String {
    lines(count, |number| format!("---\n{}", document(number)))
}

fn uid(number: usize) -> String {
    format!("3f2a61c8-9d1e-4a77-b0c5-{number:012x}")
}

fn with_references(count: usize, reference: impl Fn(usize) -> String) -> String {
    let references = lines(count, |number| format!("  - {{{}}}", reference(number)));
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n  ownerReferences:\n{references}"
    )
}

#[test]
fn owner_references_of_one_object() {
    let to = |number, uid| format!("apiVersion: v1, kind: ConfigMap, name: web-{number}, uid: {uid}");
    checked_within_limits(&with_references(4_000, |number| to(number, uid(number))), "");
    checked_within_limits(&with_references(4_000, |number| to(number, uid(0))), "");
    checked_within_limits(&with_references(16_000, |_| to(0, uid(0))), "");
}

#[test]
fn namesakes_in_other_namespaces_and_references_to_them() {
    let namesakes = documents(4_000, |number| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop-{number}}}")
    });
    let references =
        with_references(4_000, |number| format!("apiVersion: v1, kind: ConfigMap, name: web, uid: {}", uid(number)));
    checked_within_limits(&format!("{namesakes}---\n{references}"), "");
}

#[test]
fn a_dump_of_namesakes_that_name_their_owner_by_other_uids() {
    let object = |number| {
        let (own, owner) = (uid(number), uid(number + 1_000_000));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop, uid: {own}, resourceVersion: '1', \
             ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: web, uid: {owner}}}]}}"
        )
    };
    checked_within_limits(&documents(8_000, object), "");
}

#[test]
fn a_dump_of_objects_whose_owners_are_gone_in_a_closed_world() {
    let object = |number: usize| {
        let (own, owner) =
            (uid(number), if number.is_multiple_of(2) { uid(number + 1_000_000) } else { uid(number - 1) });
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, uid: {own}, resourceVersion: \
             '1', ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: db-{number}, uid: {owner}}}]}}"
        )
    };
    checked_within_limits(&documents(6_000, object), "--world closed");
}

#[test]
fn versions_of_a_definition_and_instances_of_none_of_them() {
    let versions = lines(4_000, |number| format!("  - {{name: v{number}, served: true, storage: {}}}", number == 0));
    let instances = documents(4_000, |number| {
        format!("apiVersion: example.com/vx\nkind: Widget\nmetadata: {{name: web-{number}, namespace: shop}}")
    });
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n\
                      spec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n";
    checked_within_limits(&format!("{definition}{versions}{instances}"), "");
}

#[test]
fn directives_on_one_document() {
    let directives = lines(16_000, |_| "# ownerlint: ignore-document[finalizer-wrong-type] tested".to_owned());
    checked_within_limits(&format!("{directives}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\n"), "");
    let directives = lines(16_000, |_| "# ownerlint: ignore[finalizer-wrong-type] tested".to_owned());
    checked_within_limits(&format!("{directives}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: [\n"), "");
}

#[test]
fn documents_with_a_directive_and_a_finding_each() {
    let document = |number| {
        format!(
            "# ownerlint: ignore[finalizer-wrong-type] tested\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: \
             web-{number}, namespace: shop, finalizers: 7}}"
        )
    };
    checked_within_limits(&documents(16_000, document), "");
}
