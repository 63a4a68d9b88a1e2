//! The cost of `check`.

use super::support::{
    CHECK, checked, documents, lines, list, namesakes_and_references, operator_and_object, uid,
    with_finalizers, with_references, within_limits, within_limits_in,
};
use crate::support::Repository;

/// Review P1: n owner references of one object, different uids.
#[test]
fn references_with_different_uids() {
    checked(&with_references(16_000, |number| {
        format!(
            "apiVersion: v1, kind: ConfigMap, name: web-{number}, uid: {}",
            uid(number)
        )
    }));
}

/// Review P1: n owner references of one object, one uid.
#[test]
fn references_with_one_uid() {
    checked(&with_references(16_000, |number| {
        format!(
            "apiVersion: v1, kind: ConfigMap, name: web-{number}, uid: {}",
            uid(0)
        )
    }));
}

/// Review P1: n owner references of one object, no uid.
#[test]
fn references_without_a_uid() {
    checked(&with_references(16_000, |number| {
        format!("apiVersion: v1, kind: ConfigMap, name: web-{number}")
    }));
}

/// Review P1: n owner references of one object, to unserved kinds.
#[test]
fn references_to_unserved_kinds() {
    checked(&with_references(16_000, |number| {
        format!(
            "apiVersion: example.com/v1, kind: Cake{number}, name: web, uid: {}",
            uid(number)
        )
    }));
}

/// Review P1: n duplicates of one reference.
#[test]
fn duplicates_of_one_reference() {
    let printed = checked(&with_references(25_000, |_| {
        format!(
            "apiVersion: v1, kind: ConfigMap, name: web, uid: {}",
            uid(0)
        )
    }));
    assert!(printed.contains("[owner-duplicate]"), "{printed}");
}

/// Review P1: n finalizers of one object.
#[test]
fn finalizers_of_one_object() {
    let printed = checked(&with_finalizers(60_000, |number| {
        format!("example.com/web-{number}")
    }));
    assert!(printed.contains("[finalizer-unknown]"), "{printed}");
}

#[test]
fn duplicates_of_one_finalizer() {
    checked(&with_finalizers(60_000, |_| "example.com/web".to_owned()));
}

/// Review P1: n namesakes in other namespaces × n references. Each reference used to list all namesakes.
#[test]
fn namesakes_in_other_namespaces_and_references_to_them() {
    checked(&namesakes_and_references(4_000));
}

/// Review P1: CRD with n versions, n instances.
#[test]
fn definition_versions_and_instances_of_an_unserved_version() {
    let versions = lines(4_000, |number| {
        format!(
            "  - {{name: v{number}, served: true, storage: {}}}",
            number == 0
        )
    });
    let instances = documents(4_000, |number| {
        format!(
            "apiVersion: example.com/vx\nkind: Widget\nmetadata: {{name: web-{number}, namespace: shop}}"
        )
    });
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n\
                      spec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Widget, plural: widgets}\n  versions:\n";
    checked(&format!("{definition}{versions}{instances}"));
}

/// Review P1: n operators × n custom resources in one namespace. Every operator may release every resource.
#[test]
fn operators_and_objects_they_may_release() {
    let pair = |number: usize| operator_and_object(number, "shop");
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    checked(&format!("{namespace}{}", documents(8_000, pair)));
    // In separate namespaces, so that results cannot be cached.
    checked(&documents(8_000, |number| {
        pair(number).replace("namespace: shop", &format!("namespace: shop-{number}"))
    }));
}

/// Review P1: dump with n namesakes of other uids.
#[test]
fn dump_of_namesakes_with_mismatched_owner_uids() {
    let object = |number| {
        let (own, owner) = (uid(number), uid(number + 1_000_000));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop, uid: {own}, resourceVersion: '1', \
             ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: web, uid: {owner}}}]}}"
        )
    };
    checked(&documents(24_000, object));
}

/// Review P1: closed world, dump with n dying pairs.
#[test]
fn dump_of_objects_with_missing_owners_in_closed_world() {
    let object = |number: usize| {
        let (own, owner) = (
            uid(number),
            if number.is_multiple_of(2) {
                uid(number + 1_000_000)
            } else {
                uid(number - 1)
            },
        );
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, uid: {own}, resourceVersion: \
             '1', ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: db-{number}, uid: {owner}}}]}}"
        )
    };
    let text = documents(12_000, object);
    within_limits(
        &text,
        "check --no-config --threads 1 --world closed --output concise @",
    );
}

