//! kubectl with files: everything in the order in which it is read.

use super::protection::Removal;
use super::request::{Leaving, Op, ToolRequest, Withdrawal};
use crate::kube::{Policy, Wait};

/// Deletes as `kubectl delete -f` does: one request after the other, and one wait at the end.
pub fn delete<'a>(leaving: &Leaving<'a>, cascade: Policy) -> Withdrawal<'a> {
    let (deleted, withdrawal) = leaving.split(Removal::Kubectl);
    let requests = deleted
        .iter()
        .map(|member| ToolRequest::delete(&member.key, cascade))
        .collect();
    Withdrawal {
        requests,
        ..withdrawal
    }
    .then_wait(Wait::Gone)
}

/// Deletes everything, waits until it is gone, and creates it again, as `kubectl replace --force` does (kubectl
/// pkg/cmd/replace, forceReplace).
pub fn replace_force<'a>(leaving: &Leaving<'a>, cascade: Policy) -> Withdrawal<'a> {
    let mut withdrawal = delete(leaving, cascade);
    let created: Vec<ToolRequest> = withdrawal
        .requests
        .iter()
        .map(|request| ToolRequest::write(Op::Create, &request.key))
        .collect();
    withdrawal.requests.extend(created);
    withdrawal
}
