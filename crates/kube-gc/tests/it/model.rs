//! The test vectors of the deletion semantics (TV-1 to TV-42), and further tests.
//!
//! Notation: see [`crate::support::sketch`]. An outcome lists the remaining objects.

use kube_gc::names::{ObjectKey, Policy};
use kube_gc::{
    Cause, Cluster, DefinitionFacts, Difference, Facts, Fate, Hold, Object, PodFacts, Protection,
    SimulationOptions, Step, simulate,
};

use crate::support::{
    delete, key, outcomes, recorded_kinds, sketch, sketch_key, sketch_object, sketch_objects,
};

const BACKGROUND: Option<Policy> = Some(Policy::Background);
const FOREGROUND: Option<Policy> = Some(Policy::Foreground);
const ORPHAN: Option<Policy> = Some(Policy::Orphan);

/// Returns the only outcome of deleting `target`, as a list of the remaining objects.
fn after(objects: &[&str], target: &str, policy: Option<Policy>) -> Vec<String> {
    only(outcomes(
        &sketch(objects),
        &[Step::Settle, delete(&[target], policy)],
    ))
}

fn only(mut outcomes: Vec<Vec<String>>) -> Vec<String> {
    assert_eq!(outcomes.len(), 1, "one outcome: {outcomes:?}");
    outcomes.remove(0)
}

const NOTHING: [&str; 0] = [];

#[test]
fn tv1_background_deletion_deletes_the_dependent() {
    assert_eq!(after(&["o", "c -> o"], "o", BACKGROUND), NOTHING);
}

#[test]
fn tv2_orphan_keeps_the_dependent_without_its_reference() {
    assert_eq!(after(&["o", "c -> o"], "o", ORPHAN), ["c"]);
}

