//! A fix changes exactly what it says, in every form of a manifest.

use std::collections::BTreeSet;

use ownerlint::engine::{Check, Selection};
use ownerlint::finding::Applicability;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::properties::cases;
use crate::rules::fix_forms_support::{Form, as_item, block};
use crate::rules::fixes::fixed;
use crate::support::check_text;
use crate::yaml::support::{one, values};

const RULES: [&str; 7] = [
    "metadata-unknown-field",
    "owner-unknown-field",
    "owner-duplicate",
    "owner-missing-field",
    "namespace-on-cluster-scoped",
    "finalizer-preset-gc",
    "live-object",
];

fn check() -> Check {
    let rules: Vec<String> = RULES.map(str::to_owned).to_vec();
    Check {
        selection: Selection::new(&rules, &[]).expect("rules"),
        every: true,
        ..Check::default()
    }
}

fn safe(text: &str) -> String {
    fixed(text, &check(), Applicability::Safe)
}

/// Inserts an entry at some position of a mapping.
fn with(map: &mut Value, at: usize, key: &str, value: Value) {
    let entries = map.as_object_mut().expect("a mapping");
    let mut list: Vec<_> = std::mem::take(entries).into_iter().collect();
    list.insert(at % (list.len() + 1), (key.to_owned(), value));
    *entries = list.into_iter().collect();
}

/// Generates an object without defects, and the same object with safely fixable ones.
fn objects() -> impl Strategy<Value = (Value, Value)> {
    let defects = prop::collection::vec(any::<bool>(), 9);
    (defects, prop::collection::vec(0..9usize, 9), 0..3usize, 0..3usize).prop_map(|(defects, places, owners, finalizers)| {
        let owner = |name: &str| {
            json!({"apiVersion": "v1", "kind": "Namespace", "name": name, "uid": format!("u-{name}"), "blockOwnerDeletion": true})
        };
        let mut good = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "reader", "labels": {"app": "web", "tier": "front"}, "annotations": {"note": "a, b: c"}},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}],
        });
        let owners: Vec<_> = ["a", "b"].iter().take(owners).map(|name| owner(name)).collect();
        let finalizers: Vec<_> = ["example.com/a", "example.com/b"].iter().take(finalizers).collect();
        if !owners.is_empty() {
            with(&mut good["metadata"], places[0], "ownerReferences", json!(owners));
        }
        if !finalizers.is_empty() {
            with(&mut good["metadata"], places[1], "finalizers", json!(finalizers));
        }
        let mut bad = good.clone();
        let metadata = &mut bad["metadata"];
        if defects[0] {
            with(metadata, places[2], "namespace", json!("shop"));
        }
        if defects[1] {
            with(metadata, places[3], "resourceVersion", json!("7"));
        }
        if defects[2] {
            with(metadata, places[4], "managedFields", json!([{"manager": "kubectl", "operation": "Update"}]));
        }
        if defects[3] {
            let list = metadata["finalizers"].as_array().cloned().unwrap_or_default();
            let mut list: Vec<_> = list;
            list.insert(places[5] % (list.len() + 1), json!("orphan"));
            metadata["finalizers"] = json!(list);
        }
        if let Some(references) = metadata.get_mut("ownerReferences").and_then(Value::as_array_mut) {
            if defects[4] {
                with(&mut references[0], places[6], "namespace", json!("shop"));
            }
            if defects[5] {
                let renamed = |(key, value): (String, Value)| match key.as_str() {
                    "blockOwnerDeletion" => ("blockownerdeletion".to_owned(), value),
                    _ => (key, value),
                };
                let entries = std::mem::take(references[0].as_object_mut().expect("a mapping"));
                references[0] = Value::Object(entries.into_iter().map(renamed).collect::<Map<_, _>>());
            }
            if defects[6] {
                let last = references.len();
                references.insert(1 + places[7] % last, references[last - 1].clone());
            }
            if defects[7] {
                references.insert(places[8] % (references.len() + 1), json!({}));
            }
        }
        if defects[8] {
            let renamed = |(key, value): (String, Value)| match key.as_str() {
                "labels" => ("lables".to_owned(), value),
                _ => (key, value),
            };
            let entries = std::mem::take(metadata.as_object_mut().expect("a mapping"));
            *metadata = Value::Object(entries.into_iter().map(renamed).collect::<Map<_, _>>());
        }
        (good, bad)
    })
}

