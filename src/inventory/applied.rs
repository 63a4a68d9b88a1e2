//! A file, and what becomes of its objects before they reach a cluster.

use std::sync::Arc;

use crate::kube::{Namespace, ObjectKey, Scope};
use crate::manifest::{ListClient, ParsedFile};

/// A file of a bundle.
#[derive(Clone, Debug)]
pub struct AppliedFile {
    /// The file.
    pub file: ParsedFile,
    /// Its objects in the build that reads it; `None` if they are applied as they are written.
    pub built: Option<Arc<BuiltKeys>>,
    /// The namespace of its objects without one, where that is another than the input's.
    pub namespace: Option<Arc<str>>,
    /// The clients that apply it. Objects that they take for lists are left out; `None` keeps these.
    pub client: Option<ListClient>,
}

impl From<ParsedFile> for AppliedFile {
    fn from(file: ParsedFile) -> Self {
        Self {
            file,
            built: None,
            namespace: None,
            client: None,
        }
    }
}

/// The objects of a file that a build applies, and under which keys.
#[derive(Clone, Debug, Default)]
pub struct BuiltKeys(Vec<(u32, Namespace, String)>);

impl BuiltKeys {
    /// Objects, each with the byte of the file at which it begins, its namespace and its name.
    pub fn new(mut objects: Vec<(u32, Namespace, String)>) -> Self {
        objects.sort_by_key(|(begins, ..)| *begins);
        objects.shrink_to_fit();
        Self(objects)
    }

    /// Whether what begins at a byte of the file is one of the objects.
    pub fn contain(&self, begins: u32) -> bool {
        self.of(begins).is_some()
    }

    fn of(&self, begins: u32) -> Option<(&Namespace, &str)> {
        let found = self.0.binary_search_by_key(&begins, |(begins, ..)| *begins);
        found.ok().map(|at| {
            let (_, namespace, name) = &self.0[at];
            (namespace, name.as_str())
        })
    }

    /// The key under which the object of key `written` and that scope is applied; `None` if the build leaves it out. Unlike
    /// Kubernetes, kustomize treats a kind that it does not know as namespaced; if it is not, the API server drops the
    /// namespace again.
    pub fn key(&self, written: &ObjectKey, scope: Option<Scope>, begins: u32) -> Option<ObjectKey> {
        let (namespace, name) = self.of(begins)?;
        let mut key = written.clone();
        key.name = name.into();
        if scope != Some(Scope::Cluster) && *namespace != Namespace::Unwritten {
            key.namespace = namespace.clone();
        }
        Some(key)
    }
}
