//! Which objects a tool delivers, and deletes, together: those of one release, Application, Kustomization.

use std::collections::{BTreeMap, BTreeSet};

use super::marks;
use super::regime::{Deliveries, FluxObject, Regime};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::manifest::Metadata;
use crate::text::FileId;

/// Objects that one removal deletes, as far as it does not spare them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredSet {
    /// Who delivers them.
    pub regime: Regime,
    /// The objects, in the order of the input.
    pub members: Vec<ObjectId>,
}

/// What an object and its neighbours have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SetOrigin {
    /// The name that marks give to what delivers it.
    Named(String),
    /// The object that delivers its file.
    Object(ObjectId),
    /// Its file: a rendering.
    File(FileId),
    /// The bundle that the configuration says a tool delivers.
    Bundle(usize),
}

impl Deliveries {
    /// The objects of `inventory` that a tool evidently delivers, in the sets in which it deletes them. Marks name the set; an
    /// object without a name belongs to the only one that its neighbours name, or with its neighbours: what one object
    /// delivers, else one rendering.
    pub fn sets(&self, inventory: &Inventory) -> Vec<DeliveredSet> {
        let evident = |member: &Member| {
            self.evident(inventory, member)
                .filter(|regime| *regime != Regime::Kubectl)
        };
        let delivered: Vec<(&Member, Regime)> = inventory
            .members
            .iter()
            .filter_map(|member| Some((member, evident(member)?)))
            .collect();
        let surroundings = |member: &Member| {
            if self.is_configured(member) {
                return SetOrigin::Bundle(self.bundle_of(member));
            }
            let deliverer = self.deliverer(member).map(SetOrigin::Object);
            deliverer.unwrap_or(SetOrigin::File(member.file))
        };
        let mut names: BTreeMap<(Regime, SetOrigin), BTreeSet<String>> = BTreeMap::new();
        for (member, regime) in &delivered {
            let name = name_of(member.object.metadata(), *regime);
            names
                .entry((*regime, surroundings(member)))
                .or_default()
                .extend(name);
        }
        let mut sets: BTreeMap<(Regime, SetOrigin), Vec<ObjectId>> = BTreeMap::new();
        for (member, regime) in delivered {
            let around = (regime, surroundings(member));
            let only = || match names.get(&around) {
                Some(names) if names.len() == 1 => names.first().cloned(),
                _ => None,
            };
            let name = name_of(member.object.metadata(), regime).or_else(only);
            let origin = name.map_or(around.1, SetOrigin::Named);
            sets.entry((regime, origin)).or_default().push(member.id);
        }
        sets.into_iter()
            .map(|((regime, _), members)| DeliveredSet { regime, members })
            .collect()
    }

    /// The same, to ask about two objects.
    pub fn together(&self, inventory: &Inventory) -> DeliveredTogether {
        let sets = self.sets(inventory).into_iter().enumerate();
        let members = sets.flat_map(|(at, set)| set.members.into_iter().map(move |id| (id, at)));
        DeliveredTogether(members.collect())
    }
}

/// Which objects one removal deletes together.
#[derive(Clone, Debug)]
pub struct DeliveredTogether(BTreeMap<ObjectId, usize>);

impl DeliveredTogether {
    /// Whether one removal deletes both.
    pub fn has(&self, one: &Member, other: &Member) -> bool {
        let set = self.0.get(&one.id);
        set.is_some() && set == self.0.get(&other.id)
    }
}

/// The release, Application or Kustomization that marks name.
fn name_of(metadata: Metadata<'_>, regime: Regime) -> Option<String> {
    let labelled = |key| metadata.label(key).map(|value| value.value.to_owned());
    let annotated = |key| metadata.annotation(key).map(|value| value.value.to_owned());
    let in_namespace = |name: Option<String>, namespace: Option<String>| {
        name.map(|name| format!("{}/{name}", namespace.unwrap_or_default()))
    };
    match regime {
        Regime::Helm => {
            let released = in_namespace(
                annotated(marks::HELM_RELEASE_NAME),
                annotated(marks::HELM_RELEASE_NAMESPACE),
            );
            released.or_else(|| labelled(marks::INSTANCE))
        }
        Regime::ArgoCd => {
            let tracked = annotated(marks::ARGOCD_TRACKING_ID);
            let tracked = tracked.and_then(|id| marks::tracked_application(&id).map(str::to_owned));
            tracked.or_else(|| labelled(marks::ARGOCD_INSTANCE))
        }
        Regime::Flux(FluxObject::Kustomization) => in_namespace(
            labelled(marks::FLUX_KUSTOMIZATION_NAME),
            labelled(marks::FLUX_KUSTOMIZATION_NAMESPACE),
        ),
        Regime::Flux(FluxObject::HelmRelease) => in_namespace(
            labelled(marks::FLUX_HELM_RELEASE_NAME),
            labelled(marks::FLUX_HELM_RELEASE_NAMESPACE),
        ),
        Regime::Kubectl => None,
    }
}
