//! Applications and sets that left the tree: their deliveries if they stay in the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::follow::Pending;
use super::{DEPTH, Run};
use crate::graph::delivery::Delivery;
use crate::kustomize::BeyondLimit;

impl Run<'_> {
    /// Returns the deliveries of the previous state that left the tree, as they deliver this state if their objects stay
    /// in the cluster, in the order of their ids. Sets read this state again, and so do the Applications in it.
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
            // An object that a kept one delivers in this state replaces its version in the previous one.
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

    /// Returns the number of deliveries above one of the previous state.
    fn depth(&self, delivery: &Delivery) -> usize {
        let parent = |one: &Delivery| Delivery::find(self.before, one.parent.as_deref()?);
        let above = std::iter::successors(parent(delivery), |one| parent(one));
        // Deliveries that deliver each other have no end.
        above.take(DEPTH).count()
    }
}
