//! A cascade as a report shows it: the deleted, stuck and kept objects below some roots, reduced to fit one picture.

use std::collections::BTreeSet;

use super::mermaid;
use crate::gc::ObjectId;
use crate::kube::ObjectKey;
use crate::story::PlanView;
use crate::story::extent::Extent;
use crate::story::graph::{Detail, Graph};
use crate::story::remedy::{self, Stuck};
use crate::story::telling::{Fate, Story, stories};

/// The detail of a graph in a report. Similar objects with nothing below them share a node.
const DETAIL: Detail = Detail {
    nodes: 40,
    leaves: 3,
};
/// The maximum number of bytes of a flowchart.
const MAX_TEXT: usize = 15_000;

/// The fate of some objects and of everything that their deletion affects. Borrows nothing from the simulation.
#[derive(Clone, Debug)]
pub struct Cascade {
    /// The title, which names the deletion or the cluster.
    pub title: String,
    /// The number of deleted objects.
    pub deleted: usize,
    /// The number of objects that stay Terminating.
    pub stuck: usize,
    graph: Graph,
    /// All objects that are stuck at the end of the plan, with the reasons and how to release them.
    held: Vec<Stuck>,
}

impl Cascade {
    /// Builds the cascade below `roots` from a finished plan.
    pub fn new(title: impl Into<String>, view: &PlanView<'_>, roots: &[ObjectKey]) -> Self {
        let stories = stories(view);
        let roots: BTreeSet<ObjectId> = roots
            .iter()
            .filter_map(|root| view.plan.cluster().find(root))
            .collect();
        Self::drawn(title.into(), &stories, &Extent::below(&stories, &roots))
    }

    /// Builds the graph of the `wanted` objects that a finished plan leaves stuck, or whose parent
    /// or child in the tree of causes is also `wanted`; `None` if there are none.
    pub fn of_ties(
        title: impl Into<String>,
        view: &PlanView<'_>,
        wanted: &BTreeSet<&ObjectKey>,
    ) -> Option<Self> {
        let stories = stories(view);
        let scope = Extent::tied(&stories, |key| wanted.contains(key));
        (!scope.affected().is_empty()).then(|| Self::drawn(title.into(), &stories, &scope))
    }

    fn drawn(title: String, stories: &[Story<'_>], scope: &Extent) -> Self {
        Self {
            title,
            deleted: scope.count(Fate::Deleted),
            stuck: scope.count(Fate::Stuck),
            graph: mermaid::fitting(stories, scope, DETAIL, MAX_TEXT),
            held: stories.last().map(remedy::stuck).unwrap_or_default(),
        }
    }

    /// Returns all objects that are stuck at the end of the plan, with the reasons and how to release them.
    pub(in crate::report) fn held(&self) -> &[Stuck] {
        &self.held
    }

    /// Returns the graph as a Mermaid flowchart in Markdown.
    pub(in crate::report) fn flowchart(&self) -> String {
        mermaid::fenced(&self.graph)
    }
}
