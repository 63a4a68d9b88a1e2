//! The extent of a picture: everything that the steps of a plan touch, or a part of it.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::{Affected, Ending, Story};
use crate::gc::ObjectId;
use crate::kube::ObjectKey;

/// The extent of a graph: the objects that the steps touch, or the part of them that is touched because of some objects.
#[derive(Debug)]
pub(crate) struct Extent {
    affected: Vec<Affected>,
    steps: Vec<usize>,
}

impl Extent {
    /// The objects that any step touches, with their last ending and the last step that touches them. Parents come
    /// before their children, as in the stories.
    pub(crate) fn all(stories: &[Story<'_>]) -> Self {
        let mut all: Vec<Affected> = Vec::new();
        let mut steps = Vec::new();
        let mut places: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for story in stories {
            for affected in &story.affected {
                let parent = affected
                    .parent
                    .and_then(|parent| places.get(&story.affected[parent].id))
                    .copied();
                if let Some(&known) = places.get(&affected.id) {
                    all[known].ending = affected.ending;
                    steps[known] = story.step;
                } else {
                    places.insert(affected.id, all.len());
                    all.push(Affected {
                        parent,
                        ..affected.clone()
                    });
                    steps.push(story.step);
                }
            }
        }
        Self {
            affected: all,
            steps,
        }
    }

    /// The part of that which is touched because of `roots`, the roots included.
    pub(crate) fn below(stories: &[Story<'_>], roots: &BTreeSet<ObjectId>) -> Self {
        let all = Self::all(stories);
        let mut inside: Vec<bool> = Vec::with_capacity(all.affected.len());
        for affected in &all.affected {
            let above = affected.parent.is_some_and(|parent| inside[parent]);
            inside.push(above || roots.contains(&affected.id));
        }
        all.limited_to(&inside)
    }

    /// The objects that are deleted, stuck or kept together with another one, among those that `wanted` names: one that
    /// is deleted for itself alone needs no picture. A stuck object always does.
    pub(crate) fn tied(stories: &[Story<'_>], wanted: impl Fn(&ObjectKey) -> bool) -> Self {
        let all = Self::all(stories);
        let mut tied = vec![false; all.affected.len()];
        for (at, affected) in all
            .affected
            .iter()
            .enumerate()
            .filter(|(_, affected)| wanted(&affected.key))
        {
            tied[at] |= affected.ending == Ending::Stuck;
            if let Some(parent) = affected
                .parent
                .filter(|parent| wanted(&all.affected[*parent].key))
            {
                tied[at] = true;
                tied[parent] = true;
            }
        }
        all.limited_to(&tied)
    }

    /// The objects for which `inside` is set; one whose parent is left out begins a tree of its own.
    fn limited_to(self, inside: &[bool]) -> Self {
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.affected.len());
        let mut limited = Self {
            affected: Vec::new(),
            steps: Vec::new(),
        };
        for ((affected, step), inside) in self.affected.into_iter().zip(self.steps).zip(inside) {
            let parent = affected.parent.and_then(|parent| places[parent]);
            places.push(inside.then_some(limited.affected.len()));
            if *inside {
                limited.affected.push(Affected { parent, ..affected });
                limited.steps.push(step);
            }
        }
        limited
    }

    pub(crate) fn affected(&self) -> &[Affected] {
        &self.affected
    }

    /// The last step that touches each of them.
    pub(crate) fn steps(&self) -> &[usize] {
        &self.steps
    }
}
