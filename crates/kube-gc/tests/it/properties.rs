//! Invariants of every cluster and every sequence of steps.

use std::collections::BTreeSet;

use kube_gc::names::{ObjectKey, Policy, Wait};
use kube_gc::{
    ApiServiceFacts, Behaviour, Cluster, Facts, Fate, Object, Plan, Reconciler, ServiceBackend,
    SimulationOptions, Step, Verb, WebhookFacts, WebhookRequests, simulate,
};
use proptest::prelude::*;

use crate::support::{
    cases, cluster, key, planned, recorded_kinds, sketch_object, sketch_reference,
};

/// Kinds of all sorts: built-in and custom, namespaced and cluster-scoped, with an orphaning default.
const NAMES: [&str; 9] = [
    "ConfigMap/n/a",
    "ConfigMap/n/b",
    "Secret/n/c",
    "Job.batch/n/d",
    "Widget.example.com/n/e",
    "Pod/n/f",
    "Gadget.example.com//g",
    "Secret/m/h",
    "Namespace//n",
];

/// A reference to one of [`NAMES`], right or wrong in one respect.
fn reference() -> impl Strategy<Value = (usize, bool, u8)> {
    (0..NAMES.len(), any::<bool>(), 0..10_u8)
}

/// Builds an object; `needs` are the workloads and authority of the controller that removes its finalizer `x/y`.
fn build(
    index: usize,
    references: &[(usize, bool, u8)],
    finalizers: &[&str],
    needs: &[(usize, bool)],
) -> Object {
    let mut object = sketch_object(&format!("{}{{{}}}", NAMES[index], finalizers.join(",")));
    let (workloads, authority): (Vec<_>, Vec<_>) =
        needs.iter().partition(|(_, workload)| *workload);
    let [workloads, authority] = [workloads, authority]
        .map(|needs: Vec<(usize, bool)>| needs.iter().map(|(need, _)| key(NAMES[*need])).collect());
    object.reconcilers.push(Reconciler {
        finalizers: vec!["x/y".to_owned()],
        workloads,
        authority: if authority.is_empty() {
            Vec::new()
        } else {
            vec![authority]
        },
    });
    for (owner, blocking, flaw) in references {
        let mut reference = sketch_reference(NAMES[*owner]);
        reference.block_owner_deletion = blocking.then_some(true);
        match flaw {
            0 => reference.uid = "uid-unknown".into(),
            1 => reference.name = "elsewhere".into(),
            2 => reference.api_version = "nowhere/v1".into(),
            _ => {}
        }
        object.owner_references.push(reference);
    }
    object
}

fn objects() -> impl Strategy<Value = Vec<Object>> {
    let finalizers = prop::sample::select(vec![
        &[][..],
        &[],
        &[],
        &["x/y"],
        &["orphan"],
        &["foregroundDeletion"],
    ]);
    let needs = prop::collection::vec((0..NAMES.len(), any::<bool>()), 0..3);
    let shape = (
        any::<bool>(),
        prop::collection::vec(reference(), 0..3),
        finalizers,
        needs,
    );
    prop::collection::vec(shape, NAMES.len()).prop_map(|shapes| {
        let present = shapes
            .into_iter()
            .enumerate()
            .filter(|(_, (present, ..))| *present);
        let built = present.map(|(index, (_, references, finalizers, needs))| {
            build(index, &references, finalizers, &needs)
        });
        built.collect()
    })
}

/// A webhook configuration and an APIService, each with arbitrary objects as its Service and its Pod.
const CLIENTS: [&str; 2] = [
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io//w",
    "APIService.apiregistration.k8s.io//v1.example.net",
];

fn backend() -> impl Strategy<Value = ServiceBackend> {
    let object = prop::sample::select(NAMES.to_vec()).prop_map(key);
    let pods = prop::option::of(prop::collection::vec(object.clone(), 0..2));
    (object, pods).prop_map(|(service, pods)| ServiceBackend { service, pods })
}

