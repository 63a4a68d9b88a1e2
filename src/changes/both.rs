//! Both sides of a change, with one sequence of file numbers.

use super::compare::Sides;
use super::destination::Destination;
use super::tree::{TreePart, TreePlace, destination_of};
use crate::inventory::Member;
use crate::kustomize::Deliverer;
use crate::text::{FileId, SourceFile};

/// The trees of both sides. Findings point into either side, so one sequence numbers all files:
/// those of base, tree by tree, then those of head. A file that several roots build has several.
#[derive(Clone, Copy, Debug)]
pub struct BothSides<'a> {
    /// The trees before the change.
    pub base: &'a [TreePart],
    /// The trees after the change.
    pub head: &'a [TreePart],
}

impl<'a> BothSides<'a> {
    /// Returns the object of base at `place`.
    pub fn of_base(self, place: TreePlace) -> &'a Member {
        self.base[place.tree].inventory.member(place.id)
    }

    /// Returns the object of head at `place`.
    pub fn of_head(self, place: TreePlace) -> &'a Member {
        self.head[place.tree].inventory.member(place.id)
    }

    /// Whether an object is applied in base or in head.
    pub fn applies(self, sides: Sides) -> bool {
        let base = sides.base().map(|place| destination_of(self.base, place));
        let head = sides.head().map(|place| destination_of(self.head, place));
        base.into_iter().chain(head).any(Destination::is_applied)
    }

    /// Whether an object of base and one of head are certainly in different clusters.
    pub fn are_apart(self, was: TreePlace, is: TreePlace) -> bool {
        let [of_old, of_new] =
            [&self.base[was.tree], &self.head[is.tree]].map(|part| part.cluster.as_ref());
        if of_old.is_some() == of_new.is_some() {
            return of_old != of_new;
        }
        // Only one part has a cluster name, so the clusters that the deliverers name are compared.
        let [old, new] = [(self.base, was), (self.head, is)]
            .map(|(trees, place)| destination_of(trees, place).deliverer());
        let (Some(old), Some(new)) = (old.map(Deliverer::place), new.map(Deliverer::place)) else {
            return false;
        };
        let named =
            of_old.is_none_or(|part| *part == old) && of_new.is_none_or(|part| *part == new);
        named && !old.is_empty() && !new.is_empty() && old != new
    }

    /// Returns the number of a file of base.
    pub fn base_file(self, tree: usize, file: FileId) -> FileId {
        FileId(count(&self.base[..tree]) + file.0)
    }

    /// Returns the number of a file of head.
    pub fn head_file(self, tree: usize, file: FileId) -> FileId {
        FileId(count(self.base) + count(&self.head[..tree]) + file.0)
    }

    /// Returns all files, in the order of their numbers.
    pub fn files(self) -> impl Iterator<Item = &'a SourceFile> {
        let trees = self.base.iter().chain(self.head);
        trees.flat_map(|tree| tree.inventory.sources.iter().map(|(_, file)| file))
    }
}

fn count(trees: &[TreePart]) -> u32 {
    trees
        .iter()
        .map(|tree| tree.inventory.sources.len() as u32)
        .sum()
}
