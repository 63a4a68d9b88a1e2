//! The graph of a whole plan, for Graphviz and Mermaid: the objects that all steps together delete, leave stuck and
//! keep, their other owners, and the references between them.
//!
//! It has at most [`NODES`] nodes and [`EDGES`] edges: siblings of a kind become one node with their number.

use std::collections::{BTreeMap, BTreeSet};

use super::extent::Extent;
use super::outline::{KindCounts, Limits, Line, Shown, outline};
use super::telling::{Affected, Fate, Story};
use super::ties::{Arrow, OwnerStrokes, Stroke, without_shortcuts};
use super::words;
use crate::gc::{Hold, ObjectId};
use crate::kube::{Namespace, ObjectKey};
use crate::text::plain;

/// Maximum number of nodes, without those of a legend.
const NODES: usize = 140;
/// Maximum number of edges. Mermaid rejects more than 500.
const EDGES: usize = 400;
/// Maximum number of siblings of one kind and ending with nodes of their own, in a large graph.
const SIBLINGS: usize = 4;
/// Maximum number of characters in a line of a label.
const LABEL: usize = 60;

/// The meaning of a node's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Deleted,
    Stuck,
    Kept,
    /// An owner that the plan does not touch.
    Untouched,
}

impl Tone {
    /// Returns the meaning of the tone, for a legend.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Deleted => "red: deleted",
            Self::Stuck => "yellow: stuck (Terminating)",
            Self::Kept => "green: kept",
            Self::Untouched => "dashed border: untouched",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    /// The lines, not escaped.
    pub(crate) label: Vec<String>,
    pub(crate) tone: Tone,
}

#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Vertex>,
    pub(crate) arrows: Vec<Arrow>,
    /// Number of objects without a node of their own, by kind.
    pub(crate) collapsed: KindCounts,
}

impl Graph {
    /// Returns every tone that a node has, each once, for a legend.
    pub(crate) fn tones(&self) -> BTreeSet<Tone> {
        self.nodes.iter().map(|node| node.tone).collect()
    }

    /// Counts the objects without a node of their own; `None` if there are none.
    pub(crate) fn not_drawn(&self) -> Option<String> {
        let kinds = words::kinds(&self.collapsed);
        (!kinds.is_empty()).then(|| format!("without a node of their own: {kinds}"))
    }

    /// Returns every stroke that an arrow has, each once.
    pub(crate) fn ties(&self) -> BTreeSet<Stroke> {
        self.arrows.iter().map(|arrow| arrow.tie).collect()
    }
}

/// The level of detail of a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// Maximum number of nodes.
    pub(crate) nodes: usize,
    /// Maximum number of childless siblings of one kind and ending; if there are more, they are one node.
    pub(crate) leaves: usize,
}

impl Detail {
    /// The highest level of detail.
    pub(crate) const FULL: Self = Self {
        nodes: NODES,
        leaves: usize::MAX,
    };
}