fn clients() -> impl Strategy<Value = Vec<Object>> {
    let verbs = [
        Verb::Delete,
        Verb::Update,
        Verb::Finalize,
        Verb::UpdateStatus,
    ];
    let verbs = prop::sample::subsequence(verbs.to_vec(), 1..3);
    let object = prop::sample::select(NAMES.to_vec()).prop_map(key);
    let requests = prop::collection::btree_map(object, verbs, 1..4);
    let webhook = (backend(), requests).prop_map(|(backend, requests)| {
        let requests = requests
            .into_iter()
            .map(|(object, verbs)| WebhookRequests {
                verbs,
                objects: vec![object],
            })
            .collect();
        let webhook = WebhookFacts {
            name: "w".to_owned(),
            url: String::new(),
            backend,
            requests,
        };
        Object {
            facts: Facts::Webhooks(vec![webhook]),
            ..sketch_object(CLIENTS[0])
        }
    });
    let api = backend().prop_map(|backend| {
        let api = ApiServiceFacts {
            group_version: "example.net/v1".to_owned(),
            backend,
        };
        Object {
            facts: Facts::ApiService(Box::new(api)),
            ..sketch_object(CLIENTS[1])
        }
    });
    (webhook, prop::option::weighted(0.3, api))
        .prop_map(|(webhook, api)| [webhook].into_iter().chain(api).collect())
}

fn step() -> impl Strategy<Value = Step> {
    let target = prop::sample::select([&NAMES[..], &CLIENTS].concat()).prop_map(key);
    let policy = prop::option::of(prop::sample::select(vec![
        Policy::Background,
        Policy::Foreground,
        Policy::Orphan,
    ]));
    let wait = prop::sample::select(vec![Wait::None, Wait::Gone, Wait::Settled]);
    let patched = prop::sample::select(vec![Wait::None, Wait::Settled]);
    prop_oneof![
        6 => (target.clone(), policy, wait).prop_map(|(target, policy, wait)| Step::Delete { targets: vec![target], policy, wait, client: 0 }),
        1 => target.clone().prop_map(|target| Step::RemoveAllFinalizers { target }),
        1 => (target, patched).prop_map(|(target, wait)| Step::RemoveFinalizer { targets: vec![target], finalizer: "x/y".to_owned(), wait }),
    ]
}

/// Generates steps. Everything settles after the last one.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..4).prop_map(|mut steps| {
        if let Some(Step::Delete { wait, .. } | Step::RemoveFinalizer { wait, .. }) =
            steps.last_mut()
        {
            *wait = Wait::Settled;
        }
        steps
    })
}

/// Generates steps, some of which wait as `kubectl` does.
fn steps_of_kubectl() -> impl Strategy<Value = Vec<Step>> {
    (steps(), any::<u8>()).prop_map(|(mut steps, named)| {
        for (at, step) in steps.iter_mut().enumerate() {
            if let Step::Delete {
                wait: wait @ Wait::None,
                ..
            } = step
                && named & (1 << at) != 0
            {
                *wait = Wait::Named;
            }
        }
        steps
    })
}

/// Generates steps of several clients, each with requests and waits of its own.
fn steps_of_clients() -> impl Strategy<Value = Vec<Step>> {
    let target = prop::sample::select(NAMES.to_vec()).prop_map(key);
    let policy = prop::sample::select(vec![Policy::Background, Policy::Foreground]);
    let wait = prop::sample::select(vec![Wait::None, Wait::Gone]);
    let step = (target, policy, wait, 0usize..3);
    let step = step.prop_map(|(target, policy, wait, client)| Step::Delete {
        targets: vec![target],
        policy: Some(policy),
        wait,
        client,
    });
    prop::collection::vec(step, 2..6)
}

fn released(behaviour: Behaviour, objects: Vec<Object>) -> Cluster {
    Cluster::behaving(behaviour, recorded_kinds(), objects).expect("names and uids are unique")
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    any::<(bool, bool)>().prop_map(|(pods_first, absence_by_uid)| Behaviour {
        pods_first,
        absence_by_uid,
    })
}

