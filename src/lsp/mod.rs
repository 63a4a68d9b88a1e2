//! The language server: a face over [`Session`](crate::engine::Session) for editors, as the command line is one for people.
//!
//! It speaks over standard input and output. One thread takes messages in their order; what an editor changes is read and judged
//! again once nothing has come for a moment, or on request. Files that are not open are read from disk, open ones as the
//! editor has them; a text that has not changed is not parsed again.

mod actions;
mod answers;
mod client;
mod completion;
mod error;
mod folder;
mod folders;
mod greeting;
mod hover;
mod pages;
mod place;
mod publisher;
mod server;
mod transport;
mod workspace;

use lsp_server::Connection;

pub use error::LspError;

/// Serves the editor at standard input and output until it says `exit` or goes away, and says whether it asked for
/// `shutdown` before, as the protocol wants it.
///
/// # Errors
/// As those of [`serve`], and a broken connection.
pub fn serve_stdio() -> Result<bool, LspError> {
    let (connection, transport) = transport::stdio()?;
    let ended = serve(&connection);
    drop(connection);
    transport.finish()?;
    ended
}

/// Serves the editor at the other end of a connection.
///
/// # Errors
/// An editor that goes away before it says what it can do.
pub fn serve(connection: &Connection) -> Result<bool, LspError> {
    let server = server::Server::greet(connection).ok_or(LspError::Uninitialized)?;
    Ok(server.run())
}
