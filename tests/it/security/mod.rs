//! Attacks by the author of a change: on the judgement of the change itself, on the machine that judges it, and on its time and
//! memory. The trees are in `fixtures/security/`, a folder each; this room has a file per kind of attack.

mod findings_limit;
mod fixtures;
mod forgets_nothing;
mod judgement;
mod lists;
mod messages;
#[cfg(unix)]
mod resources;
mod skipped;
mod unread;
#[cfg(unix)]
mod writing;
