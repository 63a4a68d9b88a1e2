//! The deletion of Namespaces: Kubernetes deletes what is in them; everything else stays.

use std::collections::BTreeSet;

use super::request::{Leaving, ToolRequest, Withdrawal};
use crate::kube::{ObjectKey, Policy, kinds};

/// Deletes as `kubectl delete namespace` does, with one wait at the end.
pub fn delete<'a>(
    leaving: &Leaving<'a>,
    names: &BTreeSet<String>,
    cascade: Policy,
) -> Withdrawal<'a> {
    let requests = names
        .iter()
        .map(|name| ToolRequest::delete(&ObjectKey::of_namespace(name), cascade))
        .collect();
    let outside = leaving
        .members
        .iter()
        .filter(|member| {
            let namespace = if member.key.is(kinds::NAMESPACE) {
                Some(member.key.name.as_str())
            } else {
                member.key.namespace.name()
            };
            namespace.is_none_or(|name| !names.contains(name))
        })
        .map(|member| member.id)
        .collect();
    Withdrawal {
        requests,
        outside,
        ..Withdrawal::default()
    }
    .then_wait()
}
