//! A cascade as a report shows it: what is deleted and stuck below some objects, cut down to what fits one picture.

use std::collections::BTreeSet;

use super::mermaid;
use crate::gc::ObjectId;
use crate::kube::ObjectKey;
use crate::story::PlanView;
use crate::story::extent::Extent;
use crate::story::graph::{Detail, Graph};
use crate::story::remedy::{self, Stuck};
use crate::story::telling::{Ending, Story, stories};

/// A report has other things to say too: what has nothing below it shares a node with its like.
const DETAIL: Detail = Detail {
    nodes: 40,
    leaves: 3,
};
/// Most bytes of a flowchart.
const MOST_TEXT: usize = 15_000;

/// The fate of some objects and of everything that is touched because of them. Borrows nothing from the simulation.
#[derive(Clone, Debug)]
pub struct Cascade {
    /// The start of it, in a few words.
    pub title: String,
    /// How many objects are deleted.
    pub deleted: usize,
    /// How many stay Terminating.
    pub stuck: usize,
    graph: Graph,
    /// The holds of the stuck objects, and how to release them.
    held: Vec<Stuck>,
}

impl Cascade {
    /// The cascade below `roots` in a finished plan.
    pub fn new(title: impl Into<String>, view: &PlanView<'_>, roots: &[ObjectKey]) -> Self {
        let stories = stories(view);
        let roots: BTreeSet<ObjectId> = roots
            .iter()
            .filter_map(|root| view.plan.cluster().find(root))
            .collect();
        Self::drawn(title.into(), &stories, &Extent::below(&stories, &roots))
    }

    /// The ties of the objects that a finished plan deletes, of those that `wanted` names; `None` where each is deleted
    /// for itself.
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
        let count = |ending| {
            scope
                .affected()
                .iter()
                .filter(|affected| affected.ending == ending)
                .count()
        };
        Self {
            title,
            deleted: count(Ending::Deleted),
            stuck: count(Ending::Stuck),
            graph: mermaid::fitting(stories, scope, DETAIL, MOST_TEXT),
            held: stories.last().map(remedy::stuck).unwrap_or_default(),
        }
    }

    /// The holds of the objects that are stuck in the end, and how to release them.
    pub(in crate::report) fn held(&self) -> &[Stuck] {
        &self.held
    }

    /// As a Mermaid flowchart in Markdown.
    pub(in crate::report) fn flowchart(&self) -> String {
        mermaid::fenced(&self.graph)
    }
}
