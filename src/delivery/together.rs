//! Sets of objects that a tool delivers and deletes together: those of one release, Application or Kustomization.

use std::collections::{BTreeMap, BTreeSet};

use super::marks;
use super::regime::{Deliveries, FluxObject, Regime};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::manifest::{Labels, Metadata};
use crate::text::FileId;

/// A set of objects that one removal deletes, except those that it spares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredSet {
    /// The tool that delivers them.
    pub regime: Regime,
    /// The objects, in the order of the input.
    pub members: Vec<ObjectId>,
}

/// The common origin of an object and its neighbours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SetOrigin {
    /// The name of the deliverer in the marks.
    Named(String),
    /// The delivery object that reaches its file.
    Object(ObjectId),
    /// Its file.
    File(FileId),
    /// The rendering that its file is part of, by the first file.
    Rendering(FileId),
    /// A bundle whose tool is configured.
    Bundle(usize),
}

impl Deliveries {
    /// Groups the objects that tools evidently deliver into sets that are deleted together. Marks
    /// name the set of an object. Without them, it joins the only set that its neighbours name, or
    /// else its neighbours: those of one configured bundle, delivery object, file or rendering.
    pub fn sets(&self, inventory: &Inventory) -> Vec<DeliveredSet> {
        let delivered: Vec<(&Member, Regime)> = inventory
            .members
            .iter()
            .filter_map(|member| Some((member, self.evident(member)?)))
            .filter(|(_, regime)| *regime != Regime::Kubectl)
            .collect();
        let mut names: BTreeMap<(Regime, SetOrigin), BTreeSet<String>> = BTreeMap::new();
        for (member, regime) in &delivered {
            let Some(name) = name_of(member.object.metadata(), *regime) else {
                continue;
            };
            for around in self.surroundings(member) {
                let named = names.entry((*regime, around)).or_default();
                named.insert(name.clone());
            }
        }
        let mut sets: BTreeMap<(Regime, SetOrigin), Vec<ObjectId>> = BTreeMap::new();
        for (member, regime) in delivered {
            let around = self.surroundings(member);
            let mut named = around
                .iter()
                .filter_map(|around| Some((around, names.get(&(regime, around.clone()))?)));
            // The nearest origin with a name.
            let (around, only) = match named.next() {
                Some((_, names)) if names.len() == 1 => (&around[0], names.first().cloned()),
                Some((around, _)) => (around, None),
                None => (&around[around.len() - 1], None),
            };
            let name = name_of(member.object.metadata(), regime).or(only);
            let origin = name.map_or_else(|| around.clone(), SetOrigin::Named);
            sets.entry((regime, origin)).or_default().push(member.id);
        }
        sets.into_iter()
            .map(|((regime, _), members)| DeliveredSet { regime, members })
            .collect()
    }

    /// Returns the common origins of an object and its neighbours, the nearest first; never empty.
    fn surroundings(&self, member: &Member) -> Vec<SetOrigin> {
        if self.is_configured(member) {
            return vec![SetOrigin::Bundle(self.bundle_of(member))];
        }
        if let Some(deliverer) = self.deliverer(member) {
            return vec![SetOrigin::Object(deliverer)];
        }
        let rendering = SetOrigin::Rendering(self.rendering(member));
        vec![SetOrigin::File(member.file), rendering]
    }

    /// Returns a lookup of objects that are deleted together.
    pub fn together(&self, inventory: &Inventory) -> DeliveredTogether {
        let sets = self.sets(inventory).into_iter().enumerate();
        let members = sets.flat_map(|(at, set)| set.members.into_iter().map(move |id| (id, at)));
        DeliveredTogether(members.collect())
    }
}

/// A lookup of objects that one removal deletes together.
#[derive(Clone, Debug)]
pub struct DeliveredTogether(BTreeMap<ObjectId, usize>);

impl DeliveredTogether {
    /// Returns the index of an object's set among [`Deliveries::sets`].
    pub fn set_of(&self, id: ObjectId) -> Option<usize> {
        self.0.get(&id).copied()
    }

    /// Whether one removal deletes both.
    pub fn has(&self, one: &Member, other: &Member) -> bool {
        let set = self.set_of(one.id);
        set.is_some() && set == self.set_of(other.id)
    }
}

/// Returns the release, Application or Kustomization that marks name.
fn name_of(metadata: Metadata<'_>, regime: Regime) -> Option<String> {
    let (labels, annotations) = (metadata.labels(), metadata.annotations());
    match regime {
        Regime::Helm => in_namespace(
            annotations,
            marks::HELM_RELEASE_NAME,
            marks::HELM_RELEASE_NAMESPACE,
        )
        .or_else(|| Some(labels.get(marks::INSTANCE)?.value.to_owned())),
        Regime::ArgoCd => {
            let tracked = annotations.get(marks::ARGOCD_TRACKING_ID);
            tracked
                .and_then(|id| marks::tracked_application(id.value))
                .or_else(|| Some(labels.get(marks::ARGOCD_INSTANCE)?.value))
                .map(str::to_owned)
        }
        Regime::Flux(FluxObject::Kustomization) => in_namespace(
            labels,
            marks::FLUX_KUSTOMIZATION_NAME,
            marks::FLUX_KUSTOMIZATION_NAMESPACE,
        ),
        Regime::Flux(FluxObject::HelmRelease) => in_namespace(
            labels,
            marks::FLUX_HELM_RELEASE_NAME,
            marks::FLUX_HELM_RELEASE_NAMESPACE,
        ),
        Regime::Kubectl => None,
    }
}

/// Returns the values of two labels or annotations as `namespace/name`; `None` without a name.
fn in_namespace(labels: Labels<'_>, name: &str, namespace: &str) -> Option<String> {
    let name = labels.get(name)?.value;
    let namespace = labels.get(namespace).map_or("", |label| label.value);
    Some(format!("{namespace}/{name}"))
}
