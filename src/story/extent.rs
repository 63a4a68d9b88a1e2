//! The extent of a picture: all objects that the steps of a plan touch, or some of them.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::{Affected, Fate, Story};
use crate::gc::ObjectId;
use crate::kube::ObjectKey;

/// The objects that a graph shows, each with the last step that touches it.
#[derive(Debug)]
pub(crate) struct Extent {
    affected: Vec<Affected>,
    steps: Vec<usize>,
}

impl Extent {
    /// Returns the objects that any step touches, with their last ending and the last step that touches them. Parents
    /// come before their children, as in the stories.
    pub(crate) fn all(stories: &[Story<'_>]) -> Self {
        let mut all: Vec<Affected> = Vec::new();
        let mut steps = Vec::new();
        let mut places: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for story in stories {
            for affected in &story.affected {
                if let Some(&known) = places.get(&affected.id) {
                    all[known].fate = affected.fate;
                    steps[known] = story.step;
                } else {
                    let parent = affected.parent.map(|parent| story.affected[parent].id);
                    let parent = parent.and_then(|parent| places.get(&parent)).copied();
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

    /// Returns the objects that are touched because of `roots`, including `roots`.
    pub(crate) fn below(stories: &[Story<'_>], roots: &BTreeSet<ObjectId>) -> Self {
        let all = Self::all(stories);
        let mut inside: Vec<bool> = Vec::with_capacity(all.affected.len());
        for affected in &all.affected {
            let above = affected.parent.is_some_and(|parent| inside[parent]);
            inside.push(above || roots.contains(&affected.id));
        }
        all.limited_to(&inside)
    }

    /// Returns the `wanted` objects that are stuck or have a `wanted` parent or child in the tree
    /// of causes: an object that is deleted by itself needs no picture.
    pub(crate) fn tied(stories: &[Story<'_>], wanted: impl Fn(&ObjectKey) -> bool) -> Self {
        let all = Self::all(stories);
        let mut tied = vec![false; all.affected.len()];
        let affected = all.affected.iter().enumerate();
        for (at, affected) in affected.filter(|(_, affected)| wanted(&affected.key)) {
            tied[at] |= affected.fate == Fate::Stuck;
            let parent = affected.parent;
            if let Some(parent) = parent.filter(|parent| wanted(&all.affected[*parent].key)) {
                tied[at] = true;
                tied[parent] = true;
            }
        }
        all.limited_to(&tied)
    }

    /// Keeps the objects for which `inside` is set. If a parent is left out, its children become roots.
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

    /// Returns the number of objects with this ending.
    pub(crate) fn count(&self, fate: Fate) -> usize {
        let affected = self.affected.iter();
        affected.filter(|one| one.fate == fate).count()
    }

    /// Returns the last step that touches each object.
    pub(crate) fn steps(&self) -> &[usize] {
        &self.steps
    }
}
