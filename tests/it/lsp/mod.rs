//! The language server, and the editors that use it.

mod client;
mod editors;
mod names;
mod server;
mod shown;
