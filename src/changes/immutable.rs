//! Immutable fields: the API server rejects an update that changes them, so the object has to be deleted first.
//!
//! Manifests omit fields that have defaults, so a field that only one side writes proves nothing
//! unless its default is known. A reported change is rejected with any defaults that the API server
//! fills in. `immutable.json` of the recordings contains the answers of a real API server.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use crate::kube::GroupKind;
use crate::kube::quantity;
use crate::manifest::Object;
use crate::text::Span;
use crate::yaml::{Kind, Value, base64};

use super::content::same_but_for_nulls;

/// A field whose change is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedField {
    /// The field: `spec.selector`.
    pub field: &'static str,
    /// The place of the field in base, or of its first part that differs.
    pub base: Option<Span>,
    /// The place of the same field or part in head.
    pub head: Option<Span>,
    /// Whether only the built object has the change, and the written one does not.
    pub is_only_built: bool,
}

/// The comparison of two values of a field.
#[derive(Clone, Copy)]
enum FieldRule {
    /// Every difference counts, as does a value that only one side writes.
    Exact,
    /// Every difference counts; an omitted value is equal to this default.
    OrDefault(&'static str),
    /// A difference counts if both sides write the value: an omitted one may have a default.
    Written,
    /// Like [`Written`], but a value that only base writes counts: it has a default only at
    /// creation.
    Kept,
    /// Only a smaller quantity counts.
    Shrunk,
}

use FieldRule::{Exact, Kept, OrDefault, Shrunk, Written};

const fn apps(kind: &'static str) -> GroupKind<&'static str> {
    GroupKind::new("apps", kind)
}

/// The immutable fields of a kind.
type KindFields = (
    GroupKind<&'static str>,
    &'static [(&'static str, FieldRule)],
);

/// The storage class of a claim. Once set, it cannot be changed or removed
/// (pkg/apis/core/validation, `ValidatePersistentVolumeClaimUpdate`).
const STORAGE_CLASS: &str = "spec.storageClassName";

