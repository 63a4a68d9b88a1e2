//! The graph of a whole plan, for Graphviz and Mermaid: what all steps together delete, leave stuck and keep, the other
//! owners of these objects, and the references between them.
//!
//! Never more than [`NODES`] nodes and [`EDGES`] edges: siblings of a kind become one node with their number.

use std::collections::{BTreeMap, BTreeSet};

use super::outline::{KindCounts, Limits, Line, Shown, outline};
use super::telling::{Affected, Ending, Story};
use super::words;
use crate::gc::{Hold, ObjectId};
use crate::kube::{Namespace, ObjectKey};
use crate::text::plain;

/// Most nodes; what is drawn around them (a legend) not counted.
const NODES: usize = 140;
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
        let mut inside: Vec<bool> = Vec::with_capacity(all.affected.len());
        for affected in &all.affected {
            let above = affected.parent.is_some_and(|parent| inside[parent]);
            inside.push(above || roots.contains(&affected.id));
        }
        all.limited_to(&inside)
    }

    /// What is deleted, stuck or kept together with something else, among the objects that `wanted` names: what is deleted for
    /// itself alone needs no picture. What is stuck always does.
    pub(crate) fn tied(stories: &[Story<'_>], wanted: impl Fn(&ObjectKey) -> bool) -> Self {
        let all = Self::all(stories);
        let mut tied = vec![false; all.affected.len()];
        for (at, affected) in all.affected.iter().enumerate().filter(|(_, affected)| wanted(&affected.key)) {
            tied[at] |= affected.ending == Ending::Stuck;
            if let Some(parent) = affected.parent.filter(|parent| wanted(&all.affected[*parent].key)) {
                tied[at] = true;
                tied[parent] = true;
            }
        }
        all.limited_to(&tied)
    }

    /// The objects for which `inside` is set; one whose parent is left out begins a tree of its own.
    fn limited_to(self, inside: &[bool]) -> Self {
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.affected.len());
        let mut limited = Self { affected: Vec::new(), steps: Vec::new() };
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
}

/// How much of a scope a graph shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// Most nodes.
    pub(crate) nodes: usize,
    /// Siblings of one kind and ending with nothing below them that have nodes of their own; more of them share one.
    pub(crate) leaves: usize,
}

impl Detail {
    /// As much as a picture can show.
    pub(crate) const FULL: Self = Self { nodes: NODES, leaves: usize::MAX };
}

/// The graph of a scope.
pub(crate) fn graph(stories: &[Story<'_>], scope: &Extent, detail: Detail) -> Graph {
    let Detail { nodes, leaves } = detail;
    let Extent { affected, steps } = scope;
    let siblings = if affected.len() <= nodes { nodes } else { SIBLINGS };
    let entries = outline(affected, Limits { entries: nodes, siblings, leaves, depth: usize::MAX });
    let mut draft = Drawing {
        stories,
        affected,
        steps,
        ambiguous: ambiguous(affected),
        graph: Graph { nodes: Vec::new(), arrows: Vec::new(), collapsed: KindCounts::new() },
        places: BTreeMap::new(),
    };
    for entry in &entries {
        draft.add_node(entry, &entries);
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
    /// Kinds that several groups have.
    ambiguous: BTreeSet<&'a str>,
    graph: Graph,
    /// Nodes of objects.
    places: BTreeMap<ObjectId, usize>,
}

impl Drawing<'_> {
    fn add_node(&mut self, entry: &Line, entries: &[Line]) {
        for (kind, number) in &entry.hidden {
            *self.graph.collapsed.entry(kind.clone()).or_default() += number;
        }
        let below = (!entry.hidden.is_empty()).then(|| short(&format!("and below: {}", words::kinds(&entry.hidden))));
        let (mut label, ending) = match &entry.item {
            Shown::Object(place) => {
                let affected = &self.affected[*place];
                self.places.insert(affected.id, self.graph.nodes.len());
                (self.name(affected, self.steps[*place]), affected.ending)
            }
            Shown::Rest(places) => {
                for place in places {
                    *self.graph.collapsed.entry(self.affected[*place].key.kind.clone()).or_default() += 1;
                }
                (self.group(places, entry.parent, entries), self.affected[places[0]].ending)
            }
        };
        label.extend(below);
        self.graph.nodes.push(Vertex { label, tone: tone(ending) });
    }

    /// How many siblings there are, or how many besides those that have nodes of their own; and what all of them wait for.
    fn group(&self, places: &[usize], parent: Option<usize>, entries: &[Line]) -> Vec<String> {
        let siblings: Vec<&Affected> = places.iter().map(|place| &self.affected[*place]).collect();
        let first = siblings[0];
        let same = |affected: &Affected| {
            affected.key.group_kind() == first.key.group_kind() && affected.ending == first.ending
        };
        let is_shown = |entry: &Line| match &entry.item {
            Shown::Object(place) => entry.parent == parent && same(&self.affected[*place]),
            Shown::Rest(_) => false,
        };
        let all = siblings.iter().all(|affected| same(affected)) && !entries.iter().any(is_shown);
        let title = match all {
            true => format!("{} {}", siblings.len(), first.key.kind),
            false => format!("and {}", words::rest(&siblings)),
        };
        let finalizers: BTreeSet<_> =
            places.iter().map(|place| self.finalizers(&self.affected[*place], self.steps[*place])).collect();
        let common = if finalizers.len() == 1 { finalizers.into_iter().next().flatten() } else { None };
        [short(&title)].into_iter().chain(common).collect()
    }

    /// The key in two lines, and what is special about the object.
    fn name(&self, affected: &Affected, step: usize) -> Vec<String> {
        let key = &affected.key;
        let kind = match self.ambiguous.contains(key.kind.as_str()) {
            true => key.group_kind().to_string(),
            false => key.kind.clone(),
        };
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

/// The kinds that objects of several groups have: only they need their group in a picture.
fn ambiguous(affected: &[Affected]) -> BTreeSet<&str> {
    let mut groups: BTreeMap<&str, &str> = BTreeMap::new();
    let kinds = affected.iter().map(|affected| &affected.key);
    kinds
        .filter(|key| *groups.entry(&key.kind).or_insert(&key.group) != key.group)
        .map(|key| key.kind.as_str())
        .collect()
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
