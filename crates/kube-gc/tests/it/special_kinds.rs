//! The test vectors of the deletion semantics on Namespaces, definitions, claims and Pods (TV-28 to TV-37).

use kube_gc::{Cluster, DefinitionFacts, Facts, Fate, Hold, Object, PodFacts, Protection, Step};

use crate::model::{BACKGROUND, FOREGROUND, NOTHING, ORPHAN, after};
use crate::support::{
    cluster, delete, end, key, outcomes, planned, present, sketch, sketch_object,
};

/// Returns the remaining objects, and the conditions NamespaceContentRemaining and NamespaceFinalizersRemaining.
fn remaining(cluster: &Cluster, namespace: &str) -> (Vec<String>, [(String, String); 2]) {
    let steps = [delete(&[namespace], BACKGROUND)];
    let conditions = present(cluster, &steps, namespace)
        .conditions
        .expect("a Terminating namespace has conditions");
    assert_eq!(conditions.len(), 5);
    let statuses =
        [&conditions[3], &conditions[4]].map(|it| (it.status.clone(), it.message.clone()));
    (end(cluster, &steps), statuses)
}

#[test]
fn tv28_namespace_conditions_name_remaining_content() {
    let cluster = sketch(&["Namespace//n", "c{x/y}", "Secret/n/s"]);
    let (left, [content, finalizers]) = remaining(&cluster, "Namespace//n");
    assert_eq!(left, ["c{T,x/y}", "Namespace//n{T}"]);
    assert_eq!(
        content,
        (
            "True".into(),
            "Some resources are remaining: configmaps. has 1 resource instances".into()
        )
    );
    let text =
        "Some content in the namespace has finalizers remaining: x/y in 1 resource instances";
    assert_eq!(finalizers, ("True".into(), text.into()));
}

#[test]
fn tv29_pod_with_finalizer_keeps_other_namespace_content() {
    let cluster = sketch(&["Namespace//n", "Pod/n/p{x/y}", "Secret/n/s"]);
    let (left, [content, finalizers]) = remaining(&cluster, "Namespace//n");
    assert_eq!(left, ["Namespace//n{T}", "Pod/n/p{T,x/y}", "Secret/n/s"]);
    assert_eq!(
        content,
        ("False".into(), "All content successfully removed".into())
    );
    assert_eq!(
        finalizers,
        (
            "False".into(),
            "All content-preserving finalizers finished".into()
        )
    );
}

#[test]
fn tv30_namespace_deletion_removes_preset_orphan_finalizer() {
    assert_eq!(
        after(&["Namespace//n", "c{orphan}"], "Namespace//n", BACKGROUND),
        NOTHING
    );
}

#[test]
fn tv31_finalizers_of_the_namespace_do_not_protect_its_content() {
    let cluster = sketch(&["Namespace//n{x/y}", "Secret/n/s"]);
    let steps = [delete(&["Namespace//n"], BACKGROUND)];
    let namespace = present(&cluster, &steps, "Namespace//n");
    assert_eq!(namespace.finalizers, ["x/y"]);
    assert_eq!(namespace.spec_finalizers, Some(Vec::new()));
    assert_eq!(end(&cluster, &steps), ["Namespace//n{T,x/y}"]);
}

pub(crate) fn definition() -> Object {
    Object {
        facts: Facts::Definition(Box::new(DefinitionFacts {
            group: "shop.example".into(),
            kind: "Cake".into(),
            plural: "cakes".into(),
            namespaced: true,
            served: vec!["v1".into(), "v1beta1".into()],
            established: true,
        })),
        ..sketch_object(DEFINITION)
    }
}

pub(crate) const DEFINITION: &str =
    "CustomResourceDefinition.apiextensions.k8s.io//cakes.shop.example";

#[test]
fn tv32_instance_with_finalizer_keeps_its_crd_under_every_policy() {
    for policy in [BACKGROUND, FOREGROUND, ORPHAN, None] {
        let cluster = cluster(vec![
            definition(),
            sketch_object("Cake.shop.example/n/c{x/y}"),
        ]);
        let steps = [delete(&[DEFINITION], policy)];
        let left = end(&cluster, &steps);
        let held = format!("{DEFINITION}{{T,customresourcecleanup.apiextensions.k8s.io}}");
        assert_eq!(left, [held.as_str(), "Cake.shop.example/n/c{T,x/y}"]);
        let present = present(&cluster, &steps, DEFINITION);
        let conditions = present.conditions.expect("conditions");
        assert_eq!(
            conditions.last().map(|condition| condition.reason.as_str()),
            Some("InstanceDeletionCheck")
        );
    }
}

