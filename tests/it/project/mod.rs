//! The project itself: documentation, layering and dependencies.

mod docs;
mod docs_commands;
mod rooms;
mod supply_chain;
