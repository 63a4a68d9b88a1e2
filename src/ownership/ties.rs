//! All ties of a bundle, indexed in both directions.

use std::collections::BTreeMap;

use super::tie::{Tie, TieKind};
use super::{generates, uses};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::Tables;
use crate::kube::ObjectKey;

/// The ties of a bundle. They include neither the content of a Namespace nor the instances of a
/// CRD: see [`Inventory::in_namespace`] and [`instances_of`](super::instances_of).
#[derive(Clone, Debug, Default)]
pub struct Ties {
    /// Sorted by [`Tie::from`].
    all: Vec<Tie>,
    /// By the key of the generated object: indexes into `all`. Separate from `users`, because a key may have thousands
    /// of ties of one kind and none of the other.
    generators: BTreeMap<ObjectKey, Vec<usize>>,
    /// By the key of the used object: indexes into `all`.
    users: BTreeMap<ObjectKey, Vec<usize>>,
}

impl Ties {
    /// Finds the ties of `inventory`.
    pub fn of(inventory: &Inventory, tables: &Tables) -> Self {
        Self::filtered(inventory, tables, |_| true)
    }

    /// Finds the ties that begin at the objects for which `are_these` holds.
    pub fn filtered(
        inventory: &Inventory,
        tables: &Tables,
        are_these: impl Fn(&Member) -> bool,
    ) -> Self {
        let members: Vec<&Member> = inventory
            .members
            .iter()
            .filter(|member| member.decodes() && are_these(member))
            .collect();
        let generated = generates::of(inventory, tables, &members);
        let mut all = uses::of(inventory, &members);
        // A generator only names its product, it does not use it.
        all.retain(|tie| {
            let first = generated.partition_point(|other| other.from < tie.from);
            let mut products = generated[first..]
                .iter()
                .take_while(|other| other.from == tie.from);
            products.all(|other| other.to.key != tie.to.key)
        });
        // Most inputs generate nothing, and sorting takes as much memory as the ties.
        if !generated.is_empty() {
            all.extend(generated);
            all.sort_by_key(|tie| (tie.from, tie.kind == TieKind::Uses));
        }
        let mut ties = Self {
            all,
            ..Self::default()
        };
        for (place, tie) in ties.all.iter().enumerate() {
            let leading = if tie.kind == TieKind::Uses {
                &mut ties.users
            } else {
                &mut ties.generators
            };
            leading.entry(tie.to.key.clone()).or_default().push(place);
        }
        ties
    }

    /// Returns every tie, sorted by [`Tie::from`].
    pub fn all(&self) -> &[Tie] {
        &self.all
    }

    /// Returns the ties that begin at an object.
    pub fn from(&self, id: ObjectId) -> &[Tie] {
        let start = self.all.partition_point(|tie| tie.from < id);
        let end = self.all.partition_point(|tie| tie.from <= id);
        &self.all[start..end]
    }

    /// Returns the ties from the generators of an object, whether or not the input contains it.
    pub fn generators_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Tie> {
        self.listed(self.generators.get(key))
    }

    /// Returns the ties from the users of an object, whether or not the input contains it.
    pub fn users_of(&self, key: &ObjectKey) -> impl Iterator<Item = &Tie> {
        self.listed(self.users.get(key))
    }

    fn listed<'t>(&'t self, places: Option<&'t Vec<usize>>) -> impl Iterator<Item = &'t Tie> {
        let places = places.into_iter().flatten();
        places.map(|place| &self.all[*place])
    }
}
