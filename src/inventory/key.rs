//! The name of an object within a cluster.

/// The namespace of an object as far as the input says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// The kind is cluster-scoped.
    None,
    /// The manifest leaves it to whoever applies it. All such objects share one namespace ([L-41]); whether that is one
    /// of the named ones nobody knows.
    Unwritten,
    /// Written, or given for the whole input.
    Named(String),
}

impl Namespace {
    /// The name, when it is known.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::None | Self::Unwritten => None,
        }
    }

    /// Whether both are certainly different namespaces.
    pub fn certainly_differs(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Named(a), Self::Named(b)) if a != b)
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Unwritten => "?",
            Self::Named(name) => name,
        })
    }
}

/// `Kind[.group]/namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The kind.
    pub kind: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The namespace.
    pub namespace: Namespace,
    /// The name; `x-*` for `generateName: x-`; empty when neither is written.
    pub name: String,
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dot = if self.group.is_empty() { "" } else { "." };
        write!(f, "{}{dot}{}/{}/{}", self.kind, self.group, self.namespace, self.name)
    }
}
