//! The commands as users run them.

mod determinism;
mod examples;
mod first_run;
mod fix;
mod habits;
mod init;
mod learn;
mod misuse;
#[cfg(unix)]
mod pre_commit;
#[cfg(unix)]
mod repository;
pub(crate) mod scope;