/// Review P1: n `ignore-document` directives.
#[test]
fn directives_on_one_document() {
    let directives = lines(40_000, |_| {
        "# ownerlint: ignore-document[finalizer-wrong-type] tested".to_owned()
    });
    checked(&format!(
        "{directives}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\n"
    ));
}

/// Review P1: n directives before an unreadable document.
#[test]
fn directives_before_an_unreadable_document() {
    let directives = lines(40_000, |_| {
        "# ownerlint: ignore[finalizer-wrong-type] tested".to_owned()
    });
    let text = format!("{directives}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: [\n");
    let printed = within_limits(&text, CHECK);
    assert!(printed.contains("[unreadable-document]"), "{printed}");
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n";

/// Review P1: n directives with n keys.
#[test]
fn directives_on_keys() {
    let keys = lines(80_000, |number| {
        format!("  # ownerlint: ignore[duplicate-key] tested\n  k{number}: v")
    });
    checked(&format!("{OBJECT}data:\n{keys}"));
}

/// Review P1: n directives with n keys, trailing behind `]`.
#[test]
fn directives_trailing_lists() {
    let keys = lines(80_000, |number| {
        format!("  k{number}: [v] # ownerlint: ignore[duplicate-key] tested")
    });
    checked(&format!("{OBJECT}data:\n{keys}"));
}

/// Review P1: n lines `#`.
#[test]
fn empty_comment_lines() {
    checked(&format!("{}{OBJECT}", "#\n".repeat(120_000)));
}

/// Review P1: one line of n `#`.
#[test]
fn long_line_of_comment_characters() {
    checked(&format!("{}\n{OBJECT}", "#".repeat(300_000)));
}

/// Review P1: n `%TAG` lines.
#[test]
fn tag_directives() {
    let text = format!(
        "{}---\n{OBJECT}",
        lines(120_000, |number| format!("%TAG !t{number}! tag:x"))
    );
    // Kubernetes splits a file at `---`, so the directives are a document of their own.
    let printed = within_limits(&text, CHECK);
    assert!(
        printed.contains("did not find expected <document start>"),
        "{printed}"
    );
}

/// Returns an object with a finding.
fn mistaken(number: usize, metadata: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, finalizers: 7{metadata}}}"
    )
}

/// Review P1: n documents, each with a directive.
#[test]
fn documents_with_one_directive_each() {
    let directive = "# ownerlint: ignore[finalizer-wrong-type] tested";
    checked(&documents(40_000, |number| {
        format!("{directive}\n{}", mistaken(number, ""))
    }));
}

/// Review P1: n objects, each with an annotation that ignores a finding.
#[test]
fn objects_with_one_ignore_annotation_each() {
    let ignore = ", annotations: {ignore.ownerlint/finalizer-wrong-type: tested}";
    checked(&documents(20_000, |number| mistaken(number, ignore)));
}

/// Review P1: n objects, each with an ignore in the configuration.
#[test]
fn objects_with_one_configured_ignore_each() {
    let inside = Repository::new();
    let ignores = lines(4_000, |number| {
        format!("      - {{object: ConfigMap/shop/web-{number}, reason: tested}}")
    });
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nrules:\n  finalizer-wrong-type:\n    ignore:\n{ignores}"),
    );
    inside.write(
        "input.yaml",
        &documents(4_000, |number| mistaken(number, "")),
    );
    let printed = within_limits_in(&inside, "check --threads 1 --output concise @");
    assert_eq!(printed, "");
}

#[test]
fn annotations_that_ignore_unknown_rules() {
    let annotations = lines(50_000, |number| {
        format!("    ignore.ownerlint/finalizer-unknown{number}: x")
    });
    let printed = checked(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n{annotations}"
    ));
    assert!(printed.contains("[suppression-unknown-rule]"), "{printed}");
}

