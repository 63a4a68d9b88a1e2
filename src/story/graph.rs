//! The graph of a whole plan, for Graphviz and Mermaid: what all steps together delete, leave stuck and keep, the other
//! owners of these objects, and the references between them.
//!
//! Never more than [`NODES`] nodes and [`EDGES`] edges: siblings of a kind become one node with their number.

use std::collections::{BTreeMap, BTreeSet};

use super::outline::{KindCounts, Limits, Line, Shown, outline};
use super::telling::{Affected, Ending, Story};
use super::words;
use crate::gc::{Hold, ObjectId};
use crate::kube::Namespace;
use crate::text::plain;

/// Most nodes; what is drawn around them (a legend) not counted.
pub(crate) const NODES: usize = 140;
/// Most edges; Mermaid rejects more than 500.
const EDGES: usize = 400;
/// Siblings of one kind and ending that are drawn one by one.
const SIBLINGS: usize = 4;
/// Characters of a line of a label.
const LABEL: usize = 60;

/// What the colour of a node says about its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Deleted,
    Stuck,
    Kept,
    /// An owner that the plan does not touch.
    Untouched,
}

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

#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    /// Lines, not escaped.
    pub(crate) label: Vec<String>,
    pub(crate) tone: Tone,
}

/// From owner to dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) tie: Stroke,
}

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Vertex>,
    pub(crate) arrows: Vec<Arrow>,
    /// Objects that have no node of their own, by kind.
    pub(crate) collapsed: KindCounts,
}

impl Graph {
    /// Every tone that a node has, each once: what a legend has to explain.
    pub(crate) fn tones(&self) -> BTreeSet<Tone> {
        self.nodes.iter().map(|node| node.tone).collect()
    }

    /// Every kind of arrow that is drawn, each once.
    pub(crate) fn ties(&self) -> BTreeSet<Stroke> {
        self.arrows.iter().map(|arrow| arrow.tie).collect()
    }
}

/// What a graph is about: what the steps touch, or the part of it that is touched because of some objects.
#[derive(Debug)]
pub(crate) struct Extent {
    affected: Vec<Affected>,
    /// The last step that touches each of them.
    steps: Vec<usize>,
}

