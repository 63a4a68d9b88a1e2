//! Follows the Applications and the sets of a control plane, down to the last one.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::application::Application;
use super::set::{AnyCluster, ApplicationSet};
use super::sources::{Applied, folder_of_source};
use super::template::is_partly_unknown;
use super::{Run, folders, is_argo};
use crate::graph::delivery::{Delivery, Settings};
use crate::graph::kustomize::Resource;
use crate::graph::node::Node;
use crate::graph::unread::What;
use crate::kustomize::{BeyondLimit, Limit, shown};

/// An Application or an ApplicationSet that is still to be followed.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) resource: Resource,
    /// The cluster that contains it.
    pub(super) here: Arc<str>,
    parent: Option<Arc<str>>,
    /// Whether it depends on facts that only the cluster or a service knows.
    pub(super) is_possible: bool,
    /// The cluster that the parameters of its set name.
    cluster: Option<String>,
    /// If only the name of its cluster is known, the Application for any cluster.
    for_any_cluster: Option<AnyCluster>,
}

impl Pending {
    pub(super) fn new(resource: Resource, here: &Arc<str>, parent: Option<&str>) -> Self {
        Self {
            resource,
            here: Arc::clone(here),
            parent: parent.map(Arc::from),
            is_possible: false,
            cluster: None,
            for_any_cluster: None,
        }
    }
}