#[test]
fn tv3_finalizer_on_blocking_dependent_blocks_foreground_owner() {
    assert_eq!(
        after(&["o", "c{x/y} -> !o"], "o", FOREGROUND),
        ["c{T,x/y} -> !o", "o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv4_finalizer_on_nonblocking_dependent_does_not_block_owner() {
    assert_eq!(
        after(&["o", "c{x/y} -> o"], "o", FOREGROUND),
        ["c{T,x/y} -> o"]
    );
}

#[test]
fn tv5_background_deletion_does_not_wait_for_dependents() {
    assert_eq!(
        after(&["o", "c{x/y} -> !o"], "o", BACKGROUND),
        ["c{T,x/y} -> !o"]
    );
}

#[test]
fn tv6_owner_with_finalizer_keeps_dependents_in_background() {
    assert_eq!(
        after(&["o{x/y}", "c -> o"], "o", BACKGROUND),
        ["c -> o", "o{T,x/y}"]
    );
}

#[test]
fn tv7_foreground_deletes_dependents_despite_owner_finalizer() {
    assert_eq!(after(&["o{x/y}", "c -> !o"], "o", FOREGROUND), ["o{T,x/y}"]);
}

#[test]
fn tv8_second_owner_keeps_the_dependent() {
    assert_eq!(
        after(&["a", "b", "c -> !a, !b"], "a", BACKGROUND),
        ["b", "c -> !b"]
    );
}

#[test]
fn tv9_second_owner_keeps_the_dependent_in_foreground() {
    assert_eq!(
        after(&["a", "b", "c -> !a, !b"], "a", FOREGROUND),
        ["b", "c -> !b"]
    );
}

#[test]
fn tv10_deleting_both_owners_deletes_the_dependent() {
    let cluster = sketch(&["a", "b", "c -> !a, !b"]);
    assert_eq!(
        only(outcomes(&cluster, &[delete(&["a", "b"], FOREGROUND)])),
        NOTHING
    );
}

#[test]
fn tv11_explicit_background_removes_preset_foreground_finalizer() {
    assert_eq!(
        after(&["o{foregroundDeletion}", "c -> !o"], "o", BACKGROUND),
        NOTHING
    );
    assert_eq!(
        after(&["o{foregroundDeletion}", "c{x/y} -> !o"], "o", BACKGROUND),
        ["c{T,x/y} -> !o"]
    );
}

#[test]
fn tv12_a_delete_without_policy_honours_a_preset_finalizer() {
    assert_eq!(
        after(&["o{foregroundDeletion}", "c{x/y} -> !o"], "o", None),
        ["c{T,x/y} -> !o", "o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv13_collector_honours_preset_orphan_finalizer() {
    assert_eq!(
        after(&["o", "p{orphan} -> o", "c -> p"], "o", BACKGROUND),
        ["c"]
    );
}

#[test]
fn tv14_foreground_owner_overrides_preset_orphan_finalizer() {
    assert_eq!(
        after(&["o", "p{orphan} -> !o", "c -> p"], "o", FOREGROUND),
        NOTHING
    );
}

#[test]
fn tv15_a_job_deleted_without_policy_orphans_its_pods() {
    let objects = ["Job.batch/n/j", "Pod/n/p -> !Job.batch/n/j"];
    assert_eq!(after(&objects, "Job.batch/n/j", None), ["Pod/n/p"]);
    assert_eq!(after(&objects, "Job.batch/n/j", BACKGROUND), NOTHING);
}

#[test]
fn tv16_the_orphan_default_does_not_apply_in_a_cascade() {
    let objects = [
        "CronJob.batch/n/cj",
        "Job.batch/n/j -> !CronJob.batch/n/cj",
        "Pod/n/p -> !Job.batch/n/j",
    ];
    assert_eq!(after(&objects, "CronJob.batch/n/cj", BACKGROUND), NOTHING);
}

#[test]
fn tv17_foreground_cycle_is_unblocked_and_deleted() {
    assert_eq!(after(&["a -> !b", "b -> !a"], "a", FOREGROUND), NOTHING);
}

#[test]
fn tv18_and_19_self_blocking_object_is_stuck_until_background_delete() {
    let cluster = sketch(&["a -> !a"]);
    let foreground = delete(&["a"], FOREGROUND);
    assert_eq!(
        only(outcomes(&cluster, std::slice::from_ref(&foreground))),
        ["a{T,foregroundDeletion} -> !a"]
    );
    assert_eq!(
        only(outcomes(
            &cluster,
            &[foreground, delete(&["a"], BACKGROUND)]
        )),
        NOTHING
    );
}

#[test]
fn tv20_owner_in_another_namespace_does_not_keep_the_dependent() {
    let cluster = sketch(&["ConfigMap/ns2/o", "ConfigMap/ns1/c -> ConfigMap/ns2/o"]);
    assert_eq!(
        only(outcomes(&cluster, &[Step::Settle])),
        ["ConfigMap/ns2/o"]
    );
    let plan = simulate(&cluster, &[Step::Settle], &SimulationOptions::default());
    let events = &plan.steps[0].events;
    assert_eq!(events.len(), 1);
    assert!(events[0].certain);
    assert_eq!(events[0].object, key("ConfigMap/ns1/c"));
    assert_eq!(
        events[0].message,
        "ownerRef [v1/ConfigMap, namespace: ns1, name: o, uid: uid-ConfigMap/ns2/o] does not exist in namespace \"ns1\""
    );
}

#[test]
fn tv21_and_22_cluster_scoped_dependent_outlives_its_namespaced_owner() {
    let role = "ClusterRole.rbac.authorization.k8s.io//c";
    let objects = ["o".to_owned(), format!("{role} -> !o")];
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let kept = format!("{role} -> !o");
    assert_eq!(
        after(&objects, "o", FOREGROUND),
        ["o{T,foregroundDeletion}", kept.as_str()]
    );
    assert_eq!(after(&objects, "o", BACKGROUND), [kept.as_str()]);
}

/// Parses `line` and rewrites apiVersion and kind of the reference at `position`.
fn with_reference_rewritten(line: &str, position: usize, api_version: &str, kind: &str) -> Object {
    let mut object = sketch_object(line);
    object.owner_references[position].api_version = api_version.into();
    object.owner_references[position].kind = kind.into();
    object
}

fn cluster(objects: Vec<Object>) -> Cluster {
    Cluster::new(recorded_kinds(), objects).expect("a cluster")
}

#[test]
fn tv23_unresolvable_owner_keeps_dependent_and_all_references() {
    let cluster = cluster(vec![
        sketch_object("o"),
        with_reference_rewritten("c -> o, z", 1, "apps/v1beta1", "Deployment"),
    ]);
    assert_eq!(
        only(outcomes(&cluster, &[delete(&["o"], BACKGROUND)])),
        ["c -> o, z"]
    );
}

#[test]
fn tv24_reference_in_unserved_version_blocks_foreground_owner() {
    let owner = sketch_object("Deployment.apps/n/o");
    let dependent = with_reference_rewritten(
        "c -> !Deployment.apps/n/o",
        0,
        "extensions/v1beta1",
        "Deployment",
    );
    let left = only(outcomes(
        &cluster(vec![owner, dependent]),
        &[delete(&["Deployment.apps/n/o"], FOREGROUND)],
    ));
    assert_eq!(
        left,
        ["c -> !o", "Deployment.apps/n/o{T,foregroundDeletion}"]
    );
}

#[test]
fn tv25_references_with_one_uid_are_removed_together() {
    let mut child = sketch_object("c -> good, good");
    child.owner_references[1].name = "bad".into();
    assert_eq!(
        only(outcomes(
            &cluster(vec![sketch_object("good"), child]),
            &[Step::Settle]
        )),
        ["c", "good"]
    );
}

#[test]
fn tv26_and_27_background_delete_ends_a_foreground_deletion() {
    let held = sketch(&["o{x/y}", "c{z/w} -> !o"]);
    let steps = [delete(&["o"], FOREGROUND), delete(&["o"], BACKGROUND)];
    assert_eq!(
        only(outcomes(&held, &steps[..1])),
        ["c{T,z/w} -> !o", "o{T,foregroundDeletion,x/y}"]
    );
    assert_eq!(
        only(outcomes(&held, &steps)),
        ["c{T,z/w} -> !o", "o{T,x/y}"]
    );
    assert_eq!(
        only(outcomes(&sketch(&["o", "c{z/w} -> !o"]), &steps)),
        ["c{T,z/w} -> !o"]
    );
}

/// Returns the remaining objects, and the conditions NamespaceContentRemaining and NamespaceFinalizersRemaining.
fn remaining(cluster: &Cluster, namespace: &str) -> (Vec<String>, [(String, String); 2]) {
    let steps = [delete(&[namespace], BACKGROUND)];
    let plan = simulate(cluster, &steps, &SimulationOptions::default());
    let id = cluster.find(&sketch_key(namespace)).expect("the namespace");
    let Fate::Present(present) = plan.fate(&plan.steps[0].outcomes[0], id) else {
        panic!("the namespace is gone")
    };
    let conditions = present
        .conditions
        .expect("a Terminating namespace has conditions");
    assert_eq!(conditions.len(), 5);
    let told = [&conditions[3], &conditions[4]].map(|it| (it.status.clone(), it.message.clone()));
    (only(outcomes(cluster, &steps)), told)
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
    let plan = simulate(
        &cluster,
        &[delete(&["Namespace//n"], BACKGROUND)],
        &SimulationOptions::default(),
    );
    let fates = plan.fates(&plan.steps[0].outcomes[0]);
    let Fate::Present(namespace) = &fates[0].1 else {
        panic!("the namespace is gone")
    };
    assert_eq!(
        (
            namespace.finalizers.as_slice(),
            namespace.spec_finalizers.as_deref()
        ),
        (&["x/y".to_owned()][..], Some(&[][..]))
    );
    assert_eq!(fates[1].1, Fate::Gone);
}

fn definition() -> Object {
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

const DEFINITION: &str = "CustomResourceDefinition.apiextensions.k8s.io//cakes.shop.example";

#[test]
fn tv32_instance_with_finalizer_keeps_its_crd_under_every_policy() {
    for policy in [BACKGROUND, FOREGROUND, ORPHAN, None] {
        let cluster = cluster(vec![
            definition(),
            sketch_object("Cake.shop.example/n/c{x/y}"),
        ]);
        let steps = [delete(&[DEFINITION], policy)];
        let left = only(outcomes(&cluster, &steps));
        let held = format!("{DEFINITION}{{T,customresourcecleanup.apiextensions.k8s.io}}");
        assert_eq!(left, [held.as_str(), "Cake.shop.example/n/c{T,x/y}"]);
        let plan = simulate(&cluster, &steps, &SimulationOptions::default());
        let id = cluster.find(&key(DEFINITION)).expect("the definition");
        let Fate::Present(present) = plan.fate(&plan.steps[0].outcomes[0], id) else {
            panic!("the definition is gone")
        };
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
        only(outcomes(
            &cluster(objects.clone()),
            &[delete(&[DEFINITION], BACKGROUND)]
        )),
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
    let left = only(outcomes(&cluster, &steps[..1]));
    assert_eq!(
        left,
        [
            "PersistentVolumeClaim/n/data{T,kubernetes.io/pvc-protection}",
            "Pod/n/p"
        ]
    );
    assert_eq!(only(outcomes(&cluster, &steps)), NOTHING);
    let plan = simulate(&cluster, &steps[..1], &SimulationOptions::default());
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
        only(outcomes(
            &cluster,
            &[delete(&["PersistentVolumeClaim/n/data"], BACKGROUND)]
        )),
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
    assert_eq!(only(outcomes(&cluster, &steps)), ["Pod/n/p{T}"]);
    let forced = [
        steps.as_slice(),
        &[Step::ForceDelete {
            target: key("Pod/n/p"),
        }],
    ]
    .concat();
    assert_eq!(only(outcomes(&cluster, &forced)), NOTHING);
    let plan = simulate(&cluster, &steps, &SimulationOptions::default());
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
        let plan = simulate(
            &cluster,
            &[delete(&[&namespace], BACKGROUND)],
            &SimulationOptions::default(),
        );
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

/// Returns all outcomes of deleting `o`, the verdict first.
fn races(objects: &[&str], policy: Option<Policy>) -> Vec<Vec<String>> {
    outcomes(&sketch(objects), &[Step::Settle, delete(&["o"], policy)])
}

#[test]
fn tv39_nonblocking_dependent_of_foreground_owner_may_survive() {
    assert_eq!(
        races(&["o{x/y}", "c -> o"], FOREGROUND),
        [vec!["o{T,x/y}"], vec!["c -> o", "o{T,x/y}"]]
    );
}

#[test]
fn tv40_diamond_dependent_may_survive_below_a_stuck_sibling() {
    let outcomes = races(&["o", "p{x/y} -> !o", "c -> !o, p"], FOREGROUND);
    let stuck = ["o{T,foregroundDeletion}", "p{T,x/y} -> !o"];
    assert_eq!(
        outcomes,
        [
            stuck.map(str::to_owned).to_vec(),
            [&["c -> p"], &stuck[..]]
                .concat()
                .iter()
                .map(|s| (*s).to_owned())
                .collect()
        ]
    );
}

#[test]
fn tv41_grandchild_may_be_deleted_in_foreground_or_background() {
    let outcomes = races(&["o", "p -> o", "q -> p", "r{x/y} -> !q"], FOREGROUND);
    assert_eq!(
        outcomes,
        [
            vec!["q{T,foregroundDeletion} -> p", "r{T,x/y} -> !q"],
            vec!["r{T,x/y} -> !q"]
        ]
    );
}

#[test]
fn tv42_outcomes_differ_only_in_owner_references() {
    let cluster = sketch(&["o", "p -> o", "c{x/y} -> p, !o"]);
    let steps = [delete(&["o"], BACKGROUND)];
    assert_eq!(
        outcomes(&cluster, &steps),
        [vec!["c{T,x/y} -> p"], vec!["c{T,x/y} -> p, !o"]]
    );
    let plan = simulate(&cluster, &steps, &SimulationOptions::default());
    let differs: Vec<Option<Difference>> = plan.steps[0]
        .outcomes
        .iter()
        .map(|outcome| outcome.differs)
        .collect();
    assert_eq!(differs, [None, Some(Difference::References)]);
}

/// Without reduction, the search visits more than 200,000 states.
#[test]
fn a_fan_out_of_24_dependents_is_searched_completely() {
    let lines: Vec<String> = (0..24)
        .map(|n| format!("c{n:02} -> {}o", if n % 2 == 0 { "!" } else { "" }))
        .collect();
    let lines: Vec<&str> = std::iter::once("o")
        .chain(lines.iter().map(String::as_str))
        .collect();
    assert_eq!(after(&lines, "o", FOREGROUND), NOTHING);
}

#[test]
fn deployment_with_many_pods_has_one_outcome() {
    let mut lines = vec!["Deployment.apps/n/web".to_owned()];
    for set in 0..4 {
        lines.push(format!(
            "ReplicaSet.apps/n/web-{set} -> !Deployment.apps/n/web"
        ));
        lines.extend(
            (0..25).map(|pod| format!("Pod/n/web-{set}-{pod} -> !ReplicaSet.apps/n/web-{set}")),
        );
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for policy in [BACKGROUND, FOREGROUND] {
        assert_eq!(after(&lines, "Deployment.apps/n/web", policy), NOTHING);
    }
}

fn names(keys: &[ObjectKey]) -> Vec<String> {
    keys.iter().map(|key| key.name.to_string()).collect()
}

#[test]
fn plan_explains_each_deletion_with_its_owner_chain() {
    let cluster = sketch(&[
        "o",
        "p -> o",
        "q -> p",
        "z{x/y} -> q",
        "Widget.example.com/n/w -> o, !q",
    ]);
    let plan = simulate(
        &cluster,
        &[delete(&["o"], BACKGROUND)],
        &SimulationOptions::default(),
    );
    let why = plan.why(0);
    let (q, z) = (&why[&sketch_key("q")], &why[&sketch_key("z")]);
    assert_eq!(names(&q.chain), ["o", "p", "q"]);
    assert_eq!(q.causes, [Cause::OwnerGone]);
    assert_eq!(names(&z.chain), ["o", "p", "q", "z"]);
    assert!(z.causes.contains(&Cause::AwaitsFinalizers));
    let stuck = plan.stuck(0);
    assert_eq!(stuck.len(), 1);
    assert_eq!(cluster.key(stuck[0].object), sketch_key("z"));
    assert_eq!(stuck[0].holds, [Hold::Finalizers(vec!["x/y".to_owned()])]);
    let rounds: Vec<u32> = plan.changes(0).iter().map(|change| change.round).collect();
    assert!(rounds.is_sorted(), "in the order in which it happened");
}

#[test]
fn long_owner_chain_keeps_its_start_and_end() {
    let lines: Vec<String> = (1..100)
        .map(|n| format!("c{n:02} -> c{:02}", n - 1))
        .chain(["c00".to_owned()])
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let cluster = sketch(&lines);
    let plan = simulate(
        &cluster,
        &[delete(&["c00"], BACKGROUND)],
        &SimulationOptions::default(),
    );
    let why = plan.why(0);
    let told = ["c31", "c99"].map(|name| {
        let why = &why[&sketch_key(name)];
        (names(&why.chain), why.omitted)
    });
    let first = (0..32).map(|n| format!("c{n:02}")).collect();
    let last: Vec<String> = (69..100).map(|n| format!("c{n:02}")).collect();
    assert_eq!(
        told,
        [(first, 0), ([vec!["c00".to_owned()], last].concat(), 68)]
    );
}

/// Two outcomes for each of 20 independent parts, in a cluster with many objects per outcome.
#[test]
fn listed_outcomes_are_limited_and_marked_incomplete() {
    let races = (0..20).flat_map(|n| {
        [
            format!("o{n:02}{{x/y}} -> p{n:02}"),
            format!("p{n:02}"),
            format!("c{n:02} -> o{n:02}, !p{n:02}"),
        ]
    });
    let lines: Vec<String> = races
        .chain((0..5_000).map(|n| format!("z{n:04}")))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let cluster = sketch(&lines);
    let owners: Vec<String> = (0..20)
        .flat_map(|n| [format!("o{n:02}"), format!("p{n:02}")])
        .collect();
    let owners: Vec<&str> = owners.iter().map(String::as_str).collect();
    let steps = [delete(&owners, FOREGROUND), Step::Settle];
    let plan = simulate(&cluster, &steps, &SimulationOptions::default());
    let listed: usize = plan.steps.iter().map(|step| step.outcomes.len() - 1).sum();
    assert!(
        listed > 0 && listed * cluster.len() <= 300_000,
        "{listed} outcomes"
    );
    assert!(plan.steps.iter().all(|step| !step.complete));
}

#[test]
fn stuck_owner_names_its_blocking_dependents() {
    let cluster = sketch(&["o", "c{x/y} -> !o"]);
    let plan = simulate(
        &cluster,
        &[delete(&["o"], FOREGROUND)],
        &SimulationOptions::default(),
    );
    let stuck = plan.stuck(0);
    assert_eq!(cluster.key(stuck[1].object), sketch_key("o"));
    let dependents = vec![cluster.find(&sketch_key("c")).expect("it exists")];
    assert_eq!(
        stuck[1].holds,
        [Hold::BlockingDependents {
            dependents,
            itself: false
        }]
    );
}

#[test]
fn failing_dependent_may_be_retried_late() {
    // Orphaning by uid removes the unresolvable reference too [GC-38]; its retry may be far off [GC-16].
    let child = with_reference_rewritten("c -> o, gone", 0, "v9", "ConfigMap");
    let cluster = cluster(vec![sketch_object("o"), child]);
    let plan = simulate(
        &cluster,
        &[Step::Settle, delete(&["o"], ORPHAN)],
        &SimulationOptions::default(),
    );
    let late: Vec<(bool, usize)> = plan.steps[1]
        .outcomes
        .iter()
        .map(|outcome| {
            (
                outcome.late,
                plan.fates(outcome)
                    .iter()
                    .filter(|(_, fate)| *fate == Fate::Gone)
                    .count(),
            )
        })
        .collect();
    assert_eq!(
        late,
        [(false, 2), (true, 1)],
        "collected at the next tick, or not yet"
    );
}

#[test]
fn deleting_absent_object_returns_404_and_changes_nothing() {
    let cluster = sketch(&["o", "c -> o"]);
    let plan = simulate(
        &cluster,
        &[delete(&["x"], BACKGROUND)],
        &SimulationOptions::default(),
    );
    assert_eq!(plan.steps[0].responses, [404]);
    assert_eq!(
        only(outcomes(&cluster, &[delete(&["x"], BACKGROUND)])),
        ["c -> o", "o"]
    );
}

#[test]
fn cluster_rejects_duplicate_objects() {
    let twice = Cluster::new(recorded_kinds(), sketch_objects(&["o", "o"]));
    assert!(twice.is_err());
}
