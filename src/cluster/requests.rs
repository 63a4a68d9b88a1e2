//! From a tool's requests to the steps of a simulation.

use crate::delivery::{Op, Request};
use crate::gc::Step;

/// The steps of a tool's requests: one per DELETE. What a tool creates and updates is not deleted, which is all that the model is
/// about.
pub fn steps_of(requests: &[Request]) -> Vec<Step> {
    let deletes = requests.iter().filter(|request| request.op == Op::Delete);
    let step = |request: &Request| Step::Delete {
        targets: vec![request.key.clone()],
        policy: request.policy,
        wait: request.wait,
    };
    deletes.map(step).collect()
}
