//! Deletion of PersistentVolumeClaims by the StatefulSet controller.

use crate::manifest::Object;
use crate::yaml::Value;

/// Whether the claims of `set` are deleted in the case `when`: `whenDeleted` or `whenScaled`.
pub(in crate::rules) fn are_deleted(set: &Object, when: &str) -> bool {
    set.at(&["spec", "persistentVolumeClaimRetentionPolicy", when])
        .and_then(Value::as_str)
        == Some("Delete")
}