fn forms() -> impl Strategy<Value = Form> {
    let quotes = prop::sample::select(vec!["", "\"", "'"]);
    let flags = (any::<bool>(), any::<bool>());
    (
        prop::sample::select(vec![2, 4]),
        0..3usize,
        1..6usize,
        quotes,
        flags,
    )
        .prop_map(
            |(indent, dash, flow_from, quotes, (trailing, above))| Form {
                indent,
                dash,
                flow_from,
                quotes,
                trailing,
                above,
            },
        )
}

/// Returns the comment lines.
fn comments(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('#'))
        .collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn fixes_repair_only_the_defects_of_an_object((good, bad) in objects(), form in forms()) {
        let text = block(&bad, &form);
        let after = safe(&text);
        prop_assert_eq!(one(&after), Ok(good), "{}\n{}", text, after);
        prop_assert_eq!(comments(&text), comments(&after), "comments above fields stay: {}", after);
        let lines: BTreeSet<&str> = text.lines().collect();
        let changed = after.lines().filter(|line| !lines.contains(line)).count();
        // Renamed keys, the entry after a dash, and braces: all other lines are unchanged.
        prop_assert!(changed <= 2 + form.flow_from.min(2) * 3, "{}\n{}", text, after);
    }

    #[test]
    fn fixed_json_stays_json_with_its_layout((good, bad) in objects(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&bad) } else { serde_json::to_string(&bad) }.expect("JSON");
        let after = safe(&text);
        let found: Value = serde_json::from_str(&after).expect("it is still JSON");
        prop_assert_eq!(&found, &good, "{}", after);
        if pretty {
            prop_assert_eq!(after, serde_json::to_string_pretty(&good).expect("JSON"));
        }
    }

    #[test]
    fn fixes_keep_neighbours_line_breaks_and_indentation((good, bad) in objects(), form in forms(), indent in 0..3usize) {
        let neighbour = "# c\napiVersion: v1\nkind: ConfigMap\nmetadata:\n    name:   \"x\"\ndata: {a: 'x'}\n";
        let list = format!("kind: List\napiVersion: v1\nitems:\n{}", as_item(&block(&bad, &form), indent));
        let text = format!("{neighbour}---\n{list}---\n{neighbour}").replace('\n', "\r\n");
        let after = safe(&text);
        let [first, found, last] = values(&after).try_into().expect("three documents");
        prop_assert_eq!(&first, &last);
        prop_assert_eq!(&found["items"], &json!([good]), "{}", after);
        let around = format!("{neighbour}---\nkind: List\napiVersion: v1\nitems:\n").replace('\n', "\r\n");
        let end = format!("---\n{neighbour}").replace('\n', "\r\n");
        prop_assert!(after.starts_with(&around) && after.ends_with(&end), "{}", after);
        prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    }
}

