//! The deletion of Namespaces: Kubernetes deletes what is in them; everything else stays.

use std::collections::BTreeSet;

use super::request::{Leaving, ToolRequest, Withdrawal};
use crate::inventory::Member;
use crate::kube::{ObjectKey, Policy, Wait, kinds};

/// Deletes as `kubectl delete namespace` does, with one wait at the end.
pub fn delete<'a>(
    leaving: &Leaving<'a>,
    names: &BTreeSet<String>,
    cascade: Policy,
) -> Withdrawal<'a> {
    let key = |name: &String| ObjectKey::of_namespace(name);
    let requests = names
        .iter()
        .map(|name| ToolRequest::delete(&key(name), cascade))
        .collect();
    let inside = |member: &Member| {
        if member.key.is(kinds::NAMESPACE) {
            names.contains(member.key.name.as_str())
        } else {
            member
                .key
                .namespace
                .name()
                .is_some_and(|name| names.contains(name))
        }
    };
    let outside = leaving
        .members
        .iter()
        .filter(|member| !inside(member))
        .map(|member| member.id)
        .collect();
    Withdrawal {
        requests,
        outside,
        ..Withdrawal::default()
    }
    .then_wait(Wait::Gone)
}
