//! Benchmarks of the verdict (cascades of 1,000, 10,000 and 100,000 objects: wide, deep and random) and of the search
//! (teardowns with 50 operators, and namespaces full of Deployments).
//!
//! `cargo bench --bench gc`. The allocation profile of `build` shows the memory of a cluster, that of `verdict` the
//! additional memory of a simulation: divide `max alloc` by the number of objects.

use std::hint::black_box;

use divan::{AllocProfiler, Bencher};
use kube_gc::names::kinds::{CONFIG_MAP, NAMESPACE, POD, SERVICE, SERVICE_ACCOUNT};
use kube_gc::names::{GroupKind, Namespace, ObjectKey, Policy, Wait};
use kube_gc::{
    Cluster, Facts, KindInfo, KindTable, NamespaceFacts, Object, OwnerReference, Reconciler,
    SimulationOptions, Step, simulate,
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

/// Ownership structure of the objects.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// One owner, everything else below it.
    Wide,
    /// Each owns the next.
    Chain,
    /// Each has one or two owners among those before it.
    Random,
}

const CASES: [(Shape, Policy); 6] = [
    (Shape::Wide, Policy::Background),
    (Shape::Wide, Policy::Foreground),
    (Shape::Chain, Policy::Background),
    (Shape::Chain, Policy::Foreground),
    (Shape::Random, Policy::Background),
    (Shape::Random, Policy::Foreground),
];

fn objects(shape: Shape, size: usize) -> Vec<Object> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let owned = (0..size).map(|index| {
        let owners = match shape {
            _ if index == 0 => vec![],
            Shape::Wide => vec![0],
            Shape::Chain => vec![index - 1],
            Shape::Random if index.is_multiple_of(2) => vec![random.below(index)],
            Shape::Random => vec![random.below(index), random.below(index)],
        };
        object(index, owners)
    });
    owned.collect()
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

fn object(index: usize, owners: Vec<usize>) -> Object {
    let references = owners.into_iter().map(|owner| OwnerReference {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        name: name(owner).into(),
        uid: uid(owner).into(),
        block_owner_deletion: (!owner.is_multiple_of(3) || owner == 0).then_some(true),
        ..OwnerReference::default()
    });
    Object {
        key: ObjectKey::new(CONFIG_MAP, Namespace::Named("default".into()), name(index)),
        uid: uid(index).into(),
        owner_references: references.collect(),
        ..Object::default()
    }
}

fn uid(index: usize) -> String {
    format!("3f2a61c8-9d1e-4a77-b0c5-{index:012x}")
}

fn name(index: usize) -> String {
    format!("object-{index}")
}

fn build(objects: Vec<Object>) -> Cluster {
    let mut kinds = KindTable::new();
    kinds.add(KindInfo {
        custom: false,
        ..KindInfo::custom(CONFIG_MAP, "configmaps", true, &["v1"])
    });
    Cluster::new(kinds, objects).expect("names and uids are unique")
}