impl Extent {
    /// What any step touches, with its last ending and the last step that touches it. Parents come before their children, as
    /// in the stories.
    pub(crate) fn all(stories: &[Story<'_>]) -> Self {
        let mut all: Vec<Affected> = Vec::new();
        let mut steps = Vec::new();
        let mut places: BTreeMap<ObjectId, usize> = BTreeMap::new();
        for story in stories {
            for affected in &story.affected {
                let parent = affected.parent.and_then(|parent| places.get(&story.affected[parent].id)).copied();
                match places.get(&affected.id) {
                    Some(&known) => {
                        all[known].ending = affected.ending;
                        steps[known] = story.step;
                    }
                    None => {
                        places.insert(affected.id, all.len());
                        all.push(Affected { parent, ..affected.clone() });
                        steps.push(story.step);
                    }
                }
            }
        }
        Self { affected: all, steps }
    }

    /// The part of that which is touched because of `roots`, the roots included.
    pub(crate) fn below(stories: &[Story<'_>], roots: &BTreeSet<ObjectId>) -> Self {
        let all = Self::all(stories);
        let mut places: Vec<Option<usize>> = Vec::with_capacity(all.affected.len());
        let mut below = Self { affected: Vec::new(), steps: Vec::new() };
        for (affected, step) in all.affected.into_iter().zip(all.steps) {
            let parent = affected.parent.and_then(|parent| places[parent]);
            let inside = parent.is_some() || roots.contains(&affected.id);
            places.push(inside.then_some(below.affected.len()));
            if inside {
                below.affected.push(Affected { parent, ..affected });
                below.steps.push(step);
            }
        }
        below
    }

    pub(crate) fn affected(&self) -> &[Affected] {
        &self.affected
    }
}

/// The graph of a scope with at most `nodes` nodes.
pub(crate) fn graph(stories: &[Story<'_>], scope: &Extent, nodes: usize) -> Graph {
    let Extent { affected, steps } = scope;
    let siblings = if affected.len() <= nodes { nodes } else { SIBLINGS };
    let entries = outline(affected, Limits { entries: nodes, siblings, depth: usize::MAX });
    let mut draft = Drawing {
        stories,
        affected,
        steps,
        graph: Graph { nodes: Vec::new(), arrows: Vec::new(), collapsed: KindCounts::new() },
        places: BTreeMap::new(),
    };
    for entry in &entries {
        draft.add_node(entry);
    }
    draft.add_other_owners(nodes);
    draft.add_arrows(&entries);
    draft.graph
}

struct Drawing<'a> {
    stories: &'a [Story<'a>],
    affected: &'a [Affected],
    /// The last step that touches each of them.
    steps: &'a [usize],
    graph: Graph,
    /// Nodes of objects.
    places: BTreeMap<ObjectId, usize>,
}

impl Drawing<'_> {
    fn add_node(&mut self, entry: &Line) {
        for (kind, number) in &entry.hidden {
            *self.graph.collapsed.entry(kind.clone()).or_default() += number;
        }
        let below = (!entry.hidden.is_empty()).then(|| short(&format!("and below: {}", words::kinds(&entry.hidden))));
        let node = match &entry.item {
            Shown::Object(place) => {
                let affected = &self.affected[*place];
                self.places.insert(affected.id, self.graph.nodes.len());
                let mut label = self.name(affected, self.steps[*place]);
                label.extend(below);
                Vertex { label, tone: tone(affected.ending) }
            }
            Shown::Rest(places) => {
                let siblings: Vec<&Affected> = places.iter().map(|place| &self.affected[*place]).collect();
                for affected in &siblings {
                    *self.graph.collapsed.entry(affected.key.kind.clone()).or_default() += 1;
                }
                let label = [short(&format!("and {}", words::rest(&siblings)))].into_iter().chain(below).collect();
                Vertex { label, tone: tone(self.affected[places[0]].ending) }
            }
        };
        self.graph.nodes.push(node);
    }

    /// The key in two lines, and what is special about the object.
    fn name(&self, affected: &Affected, step: usize) -> Vec<String> {
        let key = &affected.key;
        let kind = key.group_kind().to_string();
        let name =
            if key.namespace == Namespace::None { key.name.clone() } else { format!("{}/{}", key.namespace, key.name) };
        let mut marks = Vec::new();
        if self.stories.iter().any(|story| story.implied(key).is_some()) {
            marks.push("implied".to_owned());
        }
        if self.stories.iter().any(|story| story.view.data.contains_key(key)) {
            marks.push("data".to_owned());
        }
        if self.stories.len() > 1 {
            marks.push(format!("step {}", step + 1));
        }
        let marks = (!marks.is_empty()).then(|| format!("({})", marks.join(", ")));
        [short(&kind), short(&name)].into_iter().chain(marks).chain(self.finalizers(affected, step)).collect()
    }

