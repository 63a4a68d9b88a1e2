//! Clusters and steps for the simulator's tests: from recordings, and from a short notation.

use std::sync::LazyLock;

use kube_gc::names::{ApiVersion, GroupKind, ObjectKey, Policy, Wait, kinds};
use kube_gc::{
    Cluster, DefaultPolicy, DefinitionFacts, Deletion, Facts, Fate, KindInfo, KindTable,
    NamespaceFacts, Object, OwnerReference, Plan, PodFacts, Present, SimulationOptions, Step,
    VolumeFacts, simulate,
};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use serde_json::Value;

/// Returns a configuration with `cases` cases that are the same in every run, so a failure is due to a change.
/// `PROPTEST_RNG_SEED=7 cargo test` tries other cases, `PROPTEST_CASES` more of them.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(0x6f77_6e65_726c);
    }
    config
}

/// Returns the built-in kinds that a cluster serves by default.
fn builtin_kinds() -> KindTable {
    let table: Value = serde_json::from_str(include_str!(
        "../../../../rules/tables/builtin-resources-1.37.json"
    ))
    .expect("the table is JSON");
    let mut kinds = KindTable::new();
    for row in array(&table["resources"]) {
        if row["enabledByDefault"] != true {
            continue;
        }
        let (group, version) = (text(&row["group"]), text(&row["version"]));
        let order: Vec<String> = array(&table["groupVersionPriority"][&group])
            .iter()
            .map(text)
            .collect();
        let mut versions = kinds
            .find(GroupKind::new(&group, &text(&row["kind"])))
            .map_or_else(Vec::new, |id| kinds.get(id).versions.clone());
        versions.push(version);
        versions.sort_by_key(|version| order.iter().position(|other| other == version));
        kinds.add(KindInfo {
            kind: text(&row["kind"]),
            plural: text(&row["plural"]),
            namespaced: row["namespaced"] == true,
            versions,
            open_versions: false,
            gc_tracked: row["gcTracked"] == true,
            namespace_deletable: row["namespaceDeletable"] == true,
            default_policy: match text(&row["defaultGCPolicy"]).as_str() {
                "OrphanDependents" | "Orphan" => DefaultPolicy::OrphanDependents,
                "Unsupported" => DefaultPolicy::Unsupported,
                _ => DefaultPolicy::DeleteDependents,
            },
            custom: false,
            group,
        });
    }
    kinds
}

/// Returns the built-in kinds and the two custom ones of the recordings.
pub(crate) fn recorded_kinds() -> KindTable {
    static KINDS: LazyLock<KindTable> = LazyLock::new(|| {
        let mut kinds = builtin_kinds();
        kinds.add(KindInfo::custom(
            GroupKind::new("example.com", "Widget"),
            "widgets",
            true,
            &["v1beta1", "v1"],
        ));
        kinds.add(KindInfo::custom(
            GroupKind::new("example.com", "Gadget"),
            "gadgets",
            false,
            &["v1beta1", "v1"],
        ));
        kinds
    });
    KINDS.clone()
}

pub(crate) fn cluster(objects: Vec<Object>) -> Cluster {
    Cluster::new(recorded_kinds(), objects).expect("the objects make a cluster")
}

pub(crate) fn cluster_of(state: &Value) -> Cluster {
    cluster(array(state).iter().map(object).collect())
}

/// Parses one object of a recording or of a dump.
pub(crate) fn object(value: &Value) -> Object {
    let metadata = &value["metadata"];
    Object {
        key: ObjectKey::new(
            GroupKind::new(
                ApiVersion::split(&text(&value["apiVersion"])).group,
                &text(&value["kind"]),
            ),
            text(&metadata["namespace"]).as_str().into(),
            text(&metadata["name"]),
        ),
        uid: text(&metadata["uid"]).into(),
        owner_references: array(&metadata["ownerReferences"])
            .iter()
            .map(owner_reference)
            .collect(),
        finalizers: array(&metadata["finalizers"]).iter().map(text).collect(),
        deletion: metadata["deletionTimestamp"].is_string().then(|| Deletion {
            grace_seconds: metadata["deletionGracePeriodSeconds"].as_u64().unwrap_or(0),
        }),
        facts: facts(value),
        ..Object::default()
    }
}