proptest! {
    #![proptest_config(cases(32))]

    /// An anchor shares a part of metadata with a second object: it is fixed for both or neither, the rest as usual.
    #[test]
    fn shared_anchor_is_fixed_for_both_objects_or_neither((good, bad) in objects(), form in forms(), at in 0..3usize) {
        let metadata = |object: &Value, key: &str| object["metadata"].get(key).cloned();
        let keys = ["labels", "lables", "ownerReferences", "finalizers"];
        let mut keys = keys.into_iter().filter(|key| metadata(&bad, key).is_some()).cycle().skip(at);
        let shared = keys.next().expect("there are always labels");
        let fixed_key = if shared == "lables" { "labels" } else { shared };
        let text = block(&bad, &form);
        let written = format!("{0}{shared}{0}:", form.quotes);
        let text = text.replacen(&written, &format!("{written} &shared"), 1);
        let other = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": "shop"}});
        let other = block(&other, &Form { flow_from: 9, trailing: false, above: false, ..form.clone() });
        let alias = format!("{}{fixed_key}: *shared\n", " ".repeat(form.indent));
        let list = format!("kind: List\napiVersion: v1\nitems:\n{}{}", as_item(&text, 0), as_item(&(other + &alias), 0));
        let before = one(&list).expect("it is YAML");
        let after = safe(&list);
        let found = one(&after).expect("it is still YAML");
        let mut one = found["items"][0].clone();
        let mut expected = good.clone();
        let left = one["metadata"].as_object_mut().expect("metadata").remove(fixed_key);
        expected["metadata"].as_object_mut().expect("metadata").remove(fixed_key);
        prop_assert_eq!(&one, &expected, "{}\n{}", list, after);
        prop_assert!(left == metadata(&bad, shared) || left == metadata(&good, fixed_key), "{}\n{}", list, after);
        let (mut was, mut is) = (before["items"][1].clone(), found["items"][1].clone());
        let is_shared = metadata(&is, fixed_key);
        for object in [&mut was, &mut is] {
            object["metadata"].as_object_mut().expect("metadata").remove(fixed_key);
        }
        prop_assert_eq!(was, is, "{}\n{}", list, after);
        let fates = [metadata(&bad, shared), metadata(&good, fixed_key), None];
        prop_assert!(fates.contains(&is_shared), "{}\n{}", list, after);
    }
}

/// Returns a ClusterRole with this metadata.
fn role(metadata: &str) -> String {
    format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n{metadata}rules: []\n")
}

fn fixes_to(metadata: &str, expected: &str) {
    assert_eq!(safe(&role(metadata)), role(expected));
}

#[test]
fn removed_entry_takes_its_line_and_trailing_comment() {
    fixes_to(
        "metadata:\n  name: a # the name\n  # kept\n  namespace: shop # goes\n\n  # kept too\n",
        "metadata:\n  name: a # the name\n  # kept\n\n  # kept too\n",
    );
}

#[test]
fn list_is_removed_with_its_last_item() {
    fixes_to(
        "metadata:\n  finalizers:\n  - orphan # goes\n  name: a\n",
        "metadata:\n  name: a\n",
    );
    fixes_to(
        "metadata:\n  name: a\n  finalizers:\n    # kept\n    - example.com/x\n    - orphan\n    - example.com/y # kept\n",
        "metadata:\n  name: a\n  finalizers:\n    # kept\n    - example.com/x\n    - example.com/y # kept\n",
    );
}

#[test]
fn removing_first_key_of_an_item_keeps_its_dash() {
    let reference = "apiVersion: v1\n    kind: Namespace\n    name: a\n    uid: u\n";
    fixes_to(
        &format!(
            "metadata:\n  name: a\n  ownerReferences:\n  - namespace: shop # goes\n    {reference}"
        ),
        &format!("metadata:\n  name: a\n  ownerReferences:\n  - {reference}"),
    );
}

#[test]
fn mapping_that_loses_its_only_key_becomes_empty_braces() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n";
    let object = "apiVersion: v1\nkind: Namespace\nmetadata:\n  namespace: x\n";
    assert_eq!(
        safe(&format!("{template}{object}")),
        format!("{template}apiVersion: v1\nkind: Namespace\nmetadata: {{}}\n")
    );
}

#[test]
fn renamed_key_keeps_its_quotes_and_value() {
    fixes_to(
        "metadata:\n  'lables' :   {a: b}\n  name: a\n",
        "metadata:\n  'labels' :   {a: b}\n  name: a\n",
    );
    fixes_to(
        "metadata: {name: a, \"lables\": {a: \"b\"}}\n",
        "metadata: {name: a, \"labels\": {a: \"b\"}}\n",
    );
}

#[test]
fn values_with_tag_block_text_or_unused_anchor_are_removed() {
    for value in [
        "!!str shop",
        "|-\n    shop",
        ">\n    shop\n\n",
        "&unused shop",
        "\"sh\\\n    op\"",
    ] {
        let after = safe(&role(&format!(
            "metadata:\n  namespace: {value}\n  name: a\n"
        )));
        assert_eq!(one(&after), one(&role("metadata:\n  name: a\n")), "{after}");
    }
}