fn delete_first(policy: Policy) -> [Step; 1] {
    let target = "ConfigMap/default/object-0".parse().expect("a key");
    [Step::delete(vec![target], Some(policy))]
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn cluster(bencher: Bencher<'_, '_>, size: usize) {
    bencher
        .with_inputs(|| objects(Shape::Random, size))
        .bench_values(|objects| black_box(build(objects)));
}

#[divan::bench(args = CASES, consts = SIZES, sample_count = 3, sample_size = 1)]
fn verdict<const SIZE: usize>(bencher: Bencher<'_, '_>, case: &(Shape, Policy)) {
    let cluster = build(objects(case.0, SIZE));
    let steps = delete_first(case.1);
    let options = SimulationOptions::verdict();
    bencher.bench(|| simulate(&cluster, &steps, &options).steps.len());
}

/// Simulates with the search for other outcomes.
#[divan::bench(args = CASES, consts = [100, 1_000, 10_000], sample_count = 3, sample_size = 1)]
fn outcomes<const SIZE: usize>(bencher: Bencher<'_, '_>, case: &(Shape, Policy)) {
    let cluster = build(objects(case.0, SIZE));
    let steps = delete_first(case.1);
    let options = SimulationOptions::default();
    bencher.bench(|| simulate(&cluster, &steps, &options).steps.len());
}

/// Number of operators in a release that is torn down.
const OPERATORS: usize = 50;

const BINDING: GroupKind<&str> = GroupKind::new("rbac.authorization.k8s.io", "ClusterRoleBinding");
const DEPLOYMENT: GroupKind<&str> = GroupKind::new("apps", "Deployment");
const REPLICA_SET: GroupKind<&str> = GroupKind::new("apps", "ReplicaSet");
const CAKE: GroupKind<&str> = GroupKind::new("example.com", "Cake");

fn key(kind: GroupKind<&str>, name: String) -> ObjectKey {
    let namespace = if [BINDING, NAMESPACE].contains(&kind) {
        Namespace::None
    } else {
        Namespace::Named("x".into())
    };
    ObjectKey::new(kind, namespace, name)
}

fn plain(kind: GroupKind<&str>, name: String) -> Object {
    let key = key(kind, name);
    Object {
        uid: key.to_string().into(),
        key,
        ..Object::default()
    }
}

fn owned(kind: GroupKind<&str>, name: String, owner: &Object) -> Object {
    let group = owner.key.group();
    let reference = OwnerReference {
        api_version: if group.is_empty() {
            "v1".into()
        } else {
            format!("{group}/v1").into()
        },
        kind: owner.key.kind().into(),
        name: owner.key.name.clone(),
        uid: owner.uid.clone(),
        controller: Some(true),
        block_owner_deletion: Some(true),
        ..OwnerReference::default()
    };
    Object {
        owner_references: vec![reference],
        ..plain(kind, name)
    }
}

fn serving(objects: Vec<Object>) -> Cluster {
    let mut kinds = KindTable::new();
    for (kind, plural) in [
        (SERVICE_ACCOUNT, "serviceaccounts"),
        (BINDING, "clusterrolebindings"),
        (DEPLOYMENT, "deployments"),
        (REPLICA_SET, "replicasets"),
        (POD, "pods"),
        (SERVICE, "services"),
        (NAMESPACE, "namespaces"),
        (CAKE, "cakes"),
    ] {
        let namespaced = ![BINDING, NAMESPACE].contains(&kind);
        kinds.add(KindInfo {
            custom: kind == CAKE,
            ..KindInfo::custom(kind, plural, namespaced, &["v1"])
        });
    }
    Cluster::new(kinds, objects).expect("names and uids are unique")
}

/// Builds a Deployment with its ReplicaSet and Pod.
fn workload(name: &str) -> [Object; 3] {
    let deployment = plain(DEPLOYMENT, name.into());
    let set = owned(REPLICA_SET, name.into(), &deployment);
    let pod = Object {
        facts: Facts::Pod(Box::default()),
        ..owned(POD, name.into(), &set)
    };
    [deployment, set, pod]
}

/// Builds a release of `size` objects: operators with authority, and custom resources whose finalizers they remove.
fn release(size: usize) -> Vec<Object> {
    let mut objects = Vec::with_capacity(size);
    for operator in 0..OPERATORS {
        let name = format!("operator-{operator}");
        objects.extend(workload(&name));
        objects.extend([SERVICE_ACCOUNT, BINDING].map(|kind| plain(kind, name.clone())));
    }
    for index in objects.len()..size {
        let operator = format!("operator-{}", index % OPERATORS);
        let reconciler = Reconciler {
            finalizers: vec!["example.com/cleanup".into()],
            workloads: vec![key(DEPLOYMENT, operator.clone())],
            authority: [SERVICE_ACCOUNT, BINDING]
                .map(|kind| vec![key(kind, operator.clone())])
                .to_vec(),
        };
        objects.push(Object {
            finalizers: vec!["example.com/cleanup".into()],
            reconcilers: vec![reconciler],
            ..plain(CAKE, format!("cake-{index}"))
        });
    }
    objects
}

/// Deletes all objects without owners, one request each: custom resources first (a race for each operator), or last.
#[divan::bench(args = [true, false], consts = [1_000, 10_000], sample_count = 3, sample_size = 1)]
fn teardown<const SIZE: usize>(bencher: Bencher<'_, '_>, cakes_first: bool) {
    let objects = release(SIZE);
    let written = objects
        .iter()
        .filter(|object| object.owner_references.is_empty());
    let mut keys: Vec<ObjectKey> = written.map(|object| object.key.clone()).collect();
    keys.sort_by_key(|key| (key.kind() == "Cake") != cakes_first);
    let deletions = keys.into_iter().map(|key| Step::Delete {
        targets: vec![key],
        policy: Some(Policy::Background),
        wait: Wait::None,
        client: 0,
    });
    let steps: Vec<Step> = deletions.collect();
    let cluster = serving(objects);
    let options = SimulationOptions::default();
    bencher.bench(|| simulate(&cluster, &steps, &options).steps.len());
}

/// `plan delete ns/x` with `deployments` Deployments and their Services.
#[divan::bench(args = [250, 500, 1_000, 2_000], sample_count = 3, sample_size = 1)]
fn namespace(bencher: Bencher<'_, '_>, deployments: usize) {
    let mut objects = vec![Object {
        facts: Facts::Namespace(NamespaceFacts::default()),
        ..plain(NAMESPACE, "x".into())
    }];
    for index in 0..deployments {
        let name = format!("web-{index}");
        objects.extend(workload(&name));
        objects.push(plain(SERVICE, name));
    }
    let cluster = serving(objects);
    let target = key(NAMESPACE, "x".into());
    let steps = [Step::delete(vec![target], Some(Policy::Background))];
    let options = SimulationOptions::default();
    bencher.bench(|| simulate(&cluster, &steps, &options).steps.len());
}
