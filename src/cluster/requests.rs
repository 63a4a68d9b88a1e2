//! Converts a tool's requests to simulation steps.

use crate::delivery::{Op, ToolRequest};
use crate::gc::Step;

/// Returns the steps of a tool's requests: one per DELETE. Creations and updates delete nothing; without any DELETE,
/// the cluster only settles.
pub fn steps_of(requests: &[ToolRequest]) -> Vec<Step> {
    let deletes = requests.iter().filter(|request| request.op == Op::Delete);
    let steps: Vec<Step> = deletes
        .map(|request| Step::Delete {
            targets: vec![request.key.clone()],
            policy: request.policy,
            wait: request.wait,
            client: request.client,
        })
        .collect();
    if steps.is_empty() {
        vec![Step::Settle]
    } else {
        steps
    }
}
