//! What a stranger writes costs time and memory by its length, not by the square of it. Each input here once took many times what
//! its limits allow, which the operating system enforces; the program is built without optimisation.
//!
//! First what is checked, then what is printed, then what is planned: each test is a row of the review that found them.

use std::fmt::Write;
use std::process::Command;

use tempfile::TempDir;

/// Checks a text with ten seconds of processor time and half a gigabyte of address space.
fn checked_within_limits(text: &str, arguments: &str) {
    within_limits(text, &format!("check --threads 1 --output concise {arguments}"));
}

/// Plans a step over a text within the same limits.
fn planned_within_limits(text: &str, arguments: &str) {
    within_limits(text, &format!("plan {arguments} -f"));
}

/// What a run prints within the limits.
fn within_limits(text: &str, arguments: &str) -> String {
    let folder = TempDir::new().expect("a folder");
    let input = folder.path().join("input.yaml");
    std::fs::write(&input, text).expect("the input");
    let line = format!("ulimit -t 10; ulimit -v 524288; exec \"$0\" --no-config {arguments} \"$1\"");
    let run = Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_ownerlint")]).arg(&input).output().expect("sh");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(matches!(run.status.code(), Some(0 | 1)), "{:?}: {error}", run.status);
    String::from_utf8(run.stdout).expect("UTF-8")
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
    let without_uid = |number| format!("apiVersion: v1, kind: ConfigMap, name: web-{number}");
    checked_within_limits(&with_references(4_000, without_uid), "");
    let unserved = |number| format!("apiVersion: example.com/v1, kind: Cake{number}, name: web, uid: {}", uid(number));
    checked_within_limits(&with_references(4_000, unserved), "");
}

#[test]
fn finalizers_of_one_object() {
    let of = |finalizer: &dyn Fn(usize) -> String| {
        let finalizers = lines(8_000, |number| format!("  - {}", finalizer(number)));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\n  finalizers:\n{finalizers}"
        )
    };
    checked_within_limits(&of(&|number| format!("example.com/web-{number}")), "");
    checked_within_limits(&of(&|_| "example.com/web".to_owned()), "");
}

#[test]
fn operators_and_the_objects_they_handle() {
    let operator = |number: usize| {
        let names = format!("name: baker-{number}, namespace: shop");
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{{names}}}\n---\napiVersion: \
             rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: baker-{number}}}\nroleRef: {{apiGroup: \
             rbac.authorization.k8s.io, kind: ClusterRole, name: baker}}\nsubjects: [{{kind: ServiceAccount, \
             {names}}}]\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{{names}}}\nspec: {{template: {{spec: \
             {{serviceAccountName: baker-{number}}}}}}}\n---\napiVersion: example.com/v1\nkind: Cake\nmetadata: {{name: \
             cake-{number}, namespace: shop, finalizers: [example.com/baker]}}"
        )
    };
    let role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: baker}\nrules: [{apiGroups: \
                [example.com], resources: [cakes, cakes/finalizers], verbs: ['*']}]\n";
    checked_within_limits(&namespace(&format!("{role}{}", documents(1_000, operator))), "");
}

/// Each format finds the places of its findings in a line of megabytes.
#[test]
fn a_list_in_one_line() {
    let item = |number: usize| {
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"web-{number}","namespace":"shop","finalizers":7}}}}"#
        )
    };
    let items: Vec<String> = (0..4_000).map(item).collect();
    let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(","));
    for format in ["human", "junit", "lsp", "sarif"] {
        within_limits(&list, &format!("check --threads 1 --output {format}"));
    }
}

/// Each once had a frame of its own: a megabyte was printed as sixty.
#[test]
fn findings_of_one_object_that_are_all_alike() {
    let keys = "  k: v\n".repeat(20_000);
    let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop}}\ndata:\n{keys}");
    let printed = within_limits(&object, "check --threads 1 --output human");
    assert!(printed.len() < 2_000, "{} bytes", printed.len());
}

/// Each reference once named all namesakes.
#[test]
fn namesakes_in_other_namespaces_and_references_to_them() {
    let namesakes = documents(4_000, |number| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop-{number}}}")
    });
    let references =
        with_references(4_000, |number| format!("apiVersion: v1, kind: ConfigMap, name: web, uid: {}", uid(number)));
    let text = format!("{namesakes}---\n{references}");
    checked_within_limits(&text, "");
    let printed = within_limits(&text, "check --threads 1 --output json");
    assert!(printed.len() < 40 * text.len(), "{} bytes", printed.len());
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
fn directives_on_keys_and_behind_values() {
    let directive = "# ownerlint: ignore[duplicate-key] tested";
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata:\n";
    checked_within_limits(&format!("{object}{}", lines(16_000, |number| format!("  {directive}\n  k{number}: v"))), "");
    checked_within_limits(&format!("{object}{}", lines(16_000, |number| format!("  k{number}: [v] {directive}"))), "");
}

#[test]
fn comments_and_tags_before_an_object() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n";
    checked_within_limits(&format!("{}{object}", "#\n".repeat(40_000)), "");
    checked_within_limits(&format!("{}\n{object}", "#".repeat(40_000)), "");
    checked_within_limits(&format!("{}---\n{object}", lines(16_000, |number| format!("%TAG !t{number}! tag:x"))), "");
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

