//! Deletion by kubectl with files: objects are deleted in the order in which they are read.

use super::protection::Removal;
use super::request::{Leaving, Withdrawal};
use crate::kube::Policy;

/// Deletes as `kubectl delete -f` does: one request after the other, and one wait at the end.
pub fn delete<'a>(leaving: &Leaving<'a>, cascade: Policy) -> Withdrawal<'a> {
    let (deleted, withdrawal) = leaving.split(Removal::Kubectl);
    withdrawal.deleting(&deleted, cascade).then_wait()
}
