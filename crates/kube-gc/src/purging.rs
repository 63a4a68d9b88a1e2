//! Remaining work of purges, derived from the flags of the objects. It is cached because the search
//! needs it after every move.

use std::collections::BTreeMap;

use typed_index_collections::TiVec;

use crate::cluster::Cluster;
use crate::failing::Failing;
use crate::flags::{GONE, TERMINATING};
use crate::id_set::IdSet;
use crate::ids::ObjectId;
use crate::links::Role;

/// The remaining work of purges in a state.
#[derive(Debug, Clone)]
pub(super) struct Purging {
    /// Superset of the objects that a purge would delete now; `next_purge` removes the others.
    pub(super) candidates: IdSet,
    /// The Terminating namespaces without content: all that can be finalized, and perhaps others.
    pub(super) emptied: IdSet,
    /// Remaining content of the namespaces that have lost an object.
    left: BTreeMap<ObjectId, Left>,
}

/// The remaining objects of a namespace.
#[derive(Debug, Clone, Copy, Default)]
struct Left {
    pods: Remainder,
    others: Remainder,
}

/// The remaining objects of a list. Removed ones never come back.
#[derive(Debug, Clone, Copy, Default)]
struct Remainder {
    number: u32,
    /// All objects before this index are gone.
    first: u32,
}

impl Remainder {
    fn all_of(list: &[ObjectId]) -> Self {
        Self {
            number: list.len() as u32,
            first: 0,
        }
    }

    fn update(&mut self, list: &[ObjectId], flags: &TiVec<ObjectId, u16>) {
        self.number -= 1;
        while list
            .get(self.first as usize)
            .is_some_and(|id| flags[*id] & GONE != 0)
        {
            self.first += 1;
        }
    }
}

impl Left {
    fn of(content: &[ObjectId], pods: &[ObjectId]) -> Self {
        Self {
            pods: Remainder::all_of(pods),
            others: Remainder::all_of(content),
        }
    }
}

impl Purging {
    /// Returns the work before the first step, when everything exists.
    pub(super) fn new(cluster: &Cluster, failing: &Failing) -> Self {
        let mut purging = Purging {
            candidates: IdSet::new(cluster.len()),
            emptied: IdSet::new(cluster.len()),
            left: BTreeMap::new(),
        };
        for id in cluster.links.roles.keys() {
            if cluster.nodes[*id].flags & TERMINATING != 0 {
                purging.start(cluster, failing, *id);
            }
        }
        purging
    }

    /// Starts the purge of a namespace or definition that is now Terminating, or extends it because webhooks now fail.
    pub(super) fn start(&mut self, cluster: &Cluster, failing: &Failing, id: ObjectId) {
        match cluster.links.roles.get(&id) {
            Some(Role::Namespace { content, pods, .. }) => {
                if self.is_empty(cluster, id) {
                    self.emptied.insert(id);
                }
                self.candidates.extend(pods.iter().copied());
                // If the deletion of a Pod is rejected, the rest does not wait for it [NS-8].
                if !self.has_pods(cluster, id)
                    || failing.has_webhooks() && cluster.asks_about_kind_of(pods)
                {
                    self.candidates.extend(content.iter().copied());
                }
            }
            Some(Role::Definition { instances, .. }) => {
                self.candidates.extend(instances.iter().copied());
            }
            Some(Role::Pod { .. }) | None => {}
        }
    }

    /// Whether the namespace has Pods left that are deleted before everything else in it.
    pub(super) fn has_pods(&self, cluster: &Cluster, namespace: ObjectId) -> bool {
        self.left(cluster, namespace)
            .is_some_and(|left| left.pods.number > 0)
    }

    /// Whether nothing is left in the namespace.
    pub(super) fn is_empty(&self, cluster: &Cluster, namespace: ObjectId) -> bool {
        self.left(cluster, namespace)
            .is_none_or(|left| left.pods.number == 0 && left.others.number == 0)
    }

    /// Returns the remaining content of a namespace; `None` if the object is not a namespace.
    fn left(&self, cluster: &Cluster, namespace: ObjectId) -> Option<Left> {
        if let Some(left) = self.left.get(&namespace) {
            return Some(*left);
        }
        let (pods, content) = cluster.links.content_of(namespace)?;
        Some(Left::of(content, pods))
    }

    pub(super) fn note_removal(
        &mut self,
        cluster: &Cluster,
        id: ObjectId,
        flags: &TiVec<ObjectId, u16>,
    ) {
        self.emptied.remove(id);
        let Some(home) = cluster.links.home_of(id) else {
            return;
        };
        let Some((pods, content)) = cluster.links.content_of(home) else {
            return;
        };
        let left = self
            .left
            .entry(home)
            .or_insert_with(|| Left::of(content, pods));
        if cluster.goes_first(id) {
            left.pods.update(pods, flags);
            if left.pods.number == 0 {
                self.candidates.extend(content.iter().copied());
            }
        } else {
            left.others.update(content, flags);
        }
        if flags[home] & (TERMINATING | GONE) == TERMINATING && self.is_empty(cluster, home) {
            self.emptied.insert(home);
        }
    }

    /// Returns one of the remaining Pods of a namespace that are deleted before everything else in it.
    pub(super) fn some_pod(&self, cluster: &Cluster, namespace: ObjectId) -> Option<ObjectId> {
        let (pods, _) = cluster.links.content_of(namespace)?;
        pods.get(self.left(cluster, namespace)?.pods.first as usize)
            .copied()
    }

    /// Returns one of the remaining objects of a namespace.
    pub(super) fn some_content(&self, cluster: &Cluster, namespace: ObjectId) -> Option<ObjectId> {
        let (_, content) = cluster.links.content_of(namespace)?;
        self.some_pod(cluster, namespace).or_else(|| {
            content
                .get(self.left(cluster, namespace)?.others.first as usize)
                .copied()
        })
    }
}
