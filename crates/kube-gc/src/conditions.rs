//! The conditions that the namespace controller and the definition finalizer set, verbatim
//! (`[NS-15]`, `[NS-16]`, `[CRD-3]`).
//!
//! They are a function of the state at rest: the last pass changed nothing and saw this state.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Cluster;
use crate::flags::TERMINATING;
use crate::ids::ObjectId;
use crate::links::Role;
use crate::state::State;
use crate::view::View;

/// One entry of `status.conditions`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    /// `type`
    pub kind: String,
    /// `status`: `True` or `False`.
    pub status: String,
    /// `reason`
    pub reason: String,
    /// `message`
    pub message: String,
}

fn condition(kind: &str, status: bool, reason: &str, message: impl Into<String>) -> Condition {
    let status = if status { "True" } else { "False" };
    Condition {
        kind: kind.into(),
        status: status.into(),
        reason: reason.into(),
        message: message.into(),
    }
}

/// Returns the conditions of a Terminating namespace or definition, and of an established definition that is not
/// Terminating; `None` for everything else.
pub(super) fn of(cluster: &Cluster, state: &State, id: ObjectId) -> Option<Vec<Condition>> {
    let terminating = state.has(id, TERMINATING);
    match cluster.links.roles.get(&id)? {
        Role::Namespace { content, pods, .. } if terminating => {
            Some(namespace(View { cluster, state }, content, pods))
        }
        Role::Definition {
            instances,
            established,
            ..
        } if terminating => Some(definition(state, instances, *established)),
        Role::Definition {
            established: true, ..
        } => Some(served().into()),
        _ => None,
    }
}

/// Returns the conditions of a definition whose kind is served.
fn served() -> [Condition; 2] {
    [
        condition("NamesAccepted", true, "NoConflicts", "no conflicts found"),
        condition(
            "Established",
            true,
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ),
    ]
}

fn namespace(view: View<'_>, content: &[ObjectId], pods: &[ObjectId]) -> Vec<Condition> {
    let (cluster, state) = (view.cluster, view.state);
    // While Pods remain, the pass ends before anything is counted [NS-17], unless their deletion fails [NS-8].
    let [pods, counted] = view.purge_batch(pods, content);
    let mut failed = view.ends_of_purge(pods);
    failed.extend(view.ends_of_purge(counted));
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut finalizers: BTreeMap<&str, usize> = BTreeMap::new();
    // Objects of a kind whose deletion fails are not counted either.
    let counted = counted
        .iter()
        .copied()
        .filter(|id| state.live(*id) && !failed.contains_key(&cluster.nodes[*id].kind));
    for id in counted {
        let info = cluster.kind_of(id);
        *kinds
            .entry(format!("{}.{}", info.plural, info.group))
            .or_default() += 1;
        let names: BTreeSet<&str> = state.finalizer_names(cluster, id).collect();
        for finalizer in names {
            *finalizers.entry(finalizer).or_default() += 1;
        }
    }
    let errors = failed
        .values()
        .filter_map(|(_, client)| view.error_of(cluster.links.callouts.get(*client)));
    let count = failed.len();
    vec![
        remaining(
            "NamespaceDeletionDiscoveryFailure",
            ("DiscoveryFailed", ""),
            (
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            view.discovery_error().into_iter(),
        ),
        condition(
            "NamespaceDeletionGroupVersionParsingFailure",
            false,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        remaining(
            "NamespaceDeletionContentFailure",
            (
                "ContentDeletionFailed",
                &format!("Failed to delete all resource types, {count} remaining: "),
            ),
            (
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            errors,
        ),
        remaining(
            "NamespaceContentRemaining",
            ("SomeResourcesRemain", "Some resources are remaining: "),
            ("ContentRemoved", "All content successfully removed"),
            kinds
                .iter()
                .map(|(kind, count)| format!("{kind} has {count} resource instances")),
        ),
        remaining(
            "NamespaceFinalizersRemaining",
            (
                "SomeFinalizersRemain",
                "Some content in the namespace has finalizers remaining: ",
            ),
            (
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
            finalizers
                .iter()
                .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances")),
        ),
    ]
}

/// Builds a condition with reason and message `none` or, if there are `items`, `some`. The message of `some` ends with
/// the items, sorted as strings and joined by commas `[NS-15]`, `[NS-16]`.
fn remaining(
    kind: &str,
    some: (&str, &str),
    none: (&str, &str),
    items: impl Iterator<Item = String>,
) -> Condition {
    let mut items: Vec<String> = items.collect();
    if items.is_empty() {
        return condition(kind, false, none.0, none.1);
    }
    items.sort();
    condition(
        kind,
        true,
        some.0,
        format!("{}{}", some.1, items.join(", ")),
    )
}

fn definition(state: &State, instances: &[ObjectId], established: bool) -> Vec<Condition> {
    if !established {
        return vec![condition(
            "Terminating",
            false,
            "NeverEstablished",
            "resource was never established",
        )];
    }
    let left = instances.iter().any(|id| state.live(*id));
    let terminating = if left {
        // For the first minute of each attempt this reads InstanceDeletionInProgress.
        let message =
            "could not confirm zero CustomResources remaining: timed out waiting for the condition";
        condition("Terminating", true, "InstanceDeletionCheck", message)
    } else {
        condition(
            "Terminating",
            false,
            "InstanceDeletionCompleted",
            "removed all instances",
        )
    };
    served().into_iter().chain([terminating]).collect()
}