/// The fate of each object.
type Fates = Vec<(ObjectKey, Fate)>;

/// Returns the fates in every outcome of every step that settles.
fn all_fates(plan: &Plan<'_>) -> Vec<Vec<Fates>> {
    let settled = plan.steps.iter().filter(|step| !step.outcomes.is_empty());
    settled
        .map(|step| {
            step.outcomes
                .iter()
                .map(|outcome| plan.fates(outcome))
                .collect()
        })
        .collect()
}

/// Returns the outcomes of each step as a set, with whether they need a late retry.
fn outcome_sets(plan: &Plan<'_>) -> Vec<BTreeSet<(Fates, bool)>> {
    let sets = plan.steps.iter().map(|step| {
        assert!(step.complete, "the search is small enough");
        step.outcomes
            .iter()
            .map(|outcome| (plan.fates(outcome), outcome.late))
            .collect()
    });
    sets.collect()
}

/// Simulates with and without the reduction of the search.
fn reduced_and_naive<'c>(cluster: &'c Cluster, steps: &[Step]) -> [Plan<'c>; 2] {
    [true, false].map(|reduction| {
        let options = SimulationOptions {
            state_cap: 2_000_000,
            reduction,
            ..SimulationOptions::default()
        };
        simulate(cluster, steps, &options)
    })
}

fn gone(fates: &[(ObjectKey, Fate)]) -> BTreeSet<&ObjectKey> {
    fates
        .iter()
        .filter(|(_, fate)| *fate == Fate::Gone)
        .map(|(key, _)| key)
        .collect()
}

