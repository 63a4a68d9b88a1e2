//! The ties of the objects of a plan, as arrows from owner to dependent: the tree of causes first, then every other reference.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::{Affected, Ending, Story};
use super::words;
use crate::gc::{Edge, ObjectId};

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
    /// Untouched owners of the objects that the step touches: they are why something is kept.
    pub(crate) others: Vec<ObjectId>,
    /// Between places in [`Story::affected`], and after its end in `others`.
    pub(crate) arrows: Vec<Arrow>,
}

impl Web {
    /// The ties of a step, sorted, without shortcuts.
    pub(crate) fn of(story: &Story<'_>) -> Self {
        let cluster = story.view.plan.cluster();
        let affected = &story.affected;
        let mut places: BTreeMap<ObjectId, usize> = affected
            .iter()
            .enumerate()
            .map(|(place, affected)| (affected.id, place))
            .collect();
        let owners = affected
            .iter()
            .flat_map(|of| cluster.edges(of.id))
            .filter_map(|edge| edge.owner);
        let others: BTreeSet<ObjectId> = owners.filter(|id| !places.contains_key(id)).collect();
        let others = Vec::from_iter(others);
        places.extend(
            others
                .iter()
                .enumerate()
                .map(|(at, id)| (*id, affected.len() + at)),
        );
        let mut arrows = Vec::new();
        for (to, dependent) in affected.iter().enumerate() {
            let strokes = OwnerStrokes::of(story, dependent);
            let mut above: BTreeSet<ObjectId> = strokes.0.keys().copied().collect();
            above.extend(dependent.parent.map(|parent| affected[parent].id));
            arrows.extend(
                above
                    .into_iter()
                    .filter(|id| *id != dependent.id)
                    .map(|id| Arrow {
                        from: places[&id],
                        to,
                        tie: strokes.to(Some(id)),
                    }),
            );
        }
        let mut arrows = without_shortcuts(arrows, places.len());
        arrows.sort_unstable();
        Self { others, arrows }
    }
}

/// How a dependent is tied to each of its owners. An object can have as many as fit into a file: all are found at once.
pub(crate) struct OwnerStrokes(BTreeMap<ObjectId, Stroke>);

impl OwnerStrokes {
    pub(crate) fn of(story: &Story<'_>, dependent: &Affected) -> Self {
        let stored =
            (dependent.ending == Ending::Kept).then(|| words::stored_uids(story, dependent.id));
        let implied = story.implied(&dependent.key).is_some();
        let stroke = |edge: &Edge| match &stored {
            Some(stored) if !stored.contains(&edge.uid) => Stroke::Removed,
            _ if implied => Stroke::Implied,
            _ if edge.blocking => Stroke::Blocking,
            _ => Stroke::Owned,
        };
        let mut strokes = BTreeMap::new();
        for edge in story.view.plan.cluster().edges(dependent.id) {
            if let Some(owner) = edge.owner {
                strokes.entry(owner).or_insert_with(|| stroke(&edge));
            }
        }
        Self(strokes)
    }

    /// To an owner, or to what contains the dependent.
    pub(crate) fn to(&self, owner: Option<ObjectId>) -> Stroke {
        owner
            .and_then(|owner| self.0.get(&owner))
            .copied()
            .unwrap_or(Stroke::Contains)
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
    let mut shortcuts = Shortcuts {
        seen: vec![usize::MAX; nodes],
    };
    for (container, content) in &mut contained {
        let owned = next[*container].len() - content.len();
        let needed = shortcuts.needed(&next, *container, &next[*container][..owned], content);
        content.retain(|node| needed.contains(node));
        next[*container].truncate(owned);
        next[*container].extend(&*content);
    }
    let contained: BTreeMap<usize, BTreeSet<usize>> = contained
        .into_iter()
        .map(|(from, content)| (from, BTreeSet::from_iter(content)))
        .collect();
    arrows.retain(|arrow| {
        arrow.tie != Stroke::Contains || contained[&arrow.from].contains(&arrow.to)
    });
    arrows
}

/// Which nodes were seen in the walk from a container.
struct Shortcuts {
    seen: Vec<usize>,
}

impl Shortcuts {
    /// The nodes of `content` that nothing else in the container leads to; of a ring, one.
    fn needed(
        &mut self,
        next: &[Vec<usize>],
        container: usize,
        owned: &[usize],
        content: &[usize],
    ) -> BTreeSet<usize> {
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
