//! What ties the objects of a plan, as arrows from owner to dependent: the tree of causes first, then every other reference.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::{Affected, Ending, Story};
use super::words;
use crate::gc::ObjectId;

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stroke {
    /// An owner reference with blockOwnerDeletion.
    Blocking,
    Owned,
    /// An owner reference that a controller would have written.
    Implied,
    /// A namespace and its content, a definition and its instances, a follower.
    Contains,
    /// An owner reference that the plan removes.
    Removed,
}

/// From owner to dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tie: Stroke,
}

/// Everything that a step touches, and what ties it.
#[derive(Debug)]
pub(crate) struct Web {
    /// The owners of what the step touches that it leaves alone: they are why something is kept.
    pub(crate) others: Vec<ObjectId>,
    /// Between places in [`Story::affected`], and after its end in `others`.
    pub(crate) arrows: Vec<Arrow>,
}

impl Web {
    /// The ties of a step, sorted, without shortcuts.
    pub(crate) fn of(story: &Story<'_>) -> Self {
        let cluster = story.view.plan.cluster();
        let affected = &story.affected;
        let mut places: BTreeMap<ObjectId, usize> =
            affected.iter().enumerate().map(|(place, affected)| (affected.id, place)).collect();
        let owners = |of: &Affected| cluster.edges(of.id).filter_map(|edge| edge.owner).collect::<BTreeSet<_>>();
        let others: BTreeSet<ObjectId> =
            affected.iter().flat_map(owners).filter(|id| !places.contains_key(id)).collect();
        let others = Vec::from_iter(others);
        places.extend(others.iter().enumerate().map(|(at, id)| (*id, affected.len() + at)));
        let mut arrows = Vec::new();
        for (to, dependent) in affected.iter().enumerate() {
            let parent = dependent.parent.map(|parent| affected[parent].id);
            let mut above = owners(dependent);
            above.extend(parent);
            let arrow = |id: ObjectId| Arrow { from: places[&id], to, tie: tie(story, dependent, Some(id)) };
            arrows.extend(above.into_iter().filter(|id| *id != dependent.id).map(arrow));
        }
        let mut arrows = without_shortcuts(arrows, places.len());
        arrows.sort_unstable();
        Self { others, arrows }
    }
}

/// How a dependent is tied to one of its owners, or to what contains it.
pub(crate) fn tie(story: &Story<'_>, dependent: &Affected, owner: Option<ObjectId>) -> Stroke {
    let cluster = story.view.plan.cluster();
    let Some(edge) = cluster.edges(dependent.id).find(|edge| edge.owner.is_some() && edge.owner == owner) else {
        return Stroke::Contains;
    };
    if dependent.ending == Ending::Kept && !words::stored_uids(story, dependent.id).contains(&edge.uid) {
        Stroke::Removed
    } else if story.implied(&dependent.key).is_some() {
        Stroke::Implied
    } else if edge.blocking {
        Stroke::Blocking
    } else {
        Stroke::Owned
    }
}

/// The arrows without those from a container to what an owner in it leads to: of a namespace with a Deployment, its
/// ReplicaSet and its Pods, the namespace points to the Deployment alone. Owner references all stay: a second owner is why
/// something is kept. Each container costs one walk.
pub(crate) fn without_shortcuts(mut arrows: Vec<Arrow>, nodes: usize) -> Vec<Arrow> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut contained: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for arrow in &arrows {
        match arrow.tie {
            Stroke::Contains => contained.entry(arrow.from).or_default().push(arrow.to),
            _ => next[arrow.from].push(arrow.to),
        }
    }
    // Containers lead on to what they contain in other containers' walks.
    for (container, content) in &contained {
        next[*container].extend(content);
    }
    let mut shortcuts = Shortcuts { seen: vec![usize::MAX; nodes] };
    for (container, content) in &mut contained {
        let owned = next[*container].len() - content.len();
        let needed = shortcuts.needed(&next, *container, &next[*container][..owned], content);
        content.retain(|node| needed.contains(node));
        next[*container].truncate(owned);
        next[*container].extend(&*content);
    }
    let contained: BTreeMap<usize, BTreeSet<usize>> =
        contained.into_iter().map(|(from, content)| (from, BTreeSet::from_iter(content))).collect();
    arrows.retain(|arrow| arrow.tie != Stroke::Contains || contained[&arrow.from].contains(&arrow.to));
    arrows
}

/// Which nodes were seen in the walk from a container.
struct Shortcuts {
    seen: Vec<usize>,
}

impl Shortcuts {
    /// The nodes of `content` that nothing else in the container leads to; of a ring, one.
    fn needed(&mut self, next: &[Vec<usize>], container: usize, owned: &[usize], content: &[usize]) -> BTreeSet<usize> {
        self.seen[container] = container;
        let mut needed = BTreeSet::new();
        for start in owned.iter().chain(content) {
            if self.seen[*start] == container {
                continue;
            }
            self.seen[*start] = container;
            let mut pending = vec![*start];
            while let Some(at) = pending.pop() {
                for node in &next[at] {
                    if self.seen[*node] != container {
                        self.seen[*node] = container;
                        pending.push(*node);
                    } else if node != start {
                        // An earlier start, if it was one: this one leads to it.
                        needed.remove(node);
                    }
                }
            }
            needed.insert(*start);
        }
        needed
    }
}