pub(crate) fn owner_reference(value: &Value) -> OwnerReference {
    OwnerReference {
        api_version: text(&value["apiVersion"]).into(),
        kind: text(&value["kind"]).into(),
        name: text(&value["name"]).into(),
        uid: text(&value["uid"]).into(),
        written_uid: None,
        controller: value["controller"].as_bool(),
        block_owner_deletion: value["blockOwnerDeletion"].as_bool(),
    }
}

fn facts(value: &Value) -> Facts {
    let spec = &value["spec"];
    match text(&value["kind"]).as_str() {
        "Pod" => Facts::Pod(Box::new(PodFacts {
            scheduled: spec["nodeName"].is_string(),
            finished: matches!(
                value["status"]["phase"].as_str(),
                Some("Succeeded" | "Failed")
            ),
            grace_seconds: spec["terminationGracePeriodSeconds"].as_u64().unwrap_or(30),
            claims: array(&spec["volumes"])
                .iter()
                .map(|volume| text(&volume["persistentVolumeClaim"]["claimName"]))
                .collect(),
            ..PodFacts::default()
        })),
        "Namespace" => Facts::Namespace(NamespaceFacts {
            spec_finalizers: array(&spec["finalizers"]).iter().map(text).collect(),
        }),
        "CustomResourceDefinition" => Facts::Definition(Box::new(DefinitionFacts {
            group: text(&spec["group"]),
            kind: text(&spec["names"]["kind"]),
            plural: text(&spec["names"]["plural"]),
            namespaced: spec["scope"] == "Namespaced",
            served: array(&spec["versions"])
                .iter()
                .filter(|v| v["served"] == true)
                .map(|v| text(&v["name"]))
                .collect(),
            established: true,
        })),
        "PersistentVolume" => Facts::Volume(Box::new(VolumeFacts {
            bound_to: spec["claimRef"].is_object().then(|| {
                claim(
                    &text(&spec["claimRef"]["namespace"]),
                    &text(&spec["claimRef"]["name"]),
                )
            }),
            attributes_class: None,
        })),
        "Secret" if value["type"] == "kubernetes.io/service-account-token" => Facts::TokenSecret {
            service_account: text(
                &value["metadata"]["annotations"]["kubernetes.io/service-account.name"],
            ),
        },
        _ => Facts::None,
    }
}

pub(crate) fn claim(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(kinds::PERSISTENT_VOLUME_CLAIM, namespace.into(), name)
}

/// Parses a step of a recording.
pub(crate) fn step(value: &Value) -> Step {
    match value["op"].as_str() {
        Some("settle") => Step::Settle,
        Some("delete") => {
            let policy = value["policy"].as_str().map(|policy| match policy {
                "Background" => Policy::Background,
                "Foreground" => Policy::Foreground,
                "Orphan" => Policy::Orphan,
                other => panic!("policy {other}"),
            });
            Step::delete(vec![target(value)], policy)
        }
        Some("remove-finalizer") => Step::RemoveFinalizer {
            targets: vec![target(value)],
            finalizer: text(&value["finalizer"]),
            wait: Wait::Settled,
        },
        Some("remove-all-finalizers") => Step::RemoveAllFinalizers {
            target: target(value),
        },
        Some("force-delete") => Step::ForceDelete {
            target: target(value),
        },
        other => panic!("op {other:?}"),
    }
}

fn target(step: &Value) -> ObjectKey {
    key(step["target"].as_str().expect("the step has a target"))
}

