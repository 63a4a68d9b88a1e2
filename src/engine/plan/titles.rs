//! What a step is called.

use crate::gc::Step;
use crate::kube::{ObjectKey, Policy};

/// The targets of a step, in the order of its requests.
pub(super) fn targets_of(step: &Step) -> impl Iterator<Item = &ObjectKey> {
    match step {
        Step::Settle => &[][..],
        Step::Delete { targets, .. } => targets,
        Step::RemoveFinalizer { target, .. } | Step::RemoveAllFinalizers { target } | Step::ForceDelete { target } => {
            std::slice::from_ref(target)
        }
    }
    .iter()
}

/// The words above a step.
pub(super) fn title(step: &Step) -> String {
    match step {
        Step::Settle => "settle".to_owned(),
        Step::Delete { targets, policy, .. } => {
            let targets: Vec<String> = targets.iter().map(ObjectKey::to_string).collect();
            let policy = match policy {
                Some(Policy::Background) => "Background",
                Some(Policy::Foreground) => "Foreground",
                Some(Policy::Orphan) => "Orphan",
                None => "no policy",
            };
            format!("delete {} ({policy})", targets.join(", "))
        }
        Step::RemoveFinalizer { target, finalizer } => format!("remove finalizer {finalizer} from {target}"),
        Step::RemoveAllFinalizers { target } => format!("remove all finalizers from {target}"),
        Step::ForceDelete { target } => format!("force-delete {target}"),
    }
}