/// The immutable fields by kind (pkg/apis/*/validation of Kubernetes; immutable.json).
const FIELDS: &[KindFields] = &[
    (apps("Deployment"), &[("spec.selector", Exact)]),
    (apps("DaemonSet"), &[("spec.selector", Exact)]),
    (apps("ReplicaSet"), &[("spec.selector", Exact)]),
    (
        apps("StatefulSet"),
        &[
            ("spec.selector", Exact),
            ("spec.serviceName", Exact),
            ("spec.podManagementPolicy", OrDefault("OrderedReady")),
            ("spec.volumeClaimTemplates", Written),
        ],
    ),
    (
        GroupKind::new("batch", "Job"),
        &[
            ("spec.template", Written),
            ("spec.completionMode", OrDefault("NonIndexed")),
            ("spec.selector", Written),
        ],
    ),
    (
        GroupKind::new("", "PersistentVolumeClaim"),
        &[
            (STORAGE_CLASS, Kept),
            ("spec.accessModes", Written),
            ("spec.volumeName", Written),
            ("spec.volumeMode", OrDefault("Filesystem")),
            ("spec.selector", Written),
            ("spec.dataSource", Written),
            ("spec.resources.requests.storage", Shrunk),
        ],
    ),
    (
        GroupKind::new("", "PersistentVolume"),
        &[("spec.volumeMode", OrDefault("Filesystem"))],
    ),
    (
        GroupKind::new("rbac.authorization.k8s.io", "RoleBinding"),
        &[("roleRef", Written)],
    ),
    (
        GroupKind::new("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        &[("roleRef", Written)],
    ),
    (
        GroupKind::new("storage.k8s.io", "StorageClass"),
        &[
            ("provisioner", Exact),
            ("parameters", Exact),
            ("reclaimPolicy", OrDefault("Delete")),
            ("volumeBindingMode", OrDefault("Immediate")),
        ],
    ),
    (
        GroupKind::new("storage.k8s.io", "CSIDriver"),
        &[("spec.attachRequired", OrDefault("true"))],
    ),
    (
        GroupKind::new("scheduling.k8s.io", "PriorityClass"),
        &[
            ("value", Exact),
            ("preemptionPolicy", OrDefault("PreemptLowerPriority")),
        ],
    ),
    (
        GroupKind::new("networking.k8s.io", "IngressClass"),
        &[("spec.controller", Exact)],
    ),
    (
        crate::kube::kinds::CUSTOM_RESOURCE_DEFINITION,
        &[
            ("spec.scope", Written),
            ("spec.group", Written),
            ("spec.names.plural", Written),
            ("spec.names.kind", Written),
        ],
    ),
];

/// Fields in the `spec` of a PersistentVolume that are not its volume source.
const BESIDE_SOURCE: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

/// Maps whose keys have no defaults: a key that one side omits is a difference.
const OWN_KEYS: [&str; 6] = [
    "annotations",
    "data",
    "labels",
    "matchLabels",
    "nodeSelector",
    "parameters",
];

/// Whether objects of a kind may have immutable fields.
pub(super) fn has_immutable_fields(kind: GroupKind<&str>) -> bool {
    let frozen = [
        GroupKind::new("", "Secret"),
        GroupKind::new("", "ConfigMap"),
    ];
    frozen.contains(&kind) || FIELDS.iter().any(|(one, _)| *one == kind)
}

/// Returns the immutable fields that an update from `base` to `head` would change, in the order of
/// the table.
pub fn rejected_fields(base: &Object, head: &Object) -> Vec<RejectedField> {
    let (old, new) = (base.value(), head.value());
    let mut rejected = Vec::new();
    let rows = FIELDS.iter().find(|(kind, _)| base.is(*kind));
    for (field, rule) in rows.map_or(&[][..], |(_, rows)| rows) {
        let path: Vec<&str> = field.split('.').collect();
        let (was, is) = (old.at(&path), new.at(&path));
        if differs(*rule, was, is) {
            rejected.push(at(field, was, is));
        }
    }
    match (base.group(), base.kind()) {
        ("batch", "Job") => rejected.extend(completions(old, new)),
        ("", "PersistentVolume") => rejected.extend(volume_source(old, new)),
        ("", "Secret" | "ConfigMap") => rejected.extend(frozen(old, new)),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            rejected.extend(storage_version(old, new));
        }
        ("apps", "StatefulSet") => rejected.extend(claim_templates(old, new)),
        _ => {}
    }
    rejected
}

/// Returns the storage class field of a claim if only `head` sets it. The update is rejected if the
/// claim got another class when it was created, and accepted if it has none
/// (`validateStorageClassUpgradeFromNil`).
pub fn class_set_later(base: &Object, head: &Object) -> Option<RejectedField> {
    const ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
    let path: Vec<&str> = STORAGE_CLASS.split('.').collect();
    let (was, is) = (base.value().at(&path), head.value().at(&path));
    let is_set_later = base.is(crate::kube::kinds::PERSISTENT_VOLUME_CLAIM)
        && written(was).is_none()
        && written(is).is_some()
        && written(base.value().at(&["metadata", "annotations", ANNOTATION])).is_none();
    is_set_later.then(|| at(STORAGE_CLASS, was, is))
}

fn at(field: &'static str, base: Option<Value<'_>>, head: Option<Value<'_>>) -> RejectedField {
    let differing = base.zip(head).map(|(was, is)| first_difference(was, is));
    let (base, head) = differing.map_or((base, head), |(was, is)| (Some(was), Some(is)));
    RejectedField {
        field,
        base: base.map(Value::span),
        head: head.map(Value::span),
        is_only_built: false,
    }
}

