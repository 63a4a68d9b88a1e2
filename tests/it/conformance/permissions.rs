//! The RBAC permissions of a controller: compared with recordings of the API server, and as
//! alternatives that each suffice.

use ownerlint::inventory::Inventory;
use ownerlint::ownership::access::{
    Budget, PolicyRule, ResourceRequest, may_set_blocking_reference,
};
use ownerlint::ownership::{FinalizerHolder, Ownership};
use serde_json::{Value, json};

use crate::support::{Repository, fixture, inventory_of};

/// Reads the rules of a role like those of a manifest.
fn rules(rules: &Value) -> Vec<PolicyRule> {
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r"},
        "rules": rules,
    });
    let inventory = inventory_of("role.json", &role.to_string());
    let rules = inventory.members[0].object.at(&["rules"]).expect("rules");
    rules.items().map(PolicyRule::of).collect()
}

#[test]
fn blocking_owner_references_are_allowed_like_by_api_server() {
    let rows: Vec<Value> =
        serde_json::from_str(&fixture("conformance/permissions.json")).expect("JSON");
    assert!(!rows.is_empty());
    for row in rows {
        let (group, resource) = match row["owner"].as_str().expect("a word") {
            "widget" => ("example.com", "widgets"),
            "gadget" => ("example.com", "gadgets"),
            _ => ("apps", "deployments"),
        };
        // Every recorded role can create, update and delete the dependent.
        let blocking = row["blockOwnerDeletion"] == true;
        let allowed =
            !blocking || may_set_blocking_reference(&rules(&row["rules"]), group, resource, None);
        assert_eq!(
            allowed,
            row["http"].as_u64().expect("a status") < 300,
            "{row}"
        );
    }
}

#[test]
fn rule_with_resource_names_allows_references_only_to_these_owners() {
    let rules = rules(&json!([{
        "apiGroups": ["example.com"], "resources": ["widgets/finalizers"], "resourceNames": ["one"], "verbs": ["update"]
    }]));
    assert!(may_set_blocking_reference(
        &rules,
        "example.com",
        "widgets",
        Some("one")
    ));
    assert!(!may_set_blocking_reference(
        &rules,
        "example.com",
        "widgets",
        Some("two")
    ));
    assert!(
        may_set_blocking_reference(&rules, "example.com", "widgets", None),
        "of some owner it is allowed"
    );
}

const OPERATOR: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: system}
spec:
  selector: {matchLabels: {app: o}}
  template:
    metadata: {labels: {app: o}}
    spec: {containers: [{name: o, image: o}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: shop}
";

fn role(kind: &str, name: &str, resource: &str) -> String {
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nrules: [{{apiGroups: \
         [example.com], resources: [{resource}], verbs: [update]}}]\n"
    )
}

fn binding(kind: &str, name: &str, role: &str) -> String {
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}Binding\nmetadata: {{name: {name}, namespace: shop}}\nroleRef: \
         {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {role}}}\nsubjects: [{{kind: ServiceAccount, name: default, namespace: \
         system}}]\n"
    )
}

/// Returns the permissions with which the operator releases the Widget: kinds and names, in alternatives.
fn authority(manifests: &[String]) -> Vec<String> {
    let inventory: Inventory =
        inventory_of("input.yaml", &(OPERATOR.to_owned() + &manifests.concat()));
    let (operator, widget) = (&inventory.members[0], &inventory.members[1]);
    let access = Ownership::of(&inventory).removers;
    let holder = FinalizerHolder::new(widget);
    let authority =
        access
            .access()
            .authority(&inventory, operator.id, &holder, &mut Budget::default());
    let named = |id: &_| {
        let key = &inventory.member(*id).key;
        format!("{} {}", key.kind(), key.name)
    };
    authority
        .alternatives()
        .iter()
        .map(|all| all.iter().map(named).collect::<Vec<_>>().join(" + "))
        .collect()
}

const ACCOUNT: &str =
    "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: system}\n";

#[test]
fn workload_without_service_account_uses_default() {
    assert_eq!(authority(&[ACCOUNT.to_owned()]), ["ServiceAccount default"]);
    assert_eq!(
        authority(&[]),
        [""; 0],
        "nothing in the input says what allows it"
    );
}

#[test]
fn each_binding_with_its_role_is_sufficient() {
    let everywhere = [
        role("ClusterRole", "a", "widgets"),
        binding("ClusterRole", "x", "a"),
    ]
    .concat();
    let here = [role("Role", "b", "widgets"), binding("Role", "z", "b")].concat();
    assert_eq!(
        authority(&[ACCOUNT.to_owned(), everywhere.clone(), here]),
        [
            "ServiceAccount default + ClusterRoleBinding x + ClusterRole a",
            "ServiceAccount default + RoleBinding z + Role b"
        ]
    );
    assert_eq!(
        authority(&[everywhere]),
        ["ClusterRoleBinding x + ClusterRole a"]
    );
}

#[test]
fn roles_for_other_resources_or_namespaces_are_ignored() {
    assert_eq!(
        authority(&[
            role("ClusterRole", "a", "gadgets"),
            binding("ClusterRole", "x", "a")
        ]),
        [""; 0]
    );
    let elsewhere = role("Role", "b", "widgets") + &binding("Role", "z", "b");
    assert_eq!(
        authority(&[elsewhere.replace("namespace: shop", "namespace: other")]),
        [""; 0]
    );
}

