//! The objects of a bundle as its clusters have them: under the names and namespaces that their builds give them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::deletion::Deletions;
use super::place::ObjectPlace;
use crate::changes::Destination;
use crate::cluster::Analysis;
use crate::engine::input::Bundle;
use crate::engine::plan::{Clusters, PlannedCluster};
use crate::engine::session::Session;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::ObjectKey;
use crate::ownership::{OwnerEdge, Tie, Ties, owner_edges};

/// A bundle, with cached facts about it.
#[derive(Debug)]
pub(super) struct AskedBundle<'s> {
    /// Its index among the bundles of the session.
    at: usize,
    session: &'s Session,
    pub(super) bundle: &'s Bundle,
    pub(super) analysis: Analysis<'s>,
    /// The objects as written, which need no builds.
    written: Clusters<'s>,
    /// The clusters to which its objects are applied; if these cannot be evaluated, one with the objects as written.
    clusters: OnceCell<Clusters<'s>>,
    /// The deletions from each cluster, by the cluster's index; `None` for clusters that are too large.
    deletions: RefCell<BTreeMap<usize, Option<Rc<Deletions>>>>,
    /// The edges in each cluster, by the cluster's index.
    edges: RefCell<BTreeMap<usize, Rc<Edges>>>,
}

/// The edges between the objects of a cluster.
#[derive(Debug)]
pub(super) struct Edges {
    ties: Ties,
    owners: Vec<OwnerEdge>,
}

/// The edges between the objects of a cluster, computed for it or for its bundle.
pub(super) enum Relations<'c> {
    OfBundle(&'c Analysis<'c>),
    OfCluster(Rc<Edges>),
}

/// A cluster of a bundle.
#[derive(Clone, Copy)]
pub(super) struct View<'c> {
    /// Its index; `None` for the bundle as it is written, which is used for objects that no cluster has.
    pub(super) at: Option<usize>,
    pub(super) cluster: PlannedCluster<'c>,
}

/// An object of a cluster. An object of a kustomize base may be in several clusters, or several times in one.
#[derive(Clone, Copy)]
pub(super) struct Instance<'c> {
    pub(super) view: View<'c>,
    pub(super) member: &'c Member,
}

impl<'s> AskedBundle<'s> {
    /// Wraps the bundle at index `at` of a session; nothing is computed yet.
    pub(super) fn new(session: &'s Session, at: usize, bundle: &'s Bundle) -> Self {
        Self {
            at,
            session,
            bundle,
            analysis: bundle.analysis(),
            written: Clusters::as_written(bundle),
            clusters: OnceCell::new(),
            deletions: RefCell::default(),
            edges: RefCell::default(),
        }
    }

    fn clusters(&self) -> &Clusters<'s> {
        self.clusters.get_or_init(|| {
            let evaluated = self.session.clusters(self.bundle);
            evaluated.unwrap_or_else(|_| Clusters::as_written(self.bundle))
        })
    }

    /// Returns the clusters that have objects.
    pub(super) fn views(&self) -> Vec<View<'_>> {
        let all = self.clusters().all().into_iter().enumerate();
        all.map(|(at, cluster)| View {
            at: Some(at),
            cluster,
        })
        .collect()
    }

    /// Returns the cluster at an index of [`Self::views`], or the bundle as it is written.
    pub(super) fn view(&self, at: Option<usize>) -> View<'_> {
        let all = at.map(|at| (at, self.clusters().all()));
        let found = all.and_then(|(at, all)| all.get(at).copied());
        View {
            at: at.filter(|_| found.is_some()),
            cluster: found.unwrap_or_else(|| self.written.written()),
        }
    }

    /// Returns the other clusters whose objects may be related to those of `view`. Objects that
    /// nothing applies may be meant for any cluster.
    pub(super) fn beyond(&self, view: View<'_>) -> Vec<View<'_>> {
        if view.at.is_none() {
            return Vec::new();
        }
        let mut others = self.views();
        others.retain(|other| other.cluster.is_applied() != view.cluster.is_applied());
        others
    }

    /// Returns `view` and the clusters [`Self::beyond`] it.
    pub(super) fn with_beyond<'c>(&'c self, view: View<'c>) -> Vec<View<'c>> {
        let mut views = vec![view];
        views.extend(self.beyond(view));
        views
    }

    /// Returns the object at byte `begins` of a file as each cluster has it, or as it is written if none has it.
    pub(super) fn instances(&self, path: &str, begins: u32) -> Vec<Instance<'_>> {
        let views = self.views();
        let found = views.iter().flat_map(|view| view.written_at(path, begins));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return self.view(None).written_at(path, begins);
        }
        found
    }

    /// Returns the objects of a file by offset, each from the first cluster that has it.
    pub(super) fn first_instances(&self, path: &str) -> BTreeMap<u32, Instance<'_>> {
        let mut found = BTreeMap::new();
        for view in self.views() {
            let inventory = view.inventory();
            let files = inventory.sources.with_path(path).into_iter();
            for member in files.flat_map(|file| inventory.members_of(file)) {
                let begins = member.object.value().span().start;
                found.entry(begins).or_insert(Instance { view, member });
            }
        }
        found
    }

    pub(super) fn place(&self, instance: Instance<'_>) -> ObjectPlace {
        ObjectPlace::new(self.at, instance)
    }

    /// Returns the place of an object as it is written, without its clusters: see [`Self::instances`].
    pub(super) fn written(&self, member: &Member) -> ObjectPlace {
        let view = self.view(None);
        ObjectPlace::new(self.at, Instance { view, member })
    }

    /// Returns the deletions from a cluster; `None` if it is too large, and for a bundle as it is written.
    pub(super) fn deletions(&self, view: View<'_>) -> Option<Rc<Deletions>> {
        let mut known = self.deletions.borrow_mut();
        let deletions = known.entry(view.at?).or_insert_with(|| {
            let deletions = match view.cluster.part() {
                Some(_) => Deletions::of(&view.cluster.analysis()),
                None => Deletions::of(&self.analysis),
            };
            deletions.map(Rc::new)
        });
        deletions.clone()
    }

    /// Returns the edges between the objects of a cluster.
    pub(super) fn relations<'c>(&'c self, view: View<'c>) -> Relations<'c> {
        let (Some(at), Some(_)) = (view.at, view.cluster.part()) else {
            return Relations::OfBundle(&self.analysis);
        };
        let mut known = self.edges.borrow_mut();
        let edges = known.entry(at).or_insert_with(|| {
            let inventory = view.inventory();
            Rc::new(Edges {
                ties: Ties::of(inventory, self.analysis.tables()),
                owners: owner_edges(inventory),
            })
        });
        Relations::OfCluster(Rc::clone(edges))
    }

    /// Returns the ties that begin at an object.
    pub(super) fn ties_from(&self, from: Instance<'_>) -> Vec<Tie> {
        if from.view.cluster.part().is_none() {
            return self.analysis.ties().from(from.member.id).to_vec();
        }
        let tables = self.analysis.tables();
        let ties = Ties::filtered(from.view.inventory(), tables, |member| {
            member.id == from.member.id
        });
        ties.all().to_vec()
    }
}

