//! Why the conversation with an editor ends.

use lsp_server::ProtocolError;
use thiserror::Error;

/// Why a server ends before its editor says so.
#[derive(Debug, Error)]
pub enum LspError {
    /// The editor does not speak the protocol, or went away in the middle of a message.
    #[error("the editor broke the language server protocol: {0}")]
    Protocol(#[from] ProtocolError),
    /// What the editor said of itself cannot be understood.
    #[error("the editor's `initialize` cannot be read: {0}")]
    Initialize(#[from] serde_json::Error),
    /// Standard input or output failed.
    #[error("the connection to the editor broke: {0}")]
    Io(#[from] std::io::Error),
}