impl Run<'_> {
    /// Follows Applications and sets in the control plane `first`, and those that they deliver. Adds the ids of the
    /// deliveries to `seen`.
    pub(super) fn follow(
        &mut self,
        first: &Arc<str>,
        starts: Vec<Pending>,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), BeyondLimit> {
        let mut queue: VecDeque<Pending> = starts.into();
        while let Some(pending) = queue.pop_front() {
            let next = match ApplicationSet::from_resource(&pending.resource) {
                Some(set) => self.set(&set, first, &pending, seen)?,
                None => match Application::from_resource(&pending.resource) {
                    Some(application) => self.application(&application, first, &pending, seen)?,
                    None => Vec::new(),
                },
            };
            if self.all.len() > self.limits.deliveries {
                let file = &*pending.resource.origin.file;
                return Err(BeyondLimit::new(Limit::Deliveries, self.limits, file));
            }
            queue.extend(next);
        }
        Ok(())
    }

    /// Adds a set, and returns its Applications.
    fn set(
        &mut self,
        set: &ApplicationSet,
        first: &Arc<str>,
        pending: &Pending,
        seen: &mut BTreeSet<String>,
    ) -> Result<Vec<Pending>, BeyondLimit> {
        let by = set.deliverer(&pending.here);
        let id = by.id("");
        if !seen.insert(id.clone()) {
            return Ok(Vec::new());
        }
        self.note(&id, first, pending);
        let key = by.key();
        let mut clusters = self.memory.clusters.remove(&key).unwrap_or_default();
        let output = set.output(self.around(), &mut clusters);
        self.memory.clusters.insert(key.clone(), clusters);
        if let Some(limit) = output.beyond {
            let file = &*set.origin.file;
            return Err(BeyondLimit::new(limit, self.limits, file));
        }
        let mut names = BTreeSet::new();
        let mut applications = output.applications;
        applications.retain(|one| {
            let id = one.resource.id();
            names.insert((id.name, one.cluster.clone(), path_of(&one.resource)))
        });
        let mut resources: Vec<Resource> = Vec::new();
        let mut keys = BTreeSet::new();
        for one in &applications {
            // If only a list names its cluster, the Application for any cluster represents it.
            let object = one
                .for_any_cluster
                .as_ref()
                .and_then(|any| any.name.as_ref());
            if object.is_none() && keys.insert(one.resource.id().name) {
                resources.push(one.resource.clone());
            }
        }
        let next = if output.error.is_some() {
            let before = self.applied_before(&id).iter();
            let children = before.map(|resource| Pending {
                is_possible: pending.is_possible,
                ..Pending::new(resource.clone(), &pending.here, Some(&id))
            });
            children.collect()
        } else {
            let children = applications.into_iter().map(|one| Pending {
                is_possible: pending.is_possible || one.resource.is_possible,
                cluster: one.cluster,
                for_any_cluster: one.for_any_cluster,
                ..Pending::new(one.resource, &pending.here, Some(&id))
            });
            children.collect()
        };
        self.all.push(Delivery {
            id,
            cluster: Arc::clone(&pending.here),
            parent: pending.parent.clone(),
            key,
            by: Some(by),
            is_possible: pending.is_possible,
            file: Arc::clone(&set.origin.file),
            line: set.origin.line,
            settings: set.settings(),
            error: output.error,
            resources: Arc::new(resources),
            unread: output.unread.into_iter().collect(),
            ..Delivery::default()
        });
        Ok(next)
    }

    /// Adds the delivery of an Application, or one for each matching folder if its path is partly unknown. Returns the
    /// Applications and sets that it delivers.
    fn application(
        &mut self,
        application: &Application,
        first: &Arc<str>,
        pending: &Pending,
        seen: &mut BTreeSet<String>,
    ) -> Result<Vec<Pending>, BeyondLimit> {
        let cluster = application.destination(
            first,
            &pending.here,
            pending.cluster.as_deref(),
            &self.clusters,
        );
        let sources = application.sources();
        let path = sources.iter().find_map(|source| source.text_at(&["path"]));
        let path = path.unwrap_or_default();
        let mut folders = Vec::new();
        if is_partly_unknown(&path) {
            let fitting = folders::fitting(self.sources.files, &path);
            folders.extend(fitting.into_iter().map(Some));
        }
        if folders.is_empty() {
            folders.push(None);
        }
        let mut next = Vec::new();
        for folder in folders {
            let by = application.deliverer(&cluster, folder.as_deref().unwrap_or_default());
            let path = folder.clone().unwrap_or_else(|| folder_of_source(&path));
            let id = by.id(&path);
            if !seen.insert(id.clone()) {
                continue;
            }
            let (path, applied) =
                self.applied_there(application, &sources, folder.as_deref(), path, pending, &id);
            let budget = self.sources.builder.budget();
            let file = &application.origin.file;
            if let Some(limit) = budget.spend(applied.resources.len() + 1, file) {
                return Err(BeyondLimit::new(limit, self.limits, shown(&path)));
            }
            self.note(&id, first, pending);
            let before = self.applied_before(&id);
            // An Application that may not exist is left out if its folder does not exist.
            if pending.is_possible && applied.is_missing && before.is_empty() {
                continue;
            }
            let children: Vec<Resource> = match &applied.error {
                Some(_) => before.iter().filter(|one| is_argo(one)).cloned().collect(),
                None => applied.children.clone(),
            };
            next.extend(children.iter().map(|child| Pending {
                is_possible: pending.is_possible,
                ..Pending::new(child.clone(), &cluster, Some(&id))
            }));
            let is_elsewhere = applied.unread.iter().any(|unread| {
                matches!(
                    unread.what,
                    What::OtherRepository | What::Chart | What::Remote
                )
            });
            self.all.push(Delivery {
                id,
                cluster: Arc::clone(&cluster),
                parent: pending.parent.clone(),
                key: by.key(),
                by: Some(by),
                path,
                is_possible: pending.is_possible,
                object: pending
                    .for_any_cluster
                    .as_ref()
                    .and_then(|any| any.name.clone()),
                file: Arc::clone(&application.origin.file),
                line: application.origin.line,
                settings: Settings {
                    revision: applied.revision.clone(),
                    ..application.settings()
                },
                error: applied.error.clone(),
                resources: Arc::clone(&applied.resources),
                reached: Arc::clone(&applied.reached),
                unread: applied.unread.clone(),
                elsewhere: is_elsewhere.then(|| application.deciding(&sources)),
                charts: applied.charts.clone(),
                ..Delivery::default()
            });
        }
        Ok(next)
    }

    fn note(&mut self, id: &str, plane: &Arc<str>, pending: &Pending) {
        let followed = (Arc::clone(plane), pending.clone());
        let known = self.memory.followed.entry(id.to_owned());
        known.or_insert(followed);
    }

    fn applied_before(&self, id: &str) -> &[Resource] {
        Delivery::find(self.before, id).map_or(&[], |before| &before.resources)
    }

    /// Returns the folder and the objects of an Application. If a cluster that a list or a selector
    /// names has no folder, and had none in the previous state, it belongs to another control
    /// plane: returns the folder and the objects for any cluster.
    fn applied_there(
        &self,
        application: &Application,
        sources: &[Node],
        folder: Option<&str>,
        path: String,
        pending: &Pending,
        id: &str,
    ) -> (String, Arc<Applied>) {
        let applied = self.sources.applied(application, sources, folder);
        let any = pending
            .for_any_cluster
            .as_ref()
            .map(|any| folder_of_source(&any.path));
        let was = Delivery::find(self.before, id).map(|before| before.path.as_str());
        let Some(any) = any.filter(|any| {
            let had_none = was.is_none_or(|was| was == any);
            applied.is_missing && had_none && *any != path
        }) else {
            return (path, applied);
        };
        let mut sources = sources.to_vec();
        for source in &mut sources {
            let own = source.text_at(&["path"]);
            if own.is_some_and(|own| folder_of_source(&own) == path) {
                source.set("path", Node::text(any.as_str()));
            }
        }
        let applied = self.sources.applied(application, &sources, folder);
        (any, applied)
    }
}

fn path_of(resource: &Resource) -> Option<String> {
    let sources = Application::from_resource(resource)?.sources();
    sources.first()?.text_at(&["path"])
}
