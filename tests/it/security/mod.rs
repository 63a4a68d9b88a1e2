//! Attacks by the author of a change: on the judgement of the change itself, on the machine that judges it, and on its time and
//! memory. The trees are in `fixtures/security/`, a folder each; this room has a file per kind of attack.

mod fixtures;
mod judgement;
mod lists;
mod messages;
mod skipped;
mod unread;
#[cfg(unix)]
mod writing;
