//! Collects implied objects and leaves out what the input already contains.

use std::collections::BTreeSet;

use super::object::{Implied, ImpliedObject, ImpliedReference, MOST_REPLICAS};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ApiVersion, GroupKind, Namespace, ObjectKey};
use crate::ownership::Ownership;
use crate::yaml::Value;

pub(super) struct Builder<'a> {
    pub(super) inventory: &'a Inventory,
    /// Every key that is taken, written or implied.
    known: BTreeSet<ObjectKey>,
    /// (owner, kind of a dependent) of every bound reference.
    written: BTreeSet<(ObjectId, &'a str)>,
    implied: Implied<'a>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(inventory: &'a Inventory, ownership: &Ownership) -> Self {
        let bound = ownership.written.iter().filter_map(|edge| Some((edge.bound()?, edge.dependent)));
        Self {
            inventory,
            known: inventory.members.iter().map(|member| member.key.clone()).collect(),
            written: bound.map(|(owner, id)| (owner, inventory.member(id).object.kind.value.as_str())).collect(),
            implied: Implied::default(),
        }
    }

    pub(super) fn finish(self) -> Implied<'a> {
        self.implied
    }

    /// Whether the input already contains dependents of that kind.
    pub(super) fn has_written(&self, owner: &Member, kind: &str) -> bool {
        self.written.contains(&(owner.id, kind))
    }

    /// Adds an object unless the input has it. Returns its key where it was added.
    pub(super) fn add(&mut self, object: ImpliedObject<'a>) -> Option<ObjectKey> {
        let key = object.key.clone();
        self.known.insert(key.clone()).then(|| {
            self.implied.objects.push(object);
            key
        })
    }

    /// At most so many of a workload's replicas.
    pub(super) fn capped(&mut self, owner: &ObjectKey, replicas: i64) -> i64 {
        if replicas > MOST_REPLICAS && !self.implied.capped.contains(owner) {
            self.implied.capped.push(owner.clone());
        }
        replicas.clamp(0, MOST_REPLICAS)
    }
}

/// An object in its owner's namespace, with nothing but a controller reference.
pub(super) fn dependent<'a>(
    rule: &'static str,
    (api_version, kind): (&'static str, &str),
    name: String,
    owner: &ObjectKey,
    reference: ImpliedReference<'a>,
) -> ImpliedObject<'a> {
    ImpliedObject {
        api_version,
        key: key(api_version, kind, owner.namespace.clone(), name),
        owner: owner.clone(),
        reference: Some(reference),
        finalizers: Vec::new(),
        copied_references: Vec::new(),
        spec: None,
        claims: Vec::new(),
        rule: rule.into(),
    }
}

pub(super) fn key(api_version: &str, kind: &str, namespace: Namespace, name: String) -> ObjectKey {
    ObjectKey::new(GroupKind::new(ApiVersion::split(api_version).group, kind), namespace, name)
}

/// A whole number at a path, where it is one.
pub(super) fn integer(value: Option<Value<'_>>, field: &str) -> Option<i64> {
    value?.get(field)?.as_int()
}

/// Whether a field is `true`.
pub(super) fn is_true(value: Option<Value<'_>>, field: &str) -> bool {
    value.and_then(|value| value.get(field)).and_then(Value::as_bool) == Some(true)
}

/// A text at a path.
pub(super) fn text<'a>(value: Option<Value<'a>>, path: &[&str]) -> Option<&'a str> {
    value?.at(path)?.as_str().filter(|text| !text.is_empty())
}

/// The items of a list.
pub(super) fn items<'a>(value: Option<Value<'a>>, field: &str) -> impl Iterator<Item = Value<'a>> + use<'a> {
    value.and_then(|value| value.get(field)).into_iter().flat_map(Value::items)
}
