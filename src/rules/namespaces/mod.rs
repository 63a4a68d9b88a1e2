//! Namespaces that never finish deleting.

pub(in crate::rules) mod conversion;
pub(in crate::rules) mod never_empties;
pub(in crate::rules) mod shared;
pub(in crate::rules) mod unanswered;