pub(crate) fn key(text: &str) -> ObjectKey {
    text.parse().expect("a key")
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Builds a cluster from short notation, one object per line: `name{finalizers} -> !owner, owner`. `!` marks a blocking
/// reference, a finalizer `T` means Terminating. A bare name is a ConfigMap in namespace `n`; anything else is written
/// as a key. References have the apiVersion, kind, name and uid of their owners.
pub(crate) fn sketch(lines: &[impl AsRef<str>]) -> Cluster {
    cluster(sketch_objects(lines))
}

pub(crate) fn sketch_objects(lines: &[impl AsRef<str>]) -> Vec<Object> {
    lines.iter().map(|it| sketch_object(it.as_ref())).collect()
}

pub(crate) fn sketch_object(line: &str) -> Object {
    let (head, owners) = line.split_once(" -> ").unwrap_or((line, ""));
    let (name, finalizers) = head.split_once('{').unwrap_or((head, ""));
    let key = sketch_key(name);
    let mut finalizers: Vec<String> = finalizers
        .trim_end_matches('}')
        .split(',')
        .filter(|finalizer| !finalizer.is_empty())
        .map(str::to_owned)
        .collect();
    let terminating = finalizers.iter().any(|finalizer| finalizer == "T");
    finalizers.retain(|finalizer| finalizer != "T");
    Object {
        uid: format!("uid-{key}").into(),
        owner_references: owners
            .split(", ")
            .filter(|owner| !owner.is_empty())
            .map(sketch_reference)
            .collect(),
        finalizers,
        deletion: terminating.then(Deletion::default),
        facts: match key.kind() {
            "Namespace" => Facts::Namespace(NamespaceFacts::default()),
            "Pod" => Facts::Pod(Box::default()),
            _ => Facts::None,
        },
        key,
        ..Object::default()
    }
}

pub(crate) fn sketch_reference(owner: &str) -> OwnerReference {
    let blocking = owner.starts_with('!');
    let key = sketch_key(owner.trim_start_matches('!'));
    OwnerReference {
        api_version: api_version(&key).into(),
        uid: format!("uid-{key}").into(),
        block_owner_deletion: blocking.then_some(true),
        kind: key.kind().into(),
        name: key.name,
        ..OwnerReference::default()
    }
}

pub(crate) fn sketch_key(name: &str) -> ObjectKey {
    if name.contains('/') {
        key(name)
    } else {
        key(&format!("ConfigMap/n/{name}"))
    }
}

fn api_version(key: &ObjectKey) -> String {
    if key.group().is_empty() {
        "v1".to_owned()
    } else {
        format!("{}/v1", key.group())
    }
}

pub(crate) fn delete(names: &[impl AsRef<str>], policy: Option<Policy>) -> Step {
    let targets = names.iter().map(|name| sketch_key(name.as_ref()));
    Step::delete(targets.collect(), policy)
}

pub(crate) fn planned<'c>(cluster: &'c Cluster, steps: &[Step]) -> Plan<'c> {
    simulate(cluster, steps, &SimulationOptions::default())
}

/// Returns an object as the verdict of the last step stores it.
pub(crate) fn present(cluster: &Cluster, steps: &[Step], name: &str) -> Present {
    let plan = planned(cluster, steps);
    let id = cluster.find(&sketch_key(name)).expect("the object");
    match plan.fate(plan.verdict().expect("a verdict"), id) {
        Fate::Present(present) => present,
        Fate::Gone => panic!("{name} is gone"),
    }
}

/// Returns the only outcome of the last step, in the notation of [`sketch`].
pub(crate) fn end(cluster: &Cluster, steps: &[Step]) -> Vec<String> {
    let mut outcomes = outcomes(cluster, steps);
    assert_eq!(outcomes.len(), 1, "one outcome: {outcomes:?}");
    outcomes.remove(0)
}

/// Returns all outcomes of the last step, the verdict first, in the notation of [`sketch`]; objects that are gone are
/// left out.
pub(crate) fn outcomes(cluster: &Cluster, steps: &[Step]) -> Vec<Vec<String>> {
    let options = SimulationOptions {
        kubelet: false,
        ..SimulationOptions::default()
    };
    let plan = simulate(cluster, steps, &options);
    let last = plan.steps.last().expect("there is a step");
    assert!(last.complete, "the search was cut short");
    last.outcomes
        .iter()
        .map(|outcome| {
            plan.fates(outcome)
                .iter()
                .filter_map(|(key, fate)| notation(key, fate))
                .collect()
        })
        .collect()
}

fn notation(key: &ObjectKey, fate: &Fate) -> Option<String> {
    let Fate::Present(present) = fate else {
        return None;
    };
    let home = key.is(kinds::CONFIG_MAP) && key.namespace.name() == Some("n");
    let mut text = if home {
        key.name.to_string()
    } else {
        key.to_string()
    };
    let mut marks = Vec::from_iter(present.terminating.then_some("T"));
    marks.extend(present.finalizers.iter().map(String::as_str));
    if !marks.is_empty() {
        text.push_str(&format!("{{{}}}", marks.join(",")));
    }
    let owners = present.owner_references.iter().map(|reference| {
        let is_blocking = reference.block_owner_deletion == Some(true);
        format!("{}{}", if is_blocking { "!" } else { "" }, reference.name)
    });
    let owners: Vec<String> = owners.collect();
    if !owners.is_empty() {
        text.push_str(&format!(" -> {}", owners.join(", ")));
    }
    Some(text)
}
