//! All ties of a bundle, and what leads to an object or away from it.

use std::collections::BTreeMap;

use super::tie::{Tie, TieKind};
use super::{generates, uses};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::Tables;
use crate::kube::ObjectKey;

/// The ties of a bundle that manifests do not write as owner references. The inventory knows the content of a Namespace
/// and the instances of a CRD: [`Inventory::in_namespace`], [`instances_of`](super::instances_of).
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// In the order of the objects that they begin at.
    all: Vec<Tie>,
    /// By the key of the generated object, the places in `all`. There may be thousands of one kind of ties to a key,
    /// and none of the other.
    generators: BTreeMap<ObjectKey, Vec<usize>>,
    /// By the key of the used object, likewise.
    users: BTreeMap<ObjectKey, Vec<usize>>,
}

impl Ties {
    /// Finds the ties of `inventory`.
    pub fn of(inventory: &Inventory, tables: &Tables) -> Self {
        Self::from_some(inventory, tables, |_| true)
    }

    /// Those that begin at some of its objects.
    pub fn from_some(
        inventory: &Inventory,
        tables: &Tables,
        are_these: impl Fn(&Member) -> bool,
    ) -> Self {
        let members: Vec<&Member> = inventory
            .members
            .iter()
            .filter(|member| member.decodes() && are_these(member))
            .collect();
        let (generated, uses) = (
            generates::of(inventory, tables, &members),
            uses::of(inventory, &members),
        );
        let is_product = |tie: &Tie| {
            let from = generated.partition_point(|other| other.from < tie.from);
            generated[from..]
                .iter()
                .take_while(|other| other.from == tie.from)
                .any(|other| other.to.key == tie.to.key)
        };
        // A generator names its product; it does not use it.
        let mut all = uses;
        all.retain(|tie| !is_product(tie));
        // Most inputs generate nothing, and sorting takes as much memory as the ties.
        if !generated.is_empty() {
            all.extend(generated);
            all.sort_by_key(|tie| (tie.from, tie.kind == TieKind::Uses));
        }
        let (mut generators, mut users) = (
            BTreeMap::<_, Vec<usize>>::new(),
            BTreeMap::<_, Vec<usize>>::new(),
        );
        for (place, tie) in all.iter().enumerate() {
            let leading = if tie.kind == TieKind::Uses {
                &mut users
            } else {
                &mut generators
            };
            leading.entry(tie.to.key.clone()).or_default().push(place);
        }
        Self {
            all,
            generators,
            users,
        }
    }

    /// Every tie, in the order of the objects that they begin at.
    pub fn all(&self) -> &[Tie] {
        &self.all
    }

    /// The ties that begin at an object.
    pub fn from(&self, id: ObjectId) -> &[Tie] {
        let start = self.all.partition_point(|tie| tie.from < id);
        let end = self.all.partition_point(|tie| tie.from <= id);
        &self.all[start..end]
    }

    /// The objects that generate an object, whether or not the input contains it.
    pub fn generators_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Tie> {
        self.generators
            .get(key)
            .into_iter()
            .flatten()
            .map(|place| &self.all[*place])
    }

    /// The objects that use an object, whether or not the input contains it.
    pub fn users_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Tie> {
        self.users
            .get(key)
            .into_iter()
            .flatten()
            .map(|place| &self.all[*place])
    }
}
