//! The language server, and the editors that use it.

mod editors;
mod server;
