//! How often a rule tries something in the simulation: a bundle with more has shown its defects by then.

use super::rule::Context;

const MOST_TRIALS: usize = 200;

/// How many objects all trials of a rule may look at together; each looks at the whole bundle.
const MOST_OBJECTS: usize = 1_000_000;

/// How many trials a rule may make.
pub(super) fn most_trials(context: &Context<'_>) -> usize {
    (MOST_OBJECTS / context.inventory.members.len().max(1)).clamp(1, MOST_TRIALS)
}
