//! The language server: the interface of [`Session`](crate::engine::Session) for editors.
//!
//! One thread handles the messages on standard input and output in order. Changes are debounced: the folder is checked
//! again once no message has come for a moment, or before a request that needs it. Open files have the editor's text,
//! others are read from disk; unchanged texts are not parsed again.

mod actions;
mod answers;
mod client;
mod completion;
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

/// The reason why the server ends before the editor requests it.
#[derive(Debug, thiserror::Error)]
pub enum LspError {
    /// The editor sent `exit`, or went away, before `initialize`.
    #[error("the editor went away before it sent `initialize`")]
    Uninitialized,
    /// Standard input or output failed, or ended in the middle of a message.
    #[error("the connection to the editor broke: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves the editor at standard input and output until it sends `exit` or goes away. Returns whether it sent
/// `shutdown` before, as the protocol requires.
///
/// # Errors
/// The errors of [`serve`], and a broken connection.
pub fn serve_stdio() -> Result<bool, LspError> {
    let (connection, transport) = transport::stdio()?;
    let ended = serve(&connection);
    drop(connection);
    transport.finish()?;
    ended
}

/// Serves the editor at the other end of a connection. Returns whether it sent `shutdown`.
///
/// # Errors
/// The editor goes away before it sends `initialize`.
pub fn serve(connection: &Connection) -> Result<bool, LspError> {
    let server = server::Server::greet(connection).ok_or(LspError::Uninitialized)?;
    Ok(server.run())
}