// Known gaps, which other seeds find: about 1 in 20,000 random clusters with webhooks has an outcome that only one of
// the searches finds, and about 1 in 40,000 of all clusters has a verdict that the search misses (`!verdict_reached`).
proptest! {
    #![proptest_config(cases(500))]

    /// Stubborn sets lose no outcome and invent none: the search over all moves finds the same.
    /// (It also terminates, as every property here shows.)
    #[test]
    fn reduced_search_matches_naive_search(
        objects in objects(), steps in steps(), behaviour in behaviour(),
    ) {
        let cluster = released(behaviour, objects);
        let [reduced, naive] = reduced_and_naive(&cluster, &steps);
        prop_assert_eq!(outcome_sets(&reduced), outcome_sets(&naive));
    }

    /// Compares the searches for several clients that send independently.
    #[test]
    fn reduced_search_matches_naive_search_for_several_clients(
        objects in objects(), steps in steps_of_clients(),
    ) {
        let cluster = cluster(objects);
        let [reduced, naive] = reduced_and_naive(&cluster, &steps);
        prop_assert_eq!(outcome_sets(&reduced), outcome_sets(&naive));
        prop_assert!(reduced.steps.iter().all(|step| step.verdict_reached || step.outcomes.is_empty()));
    }

    /// Compares the searches where a client continues once its targets are gone. Objects without ties to these are
    /// treated as if it did not wait, so the search may miss the verdict of a client that waits forever.
    #[test]
    fn reduced_search_matches_naive_search_for_waiting_kubectl(
        objects in objects(), clients in clients(), steps in steps_of_kubectl(),
    ) {
        let cluster = cluster([objects, clients].concat());
        let [reduced, naive] = reduced_and_naive(&cluster, &steps);
        prop_assert_eq!(outcome_sets(&reduced), outcome_sets(&naive));
        let sends_all = reduced.steps.iter().all(|step| !step.responses.is_empty());
        prop_assert!(!sends_all || reduced.steps.iter().all(|step| step.verdict_reached || step.outcomes.is_empty()));
    }

    /// Compares the searches where requests may be rejected: removing a Service changes the possible moves of others.
    #[test]
    fn reduced_search_matches_naive_search_with_webhooks(
        objects in objects(),
        clients in clients(),
        steps in steps(),
    ) {
        let cluster = cluster([objects, clients].concat());
        let [reduced, naive] = reduced_and_naive(&cluster, &steps);
        prop_assert_eq!(outcome_sets(&reduced), outcome_sets(&naive));
    }

    #[test]
    fn input_order_does_not_change_fates(
        (objects, shuffled) in objects().prop_flat_map(|objects| (Just(objects.clone()), Just(objects).prop_shuffle())),
        steps in steps(),
    ) {
        let (one, other) = (cluster(objects), cluster(shuffled));
        prop_assert_eq!(all_fates(&planned(&one, &steps)), all_fates(&planned(&other, &steps)));
    }

    #[test]
    fn deleted_objects_stay_deleted(objects in objects(), steps in steps()) {
        let cluster = cluster(objects);
        let plan = simulate(&cluster, &steps, &SimulationOptions::verdict());
        let fates = all_fates(&plan);
        for pair in fates.windows(2) {
            prop_assert!(gone(&pair[0][0]).is_subset(&gone(&pair[1][0])));
        }
    }

    /// The verdict is the outcome of one order, so the search must reach it.
    #[test]
    fn search_reaches_the_verdict(objects in objects(), steps in steps(), behaviour in behaviour()) {
        let cluster = released(behaviour, objects);
        let plan = planned(&cluster, &steps);
        for step in &plan.steps {
            prop_assert!(step.verdict_reached, "the verdict is one of the states that the search reaches");
        }
    }

    #[test]
    fn settling_a_settled_cluster_changes_nothing(objects in objects(), steps in steps()) {
        let cluster = cluster(objects);
        let steps = [steps, vec![Step::Settle]].concat();
        let plan = planned(&cluster, &steps);
        let fates = all_fates(&plan);
        prop_assert_eq!(&fates[fates.len() - 1][0], &fates[fates.len() - 2][0]);
    }

    /// Orphan never deletes a live dependent whose only reference is to that owner. The dependent's Namespace may: one
    /// that loses its last solid owner is collected with its content.
    #[test]
    fn orphaning_keeps_live_dependents(objects in objects(), target in 0..NAMES.len() - 1) {
        let cluster = cluster(objects.clone());
        let key = key(NAMES[target]);
        let steps = [Step::Settle, Step::delete(vec![key.clone()], Some(Policy::Orphan))];
        let plan = planned(&cluster, &steps);
        let before = plan.fates(&plan.steps[0].outcomes[0]);
        for outcome in plan.steps[1].outcomes.iter().filter(|outcome| outcome.differs.is_none()) {
            let fates = plan.fates(outcome);
            let mut homes = fates.iter().filter(|(key, _)| key.kind() == "Namespace" && key.name == "n");
            let emptied = homes.any(|(_, fate)| !matches!(fate, Fate::Present(home) if !home.terminating));
            for ((key_of, fate), (_, after)) in before.iter().zip(&fates) {
                let Fate::Present(present) = fate else { continue };
                if emptied && key_of.namespace.name() == Some("n") {
                    continue;
                }
                let [reference] = &present.owner_references[..] else { continue };
                if !present.terminating && reference.uid == format!("uid-{key}") && *key_of != key {
                    prop_assert!(*after != Fate::Gone, "{} is gone", key_of);
                }
            }
        }
    }
}

/// [GC-11] queues a failed item once more: whether its retry is late depends on which of two moves comes first,
/// although they concern different objects.
#[test]
fn reduced_search_finds_late_retries() {
    let cluster = cluster(vec![
        build(0, &[(1, false, 9)], &["orphan"], &[]),
        build(4, &[(1, false, 0), (0, false, 2)], &[], &[]),
        build(7, &[(4, true, 1), (7, false, 9)], &[], &[]),
    ]);
    let reduced = simulate(&cluster, &[Step::Settle], &SimulationOptions::default());
    let naive = simulate(
        &cluster,
        &[Step::Settle],
        &SimulationOptions {
            reduction: false,
            ..SimulationOptions::default()
        },
    );
    assert_eq!(outcome_sets(&reduced), outcome_sets(&naive));
    assert_eq!(reduced.steps[0].outcomes.len(), 2);
}
