//! The names of facts, by which findings say what they rest on.

use std::fmt;
use std::sync::Arc;

/// The subject of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Objects that operators create.
    Generators,
    /// Kinds whose deletion deletes data.
    Data,
    /// Finalizers and who removes them.
    Finalizers,
}

impl Table {
    /// Its name in the names of facts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generators => "generators",
            Self::Data => "data",
            Self::Finalizers => "known-finalizers",
        }
    }
}

/// Which facts: `generators/ExternalSecret.external-secrets.io`. Facts of one kind in one table share their name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowName {
    /// The table.
    pub table: Table,
    /// The kinds or the finalizer that it is about.
    pub row: Arc<str>,
}

impl RowName {
    /// The facts of a finalizer, under the name or the pattern by which it is known.
    pub fn of_finalizer(finalizer: &str) -> Self {
        Self {
            table: Table::Finalizers,
            row: finalizer.into(),
        }
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.table.as_str(), self.row)
    }
}
