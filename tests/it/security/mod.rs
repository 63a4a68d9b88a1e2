//! Attacks by the author of a change: on the check of the change, on the machine that runs it, and on time and memory.
//! The trees are folders of `fixtures/security/`; there is a file for each kind of attack.

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
