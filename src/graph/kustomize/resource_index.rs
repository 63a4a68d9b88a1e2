//! The objects of a build, found by the identities and names that they have or had.

use std::collections::BTreeSet;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::resource::{ResId, Resource};

/// Objects in their order. An index stays the same when others are removed.
#[derive(Default)]
pub(super) struct ResourceIndex {
    slots: Vec<Option<Resource>>,
    by_id: HashMap<ResId, BTreeSet<usize>>,
    by_name: HashMap<SmolStr, BTreeSet<usize>>,
}

impl ResourceIndex {
    pub(super) fn new(resources: Vec<Resource>) -> Self {
        let mut index = Self::default();
        for resource in resources {
            index.push(resource);
        }
        index
    }

    pub(super) fn push(&mut self, resource: Resource) {
        for id in resource.previous.iter() {
            self.index(id, self.slots.len());
        }
        self.index(&resource.id(), self.slots.len());
        self.slots.push(Some(resource));
    }

    fn index(&mut self, id: &ResId, at: usize) {
        self.by_name.entry(id.name.clone()).or_default().insert(at);
        self.by_id.entry(id.comparable()).or_default().insert(at);
    }

    /// Replaces an object by the result of `change`; `None` removes it.
    pub(super) fn change(&mut self, at: usize, change: impl FnOnce(Resource) -> Option<Resource>) {
        self.slots[at] = self.slots[at].take().and_then(change);
        if let Some(id) = self.get(at).map(Resource::id) {
            self.index(&id, at);
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&Resource> {
        self.slots[at].as_ref()
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Resource> {
        self.slots[at].as_mut()
    }

    /// Returns the index of the first object that has or had an identity.
    pub(super) fn find(&self, id: &ResId) -> Option<usize> {
        let mut found = self.by_id.get(&id.comparable())?.iter().copied();
        found.find(|at| self.slots[*at].is_some())
    }

    /// Returns the indices of the objects that have or had a name, or of all if `name` is `None`,
    /// in their order. Some objects may be removed already.
    pub(super) fn candidates(&self, name: Option<&str>) -> Vec<usize> {
        match name {
            Some(name) => {
                let found = self.by_name.get(name).into_iter().flatten();
                found.copied().collect()
            }
            None => (0..self.slots.len()).collect(),
        }
    }

    pub(super) fn into_resources(self) -> Vec<Resource> {
        self.slots.into_iter().flatten().collect()
    }
}
