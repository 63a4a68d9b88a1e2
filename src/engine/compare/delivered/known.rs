//! Deliveries of a state as the merge needs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use super::Delivered;
use crate::changes::{DeliveredObjects, KeptDelivery, KnownDelivery};
use crate::engine::compare::built::marks_of;
use crate::graph::delivery::{Delivery, Release, Settings};
use crate::graph::kustomize::Resource;
use crate::graph::unread::What;
use crate::kustomize::Deliverer;

/// Cache: the facts about the objects of builds, by the addresses of the builds.
type ObjectsOfBuilds = HashMap<*const Vec<Resource>, Arc<DeliveredObjects>>;

impl Delivered {
    /// Returns the deliveries of the state.
    pub(in super::super) fn known(&self) -> BTreeMap<Deliverer, KnownDelivery> {
        let mut objects_of = ObjectsOfBuilds::default();
        let all = self.all.iter().zip(self.awaited());
        let known = all.filter_map(|(one, awaited)| {
            let awaited = awaited.into_iter();
            let known = KnownDelivery {
                awaits: awaited.filter_map(|at| self.all[at].by.clone()).collect(),
                ..self.known_as(one, &mut objects_of)
            };
            Some((one.by.clone()?, known))
        });
        known.collect()
    }

    /// Returns the settings of HelmReleases whose charts were not read, by the ids of their deliveries.
    pub(in super::super) fn unread_releases(&self) -> BTreeMap<String, Settings> {
        let releases = self
            .all
            .iter()
            .filter(|one| one.by.is_none() && one.settings.release.is_some());
        releases
            .map(|one| (one.id.clone(), one.settings.clone()))
            .collect()
    }

    /// Returns the releases of HelmReleases, by the file and the name of the HelmRelease.
    pub(in super::super) fn releases(&self) -> HashMap<(&str, &str), &Release> {
        let releases = self.all.iter().filter_map(|one| {
            let (_, name) = one.key.rsplit_once('/')?;
            Some(((&*one.file, name), one.settings.release.as_ref()?))
        });
        releases.collect()
    }

    /// Returns the removed deliveries, as they would be if their objects stay in the cluster.
    pub(in super::super) fn kept(&self) -> BTreeMap<Deliverer, KeptDelivery> {
        let mut objects_of = ObjectsOfBuilds::default();
        let kept = self.memory.kept.iter().filter_map(|one| {
            let resources = one.resources.iter();
            let kept = KeptDelivery {
                known: self.known_as(one, &mut objects_of),
                keys: resources.map(|one| self.scopes.key(&one.id())).collect(),
            };
            Some((one.by.clone()?, kept))
        });
        kept.collect()
    }

    fn known_as(&self, delivery: &Delivery, objects_of: &mut ObjectsOfBuilds) -> KnownDelivery {
        let resources = &delivery.resources;
        let objects = objects_of.entry(Arc::as_ptr(resources));
        let objects = objects.or_insert_with(|| Arc::new(self.objects(resources)));
        KnownDelivery {
            settings: delivery.settings.clone(),
            parent: self.parent(delivery).map(|parent| parent.key.clone()),
            doubt: self.doubt(delivery),
            is_possible: delivery.is_possible,
            object: delivery.object.clone(),
            chart: self.titles.get(&delivery.id).cloned(),
            error: delivery.error.as_ref().map(|error| error.reason.clone()),
            may_fail: delivery.may_fail.clone(),
            built_first: delivery
                .built_first
                .as_ref()
                .map(|built| built.iter().map(|one| self.scopes.key(&one.id())).collect()),
            awaits: Vec::new(),
            is_empty: delivery.resources.is_empty(),
            unread: delivery
                .unread
                .iter()
                .map(|unread| unread.subject.clone())
                .collect(),
            objects: Arc::clone(objects),
        }
    }

    /// Returns the unread input that decides whether the delivery exists, and why it was not read.
    fn doubt(&self, delivery: &Delivery) -> Option<String> {
        let mut open = Some(delivery).filter(|one| one.is_possible);
        while let Some(one) = open {
            open = self.parent(one);
            let kinds = [What::Generator, What::Template];
            let unread = open.iter().flat_map(|parent| &parent.unread);
            if let Some(unread) = unread
                .into_iter()
                .find(|unread| kinds.contains(&unread.what))
            {
                return Some(format!("{}: {}", unread.subject, unread.reason));
            }
        }
        None
    }

    fn objects(&self, resources: &[Resource]) -> DeliveredObjects {
        let key = |one: &Resource| self.scopes.key(&one.id());
        let possible = resources
            .iter()
            .filter(|one| one.is_possible || one.is_disputed);
        let marks = resources
            .iter()
            .filter_map(|one| marks_of(one).map(|marks| (key(one), marks)));
        DeliveredObjects {
            possible: possible.map(key).collect(),
            marks: marks.collect(),
        }
    }
}