#[test]
fn finalizers_subresource_is_used_only_without_update_permission() {
    let (whole, part) = (
        role("ClusterRole", "a", "widgets"),
        role("ClusterRole", "b", "widgets/finalizers"),
    );
    let bound = |name: &str, role: &str| binding("ClusterRole", name, role);
    assert_eq!(
        authority(&[part.clone(), bound("z", "b")]),
        ["ClusterRoleBinding z + ClusterRole b"]
    );
    assert_eq!(
        authority(&[whole, bound("x", "a"), part, bound("z", "b")]),
        ["ClusterRoleBinding x + ClusterRole a"]
    );
}

#[test]
fn aggregated_role_is_required_with_aggregating_role() {
    let aggregating =
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\naggregationRule: \
                       {clusterRoleSelectors: [{matchLabels: {to: all}}]}\n"
            .to_owned();
    let part = role("ClusterRole", "part", "widgets")
        .replace("name: part", "name: part, labels: {to: all}");
    assert_eq!(
        authority(&[aggregating, part, binding("ClusterRole", "x", "all")]),
        ["ClusterRoleBinding x + ClusterRole all + ClusterRole part"]
    );
}

#[test]
fn rbac_rules_match_like_kubernetes() {
    let request = |resource: &'static str, subresource: &'static str, name| ResourceRequest {
        verb: "update",
        group: "example.com",
        resource,
        subresource,
        name,
    };
    let allows = |rule: Value, request| rules(&json!([rule]))[0].allows(request);
    let rule = |resources: &[&str]| json!({"apiGroups": ["example.com"], "resources": resources, "verbs": ["update"]});
    // TestResourceMatches in pkg/apis/rbac/v1/evaluation_helpers_test.go.
    assert!(
        allows(rule(&["*"]), request("foo", "", None)),
        "all matches"
    );
    assert!(
        allows(rule(&["*"]), request("foo", "bar", None)),
        "all matches a subresource"
    );
    assert!(
        allows(rule(&["foo", "foo/bar"]), request("foo", "bar", None)),
        "exact"
    );
    assert!(
        !allows(rule(&["foo"]), request("foo", "bar", None)),
        "a resource is not its subresources"
    );
    assert!(
        !allows(rule(&["foo/bar"]), request("foo", "", None)),
        "a subresource is not its resource"
    );
    assert!(
        allows(rule(&["*/scale"]), request("foo", "scale", None)),
        "*/subresource"
    );
    assert!(
        !allows(rule(&["*/scale"]), request("foo", "", None)),
        "*/subresource without one"
    );
    assert!(
        !allows(
            rule(&["*/other", "foo*/scale"]),
            request("foo", "scale", None)
        ),
        "no other patterns"
    );
    let named =
        json!({"apiGroups": ["*"], "resources": ["foo"], "verbs": ["*"], "resourceNames": ["one"]});
    assert!(allows(named.clone(), request("foo", "", Some("one"))));
    assert!(!allows(named, request("foo", "", Some("two"))));
    let elsewhere = json!({"apiGroups": [""], "resources": ["*"], "verbs": ["*"]});
    assert!(
        !allows(elsewhere, request("foo", "", None)),
        "another group"
    );
    let other_verb = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]});
    assert!(
        !allows(other_verb, request("foo", "", None)),
        "another verb"
    );
}

#[test]
fn workload_with_over_500_grants_is_unrestricted() {
    let bound = |count: usize| -> Vec<String> {
        let bindings = (0..count).map(|number| binding("ClusterRole", &format!("x{number}"), "a"));
        std::iter::once(role("ClusterRole", "a", "widgets"))
            .chain(bindings)
            .collect()
    };
    assert_eq!(authority(&bound(500)).len(), 500);
    assert_eq!(authority(&bound(501)), [""; 0]);
}

#[test]
fn role_aggregating_over_1000_roles_is_treated_as_cluster_admin() {
    let aggregating = |count: usize| -> Vec<String> {
        let all = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\naggregationRule: \
                   {clusterRoleSelectors: [{matchLabels: {to: all}}]}\n";
        let part = |number: usize| {
            let resource = if number == 0 { "widgets" } else { "gadgets" };
            role("ClusterRole", &format!("part{number}"), resource)
                .replace("namespace: shop", "labels: {to: all}")
        };
        [all.to_owned(), binding("ClusterRole", "x", "all")]
            .into_iter()
            .chain((0..count).map(part))
            .collect()
    };
    assert_eq!(
        authority(&aggregating(999)),
        ["ClusterRoleBinding x + ClusterRole all + ClusterRole part0"]
    );
    assert_eq!(
        authority(&aggregating(1_001)),
        ["ClusterRoleBinding x + ClusterRole all"]
    );
}

#[test]
fn workload_sharing_the_operators_account_is_not_reported() {
    let operator =
        std::fs::read_to_string("fixtures/rules/finalizers-permission-missing/bad/no-status.yaml");
    let operator = operator
        .expect("a fixture")
        .replace("# expect: finalizers-permission-missing", "");
    let deployment = operator
        .split("---\n")
        .find(|document| document.contains("kind: Deployment"))
        .expect("an operator");
    let neighbour = deployment.replacen("name: operator", "name: neighbour", 1);
    let repository = Repository::new();
    repository
        .write("operator.yaml", &operator)
        .write("neighbour.yaml", &neighbour);
    let (_, out, _) = repository.run(&["check", ".", "-o", "concise", "--show", "info"], "");
    let said: Vec<&str> = out
        .lines()
        .filter(|line| line.contains("finalizers-permission-missing"))
        .collect();
    assert_eq!(said.len(), 1, "{out}");
    assert!(said[0].contains("Deployment `operator`"), "{out}");
}
