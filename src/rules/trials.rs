//! Limits on the simulations that a rule runs for one bundle.

use super::rule::{Context, Sink};

const MAX_TRIALS: usize = 200;

/// The maximum number of objects in all simulations of a rule: each contains the whole bundle.
const MAX_OBJECTS: usize = 1_000_000;

/// Returns the cases that fit the limits, and counts the others in the sink.
pub(super) fn tried<T>(
    cases: impl Iterator<Item = T>,
    context: &Context<'_>,
    sink: &mut Sink,
) -> Vec<T> {
    let most = (MAX_OBJECTS / context.inventory.members.len().max(1)).clamp(1, MAX_TRIALS);
    let mut cases: Vec<T> = cases.collect();
    sink.leave_untried(cases.len().saturating_sub(most));
    cases.truncate(most);
    cases
}
