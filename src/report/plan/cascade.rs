//! A cascade as a report shows it: what is deleted and stuck below some objects, cut down to what fits one picture.

use std::collections::BTreeSet;

use super::mermaid;
use crate::gc::ObjectId;
use crate::kube::ObjectKey;
use crate::story::PlanView;
use crate::story::graph::{Extent, Graph};
use crate::story::telling::{Ending, stories};

/// Most nodes; a report has other things to say too.
const NODES: usize = 60;
/// Most bytes of a flowchart.
const MOST_TEXT: usize = 15_000;

/// What becomes of some objects and of everything that is touched because of them. Borrows nothing from the simulation.
#[derive(Clone, Debug)]
pub struct Cascade {
    /// What begins it, in a few words.
    pub title: String,
    /// How many objects are deleted.
    pub deleted: usize,
    /// How many stay Terminating.
    pub stuck: usize,
    graph: Graph,
}

impl Cascade {
    /// The cascade below `roots` in a finished plan.
    pub fn new(title: impl Into<String>, view: &PlanView<'_>, roots: &[ObjectKey]) -> Self {
        let stories = stories(view);
        let roots: BTreeSet<ObjectId> = roots.iter().filter_map(|root| view.plan.cluster().find(root)).collect();
        let scope = Extent::below(&stories, &roots);
        let count = |ending| scope.affected().iter().filter(|affected| affected.ending == ending).count();
        Self {
            title: title.into(),
            deleted: count(Ending::Deleted),
            stuck: count(Ending::Stuck),
            graph: mermaid::fitting(&stories, &scope, NODES, MOST_TEXT),
        }
    }

    /// As a Mermaid flowchart.
    pub(in crate::report) fn flowchart(&self) -> String {
        mermaid::draw(&self.graph)
    }
}