fn differs(rule: FieldRule, was: Option<Value<'_>>, is: Option<Value<'_>>) -> bool {
    match (rule, was, is) {
        (Exact, Some(was), Some(is)) if !was.is_null() && !is.is_null() => {
            !same_but_for_nulls(was, is)
        }
        (Exact, was, is) => written(was).is_some() != written(is).is_some(),
        (OrDefault(default), was, is) => {
            let [was, is] =
                [was, is].map(|value| written(value).unwrap_or_else(|| default.to_owned()));
            was != is
        }
        (Kept, Some(was), is) if written(Some(was)).is_some() && written(is).is_none() => true,
        (Written | Kept, Some(was), Some(is)) => certainly_differs(was, is),
        (Shrunk, Some(was), Some(is)) => quantity(&text(was))
            .zip(quantity(&text(is)))
            .is_some_and(|(was, is)| is < was),
        (Written | Kept | Shrunk, ..) => false,
    }
}

/// Returns the text of a field; `None` if it is omitted or null.
fn written(value: Option<Value<'_>>) -> Option<String> {
    value.filter(|value| !value.is_null()).map(text)
}

fn text(value: Value<'_>) -> String {
    match value.kind() {
        Kind::String(text) => text.to_string(),
        Kind::Bool(flag) => flag.to_string(),
        Kind::Int(number) => number.to_string(),
        Kind::Uint(number) => number.to_string(),
        Kind::Float(number) => number.to_string(),
        Kind::Null | Kind::Map | Kind::Seq => String::new(),
    }
}

/// Returns the innermost parts in which two values differ, at most `DEEPEST` levels down.
fn first_difference<'v>(mut was: Value<'v>, mut is: Value<'v>) -> (Value<'v>, Value<'v>) {
    const DEEPEST: usize = 8;
    for _ in 0..DEEPEST {
        let mut entries = in_both(was, is);
        let entry = entries.find(|(key, was, is)| {
            let has_own_keys = OWN_KEYS.contains(key);
            has_own_keys && keys(*was) != keys(*is) || certainly_differs(*was, *is)
        });
        let mut items = was.items().zip(is.items());
        let item = items.find(|(was, is)| certainly_differs(*was, *is));
        let Some(next) = entry.map(|(_, was, is)| (was, is)).or(item) else {
            break;
        };
        (was, is) = next;
    }
    (was, is)
}

/// Whether two values differ with any defaults that the API server may fill in.
fn certainly_differs(was: Value<'_>, is: Value<'_>) -> bool {
    let mut pending = vec![(was, is, false)];
    let mut visits = 0usize;
    while let Some((was, is, own_keys)) = pending.pop() {
        visits += 1;
        if visits > 100_000 {
            return false;
        }
        match (was.kind(), is.kind()) {
            (Kind::Null, _) | (_, Kind::Null) => {}
            (Kind::Map, Kind::Map) => {
                if own_keys && keys(was) != keys(is) {
                    return true;
                }
                pending.extend(
                    in_both(was, is).map(|(key, was, is)| (was, is, OWN_KEYS.contains(&key))),
                );
            }
            (Kind::Seq, Kind::Seq) => {
                if was.items().len() != is.items().len() {
                    return true;
                }
                let pairs = was.items().zip(is.items());
                pending.extend(pairs.map(|(was, is)| (was, is, false)));
            }
            // `1` and `1.0` are equal quantities, as are `0.5` and `500m`.
            _ => {
                let (was, is) = (text(was), text(is));
                if was != is && quantity(&was).is_none_or(|was| quantity(&is) != Some(was)) {
                    return true;
                }
            }
        }
    }
    false
}

/// Returns the keys that two maps share, with both values. A search per key would be quadratic.
fn in_both<'v>(
    was: Value<'v>,
    is: Value<'v>,
) -> impl Iterator<Item = (&'v str, Value<'v>, Value<'v>)> {
    let others: HashMap<&str, Value<'_>> =
        is.entries().map(|entry| (entry.key, entry.value)).collect();
    let entries = was.entries();
    entries.filter_map(move |entry| Some((entry.key, entry.value, *others.get(entry.key)?)))
}

/// Returns the keys of a map, except those with a null value.
fn keys(value: Value<'_>) -> BTreeSet<&str> {
    let written = value.entries().filter(|entry| !entry.value.is_null());
    written.map(|entry| entry.key).collect()
}

