//! `plan`: deletions, teardowns, and the orders that it prints.

mod cli;
mod config;
mod corpus;
mod deliveries;
mod flux;
mod reconcilers;
mod releases;
mod requests;
pub(crate) mod safe_order;
mod teardown;
mod unanswered;
mod view;