#[test]
fn tv33_crd_deletion_deletes_dependents_of_instances() {
    let mut child = sketch_object("d -> !Cake.shop.example/n/c");
    child.owner_references[0].api_version = "shop.example/v1".into();
    let mut objects = vec![definition(), sketch_object("Cake.shop.example/n/c"), child];
    assert_eq!(
        end(
            &cluster(objects.clone()),
            &[delete(&[DEFINITION], BACKGROUND)]
        ),
        NOTHING
    );
    // [CRD-8]: once the kind is gone, the cache only knows the watched version.
    objects[2].owner_references[0].api_version = "shop.example/v1beta1".into();
    let plan = outcomes(&cluster(objects), &[delete(&[DEFINITION], BACKGROUND)]);
    assert!(
        plan.contains(&vec!["d -> !c".to_owned()]) || plan.contains(&vec![]),
        "{plan:?}"
    );
}

fn pod_mounting(scheduled: bool, finished: bool) -> Object {
    Object {
        facts: Facts::Pod(Box::new(PodFacts {
            scheduled,
            finished,
            claims: vec!["data".into()],
            ..PodFacts::default()
        })),
        ..sketch_object("Pod/n/p")
    }
}

#[test]
fn tv34_completed_pod_keeps_its_claim_terminating() {
    let claim = "PersistentVolumeClaim/n/data";
    let held = format!("{claim}{{kubernetes.io/pvc-protection}}");
    let cluster = cluster(vec![sketch_object(&held), pod_mounting(true, true)]);
    let steps = [
        delete(&[claim], BACKGROUND),
        delete(&["Pod/n/p"], BACKGROUND),
    ];
    let left = end(&cluster, &steps[..1]);
    assert_eq!(
        left,
        [
            "PersistentVolumeClaim/n/data{T,kubernetes.io/pvc-protection}",
            "Pod/n/p"
        ]
    );
    assert_eq!(end(&cluster, &steps), NOTHING);
    let plan = planned(&cluster, &steps[..1]);
    let by = vec![cluster.find(&key("Pod/n/p")).expect("it exists")];
    assert_eq!(
        plan.stuck(0)[0].holds,
        [Hold::InUse {
            protection: Protection::Claim,
            by
        }]
    );
}

#[test]
fn tv35_unscheduled_pod_does_not_protect_its_claim() {
    let held = sketch_object("PersistentVolumeClaim/n/data{kubernetes.io/pvc-protection}");
    let cluster = cluster(vec![held, pod_mounting(false, false)]);
    assert_eq!(
        end(
            &cluster,
            &[delete(&["PersistentVolumeClaim/n/data"], BACKGROUND)]
        ),
        ["Pod/n/p"]
    );
}

#[test]
fn tv36_a_running_pod_waits_for_its_kubelet_even_without_finalizers() {
    let pod = Object {
        facts: Facts::Pod(Box::new(PodFacts {
            scheduled: true,
            ..PodFacts::default()
        })),
        ..sketch_object("Pod/n/p{x/y}")
    };
    let cluster = cluster(vec![pod]);
    let steps = [
        delete(&["Pod/n/p"], BACKGROUND),
        Step::RemoveAllFinalizers {
            target: key("Pod/n/p"),
        },
    ];
    assert_eq!(end(&cluster, &steps), ["Pod/n/p{T}"]);
    let forced = [
        steps.as_slice(),
        &[Step::ForceDelete {
            target: key("Pod/n/p"),
        }],
    ]
    .concat();
    assert_eq!(end(&cluster, &forced), NOTHING);
    let plan = planned(&cluster, &steps);
    assert_eq!(
        plan.fate(&plan.steps[1].outcomes[0], 0.into()),
        Fate::Gone,
        "with kubelets it finishes"
    );
}

#[test]
fn tv37_deletion_of_system_namespaces_is_forbidden() {
    for name in ["default", "kube-system", "kube-public"] {
        let namespace = format!("Namespace//{name}");
        let cluster = sketch(&[&namespace]);
        let plan = planned(&cluster, &[delete(&[&namespace], BACKGROUND)]);
        assert_eq!(plan.steps[0].responses, [403]);
        assert_eq!(plan.fates(&plan.steps[0].outcomes[0]).len(), 1);
    }
    assert_eq!(
        after(
            &["Namespace//kube-node-lease"],
            "Namespace//kube-node-lease",
            BACKGROUND
        ),
        NOTHING
    );
}
