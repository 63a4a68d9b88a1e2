//! Where the objects of a file are applied.

use std::sync::Arc;

/// What is applied together. Objects of two destinations may have one key: they are in two clusters, or nobody applies one of
/// them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// A bundle of the configuration.
    Bundle(Arc<str>),
    /// What one root builds: its folder, and which of the roots of that folder it is.
    Root(Arc<str>, usize),
    /// The files of a folder that no kustomization governs.
    Folder(Arc<str>),
    /// The files of a folder that a kustomization governs and no root reaches: nobody applies them.
    Unapplied(Arc<str>),
    /// What else the cluster contains; it is part of no change.
    Beside,
}

impl Destination {
    /// Whether somebody applies what is there.
    pub fn is_applied(&self) -> bool {
        !matches!(self, Self::Unapplied(_))
    }

    /// Its name in reports: that of the bundle, or the folder of the root.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Bundle(name) => Some(name),
            Self::Root(folder, _) if folder.is_empty() => Some("."),
            Self::Root(folder, _) => Some(folder),
            Self::Folder(_) | Self::Unapplied(_) | Self::Beside => None,
        }
    }
}