/// Asserts that the text has findings but no fix.
fn is_refused(text: &str) {
    let report = check_text("example.yaml", text, &check());
    assert!(!report.findings.is_empty(), "{text}");
    let fix = report
        .findings
        .iter()
        .find_map(|reported| reported.finding.fix.as_ref());
    assert_eq!(fix, None, "{text}");
}

#[test]
fn values_shared_by_an_anchor_get_no_fix() {
    is_refused(&role(
        "metadata: &m\n  name: a\n  namespace: shop\nother: *m\n",
    ));
    is_refused(&role(
        "metadata:\n  name: a\n  namespace: &n shop\nother: *n\n",
    ));
    is_refused(&role(
        "base: &m\n  namespace: shop\nmetadata:\n  <<: *m\n  name: a\n",
    ));
    is_refused(&role("base: &m {name: a, namespace: shop}\nmetadata: *m\n"));
    // A merge would restore the value.
    is_refused(&role(
        "base: &m\n  namespace: shop\nmetadata:\n  <<: *m\n  namespace: shop\n  name: a\n",
    ));
}

#[test]
fn alias_is_removed_without_its_anchor() {
    fixes_to(
        "base: &n shop\nmetadata:\n  name: a\n  namespace: *n\n",
        "base: &n shop\nmetadata:\n  name: a\n",
    );
}

#[test]
fn fixes_that_lose_comments_or_meet_odd_syntax_are_not_offered() {
    is_refused(&role("metadata: {name: a, # why\n  namespace: shop}\n"));
    is_refused(&role("metadata:\n  name: a\n  ? namespace\n  : shop\n"));
    is_refused(&role(
        "metadata:\n  name: a\n  namespace: shop\n  namespace: mall\n",
    ));
    is_refused(&role(
        "metadata:\n  name: a\n  lables: {a: b}\n  labels: {c: d}\n",
    ));
}

#[test]
fn key_with_unfitting_value_is_not_renamed() {
    for metadata in [
        "lables: x",
        "finalizer: x",
        "owner: team-a",
        "uuid: x",
        "namespaces: [a]",
        "lables: {a: 1}",
    ] {
        is_refused(&role(&format!("metadata:\n  name: a\n  {metadata}\n")));
    }
}

#[test]
fn a_key_is_renamed_only_where_its_value_fits_the_key_that_is_meant() {
    let has_fix = |rule: &str, text: &str| {
        let report = check_text("example.yaml", text, &Check::default());
        let of_rule = report
            .findings
            .iter()
            .find(|reported| reported.finding.rule == rule);
        of_rule.map(|reported| reported.finding.fix.is_some())
    };
    for (metadata, fits) in [
        ("finalizer: [example.com/a]", true),
        ("finalizer: [1]", false),
        ("finalizer: ['']", false),
        ("finalizer: {example.com/a: b}", false),
        ("ownerReference: [{kind: ConfigMap}]", true),
        ("ownerReference: [ConfigMap]", false),
        ("ownerReference: {kind: ConfigMap}", false),
    ] {
        let text = role(&format!("metadata:\n  name: a\n  {metadata}\n"));
        assert_eq!(
            has_fix("metadata-unknown-field", &text),
            Some(fits),
            "{metadata}"
        );
    }
    for (reference, fits) in [
        ("Controller: true", true),
        ("Controller: 'true'", false),
        ("Uid: 5e1b2a8e-90c4-4f1c-9d35-3f0f2a3b4c5d", true),
        ("Uid: 1", false),
    ] {
        let text = role(&format!(
            "metadata:\n  name: a\n  ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: b, {reference}}}]\n"
        ));
        assert_eq!(
            has_fix("owner-unknown-field", &text),
            Some(fits),
            "{reference}"
        );
    }
    // Only the server writes the uid of an object.
    let claims = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\n\
                  spec: {volumeClaimTemplates: [{metadata: {name: data, uuid: x}}]}\n";
    assert_eq!(has_fix("metadata-unknown-field", claims), Some(false));
}
