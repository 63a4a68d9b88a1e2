//! Deletion of PersistentVolumeClaims by the StatefulSet controller.

use crate::manifest::Object;

/// Whether `set` has claim templates, and its claims are deleted in the case `when`: `whenDeleted` or `whenScaled`.
pub(in crate::rules) fn are_deleted(set: &Object, when: &str) -> bool {
    let policy = ["spec", "persistentVolumeClaimRetentionPolicy", when];
    let templates = set.at(&["spec", "volumeClaimTemplates"]);
    set.value().str_at(&policy) == Some("Delete")
        && templates.is_some_and(|templates| templates.items().len() > 0)
}
