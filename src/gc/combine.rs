//! Puts the outcomes of independent parts together again: every combination is an outcome of the
//! whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::Cluster;
use super::controllers::Settings;
use super::explore::{CHOICE, Explorer, Reached, visible};
use super::ids::ObjectId;
use super::options::Options;
use super::outcome::{Outcome, Patch};
use super::parts::{Part, parts};
use super::plan::StepPlan;
use super::state::State;
use super::steps::Request;

/// Most outcomes that one step lists.
const MOST_OUTCOMES: usize = 20_000;

/// Adds to each step, which has its verdict already, every other outcome.
pub(super) fn add_outcomes(
    cluster: &Cluster,
    requests: &[Request<'_>],
    settings: Settings,
    options: &Options,
    steps: &mut [StepPlan],
) {
    let targets: Vec<ObjectId> = requests.iter().flat_map(|request| &request.targets).flatten().copied().collect();
    let mut active = targets.clone();
    active.extend(steps.iter().flat_map(|step| &step.log).map(|entry| entry.object));
    let mut budget = options.state_cap.saturating_mul(CHOICE);
    let mut alternatives: Vec<Vec<Alternatives>> = steps.iter().map(|_| Vec::new()).collect();
    for part in parts(cluster, &active, &targets) {
        let local: Vec<Request<'_>> = requests.iter().map(|request| request.within(|id| part.local(id))).collect();
        let (reached, left) = Explorer::new(&part.cluster, settings, budget, options.reduction).run(&local);
        budget = left;
        for (step, reached) in reached.into_iter().enumerate() {
            let Some(verdict) = steps[step].outcomes.first().map(|verdict| verdict.base.clone()) else { continue };
            steps[step].complete &= reached.complete;
            let found = Alternatives::new(cluster, &part, reached, &verdict);
            steps[step].verdict_reached &= found.with_verdict;
            alternatives[step].push(found);
        }
    }
    for (step, alternatives) in steps.iter_mut().zip(alternatives) {
        step.complete &= combine(cluster, &alternatives, &mut step.outcomes);
    }
}

/// The outcomes of one part that differ from the verdict.
struct Alternatives {
    patches: Vec<(Patch, bool)>,
    /// Whether the verdict was found too.
    with_verdict: bool,
}

impl Alternatives {
    /// States that look alike are one outcome, late only if all of them are.
    fn new(cluster: &Cluster, part: &Part, reached: Reached, verdict: &State) -> Alternatives {
        let mut distinct: BTreeMap<Vec<u8>, (Arc<State>, bool)> = BTreeMap::new();
        for branch in reached.ends {
            let key = visible(&part.cluster, &branch.state);
            distinct
                .entry(key)
                .and_modify(|(_, late)| *late &= branch.course.late)
                .or_insert((Arc::new(branch.state), branch.course.late));
        }
        let patches =
            distinct.into_values().map(|(state, late)| (Patch { objects: part.objects.clone(), state }, late));
        let (patches, verdict): (Vec<_>, Vec<_>) =
            patches.partition(|(patch, _)| patch.difference(cluster, verdict).is_some());
        Alternatives { patches, with_verdict: !verdict.is_empty() }
    }
}

/// Appends every combination of the parts' alternatives to the verdict; false if there are too many.
fn combine(cluster: &Cluster, parts: &[Alternatives], outcomes: &mut Vec<Outcome>) -> bool {
    if outcomes.is_empty() {
        return true;
    }
    for part in parts {
        let known = outcomes.len();
        if known.saturating_mul(part.patches.len() + 1) > MOST_OUTCOMES {
            outcomes[1..].sort_by_key(|outcome| (outcome.late, outcome.differs));
            return false;
        }
        for (patch, late) in &part.patches {
            for index in 0..known {
                let mut outcome = outcomes[index].clone();
                outcome.patches.push(patch.clone());
                outcome.late |= late;
                outcome.differs = outcome.classify(cluster);
                outcomes.push(outcome);
            }
        }
    }
    outcomes[1..].sort_by_key(|outcome| (outcome.late, outcome.differs));
    true
}
