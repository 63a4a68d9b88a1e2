//! Deliveries that fail in a state because of another state: an object that they need was removed,
//! another delivery applies their objects, or they have nothing left to apply.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::Delivered;
use crate::delivery::marks::FLUX_PRUNE;
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{BuildError, Resource};
use crate::kustomize::shown;
use crate::merge::prunes;

impl Delivered {
    /// Sets an error on deliveries that need an object of `base` that Flux deletes: a Kustomization
    /// that they depend on, or the ConfigMap of their variables. A Kustomization that stays in the
    /// cluster is not ready either, unless `files`, those of this state, have its folder.
    pub(super) fn fail_on_removed_dependencies(&mut self, base: &Self, files: &TreeFiles<'_>) {
        if !self.all.iter().any(|one| {
            !one.settings.depends_on.is_empty() || !one.settings.variables_from.is_empty()
        }) {
            return;
        }
        let (left, stays) = (base.missing_if_left(files), self.needed_by_others());
        let mut failing = Vec::new();
        for (at, one) in self.all.iter().enumerate() {
            if one.error.is_some() {
                continue;
            }
            let read = one.settings.variables_from.iter();
            let read = read.map(|(namespace, name)| format!("ConfigMap/{namespace}/{name}"));
            let mut needed = dependencies(one).chain(read);
            let Some(missing) = needed.find(|key| {
                let place = (self.home(one).to_owned(), key.clone());
                left.contains(&place) && !stays.contains(&place)
            }) else {
                continue;
            };
            let reason = format!("{} needs {missing}, which is gone", one.key);
            failing.push((at, error_of(one, reason)));
        }
        for (at, error) in failing {
            self.all[at].error = Some(error);
        }
    }

    /// Sets an error on Applications that refuse shared objects and deliver an object of another
    /// delivery of `base`.
    pub(super) fn fail_on_shared_objects(&mut self, base: &Self) {
        if !self.all.iter().any(refuses_shared) {
            return;
        }
        let mut delivered: HashMap<(Arc<str>, String), BTreeSet<&str>> = HashMap::default();
        for one in &base.all {
            for resource in one.resources.iter() {
                let key = (Arc::clone(&one.cluster), self.scopes.key(&resource.id()));
                delivered.entry(key).or_default().insert(&one.id);
            }
        }
        let scopes = &self.scopes;
        for one in self
            .all
            .iter_mut()
            .filter(|one| refuses_shared(one) && one.error.is_none())
        {
            let shared = one.resources.iter().find_map(|resource| {
                let key = scopes.key(&resource.id());
                let by = delivered.get(&(Arc::clone(&one.cluster), key.clone()))?;
                (!by.contains(&*one.id)).then_some(key)
            });
            if let Some(key) = shared {
                let reason =
                    format!("another delivery applies {key}, and this one refuses shared objects");
                one.error = Some(error_of(one, reason));
            }
        }
    }

    /// Sets an error on Applications that have nothing left to apply and lack `allowEmpty`, as Argo
    /// CD does (argo-cd controller/appcontroller.go, autoSync).
    pub(super) fn fail_if_emptied(&mut self, base: &Self) {
        for one in self.all.iter_mut().chain(&mut self.memory.kept) {
            let prunes = one.settings.automated == Some(true) && one.settings.prune == Some(true);
            let is_empty = one.resources.is_empty() && one.unread.is_empty() && one.error.is_none();
            if !is_empty
                || !prunes
                || one.settings.allow_empty == Some(true)
                || base
                    .delivery(&one.id)
                    .is_none_or(|was| was.resources.is_empty())
            {
                continue;
            }
            let reason = format!(
                "{} has nothing left to apply, which Argo CD refuses without `allowEmpty`",
                shown(&one.path)
            );
            one.error = Some(error_of(one, reason));
        }
    }

    /// Returns the deliveries and the ConfigMaps that they deliver, by cluster and key.
    fn needed_by_others(&self) -> BTreeSet<(String, String)> {
        let mut all = BTreeSet::new();
        for one in &self.all {
            all.insert((self.home(one).to_owned(), one.key.clone()));
            let config = one.resources.iter().filter(|one| is_config(one));
            all.extend(config.map(|config| (one.cluster.to_string(), config.id().key())));
        }
        all
    }

    /// Returns those of [`Self::needed_by_others`] that are missing or not ready once they are
    /// removed from the tree.
    fn missing_if_left(&self, files: &TreeFiles<'_>) -> BTreeSet<(String, String)> {
        let mut protected = BTreeSet::new();
        let mut missing = BTreeSet::new();
        for one in &self.all {
            for resource in one.resources.iter() {
                let place = || (one.cluster.to_string(), resource.id().key());
                if resource
                    .node
                    .str_at(&["metadata", "annotations", FLUX_PRUNE])
                    == Some("disabled")
                {
                    protected.insert(place());
                } else if is_config(resource) && prunes(&one.settings) {
                    missing.insert(place());
                }
            }
        }
        for one in &self.all {
            let place = (self.home(one).to_owned(), one.key.clone());
            let parent = self.parent(one);
            let is_deleted = parent.is_some_and(|parent| prunes(&parent.settings));
            if is_deleted && !protected.contains(&place) || !files.has_folder(&one.path) {
                missing.insert(place);
            }
        }
        missing
    }
}

/// Returns the keys of the dependencies of a Kustomization or HelmRelease, which are of its kind.
pub(super) fn dependencies(one: &Delivery) -> impl Iterator<Item = String> {
    let kind = one.key.split('/').next().unwrap_or_default();
    let named = one.settings.depends_on.iter();
    named.map(move |(namespace, name)| format!("{kind}/{namespace}/{name}"))
}

fn is_config(resource: &Resource) -> bool {
    let id = resource.id();
    id.group.is_empty() && id.kind == "ConfigMap"
}

/// Returns an error at the place of a delivery object.
pub(super) fn error_of(delivery: &Delivery, reason: String) -> BuildError {
    BuildError {
        reason,
        file: delivery.file.to_string(),
        line: delivery.line,
    }
}

/// Whether an Application refuses objects that another one delivers.
fn refuses_shared(application: &Delivery) -> bool {
    let mut options = application.settings.sync_options.iter();
    options.any(|option| option.trim() == "FailOnSharedResource=true")
}
