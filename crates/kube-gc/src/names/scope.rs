//! Whether a kind's objects live in namespaces.

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In no namespace.
    Cluster,
}
