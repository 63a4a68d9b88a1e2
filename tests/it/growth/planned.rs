//! The cost of a plan.

use super::support::{
    deleted, documents, lines, namespace, operator_and_object, uid, with_finalizers,
    with_references, within_limits,
};

fn deployment(number: usize, replicas: usize, volumes: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{number}, namespace: shop}}\nspec: {{replicas: \
         {replicas}, template: {{spec: {{containers: [{{name: web, image: web}}], volumes: [{volumes}]}}}}}}"
    )
}

fn service(number: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata: {{name: web-{number}, namespace: shop}}\nspec: {{selector: {{app: web-{number}}}}}"
    )
}

/// Review P1: `plan delete ns` with Deployments of 100,000 replicas.
#[test]
fn deployments_of_a_hundred_thousand_replicas() {
    deleted(&documents(1_000, |number| deployment(number, 100_000, "")));
}

fn ephemeral(number: usize) -> String {
    format!("{{name: data-{number}, ephemeral: {{volumeClaimTemplate: {{spec: {{}}}}}}}}, ")
}

/// Review P1: Deployment of 100 replicas × n ephemeral volumes.
#[test]
fn ephemeral_volumes_of_many_replicas() {
    let volumes: String = (0..10_000).map(ephemeral).collect();
    deleted(&documents(1, |number| deployment(number, 100, &volumes)));
}

/// Review P1: 100 replicas × n ephemeral volumes, which 20 Deployments share through aliases.
#[test]
fn ephemeral_volumes_through_aliases() {
    let volumes: String = (0..1_000).map(ephemeral).collect();
    let item = |number: usize| {
        format!(
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: web-{number}, namespace: shop}}\n  spec: {{replicas: 100, \
             template: {{spec: {{containers: [{{name: web, image: web}}], volumes: *volumes}}}}}}"
        )
    };
    deleted(&format!(
        "---\napiVersion: v1\nkind: List\nvolumes: &volumes [{volumes}]\nitems:\n{}",
        lines(20, item)
    ));
}

/// Review P1: ring of n shared owners, delete ns.
#[test]
fn ring_of_shared_owners_in_a_namespace() {
    const RING: usize = 4_000;
    let object = |number: usize| {
        let owner = |back: usize| {
            let owner = (number + RING - back) % RING;
            let uid = uid(owner);
            format!("{{apiVersion: v1, kind: ConfigMap, name: web-{owner}, uid: {uid}}}")
        };
        let (own, one, other) = (uid(number), owner(1), owner(2));
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{number}, namespace: shop, uid: {own}, resourceVersion: '1', \
             ownerReferences: [{one}, {other}]}}"
        )
    };
    deleted(&documents(RING, object));
}

#[test]
fn objects_with_generated_names() {
    deleted(&documents(4_000, |_| {
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: web-, namespace: shop}"
            .to_owned()
    }));
}

/// Returns custom resources with a finalizer, and their definition.
fn held(count: usize) -> String {
    let held = |number| {
        format!(
            "apiVersion: example.com/v1\nkind: Cake\nmetadata: {{name: cake-{number}, namespace: shop, finalizers: [example.com/baker]}}"
        )
    };
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: cakes.example.com}\n\
                      spec: {group: example.com, scope: Namespaced, names: {kind: Cake, plural: cakes}, versions: [{name: v1, served: \
                      true, storage: true}]}\n";
    format!("{definition}{}", documents(count, held))
}

/// Review P1: namespace with n held objects.
#[test]
fn objects_with_finalizers_in_a_namespace() {
    deleted(&held(20_000));
}

/// Review P1: definition with n held objects.
#[test]
fn objects_with_finalizers_of_a_definition() {
    within_limits(
        &namespace(&held(20_000)),
        "plan delete crd/cakes.example.com -f @",
    );
}

/// Review P2: `plan delete ns/x` with Deployments, and a Service for each.
#[test]
fn deployments_with_services_in_a_namespace() {
    deleted(&documents(2_000, |number| {
        format!("{}\n---\n{}", deployment(number, 1, ""), service(number))
    }));
}