/// Builds the graph of the objects in `scope`.
pub(crate) fn graph(stories: &[Story<'_>], scope: &Extent, detail: Detail) -> Graph {
    let Detail { nodes, leaves } = detail;
    let affected = scope.affected();
    let is_small = affected.len() <= nodes;
    let limits = Limits {
        entries: nodes,
        siblings: if is_small { nodes } else { SIBLINGS },
        leaves,
        depth: usize::MAX,
    };
    let entries = outline(affected, limits);
    let mut draft = Drawing {
        stories,
        affected,
        steps: scope.steps(),
        ambiguous: ambiguous(affected),
        graph: Graph {
            nodes: Vec::new(),
            arrows: Vec::new(),
            collapsed: KindCounts::new(),
        },
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
    /// The last step that touches each affected object.
    steps: &'a [usize],
    /// Kinds that exist in several API groups.
    ambiguous: BTreeSet<&'a str>,
    graph: Graph,
    /// The index of each object's node.
    places: BTreeMap<ObjectId, usize>,
}

impl Drawing<'_> {
    fn add_node(&mut self, entry: &Line, entries: &[Line]) {
        self.collapse(&entry.hidden);
        let below = (!entry.hidden.is_empty())
            .then(|| short(&format!("and below: {}", words::kinds(&entry.hidden))));
        let (mut label, fate) = match &entry.item {
            Shown::Object(place) => {
                let affected = &self.affected[*place];
                self.places.insert(affected.id, self.graph.nodes.len());
                (self.name(affected, self.steps[*place]), affected.fate)
            }
            Shown::Rest(places) => {
                let keys = places.iter().map(|place| &self.affected[*place].key);
                self.collapse(&words::count_kinds(keys));
                let label = self.group(places, entry.parent, entries);
                (label, self.affected[places[0]].fate)
            }
        };
        label.extend(below);
        self.graph.nodes.push(Vertex {
            label,
            tone: tone(fate),
        });
    }

    fn collapse(&mut self, kinds: &KindCounts) {
        for (kind, number) in kinds {
            *self.graph.collapsed.entry(kind.clone()).or_default() += number;
        }
    }

    /// Returns the label of a group: the number of siblings, or of those without own nodes, and common finalizers.
    fn group(&self, places: &[usize], parent: Option<usize>, entries: &[Line]) -> Vec<String> {
        let siblings: Vec<&Affected> = places.iter().map(|place| &self.affected[*place]).collect();
        let first = siblings[0];
        let mut shown = entries.iter().filter_map(|entry| match &entry.item {
            Shown::Object(place) if entry.parent == parent => Some(&self.affected[*place]),
            Shown::Object(_) | Shown::Rest(_) => None,
        });
        let all = siblings.iter().all(|sibling| sibling.is_like(first))
            && !shown.any(|affected| affected.is_like(first));
        let title = if all {
            format!("{} {}", siblings.len(), first.key.kind())
        } else {
            format!("and {}", words::rest(&siblings))
        };
        let finalizers: BTreeSet<_> = places
            .iter()
            .map(|place| self.finalizers(&self.affected[*place], self.steps[*place]))
            .collect();
        let common = if finalizers.len() == 1 {
            finalizers.into_iter().next().flatten()
        } else {
            None
        };
        [short(&title)].into_iter().chain(common).collect()
    }

    /// Returns the label of an object: its key in two lines, and its marks.
    fn name(&self, affected: &Affected, step: usize) -> Vec<String> {
        let key = &affected.key;
        let kind = if self.ambiguous.contains(key.kind()) {
            key.group_kind().to_string()
        } else {
            key.kind().to_string()
        };
        let mut marks = Vec::new();
        let mut stories = self.stories.iter();
        if stories.any(|story| story.implied(key).is_some()) {
            marks.push("implied".to_owned());
        }
        let mut stories = self.stories.iter();
        if stories.any(|story| story.view.data.contains_key(key)) {
            marks.push("data".to_owned());
        }
        if self.stories.len() > 1 {
            marks.push(format!("step {}", step + 1));
        }
        let marks = (!marks.is_empty()).then(|| format!("({})", marks.join(", ")));
        [short(&kind), short_name(key)]
            .into_iter()
            .chain(marks)
            .chain(self.finalizers(affected, step))
            .collect()
    }

    /// Returns the finalizers that hold a stuck object and have to be removed by hand.
    fn finalizers(&self, affected: &Affected, step: usize) -> Option<String> {
        let story = self.stories.iter().find(|story| story.step == step)?;
        let names = story.held(affected.id)?.holds.iter();
        let names = names.filter_map(|hold| match hold {
            Hold::Finalizers(names) => Some(names.join(", ")),
            _ => None,
        });
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| short(&format!("finalizer {}", names.join(", "))))
    }

    /// Adds the untouched owners of drawn objects: an object may be kept because of them.
    fn add_other_owners(&mut self, nodes: usize) {
        let Some(cluster) = self.stories.first().map(|story| story.view.plan.cluster()) else {
            return;
        };
        let affected = self.stories.iter().flat_map(|story| &story.affected);
        let touched: BTreeSet<ObjectId> = affected.map(|affected| affected.id).collect();
        let edges = self.places.keys().flat_map(|id| cluster.edges(*id));
        let owners: BTreeSet<ObjectId> = edges.filter_map(|edge| edge.owner).collect();
        let room = nodes.saturating_sub(self.graph.nodes.len());
        for id in owners.difference(&touched).take(room) {
            let key = cluster.key(*id);
            self.places.insert(*id, self.graph.nodes.len());
            self.graph.nodes.push(Vertex {
                label: vec![short(key.kind()), short_name(&key)],
                tone: Tone::Untouched,
            });
        }
    }

    /// Adds the arrows of the tree first, then every other reference between drawn objects.
    fn add_arrows(&mut self, entries: &[Line]) {
        let Some(story) = self.stories.last() else {
            return;
        };
        let cluster = story.view.plan.cluster();
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut joined: BTreeSet<(usize, usize)> = BTreeSet::new();
        for (to, entry) in entries.iter().enumerate() {
            let Some(from) = entry.parent else { continue };
            let place = match &entry.item {
                Shown::Object(place) => *place,
                Shown::Rest(places) => places[0],
            };
            let parent = self.affected[place].parent;
            let parent = parent.map(|parent| self.affected[parent].id);
            if joined.insert((from, to)) {
                arrows.push(Arrow {
                    from,
                    to,
                    tie: OwnerStrokes::of(story, &self.affected[place]).to(parent),
                });
            }
        }
        for (&id, &to) in &self.places {
            let affected = self.affected.iter().find(|affected| affected.id == id);
            let strokes = affected.map(|affected| OwnerStrokes::of(story, affected));
            for owner in cluster.edges(id).filter_map(|edge| edge.owner) {
                let Some(&from) = self.places.get(&owner) else {
                    continue;
                };
                if joined.insert((from, to)) {
                    let tie = strokes
                        .as_ref()
                        .map_or(Stroke::Owned, |strokes| strokes.to(Some(owner)));
                    arrows.push(Arrow { from, to, tie });
                }
            }
        }
        let mut arrows = without_shortcuts(arrows, self.graph.nodes.len());
        arrows.truncate(EDGES);
        arrows.sort_unstable();
        self.graph.arrows = arrows;
    }
}

/// Returns the kinds that exist in several API groups: only these need their group in a picture.
fn ambiguous(affected: &[Affected]) -> BTreeSet<&str> {
    let mut groups: BTreeMap<&str, &str> = BTreeMap::new();
    let keys = affected.iter().map(|affected| &affected.key);
    keys.filter(|key| *groups.entry(key.kind()).or_insert(key.group()) != key.group())
        .map(|key| key.kind())
        .collect()
}

fn tone(fate: Fate) -> Tone {
    match fate {
        Fate::Deleted => Tone::Deleted,
        Fate::Stuck => Tone::Stuck,
        Fate::Kept => Tone::Kept,
    }
}

/// Returns the namespace and the name of an object.
fn short_name(key: &ObjectKey) -> String {
    if key.namespace == Namespace::None {
        short(&key.name)
    } else {
        short(&format!("{}/{}", key.namespace, key.name))
    }
}

fn short(text: &str) -> String {
    plain::shortened(&plain::one_line(text), LABEL).into_owned()
}
