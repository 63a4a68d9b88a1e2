//! Mutable state of an object during a simulation, one bit per fact.

use crate::names::finalizers;

/// Removed from storage.
pub(super) const GONE: u16 = 1;
/// `deletionTimestamp` is set.
pub(super) const TERMINATING: u16 = 1 << 1;
/// `deletionGracePeriodSeconds` is above 0: a Pod that waits for its kubelet.
pub(super) const GRACEFUL: u16 = 1 << 2;
/// Has finalizer `orphan`.
pub(super) const ORPHAN: u16 = 1 << 3;
/// Has finalizer `foregroundDeletion`.
pub(super) const FOREGROUND: u16 = 1 << 4;
/// The collector has seen it Terminating with `foregroundDeletion`. Never unset `[GC-9]`.
pub(super) const DELETING_DEPENDENTS: u16 = 1 << 5;
/// `spec.finalizers` of a Namespace holds `kubernetes`.
pub(super) const SPEC_KUBERNETES: u16 = 1 << 6;

/// Lost when a step began (`View::is_lost`): a controller that needs it never acts again.
pub(super) const LOST: u16 = 1 << 8;

/// The collector treats it as absent after a lookup in the wrong place (before Kubernetes 1.20).
pub(super) const TREATED_ABSENT: u16 = 1 << 9;

/// The collector does not watch its kind `[GC-2]`. Never changes.
pub(super) const UNWATCHED: u16 = 1 << 7;

/// The flags that a user can see.
pub(super) const VISIBLE: u16 = GONE | TERMINATING | ORPHAN | FOREGROUND | SPEC_KUBERNETES;

/// Returns the names of the collector's finalizers among the flags.
pub(super) fn gc_finalizers<'a>(flags: u16) -> impl Iterator<Item = &'a str> {
    let orphan = (flags & ORPHAN != 0).then_some(finalizers::ORPHAN);
    let foreground = (flags & FOREGROUND != 0).then_some(finalizers::FOREGROUND);
    orphan.into_iter().chain(foreground)
}