/// Checks `spec.completions` of a Job. Its default is 1 if `parallelism` is omitted, too. An Indexed Job may change it.
fn completions(old: Value<'_>, new: Value<'_>) -> Option<RejectedField> {
    let path = &["spec", "completions"];
    let (was, is) = (old.at(path), new.at(path));
    let has_parallelism = written(old.at(&["spec", "parallelism"])).is_some();
    let stored = written(was).or_else(|| (!has_parallelism).then(|| "1".to_owned()));
    // A field that head does not write keeps its stored value.
    let differs = stored.zip(written(is)).is_some_and(|(was, is)| was != is);
    let are_indexed = [old, new]
        .iter()
        .all(|job| job.str_at(&["spec", "completionMode"]) == Some("Indexed"));
    (differs && !are_indexed).then(|| at("spec.completions", was, is))
}

fn volume_source(old: Value<'_>, new: Value<'_>) -> Option<RejectedField> {
    let [was, is] = [old, new].map(|volume| -> BTreeSet<&str> {
        let spec = volume.get("spec").into_iter().flat_map(Value::entries);
        spec.map(|entry| entry.key)
            .filter(|key| !BESIDE_SOURCE.contains(key))
            .collect()
    });
    let differs = was != is
        || old
            .get("spec")
            .zip(new.get("spec"))
            .is_some_and(|(was, is)| {
                in_both(was, is).any(|(key, was, is)| {
                    !BESIDE_SOURCE.contains(&key) && certainly_differs(was, is)
                })
            });
    differs.then(|| at("spec", old.get("spec"), new.get("spec")))
}

/// Checks a Secret or ConfigMap with `immutable: true`.
fn frozen(old: Value<'_>, new: Value<'_>) -> Option<RejectedField> {
    if !old.is_true_at(&["immutable"]) {
        return None;
    }
    if !new.is_true_at(&["immutable"]) {
        return Some(at("immutable", old.get("immutable"), new.get("immutable")));
    }
    let field = ["data", "stringData", "binaryData"]
        .into_iter()
        .find(|field| differs(Exact, old.get(field), new.get(field)))?;
    let mut both = [old, new].into_iter();
    let has_texts = both.any(|object| object.get("stringData").is_some());
    if field != "binaryData" && has_texts && stored_data(old)? == stored_data(new)? {
        return None;
    }
    Some(at(field, old.get(field), new.get(field)))
}

/// Returns the data of a Secret as the API server stores it, but decoded: `stringData` is added to `data` and takes
/// precedence. `None` if a value is malformed.
fn stored_data(secret: Value<'_>) -> Option<BTreeMap<&str, Cow<'_, str>>> {
    let data = secret.get("data").into_iter().flat_map(Value::entries);
    let mut stored: BTreeMap<&str, Cow<'_, str>> = data
        .map(|entry| Some((entry.key, Cow::Owned(base64(entry.value.as_str()?)?))))
        .collect::<Option<_>>()?;
    let texts = secret.get("stringData").into_iter();
    for entry in texts.flat_map(Value::entries) {
        stored.insert(entry.key, Cow::Borrowed(entry.value.as_str()?));
    }
    Some(stored)
}

/// Checks whether a CRD loses its storage version.
fn storage_version(old: Value<'_>, new: Value<'_>) -> Option<RejectedField> {
    let path = &["spec", "versions"];
    let (was, is) = (old.at(path)?, new.at(path)?);
    let mut versions = was.items();
    let stored = versions.find(|version| version.is_true_at(&["storage"]))?;
    let stored = stored.str_at(&["name"])?;
    let mut versions = is.items();
    let gone = versions.all(|version| version.str_at(&["name"]) != Some(stored));
    gone.then(|| at("spec.versions", Some(was), Some(is)))
}

/// Checks whether only one side has claim templates.
fn claim_templates(old: Value<'_>, new: Value<'_>) -> Option<RejectedField> {
    let path = &["spec", "volumeClaimTemplates"];
    let (was, is) = (old.at(path), new.at(path));
    let [before, after] = [was, is].map(|list| list.is_some_and(|list| list.items().len() > 0));
    (before != after).then(|| at("spec.volumeClaimTemplates", was, is))
}