/// Returns a workload with its own ServiceAccount, role and binding, and an object with a finalizer.
fn bound_operator(number: usize, subject: &str, role: &str, object: &str) -> String {
    let group = "rbac.authorization.k8s.io";
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: argocd-{number}, namespace: shop}}\nspec: {{template: {{spec: \
         {{serviceAccountName: argocd-{number}, containers: [{{name: argocd, image: 'quay.io/argoproj/argocd:v3.1.0'}}]}}}}}}\n\
         ---\napiVersion: {group}/v1\nkind: ClusterRole\n{role}\n\
         ---\napiVersion: {group}/v1\nkind: ClusterRoleBinding\nmetadata: {{name: argocd-{number}}}\nroleRef: {{apiGroup: {group}, \
         kind: ClusterRole, name: argocd-{number}}}\nsubjects: [{subject}]\n---\n{object}"
    )
}

/// Beyond review P1: n operators × n custom resources, where a binding lets each operator change each object.
#[test]
fn operators_with_update_permission_and_their_objects() {
    let rules = "rules: [{apiGroups: [argoproj.io], resources: [applications], verbs: [update]}]";
    checked(&documents(6_000, |number| {
        let subject = format!("{{kind: ServiceAccount, name: argocd-{number}, namespace: shop}}");
        let role = format!("metadata: {{name: argocd-{number}}}\n{rules}");
        let object = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web-{number}, namespace: shop-{number}, \
             finalizers: [resources-finalizer.argocd.argoproj.io]}}"
        );
        bound_operator(number, &subject, &role, &object)
    }));
}

fn unknown_object(number: usize, name: &str) -> String {
    format!(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}, namespace: shop-{number}, finalizers: \
         [example.com/web]}}"
    )
}

/// No rule names these objects, but each rule may.
#[test]
fn rbac_rules_with_resource_names_and_other_objects() {
    checked(&documents(6_000, |number| {
        let subject = format!("{{kind: ServiceAccount, name: argocd-{number}, namespace: shop}}");
        let role = format!(
            "metadata: {{name: argocd-{number}}}\nrules: [{{apiGroups: [example.com], resources: [widgets], resourceNames: \
             [db-{number}], verbs: [update]}}]"
        );
        bound_operator(number, &subject, &role, &unknown_object(number, "web"))
    }));
}

/// Returns a role, a workload bound to it, and objects with a finalizer that only RBAC could explain.
fn one_role_and_unknown_objects(rules: &str, objects: usize) -> String {
    let group = "rbac.authorization.k8s.io";
    let role = format!(
        "---\napiVersion: {group}/v1\nkind: ClusterRole\nmetadata: {{name: argocd}}\nrules:\n{rules}"
    );
    let bound = documents(objects, |number| {
        format!(
            "apiVersion: {group}/v1\nkind: RoleBinding\nmetadata: {{name: argocd, namespace: db-{number}}}\nroleRef: {{apiGroup: \
             {group}, kind: ClusterRole, name: argocd}}\nsubjects: [{{kind: ServiceAccount, name: argocd, namespace: shop}}]\n---\n{}",
            unknown_object(number, "web")
        )
    });
    let workload = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: argocd, namespace: shop}\nspec: {template: {spec: \
                    {serviceAccountName: argocd, containers: [{name: web, image: web}]}}}\n";
    format!("{role}{workload}{bound}")
}

/// Counts the findings of `finalizer-unknown`, including those that are combined into one line.
fn unknown_finalizers(text: &str) -> usize {
    let printed = checked(text);
    let lines = printed
        .lines()
        .filter(|line| line.contains("[finalizer-unknown]"));
    let more = |line: &str| {
        line.split_once(" (")?
            .1
            .split_once(" more")?
            .0
            .parse::<usize>()
            .ok()
    };
    lines.map(|line| 1 + more(line).unwrap_or_default()).sum()
}

/// Each binding is for a namespace without objects. Up to a limit, all are tried for each object.
#[test]
fn role_bindings_in_other_namespaces() {
    let rule = "- {apiGroups: [example.com], resources: [widgets], verbs: [update]}\n";
    assert_eq!(
        unknown_finalizers(&one_role_and_unknown_objects(rule, 1_000)),
        1_000
    );
    assert_eq!(
        unknown_finalizers(&one_role_and_unknown_objects(rule, 5_000)),
        0
    );
}

