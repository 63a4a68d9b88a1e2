//! The references between the objects of a plan, as arrows from owner to dependent.

use std::collections::{BTreeMap, BTreeSet};

use super::telling::{Affected, Fate, Story};
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
    /// A Namespace and its content, a CRD and its instances, or an object that is deleted along with another.
    Contains,
    /// An owner reference that the plan removes.
    Removed,
}

/// An arrow from owner to dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tie: Stroke,
}

/// The references between the objects that a step touches.
#[derive(Debug)]
pub(crate) struct Web {
    /// Untouched owners of these objects, which may be kept because of them.
    pub(crate) others: Vec<ObjectId>,
    /// The arrows between indices of [`Story::affected`]; higher ones are indices of `others`.
    pub(crate) arrows: Vec<Arrow>,
}

impl Web {
    /// Collects the arrows of a step, sorted, without shortcuts.
    pub(crate) fn of(story: &Story<'_>) -> Self {
        let cluster = story.view.plan.cluster();
        let affected = &story.affected;
        let ids = affected.iter().map(|affected| affected.id);
        let mut places: BTreeMap<ObjectId, usize> = ids.clone().zip(0..).collect();
        let edges = ids.flat_map(|id| cluster.edges(id));
        let owners = edges.filter_map(|edge| edge.owner);
        let others: BTreeSet<ObjectId> = owners.filter(|id| !places.contains_key(id)).collect();
        let others = Vec::from_iter(others);
        places.extend(others.iter().copied().zip(affected.len()..));
        let mut arrows = Vec::new();
        for (to, dependent) in affected.iter().enumerate() {
            let strokes = OwnerStrokes::of(story, dependent);
            let mut above: BTreeSet<ObjectId> = strokes.0.keys().copied().collect();
            above.extend(dependent.parent.map(|parent| affected[parent].id));
            above.remove(&dependent.id);
            arrows.extend(above.into_iter().map(|id| Arrow {
                from: places[&id],
                to,
                tie: strokes.to(Some(id)),
            }));
        }
        let mut arrows = without_shortcuts(arrows, places.len());
        arrows.sort_unstable();
        Self { others, arrows }
    }
}

/// The stroke from each owner of a dependent. All are computed at once, because an object may have many owners.
pub(crate) struct OwnerStrokes(BTreeMap<ObjectId, Stroke>);

impl OwnerStrokes {
    pub(crate) fn of(story: &Story<'_>, dependent: &Affected) -> Self {
        let stored =
            (dependent.fate == Fate::Kept).then(|| words::stored_uids(story, dependent.id));
        let implied = story.implied(&dependent.key).is_some();
        let mut strokes = BTreeMap::new();
        for edge in story.view.plan.cluster().edges(dependent.id) {
            let Some(owner) = edge.owner else { continue };
            strokes.entry(owner).or_insert_with(|| match &stored {
                Some(stored) if !stored.contains(&edge.uid) => Stroke::Removed,
                _ if implied => Stroke::Implied,
                _ if edge.blocking => Stroke::Blocking,
                _ => Stroke::Owned,
            });
        }
        Self(strokes)
    }

    /// Returns the stroke from `owner`; `Contains` if it is not an owner of the dependent.
    pub(crate) fn to(&self, owner: Option<ObjectId>) -> Stroke {
        owner
            .and_then(|owner| self.0.get(&owner))
            .copied()
            .unwrap_or(Stroke::Contains)
    }
}

/// Removes arrows from a container to objects to which an owner in it leads: a Namespace with a
/// Deployment, its ReplicaSet and its Pods points only to the Deployment. All owner references
/// stay, because an object may be kept for a second owner. Each container costs one walk.
pub(crate) fn without_shortcuts(mut arrows: Vec<Arrow>, nodes: usize) -> Vec<Arrow> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut contained: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for arrow in &arrows {
        match arrow.tie {
            Stroke::Contains => contained.entry(arrow.from).or_default().push(arrow.to),
            _ => next[arrow.from].push(arrow.to),
        }
    }
    // A walk from a container also passes through other containers.
    for (container, content) in &contained {
        next[*container].extend(content);
    }
    // The container from which each node was last reached.
    let mut seen = vec![usize::MAX; nodes];
    for (container, content) in &mut contained {
        let owned = next[*container].len() - content.len();
        let starts = next[*container][..owned].iter().chain(&*content);
        let needed = needed(&next, *container, starts, &mut seen);
        content.retain(|node| needed.contains(node));
        next[*container].truncate(owned);
        next[*container].extend(&*content);
    }
    let contained = contained.into_iter();
    let contained =
        contained.flat_map(|(from, content)| content.into_iter().map(move |to| (from, to)));
    let contained: BTreeSet<(usize, usize)> = contained.collect();
    arrows.retain(|arrow| {
        arrow.tie != Stroke::Contains || contained.contains(&(arrow.from, arrow.to))
    });
    arrows
}

/// Returns the nodes of `starts` to which no other node of `container` leads, and one node of each
/// cycle. `seen` has, for each node, the container from which it was last reached.
fn needed<'n>(
    next: &[Vec<usize>],
    container: usize,
    starts: impl Iterator<Item = &'n usize>,
    seen: &mut [usize],
) -> BTreeSet<usize> {
    seen[container] = container;
    let mut needed = BTreeSet::new();
    for start in starts {
        if seen[*start] == container {
            continue;
        }
        seen[*start] = container;
        let mut pending = vec![*start];
        while let Some(at) = pending.pop() {
            for node in &next[at] {
                if seen[*node] != container {
                    seen[*node] = container;
                    pending.push(*node);
                } else if node != start {
                    // If it was an earlier start, it is reached from this one.
                    needed.remove(node);
                }
            }
        }
        needed.insert(*start);
    }
    needed
}
