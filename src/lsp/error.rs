//! Why the conversation with an editor ends.

use thiserror::Error;

/// Why a server ends before its editor says so.
#[derive(Debug, Error)]
pub enum LspError {
    /// The editor said `exit`, or went away, before it said what it can do.
    #[error("the editor went away before it sent `initialize`")]
    Uninitialized,
    /// Standard input or output failed, or ended in the middle of a message.
    #[error("the connection to the editor broke: {0}")]
    Io(#[from] std::io::Error),
}
