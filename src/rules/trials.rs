//! How often a rule tries something in the simulation: a bundle with more has shown its defects by then.

use super::rule::{Context, Sink};

const MOST_TRIALS: usize = 200;

/// How many objects all trials of a rule may look at together; each looks at the whole bundle.
const MOST_OBJECTS: usize = 1_000_000;

/// The cases that a rule tries: as many as it may, and the sink says how many it does not.
pub(super) fn tried<T>(
    cases: impl Iterator<Item = T>,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Vec<T> {
    let most = (MOST_OBJECTS / context.inventory.members.len().max(1)).clamp(1, MOST_TRIALS);
    let mut cases: Vec<T> = cases.collect();
    sink.leave_untried(cases.len().saturating_sub(most));
    cases.truncate(most);
    cases
}
