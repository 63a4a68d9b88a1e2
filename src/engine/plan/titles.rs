//! Titles of steps.

use crate::gc::Step;
use crate::kube::{ObjectKey, Policy};

/// Returns the targets of a step, in the order of its requests.
pub(super) fn targets_of(step: &Step) -> impl Iterator<Item = &ObjectKey> {
    match step {
        Step::Settle => &[][..],
        Step::Delete { targets, .. } | Step::RemoveFinalizer { targets, .. } => targets,
        Step::RemoveAllFinalizers { target } | Step::ForceDelete { target } => {
            std::slice::from_ref(target)
        }
    }
    .iter()
}

/// Returns the title of a step.
pub(super) fn title(step: &Step) -> String {
    match step {
        Step::Settle => "settle".to_owned(),
        Step::Delete {
            targets, policy, ..
        } => {
            let policy = match policy {
                Some(Policy::Background) => "Background",
                Some(Policy::Foreground) => "Foreground",
                Some(Policy::Orphan) => "Orphan",
                None => "no policy",
            };
            format!("delete {} ({policy})", listed(targets))
        }
        Step::RemoveFinalizer {
            targets, finalizer, ..
        } => {
            format!("remove finalizer {finalizer} from {}", listed(targets))
        }
        Step::RemoveAllFinalizers { target } => format!("remove all finalizers from {target}"),
        Step::ForceDelete { target } => format!("force-delete {target}"),
    }
}

fn listed(targets: &[ObjectKey]) -> String {
    let targets: Vec<String> = targets.iter().map(ObjectKey::to_string).collect();
    targets.join(", ")
}
