//! The length of printed text, and the cost of printing.

use super::support::{documents, namesakes_and_references, uid, within_limits};

/// Prints a list in one line, whose objects have a finding each, in `format`.
fn a_list_in_one_line(format: &str, count: usize) {
    let item = |number: usize| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"web-{number}","namespace":"shop","finalizers":7}}}}"#
        )
    };
    let items: Vec<String> = (0..count).map(item).collect();
    let list = format!(
        r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#,
        items.join(",")
    );
    within_limits(
        &list,
        &format!("check --no-config --threads 1 --output {format} @"),
    );
}

/// Review P1: one-line JSON list, `lsp`.
#[test]
fn one_line_list_as_lsp() {
    a_list_in_one_line("lsp", 16_000);
}

/// Review P1: one-line JSON list, `junit`.
#[test]
fn one_line_list_as_junit() {
    a_list_in_one_line("junit", 40_000);
}

/// Review P1: one-line JSON list, `human`.
#[test]
fn one_line_list_as_human() {
    a_list_in_one_line("human", 40_000);
}

/// Review P1: one-line JSON list, `sarif`.
#[test]
fn one_line_list_as_sarif() {
    a_list_in_one_line("sarif", 40_000);
}

/// Review P1, output: n identical findings of one object. Regression: each had its own frame.
#[test]
fn equal_findings_of_one_object() {
    let keys = "  k: v\n".repeat(20_000);
    let object = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop}}\ndata:\n{keys}"
    );
    let printed = within_limits(&object, "check --no-config --threads 1 --output human @");
    assert!(printed.len() < 2_000, "{} bytes", printed.len());
}

/// Review P1, output: n namesakes × n references.
#[test]
fn namesakes_and_references_to_them() {
    let text = namesakes_and_references(4_000);
    let printed = within_limits(&text, "check --no-config --threads 1 --output json @");
    assert!(printed.len() < 40 * text.len(), "{} bytes", printed.len());
}

/// Review P1: `plan -o json` on a chain. Regression: `why` repeated the chain for every object.
#[test]
fn long_owner_chain_in_json_plan() {
    let object = |number: usize| {
        let own = format!(
            "name: web-{number}, namespace: shop, uid: {}, resourceVersion: '1'",
            uid(number)
        );
        let owner = |owner: usize| {
            let uid = uid(owner);
            format!(
                ", ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: web-{owner}, uid: {uid}}}]"
            )
        };
        let owner = number.checked_sub(1).map(owner).unwrap_or_default();
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{{own}{owner}}}")
    };
    let text = documents(4_000, object);
    let printed = within_limits(&text, "plan delete cm/web-0 -n shop -o json -f @");
    assert!(printed.len() < 20 * text.len(), "{} bytes", printed.len());
}

/// Returns a JSON plan that deletes the owners of `races` races with two outcomes each, beside `others` unaffected
/// objects.
fn a_plan_of_races(races: usize, others: usize) -> String {
    let object = |name: String, number: usize, rest: String| {
        let uid = uid(number);
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop, uid: {uid}, resourceVersion: '1'{rest}}}\n"
        )
    };
    let reference = |name: String, number: usize, blocks: bool| {
        let uid = uid(number);
        format!(
            "{{apiVersion: v1, kind: ConfigMap, name: {name}, uid: {uid}, blockOwnerDeletion: {blocks}}}"
        )
    };
    let race = |race: usize| {
        let (owner, between) = (format!("owner-{race}"), format!("between-{race}"));
        let first = reference(owner.clone(), 3 * race, false);
        let both = [
            reference(between.clone(), 3 * race + 1, false),
            reference(owner.clone(), 3 * race, true),
        ]
        .join(", ");
        [
            object(owner, 3 * race, String::new()),
            object(
                between,
                3 * race + 1,
                format!(", ownerReferences: [{first}]"),
            ),
            object(
                format!("held-{race}"),
                3 * race + 2,
                format!(", finalizers: [example.com/x], ownerReferences: [{both}]"),
            ),
        ]
        .concat()
    };
    let other =
        |number: usize| object(format!("other-{number}"), 3 * races + number, String::new());
    let text: String = (0..races).map(race).chain((0..others).map(other)).collect();
    let targets: String = (0..races).map(|race| format!("cm/owner-{race} ")).collect();
    within_limits(
        &text,
        &format!("plan delete {targets} -n shop -o json -f @"),
    )
}

/// Review P3.5: outcomes × objects. Regression: the plan for 987 objects had 842 MB.
#[test]
fn thousand_objects_with_thousands_of_outcomes() {
    let plan = a_plan_of_races(12, 951);
    assert!(plan.len() < 4_000_000, "{} bytes", plan.len());
    assert!(plan.contains(r#""complete": false"#));
}

/// Review P2: random graphs of a few dozen objects with several outcomes.
#[test]
fn few_dozen_objects_with_thousands_of_outcomes() {
    let plan = a_plan_of_races(14, 0);
    assert!(plan.len() < 4_000_000, "{} bytes", plan.len());
    assert!(plan.contains(r#""complete": false"#));
}

/// Fixes of many objects in one file: finding the smallest difference of two long texts takes quadratic time.
#[test]
fn a_diff_of_many_fixes() {
    let namespace = |number| {
        format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop-{number}}}\nspec: {{finalizers: [example.com/web]}}"
        )
    };
    let diff = within_limits(
        &documents(16_000, namespace),
        "check --no-config --threads 1 --fix-dry-run --suggested @",
    );
    assert!(
        diff.contains("\n-spec: {finalizers: [example.com/web]}\n"),
        "{}",
        &diff[..400]
    );
}

/// Human output shows the first of thousands of commands, JSON shows all.
#[test]
fn safe_order_with_thousands_of_commands() {
    let held = |number| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, finalizers: [example.com/web]}}"
        )
    };
    let page = within_limits(
        &documents(5_000, held),
        "plan teardown --by kubectl --fail-on never @",
    );
    assert!(page.contains("4980 more commands"), "{page}");
    assert!(page.len() < 20_000, "{}", page.len());
}
