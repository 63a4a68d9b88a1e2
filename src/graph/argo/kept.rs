//! Applications and sets that left the tree: their deliveries if they stay in the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::follow::Pending;
use super::{DEPTH, Run};
use crate::graph::delivery::Delivery;
use crate::kustomize::BeyondLimit;

impl Run<'_> {
    /// Follows the Applications and sets of the previous state that left the tree, as if their objects stayed in the
    /// cluster and read this state of the tree. Returns their deliveries, sorted by id.
    pub(super) fn kept(&mut self) -> Result<Vec<Delivery>, BeyondLimit> {
        let mut seen: BTreeSet<String> = self.all.iter().map(|one| one.id.clone()).collect();
        let known = self.known;
        let gone = self.before.iter().filter(|one| !seen.contains(&one.id));
        let mut of_plane: BTreeMap<&Arc<str>, Vec<(usize, &Pending)>> = BTreeMap::new();
        for one in gone {
            if let Some((plane, pending)) = known.followed.get(&one.id) {
                let start = (self.depth(one), pending);
                of_plane.entry(plane).or_default().push(start);
            }
        }
        if of_plane.is_empty() {
            return Ok(Vec::new());
        }
        let memory = self.memory.only_clusters();
        let memory = std::mem::replace(&mut self.memory, memory);
        let all = std::mem::take(&mut self.all);
        let mut in_cluster: BTreeMap<&Arc<str>, Vec<&Delivery>> = BTreeMap::new();
        for one in &all {
            in_cluster.entry(&one.cluster).or_default().push(one);
        }
        for (plane, mut starts) in of_plane {
            let in_plane = in_cluster.get(plane).into_iter().flatten();
            let secrets = in_plane.flat_map(|one| one.resources.iter());
            let clusters = self.clusters.with_secrets(secrets);
            let clusters = clusters.unwrap_or_else(|| self.clusters.clone());
            let configured = std::mem::replace(&mut self.clusters, clusters);
            // Parents first: a child that its parent still delivers is then in `seen` already.
            starts.sort_by_key(|(depth, _)| *depth);
            for (_, pending) in starts {
                self.follow(plane, vec![pending.clone()], &mut seen)?;
            }
            self.clusters = configured;
        }
        self.memory = memory;
        let mut kept = std::mem::replace(&mut self.all, all);
        Delivery::sort(&mut kept);
        Ok(kept)
    }

    /// Returns the number of ancestors of a delivery of the previous state, at most [`DEPTH`].
    fn depth(&self, delivery: &Delivery) -> usize {
        let parent = |one: &Delivery| Delivery::find(self.before, one.parent.as_deref()?);
        let above = std::iter::successors(parent(delivery), |one| parent(one));
        // The parents of deliveries that deliver each other form a cycle.
        above.take(DEPTH).count()
    }
}
