//! Which bundle a plan is about: a plan treats its input as one whole cluster.

use super::question::{PlanError, Question};
use super::targets::Targets;
use crate::cluster::Analysis;
use crate::engine::input::Bundle;
use crate::ownership::{Implied, Products};

/// A bundle, with the objects that a plan of it can be about.
pub(in crate::engine) struct Candidate<'b> {
    pub(super) analysis: Analysis<'b>,
    /// The objects that controllers create below its rendered objects.
    pub(super) implied: Implied<'b>,
    pub(super) targets: Targets,
    bundle: &'b Bundle,
}

impl<'b> Candidate<'b> {
    pub(super) fn of(bundle: &'b Bundle) -> Self {
        let analysis = bundle.analysis();
        let implied = analysis.implied(Products::Owned);
        let targets = Targets::new(analysis.inventory(), &implied);
        Self {
            analysis,
            implied,
            targets,
            bundle,
        }
    }

    /// A deletion needs all of its targets, a list of steps any of them: a later step may name what an earlier one deleted.
    fn contains(&self, question: &Question) -> bool {
        match question {
            Question::Delete {
                targets, namespace, ..
            } => self.targets.resolve(targets, namespace.as_deref()).is_ok(),
            Question::Steps { steps, namespace } => {
                steps.any_in(&self.targets, namespace.as_deref())
            }
        }
    }

    fn named(&self) -> String {
        self.bundle.named()
    }
}

/// The bundle that was read, or the one of several that contains what the question is about.
pub(in crate::engine) fn choose<'b>(
    bundles: &'b [Bundle],
    question: &Question,
) -> Result<Candidate<'b>, PlanError> {
    let mut all: Vec<Candidate<'b>> = bundles.iter().map(Candidate::of).collect();
    let names = |candidates: &[Candidate<'_>]| {
        candidates
            .iter()
            .map(Candidate::named)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let several = |found: String, names: String| PlanError::Bundles {
        found,
        help: format!("choose with `--bundle NAME`: {names}"),
    };
    let every = names(&all);
    if all.len() > 1 {
        all.retain(|candidate| candidate.contains(question));
    }
    match all.len() {
        1 => Ok(all.remove(0)),
        0 => Err(several(
            format!(
                "none of the {} that were read contains the target",
                bundles.len()
            ),
            every,
        )),
        number => Err(several(format!("the target is in {number}"), names(&all))),
    }
}
