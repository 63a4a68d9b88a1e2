//! Errors that end the conversation with an editor.

use thiserror::Error;

/// The reason why the server ends before the editor requests it.
#[derive(Debug, Error)]
pub enum LspError {
    /// The editor sent `exit`, or went away, before `initialize`.
    #[error("the editor went away before it sent `initialize`")]
    Uninitialized,
    /// Standard input or output failed, or ended in the middle of a message.
    #[error("the connection to the editor broke: {0}")]
    Io(#[from] std::io::Error),
}
