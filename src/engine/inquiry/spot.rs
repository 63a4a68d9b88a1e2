//! The meaning of the text at a byte of an object, in one of its clusters.

use foldhash::HashSet;

use super::asked::{AskedBundle, Instance};
use super::lookup::OwnerLookup;
use super::place::{ObjectPlace, Spot, holds};
use crate::engine::rows::rows_of_finalizer;
use crate::kube::ObjectKey;
use crate::manifest::OwnerReference;
use crate::ownership::{Tie, TieKind, owner_edges_of};

impl AskedBundle<'_> {
    /// Returns the meaning of the text at a byte of the file of an object.
    pub(super) fn spot(&self, instance: Instance<'_>, offset: u32) -> Spot {
        let object = &instance.member.object;
        let metadata = object.metadata();
        let mut references = metadata.owner_references().entries.iter().enumerate();
        if let Some((entry, reference)) =
            references.find(|(_, reference)| holds(reference.span, offset))
        {
            return self.owner(instance, entry, reference);
        }
        let mut finalizers = metadata.finalizers().iter();
        if let Some(finalizer) = finalizers.find(|finalizer| holds(finalizer.span, offset)) {
            let known = &self.bundle.tables.finalizers;
            return Spot::Finalizer {
                finalizer: finalizer.value.clone(),
                rows: rows_of_finalizer(known, &finalizer.value, None),
            };
        }
        let namespace = metadata.namespace();
        if namespace.is_some_and(|namespace| holds(namespace.span, offset)) {
            return self.namespace(instance);
        }
        // The name of an object may also be the evidence for what a controller creates for it.
        let identity = [
            object.kind_span(),
            object.api_version_span(),
            object.name_span(),
        ];
        if identity.into_iter().any(|span| holds(span, offset)) {
            return Spot::Identity;
        }
        let ties = self.ties_from(instance);
        let tie = ties.iter().find(|tie| holds(tie.evidence.span, offset));
        tie.map_or(Spot::Other, |tie| self.used(instance, tie))
    }

    fn owner(&self, instance: Instance<'_>, entry: usize, reference: &OwnerReference) -> Spot {
        let inventory = instance.view.inventory();
        // There is an edge for each entry.
        let mut others: Vec<_> = owner_edges_of(inventory, instance.member).collect();
        let edge = others.remove(entry);
        let mut lookup = OwnerLookup::of(inventory, &edge);
        let owners = self.owners(instance, &edge);
        // If the object's cluster does not have the owner, it was found in another one.
        if let (OwnerLookup::Absent { .. }, Some(owner)) = (&lookup, owners.first()) {
            lookup = if owner.view.cluster.is_applied() {
                OwnerLookup::Found {
                    assumed: !reference.uid().is_empty(),
                }
            } else {
                OwnerLookup::Unapplied
            };
        }
        Spot::Owner {
            named: format!("{} {}", reference.kind(), reference.name()),
            places: each_once(self.places(owners)),
            lookup,
            blocks: reference.is_blocking(),
            has_others: !others.is_empty(),
            is_undecided: others
                .iter()
                .any(|edge| OwnerLookup::of(inventory, edge).is_undecided()),
        }
    }

    fn namespace(&self, instance: Instance<'_>) -> Spot {
        let name = instance.member.key.namespace.name();
        let found = name.map(|name| self.targets(instance, &ObjectKey::of_namespace(name)));
        Spot::Namespace {
            places: each_once(self.places(found.unwrap_or_default())),
        }
    }

    fn used(&self, instance: Instance<'_>, tie: &Tie) -> Spot {
        let is_created = tie.kind != TieKind::Uses;
        let found = self.targets(instance, &tie.to.key);
        // Within a build, kustomize changes references with the names.
        let built = found.first().filter(|one| one.is_built_with(instance));
        let named = built.map_or(&tie.to.key, |one| &one.member.key).clone();
        let places = each_once(self.places(found));
        let makers = if places.is_empty() && !is_created {
            each_once(self.places(self.makers(instance, &tie.to.key)))
        } else {
            Vec::new()
        };
        Spot::Use {
            named,
            places,
            makers,
            is_created,
        }
    }

    /// Returns the places of objects, in order.
    pub(super) fn places(&self, found: Vec<Instance<'_>>) -> Vec<ObjectPlace> {
        let places = found.into_iter().map(|instance| self.applied(instance));
        places.collect()
    }

    /// Returns the place of an object, in the first of its clusters if it is only known as it is written.
    fn applied(&self, instance: Instance<'_>) -> ObjectPlace {
        let place = self.place(instance);
        if instance.view.at.is_some() {
            return place;
        }
        let (path, begins) = place.written_at();
        let instances = self.instances(path, begins);
        instances.first().map_or(place, |first| self.place(*first))
    }
}

/// Removes the places with the file and offset of an earlier one.
pub(super) fn each_once(mut places: Vec<ObjectPlace>) -> Vec<ObjectPlace> {
    let mut known = HashSet::default();
    places.retain(|place| {
        let (path, begins) = place.written_at();
        known.insert((path.to_owned(), begins))
    });
    places
}
