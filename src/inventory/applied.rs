//! A file, and the keys under which its objects are applied.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::kube::{Namespace, ObjectKey, Scope};
use crate::manifest::{ListClient, Object, ParsedFile};

/// A file of a bundle.
#[derive(Clone, Debug)]
pub struct AppliedFile {
    /// The file.
    pub file: ParsedFile,
    /// The objects that a build takes from it; `None` if they are applied as written.
    pub built: Option<Arc<BuiltKeys>>,
    /// The namespace of its objects without one, if it differs from that of the input.
    pub namespace: Option<Arc<str>>,
    /// The client that applies it. Objects that this client reads only as lists are left out.
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

/// An object of a file that a build applies.
#[derive(Clone, Debug)]
pub struct BuiltObject {
    /// Its offset in the file.
    pub begins: u32,
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: SmolStr,
    /// The object with the values of its variables and the new names in its references, if it has any.
    pub object: Option<Arc<Object>>,
}

/// The objects of a file that a build applies, and their keys in the build.
#[derive(Clone, Debug, Default)]
pub struct BuiltKeys(Vec<BuiltObject>);

impl BuiltKeys {
    /// Sorts objects by their offsets.
    pub fn new(mut objects: Vec<BuiltObject>) -> Self {
        objects.sort_by_key(|object| object.begins);
        objects.shrink_to_fit();
        Self(objects)
    }

    /// Whether the object at this offset of the file is one of them.
    pub fn contain(&self, begins: u32) -> bool {
        self.of(begins).is_some()
    }

    /// Returns the object at this offset; `None` if it is not one of them.
    pub fn of(&self, begins: u32) -> Option<&BuiltObject> {
        let found = self.0.binary_search_by_key(&begins, |object| object.begins);
        found.ok().map(|at| &self.0[at])
    }

    /// Returns the key under which the object with the key `written` and the scope `scope` is applied; `None` if the
    /// build leaves it out. Unlike Kubernetes, kustomize treats an unknown kind as namespaced; if it is not, the API
    /// server drops the namespace again.
    pub fn key(&self, written: &ObjectKey, scope: Option<Scope>, begins: u32) -> Option<ObjectKey> {
        let object = self.of(begins)?;
        let mut key = written.clone();
        key.name = object.name.as_str().into();
        if scope != Some(Scope::Cluster) && object.namespace != Namespace::Unwritten {
            key.namespace = object.namespace.clone();
        }
        Some(key)
    }
}