/// One rule lists many names, and another many resources.
#[test]
fn long_lists_in_rbac_rules_and_many_objects() {
    let listed = |what: &str| {
        (0..50_000)
            .map(|number| format!("{what}{number}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let rules = format!(
        "- {{apiGroups: [example.com], resources: [widgets], resourceNames: [{}], verbs: [update]}}\n\
         - {{apiGroups: [example.com], resources: [{}], verbs: [update]}}\n",
        listed("db-"),
        listed("cakes")
    );
    assert_eq!(
        unknown_finalizers(&one_role_and_unknown_objects(&rules, 900)),
        900
    );
}

/// None of the operators may change the objects that all of them handle.
#[test]
fn operators_without_update_permission_and_their_objects() {
    let rules = "rules: [{apiGroups: [argoproj.io], resources: [appprojects], verbs: [update]}]";
    let text = documents(6_000, |number| {
        let subject = format!("{{kind: ServiceAccount, name: argocd-{number}, namespace: shop}}");
        let object = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: shop-{number}, finalizers: \
             [resources-finalizer.argocd.argoproj.io]}}"
        );
        bound_operator(
            number,
            &subject,
            &format!("metadata: {{name: argocd-{number}}}\n{rules}"),
            &object,
        )
    });
    checked(&text);
}

/// Each binding names every workload, and each role aggregates every other role.
#[test]
fn mutually_aggregating_roles_bound_to_all_workloads() {
    checked(&documents(6_000, |number| {
        let role = format!(
            "metadata: {{name: argocd-{number}, labels: {{app: web}}}}\naggregationRule: {{clusterRoleSelectors: [{{matchLabels: \
             {{app: web}}}}]}}\nrules: [{{apiGroups: [example.com], resources: [cakes], verbs: [update]}}]"
        );
        bound_operator(
            number,
            "{kind: Group, name: 'system:serviceaccounts'}",
            &role,
            &unknown_object(number, "web"),
        )
    }));
}

/// One role names all kinds, and all workloads use it.
#[test]
fn workloads_sharing_a_role_for_many_kinds() {
    let workload = |number: usize| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{number}, namespace: shop}}\nspec: {{template: {{spec: \
             {{serviceAccountName: web, containers: [{{name: web, image: web}}]}}}}}}\n---\napiVersion: \
             apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: cakes{number}.example.com}}\nspec: {{group: \
             example.com, names: {{kind: Cake{number}, plural: cakes{number}}}, scope: Namespaced, versions: [{{name: v1, served: \
             true, storage: true}}]}}"
        )
    };
    let rules = lines(5_000, |number| {
        format!(
            "- {{apiGroups: [example.com], resources: [cakes{number}, cakes{number}/status], verbs: [list, update]}}"
        )
    });
    let group = "rbac.authorization.k8s.io";
    checked(&format!(
        "apiVersion: {group}/v1\nkind: ClusterRole\nmetadata: {{name: web}}\nrules:\n- {{apiGroups: [''], resources: [configmaps], \
         verbs: [create]}}\n{rules}---\napiVersion: {group}/v1\nkind: ClusterRoleBinding\nmetadata: {{name: web}}\nroleRef: \
         {{apiGroup: {group}, kind: ClusterRole, name: web}}\nsubjects: [{{kind: ServiceAccount, name: web, namespace: shop}}]\n{}",
        documents(5_000, workload)
    ));
}

/// Regression: for each object, the whole list was searched for marks of Argo CD.
#[test]
fn a_list_of_custom_resources() {
    checked(&list(80_000, |number| {
        format!(
            "apiVersion: example.com/v1, kind: Widget, metadata: {{name: web-{number}, namespace: shop}}, spec: {{a: 1}}"
        )
    }));
}

/// Regression: for each object, all comments of the list were searched for directives.
#[test]
fn list_of_secrets_with_one_comment_each() {
    checked(&list(30_000, |number| {
        format!(
            "apiVersion: v1, kind: Secret, metadata: {{name: web-{number}, namespace: shop}}, # a comment\n  stringData: {{a: b}}"
        )
    }));
}

/// Regression: for each duplicate key, the whole list was searched for its object.
#[test]
fn list_of_objects_with_one_duplicate_key_each() {
    checked(&list(30_000, |number| {
        format!(
            "apiVersion: v1, kind: ConfigMap, metadata: {{name: web-{number}, namespace: shop}}, data: {{a: b, a: c}}"
        )
    }));
}
