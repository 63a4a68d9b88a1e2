//! A file, and what becomes of its objects before they reach a cluster.

use std::sync::Arc;

use crate::kustomize::Edits;
use crate::manifest::{ListClient, ParsedFile};

/// A file of a bundle.
#[derive(Clone, Debug)]
pub struct AppliedFile {
    /// The file.
    pub file: ParsedFile,
    /// The edits of the root that builds it to the identities of its objects; `None` if they are applied as they are written.
    pub edits: Option<Arc<Edits>>,
    /// The namespace of its objects without one, where that is another than the input's.
    pub namespace: Option<Arc<str>>,
    /// The clients that apply it. Objects that they take for lists are left out; `None` keeps these.
    pub client: Option<ListClient>,
}

impl From<ParsedFile> for AppliedFile {
    fn from(file: ParsedFile) -> Self {
        Self {
            file,
            edits: None,
            namespace: None,
            client: None,
        }
    }
}