impl Relations<'_> {
    pub(super) fn ties(&self) -> &Ties {
        match self {
            Self::OfBundle(analysis) => analysis.ties(),
            Self::OfCluster(edges) => &edges.ties,
        }
    }

    /// Returns the edges of owner references.
    pub(super) fn owners(&self) -> &[OwnerEdge] {
        match self {
            Self::OfBundle(analysis) => &analysis.ownership().written,
            Self::OfCluster(edges) => &edges.owners,
        }
    }
}

impl<'c> View<'c> {
    pub(super) fn inventory(&self) -> &'c Inventory {
        self.cluster.inventory()
    }

    pub(super) fn instance(self, id: ObjectId) -> Instance<'c> {
        Instance {
            view: self,
            member: self.inventory().member(id),
        }
    }

    /// Returns the objects that are written at byte `begins` of a file. There are several if builds share it.
    fn written_at(self, path: &str, begins: u32) -> Vec<Instance<'c>> {
        let inventory = self.inventory();
        let copies = inventory.sources.with_path(path).into_iter();
        let found = copies.filter_map(|file| {
            let members = inventory.members_of(file);
            let member = members
                .iter()
                .find(|member| member.object.value().span().start == begins)?;
            Some(Instance { view: self, member })
        });
        found.collect()
    }

    /// Returns the objects that a reference to `key` may mean: those with the key, else those of
    /// the kind and name whose namespace may be the same.
    pub(super) fn named(self, key: &ObjectKey) -> Vec<Instance<'c>> {
        let inventory = self.inventory();
        let exact = inventory.with_key(key);
        let ids = if exact.is_empty() {
            let kind = key.group_kind();
            let near = inventory.with_name_near(kind, &key.name, &key.namespace);
            near.collect()
        } else {
            exact.to_vec()
        };
        ids.into_iter().map(|id| self.instance(id)).collect()
    }
}

impl<'c> Instance<'c> {
    pub(super) fn path(&self) -> &'c str {
        let sources = &self.view.inventory().sources;
        sources.file(self.member.file).path()
    }

    /// Whether a generator of a kustomization makes it, so that no file contains it.
    pub(super) fn is_generated(&self) -> bool {
        let sources = &self.view.inventory().sources;
        let file = sources.file(self.member.file);
        file.path_in_tree() != file.path()
    }

    /// Returns where it is applied, if its cluster was built.
    pub(super) fn destination(&self) -> Option<&'c Destination> {
        self.view.cluster.destination(self.member)
    }

    /// Whether one build contains both objects.
    pub(super) fn is_built_with(&self, other: Self) -> bool {
        let own = self.destination();
        matches!(own, Some(Destination::Root { .. }))
            && self.view.at == other.view.at
            && own == other.destination()
    }

    /// Whether it is the same object of the same cluster.
    pub(super) fn is(&self, other: Self) -> bool {
        (self.view.at, self.member.id) == (other.view.at, other.member.id)
    }
}