/// Review P2: `plan delete ns/x` with mixed objects: many copies of an application.
#[test]
fn objects_of_all_kinds_in_a_namespace() {
    let application = |number: usize| {
        let metadata = format!("metadata: {{name: web-{number}, namespace: shop}}");
        let volume = format!("{{name: data, persistentVolumeClaim: {{claimName: web-{number}}}}}");
        let pod = "template: {spec: {restartPolicy: Never, containers: [{name: web, image: web}]}}";
        [
            deployment(number, 2, &volume),
            service(number),
            format!("apiVersion: v1\nkind: ConfigMap\n{metadata}"),
            format!("apiVersion: v1\nkind: ServiceAccount\n{metadata}"),
            format!("apiVersion: v1\nkind: PersistentVolumeClaim\n{metadata}\nspec: {{accessModes: [ReadWriteOnce]}}"),
            format!("apiVersion: batch/v1\nkind: CronJob\n{metadata}\nspec: {{jobTemplate: {{spec: {{{pod}}}}}}}"),
            format!(
                "apiVersion: apps/v1\nkind: StatefulSet\n{metadata}\nspec: {{replicas: 1, serviceName: web-{number}, {pod}, \
                 volumeClaimTemplates: [{{metadata: {{name: data}}}}]}}"
            ),
            format!(
                "apiVersion: networking.k8s.io/v1\nkind: Ingress\n{metadata}\nspec: {{defaultBackend: {{service: {{name: \
                 web-{number}, port: {{number: 80}}}}}}}}"
            ),
        ]
        .join("\n---\n")
    };
    deleted(&documents(1_250, application));
}

/// Plans the removal of operators together with objects that only they can release.
fn operators_and_their_objects_removed(operators: usize, objects: usize) {
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
        let kind = number % operators;
        format!(
            "apiVersion: example.com/v1\nkind: Cake{kind}\nmetadata: {{name: cake-{number}, namespace: shop, finalizers: \
             [example.com/cake{kind}]}}"
        )
    };
    let text = namespace(&format!(
        "{}{}",
        documents(operators, operator),
        documents(objects, cake)
    ));
    within_limits(&text, "plan teardown --by argocd -o json @");
}

/// Each removed controller may have released its objects in time, and a safe order has to handle each object.
#[test]
fn removed_operators_with_their_objects() {
    operators_and_their_objects_removed(30, 500);
}

/// A safe order has as many preparations as there are objects, and omits unnecessary ones.
#[test]
fn removed_operator_with_thousands_of_objects() {
    operators_and_their_objects_removed(1, 3_000);
}

/// For each reference, it is checked whether the object is deleted anyway.
#[test]
fn one_object_with_many_owners_in_a_namespace() {
    deleted(&format!(
        "---\n{}",
        with_references(16_000, |number| {
            format!(
                "apiVersion: v1, kind: ConfigMap, name: web-{number}, uid: {}",
                uid(number)
            )
        })
    ));
}

/// The object is stuck, and the remedy names each finalizer.
#[test]
fn one_object_with_many_finalizers_in_a_namespace() {
    deleted(&format!(
        "---\n{}",
        with_finalizers(24_000, |number| format!("example.com/web-{number}"))
    ));
}

/// Each claim of each Pod has its own template.
#[test]
fn one_stateful_set_with_many_claim_templates() {
    let templates = lines(24_000, |number| {
        format!("  - {{metadata: {{name: data-{number}}}, spec: {{}}}}")
    });
    deleted(&format!(
        "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: web, namespace: shop}}\nspec:\n  \
         volumeClaimTemplates:\n{templates}"
    ));
}

/// Possible preparations are simulated step by step.
#[test]
fn finalizers_of_one_object_stuck_after_uninstall() {
    for name in ["example.com/web", "example.com/web-#"] {
        let object = with_finalizers(16_000, |number| name.replace('#', &number.to_string()));
        within_limits(&object, "plan teardown --by helm -n shop --fail-on never @");
    }
}

/// Each of many namespaces has objects that must be deleted first.
#[test]
fn objects_in_many_namespaces_stuck_after_uninstall() {
    let pair = |number: usize| operator_and_object(number, &format!("shop-{number}"));
    within_limits(
        &documents(2_000, pair),
        "plan teardown --by helm -n shop --fail-on never @",
    );
}

/// The tool waits for each wave.
#[test]
fn hooks_with_one_sync_wave_each() {
    let hook = |number: usize| {
        format!(
            "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: web-{number}, namespace: shop, annotations: \
             {{argocd.argoproj.io/hook: PostDelete, argocd.argoproj.io/sync-wave: '{number}'}}}}\nspec: {{template: {{spec: {{}}}}}}"
        )
    };
    let page = within_limits(
        &documents(6_000, hook),
        "plan teardown --by argocd --fail-on never @",
    );
    assert!(
        page.contains("There are too many waves to wait for each"),
        "{page}"
    );
}
