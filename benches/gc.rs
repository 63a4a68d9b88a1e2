//! How the verdict scales: cascades of 1,000, 10,000 and 100,000 objects, wide, deep and at random.
//!
//! `cargo bench --bench gc`. The allocation profile of `build` tells the memory of a cluster, that of
//! `verdict` what a simulation needs on top: divide `max alloc` by the number of objects.

use std::hint::black_box;

use divan::{AllocProfiler, Bencher};
use ownerlint::gc::{Cluster, KindInfo, Kinds, Object, Options, OwnerReference, Step, simulate};
use ownerlint::kube::{GroupKind, Namespace, ObjectKey, Policy, Wait};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

const CONFIG_MAP: GroupKind<&str> = GroupKind::new("", "ConfigMap");

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

fn main() {
    divan::main();
}

/// How objects own each other.
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
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = move |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % limit as u64) as usize
    };
    let owners = |index: usize, below: &mut dyn FnMut(usize) -> usize| match (shape, index) {
        (_, 0) => vec![],
        (Shape::Wide, _) => vec![0],
        (Shape::Chain, _) => vec![index - 1],
        (Shape::Random, _) if index.is_multiple_of(2) => vec![below(index)],
        (Shape::Random, _) => vec![below(index), below(index)],
    };
    (0..size).map(|index| object(index, &owners(index, &mut below))).collect()
}

fn object(index: usize, owners: &[usize]) -> Object {
    let uid = |index: usize| format!("3f2a61c8-9d1e-4a77-b0c5-{index:012x}");
    let name = |index: usize| format!("object-{index}");
    let reference = |owner: &usize| OwnerReference {
        api_version: "v1".into(),
        kind: "ConfigMap".into(),
        name: name(*owner),
        uid: uid(*owner),
        written_uid: None,
        controller: None,
        block_owner_deletion: (!owner.is_multiple_of(3) || *owner == 0).then_some(true),
    };
    Object {
        key: ObjectKey::new(CONFIG_MAP, Namespace::Named("default".into()), name(index)),
        uid: uid(index),
        owner_references: owners.iter().map(reference).collect(),
        ..Object::default()
    }
}

fn build(objects: Vec<Object>) -> Cluster {
    let mut kinds = Kinds::new();
    kinds.add(KindInfo { custom: false, ..KindInfo::custom(CONFIG_MAP, "configmaps", true, &["v1"]) });
    Cluster::new(kinds, objects).expect("names and uids are unique")
}

fn delete_first(policy: Policy) -> [Step; 1] {
    [Step::Delete {
        targets: vec!["ConfigMap/default/object-0".parse().expect("a key")],
        policy: Some(policy),
        wait: Wait::Settled,
    }]
}

#[divan::bench(args = SIZES, sample_count = 5)]
fn cluster(bencher: Bencher<'_, '_>, size: usize) {
    bencher.with_inputs(|| objects(Shape::Random, size)).bench_values(|objects| black_box(build(objects)));
}

#[divan::bench(args = CASES, consts = SIZES, sample_count = 5)]
fn verdict<const SIZE: usize>(bencher: Bencher<'_, '_>, case: &(Shape, Policy)) {
    let cluster = build(objects(case.0, SIZE));
    let steps = delete_first(case.1);
    let options = Options { state_cap: 0, ..Options::default() };
    bencher.bench(|| black_box(simulate(&cluster, &steps, &options).steps.len()));
}

/// With the search for other outcomes.
#[divan::bench(args = CASES, consts = [100, 1_000, 10_000], sample_count = 3)]
fn outcomes<const SIZE: usize>(bencher: Bencher<'_, '_>, case: &(Shape, Policy)) {
    let cluster = build(objects(case.0, SIZE));
    let steps = delete_first(case.1);
    bencher.bench(|| black_box(simulate(&cluster, &steps, &Options::default()).steps.len()));
}
