//! Finalizers that no manifest lists, because a controller adds them when it first sees the object.

use super::known_finalizers;
use crate::inventory::{Member, table};

/// The finalizers that every object of its kind gets from its controller, whether or not this one's manifest lists them. A dump
/// shows what an object has; on a built-in kind a controller marks only the objects that it manages.
pub fn added_finalizers(member: &Member) -> impl Iterator<Item = &str> {
    let custom = !member.from_dump && !table().is_builtin_group(&member.key.group);
    let added = custom.then(|| known_finalizers::table().added_at_run_time(&member.key.group, &member.key.kind));
    added.into_iter().flatten().map(|(known, _)| known.finalizer.as_str())
}