    /// The finalizers that hold a stuck object: somebody has to remove them.
    fn finalizers(&self, affected: &Affected, step: usize) -> Option<String> {
        let story = self.stories.iter().find(|story| story.step == step)?;
        let stuck = story.stuck.binary_search_by_key(&affected.id, |held| held.object).ok()?;
        let names = story.stuck[stuck].holds.iter().filter_map(|hold| match hold {
            Hold::Finalizers(names) => Some(names.join(", ")),
            _ => None,
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| short(&format!("finalizer {}", names.join(", "))))
    }

    /// Untouched owners of what is drawn: they are why something is kept.
    fn add_other_owners(&mut self, nodes: usize) {
        let Some(cluster) = self.stories.first().map(|story| story.view.plan.cluster()) else { return };
        let touched = self.stories.iter().flat_map(|story| story.affected.iter().map(|affected| affected.id));
        let touched: BTreeSet<ObjectId> = touched.collect();
        let drawn: Vec<ObjectId> = self.places.keys().copied().collect();
        let owners: BTreeSet<ObjectId> =
            drawn.iter().flat_map(|id| cluster.edges(*id)).filter_map(|edge| edge.owner).collect();
        let room = nodes.saturating_sub(self.graph.nodes.len());
        for id in owners.difference(&touched).take(room) {
            let key = cluster.key(*id);
            let name = if key.namespace == Namespace::None {
                key.name.clone()
            } else {
                format!("{}/{}", key.namespace, key.name)
            };
            self.places.insert(*id, self.graph.nodes.len());
            self.graph.nodes.push(Vertex { label: vec![short(&key.kind), short(&name)], tone: Tone::Untouched });
        }
    }

    /// The tree first, then every other reference between what is drawn.
    fn add_arrows(&mut self, entries: &[Line]) {
        let Some(cluster) = self.stories.first().map(|story| story.view.plan.cluster()) else { return };
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut joined: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (to, entry) in entries.iter().enumerate() {
            let Some(from) = entry.parent else { continue };
            let place = match &entry.item {
                Shown::Object(place) => *place,
                Shown::Rest(places) => places[0],
            };
            let parent = self.affected[place].parent.map(|parent| self.affected[parent].id);
            if joined.insert((from, to)) {
                arrows.push(Arrow { from, to, tie: self.tie(&self.affected[place], parent) });
            }
        }
        let by_object: Vec<(ObjectId, usize)> = self.places.iter().map(|(id, at)| (*id, *at)).collect();
        for (id, to) in by_object {
            for owner in cluster.edges(id).filter_map(|edge| edge.owner) {
                let Some(&from) = self.places.get(&owner) else { continue };
                if joined.insert((from, to)) {
                    let affected = self.affected.iter().find(|affected| affected.id == id);
                    let tie = affected.map_or(Stroke::Owned, |affected| self.tie(affected, Some(owner)));
                    arrows.push(Arrow { from, to, tie });
                }
            }
        }
        let mut arrows = without_shortcuts(arrows, self.graph.nodes.len());
        arrows.truncate(EDGES);
        arrows.sort_unstable();
        self.graph.arrows = arrows;
    }

    /// How a dependent is tied to one of its owners, or to what contains it.
    fn tie(&self, dependent: &Affected, owner: Option<ObjectId>) -> Stroke {
        let Some(story) = self.stories.last() else { return Stroke::Owned };
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
}

/// The arrows without those from a container to what an owner in it leads to: of a namespace with a Deployment, its
/// ReplicaSet and its Pods, the namespace points to the Deployment alone. Owner references all stay: a second owner is why
/// something is kept.
fn without_shortcuts(mut arrows: Vec<Arrow>, nodes: usize) -> Vec<Arrow> {
    let mut next: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); nodes];
    for arrow in &arrows {
        next[arrow.from].insert(arrow.to);
    }
    // One at a time: of a ring of owners, one keeps its arrow.
    arrows.retain(|arrow| {
        if arrow.tie != Stroke::Contains {
            return true;
        }
        next[arrow.from].remove(&arrow.to);
        let shortcut = leads(&next, arrow.from, arrow.to);
        if !shortcut {
            next[arrow.from].insert(arrow.to);
        }
        !shortcut
    });
    arrows
}

/// Whether a path along `next` leads from one node to another.
fn leads(next: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut pending = vec![from];
    while let Some(at) = pending.pop() {
        if at == to {
            return true;
        }
        pending.extend(next[at].iter().filter(|node| seen.insert(**node)));
    }
    false
}

fn tone(ending: Ending) -> Tone {
    match ending {
        Ending::Deleted => Tone::Deleted,
        Ending::Stuck => Tone::Stuck,
        Ending::Kept => Tone::Kept,
    }
}

fn short(text: &str) -> String {
    plain::shortened(&plain::one_line(text), LABEL).into_owned()
}
