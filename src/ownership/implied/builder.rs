//! Collects implied objects that the input does not already contain.

use std::collections::BTreeSet;

use super::object::{
    Implied, ImpliedObject, ImpliedReference, MANY_IMPLIED, MAX_BELOW_ONE, MAX_REPLICAS,
};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ApiVersion, GroupKind, ObjectKey};
use crate::ownership::Ownership;
use crate::yaml::Value;

pub(super) struct Builder<'a> {
    pub(super) inventory: &'a Inventory,
    /// The keys of all written objects, and of all implied ones so far.
    known: BTreeSet<ObjectKey>,
    /// (owner, kind of the dependent) of every bound reference.
    written: BTreeSet<(ObjectId, &'a str)>,
    implied: Implied<'a>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(inventory: &'a Inventory, ownership: &Ownership) -> Self {
        let keys = inventory.members.iter().map(|member| member.key.clone());
        let written = ownership.written.iter();
        let written = written.filter_map(|edge| {
            let dependent = edge.dependent(inventory);
            Some((edge.bound()?, dependent.object.kind()))
        });
        Self {
            inventory,
            known: keys.collect(),
            written: written.collect(),
            implied: Implied::default(),
        }
    }

    pub(super) fn finish(self) -> Implied<'a> {
        self.implied
    }

    /// Whether the input already contains dependents of `owner` of that kind.
    pub(super) fn has_written(&self, owner: &Member, kind: &str) -> bool {
        self.written.contains(&(owner.id, kind))
    }

    /// Adds an object unless its key is taken. Returns the key if it was added.
    pub(super) fn add(&mut self, object: ImpliedObject<'a>) -> Option<ObjectKey> {
        let key = object.key.clone();
        self.known.insert(key.clone()).then(|| {
            self.implied.objects.push(object);
            key
        })
    }

    /// Adds the dependent `<name of the owner>-<hash>`, unless the input contains dependents of that kind. Returns its
    /// key if it was added.
    pub(super) fn add_hashed(
        &mut self,
        rule: &'static str,
        kind: (&'static str, &'static str),
        owner: &Member,
        reference: ImpliedReference<'a>,
    ) -> Option<ObjectKey> {
        if self.has_written(owner, kind.1) {
            return None;
        }
        let name = format!("{}-<hash>", owner.key.name);
        self.add(dependent(rule, kind, name, &owner.key, reference))
    }

    /// Returns the implied replicas of a workload, each of `objects` objects. Records a reduction.
    pub(super) fn capped(&mut self, owner: &ObjectKey, replicas: i64, objects: usize) -> i64 {
        let most = match self.implied.objects.len() / MANY_IMPLIED {
            0 => MAX_REPLICAS,
            1 => MAX_REPLICAS / 10,
            _ => 2,
        };
        let room = i64::try_from(MAX_BELOW_ONE / objects.max(1)).unwrap_or(most);
        let most = most.min(room).max(2);
        if replicas > most {
            self.implied.capped.push((owner.clone(), most));
        }
        replicas.clamp(0, most)
    }
}

/// Creates an object in its owner's namespace, with only an owner reference.
pub(super) fn dependent<'a>(
    rule: &'static str,
    (api_version, kind): (&'static str, &str),
    name: String,
    owner: &ObjectKey,
    reference: ImpliedReference<'a>,
) -> ImpliedObject<'a> {
    ImpliedObject {
        key: ObjectKey::new(
            GroupKind::new(ApiVersion::split(api_version).group, kind),
            owner.namespace.clone(),
            name,
        ),
        owner: owner.clone(),
        reference: Some(reference),
        finalizers: Vec::new(),
        copied_references: Vec::new(),
        spec: None,
        claims: Vec::new(),
        rule: rule.into(),
    }
}

pub(super) fn integer(value: Option<Value<'_>>, field: &str) -> Option<i64> {
    value?.get(field)?.as_int()
}

pub(super) fn is_true(value: Option<Value<'_>>, field: &str) -> bool {
    value.is_some_and(|value| value.is_true_at(&[field]))
}

/// Returns a non-empty string at a path.
pub(super) fn text<'a>(value: Option<Value<'a>>, path: &[&str]) -> Option<&'a str> {
    value?.text_at(path)
}

pub(super) fn items<'a>(
    value: Option<Value<'a>>,
    field: &str,
) -> impl Iterator<Item = Value<'a>> + use<'a> {
    let list = value.and_then(|value| value.get(field));
    list.into_iter().flat_map(Value::items)
}