#[test]
fn a_long_chain_of_owners_whose_every_object_says_why() {
    let object = |number: usize| {
        let own = format!("name: web-{number}, namespace: shop, uid: {}, resourceVersion: '1'", uid(number));
        let owner = |owner: usize| {
            let uid = uid(owner);
            format!(", ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: web-{owner}, uid: {uid}}}]")
        };
        let owner = number.checked_sub(1).map(owner).unwrap_or_default();
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{{own}{owner}}}")
    };
    planned_within_limits(&documents(4_000, object), "delete cm/web-0 -n shop -o json");
}

/// A namespace with `content`.
fn namespace(content: &str) -> String {
    format!("---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: shop}}\n{content}")
}

fn deployment(number: usize, replicas: usize, volumes: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{number}, namespace: shop}}\nspec: {{replicas: \
         {replicas}, template: {{spec: {{containers: [{{name: web, image: web}}], volumes: [{volumes}]}}}}}}"
    )
}

#[test]
fn deployments_of_a_hundred_thousand_replicas() {
    let deployments = documents(400, |number| deployment(number, 100_000, ""));
    planned_within_limits(&namespace(&deployments), "delete ns/shop");
}

#[test]
fn ephemeral_volumes_of_many_replicas() {
    let claim = |number| format!("{{name: data-{number}, ephemeral: {{volumeClaimTemplate: {{spec: {{}}}}}}}}, ");
    let volumes: String = (0..400).map(claim).collect();
    planned_within_limits(&namespace(&documents(1, |number| deployment(number, 100, &volumes))), "delete ns/shop");
    // An alias repeats what is written once.
    let volumes: String = (0..200).map(claim).collect();
    let item = |number: usize| {
        format!(
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web-{number}, namespace: shop}}\n  spec: {{replicas: 100, \
             template: {{spec: {{containers: [{{name: web, image: web}}], volumes: *volumes}}}}}}"
        )
    };
    let list = format!("---\napiVersion: v1\nkind: List\nvolumes: &volumes [{volumes}]\nitems:\n{}", lines(2, item));
    planned_within_limits(&namespace(&list), "delete ns/shop");
}

#[test]
fn a_ring_of_shared_owners_in_a_namespace() {
    let object = |number: usize| {
        let owner = |back: usize| {
            let owner = (number + 1_000 - back) % 1_000;
            let uid = uid(owner);
            format!("{{apiVersion: v1, kind: ConfigMap, name: web-{owner}, uid: {uid}}}")
        };
        let (own, one, other) = (uid(number), owner(1), owner(2));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, uid: {own}, resourceVersion: '1', \
             ownerReferences: [{one}, {other}]}}"
        )
    };
    planned_within_limits(&namespace(&documents(1_000, object)), "delete ns/shop");
}

#[test]
fn objects_whose_names_the_server_makes_up() {
    let jobs = documents(4_000, |_| {
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: web-, namespace: shop}".to_owned()
    });
    planned_within_limits(&namespace(&jobs), "delete ns/shop");
}

#[test]
fn operators_that_go_with_the_objects_they_let_go_of() {
    let operator = |number: usize| {
        let names = format!("name: baker-{number}, namespace: shop");
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{{names}}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: \
             {{{names}}}\nspec: {{template: {{spec: {{serviceAccountName: baker-{number}}}}}}}\n---\napiVersion: \
             rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: baker-{number}}}\nrules: [{{apiGroups: \
             [example.com], resources: [cakes{number}, cakes{number}/finalizers], verbs: ['*']}}]\n---\napiVersion: \
             rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: baker-{number}}}\nroleRef: {{apiGroup: \
             rbac.authorization.k8s.io, kind: ClusterRole, name: baker-{number}}}\nsubjects: [{{kind: ServiceAccount, \
             {names}}}]\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \
             cakes{number}.example.com}}\nspec: {{group: example.com, scope: Namespaced, names: {{kind: Cake{number}, plural: \
             cakes{number}}}, versions: [{{name: v1, served: true, storage: true}}]}}"
        )
    };
    let cake = |number: usize| {
        let kind = number % 30;
        format!(
            "apiVersion: example.com/v1\nkind: Cake{kind}\nmetadata: {{name: cake-{number}, namespace: shop, finalizers: \
             [example.com/cake{kind}]}}"
        )
    };
    let text = namespace(&format!("{}{}", documents(30, operator), documents(120, cake)));
    within_limits(&text, "plan teardown --by argocd -o json");
}

#[test]
fn held_objects_of_a_namespace_and_of_a_definition() {
    let held = |number| {
        format!(
            "apiVersion: example.com/v1\nkind: Cake\nmetadata: {{name: cake-{number}, namespace: shop, finalizers: [example.com/baker]}}"
        )
    };
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: cakes.example.com}\n\
                      spec: {group: example.com, scope: Namespaced, names: {kind: Cake, plural: cakes}, versions: [{name: v1, served: \
                      true, storage: true}]}\n";
    let text = namespace(&format!("{definition}{}", documents(6_000, held)));
    planned_within_limits(&text, "delete ns/shop");
    planned_within_limits(&text, "delete crd/cakes.example.com");
}
