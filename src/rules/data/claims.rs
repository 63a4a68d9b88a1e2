//! A StatefulSet controller's handling of claims.

use crate::manifest::Object;
use crate::yaml::Value;

/// Whether it deletes the claims of `set` in that case: `whenDeleted`, `whenScaled`.
pub(in crate::rules) fn are_deleted(set: &Object, when: &str) -> bool {
    set.at(&["spec", "persistentVolumeClaimRetentionPolicy", when])
        .and_then(Value::as_str)
        == Some("Delete")
}
