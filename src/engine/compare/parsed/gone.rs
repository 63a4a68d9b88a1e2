//! Unread inputs that deliveries no longer apply, although their files stay.

use std::collections::{BTreeMap, BTreeSet};

use super::Parsed;
use crate::changes::GoneInputs;
use crate::delivery::flux::KustomizationSettings;
use crate::graph::argo::deletion_policy;
use crate::graph::delivery::Delivery;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{SourceTool, resolve};
use crate::merge::prunes;

#[derive(Clone, Debug)]
pub(in super::super) struct InputsOfDelivery {
    id: String,
    /// The places of the files that contain the inputs.
    places: BTreeSet<String>,
    /// The key of the object that contains some of the inputs.
    holder: Option<String>,
}

impl InputsOfDelivery {
    /// Adds the inputs to `gone`. `written` maps the keys of objects to their keys as written.
    pub(in super::super) fn add_to(
        &self,
        gone: &mut GoneInputs,
        written: &BTreeMap<String, String>,
    ) {
        let places = self.places.iter();
        gone.places
            .extend(places.map(|place| (place.clone(), self.id.clone())));
        let holder = self.holder.as_ref().and_then(|key| written.get(key));
        gone.holders
            .extend(holder.map(|key| (key.clone(), self.id.clone())));
    }
}

impl Parsed {
    /// Returns the unread inputs of deliveries whose objects are deleted with them, by the id of the delivery's parent
    /// and its key.
    pub(in super::super) fn unread_of_deliveries(
        &self,
    ) -> BTreeMap<(Option<String>, String), InputsOfDelivery> {
        let all = self.delivered.deliveries().into_iter();
        let deleting = all.filter(|one| !one.unread.is_empty() && deletes_with_it(one));
        let inputs = deleting.map(|one| {
            let parent = one.parent.as_deref().map(str::to_owned);
            ((parent, one.key.clone()), self.inputs_of(one))
        });
        inputs.collect()
    }

    fn inputs_of(&self, delivery: &Delivery) -> InputsOfDelivery {
        let (own, others): (Vec<&UnreadInput>, Vec<&UnreadInput>) = delivery
            .unread
            .iter()
            .partition(|input| *input.file == *delivery.file);
        let mut places: BTreeSet<String> = others.iter().map(|one| one.file.clone()).collect();
        // An unread chart of the tree has the place of the object that delivers it, so its own file is added.
        if own.iter().any(|input| input.what == What::Chart) {
            places.insert(resolve(&delivery.path, "Chart.yaml"));
        }
        // The inputs of Kustomizations and HelmReleases are reported with their objects.
        let is_argo = delivery.by.as_ref().is_some_and(|by| !by.tool.is_flux());
        let holder = (is_argo && !own.is_empty()).then(|| self.written_by(delivery));
        InputsOfDelivery {
            id: delivery.id.clone(),
            places,
            holder: holder.map(str::to_owned),
        }
    }

    /// Returns the key of the object that the file of a delivery contains: its ApplicationSet, else its own object.
    fn written_by<'d>(&'d self, delivery: &'d Delivery) -> &'d str {
        let parent = delivery.parent.as_deref();
        let parent = parent.and_then(|parent| self.delivered.delivery(parent));
        let set = parent.filter(|parent| {
            let by = parent.by.as_ref();
            by.is_some_and(|by| by.tool == SourceTool::ArgoCdSet)
        });
        set.map_or(&delivery.key, |set| &set.key)
    }

    /// Returns the unread inputs that a delivery of `base` no longer has in this state and therefore prunes, except those
    /// that another delivery has.
    pub(in super::super) fn unread_dropped(&self, base: &Self) -> GoneInputs {
        let mut gone = GoneInputs::default();
        let all = self.delivered.deliveries().into_iter();
        let all: Vec<&Delivery> = all.filter(|one| one.by.is_some()).collect();
        let still: BTreeSet<&str> = all
            .iter()
            .flat_map(|one| one.unread.iter().map(|input| input.file.as_str()))
            .collect();
        for after in all.iter().filter(|one| one.error.is_none()) {
            let Some(before) = base.delivered.delivery(&after.id) else {
                continue;
            };
            if ![&before.settings, &after.settings].into_iter().any(prunes) {
                continue;
            }
            let left = before
                .unread
                .iter()
                .filter(|input| input.file != *before.file && !still.contains(input.file.as_str()));
            let left = left.map(|input| (input.file.clone(), after.id.clone()));
            gone.places.extend(left);
        }
        gone
    }
}

/// Whether the objects of a delivery are deleted with its delivery object.
fn deletes_with_it(delivery: &Delivery) -> bool {
    let settings = &delivery.settings;
    let finalizers = settings.finalizers.iter().map(String::as_str);
    match delivery.by.as_ref().map(|by| by.tool) {
        Some(SourceTool::Flux) => KustomizationSettings::applied(settings).deletes_with_it(),
        Some(SourceTool::ArgoCd) => deletion_policy(finalizers).is_some(),
        Some(SourceTool::ArgoCdSet) => settings.preserve_resources != Some(true),
        Some(SourceTool::FluxRelease) => settings.suspend != Some(true),
        None => false,
    }
}
