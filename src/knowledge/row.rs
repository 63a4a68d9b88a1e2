//! Names of facts, to which findings refer.

use std::fmt;
use std::sync::Arc;

/// A table of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Objects that operators create.
    Generators,
    /// Kinds whose deletion deletes data.
    Data,
    /// Finalizers, and the controllers that remove them.
    Finalizers,
}

impl Table {
    /// Returns its name in the names of facts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generators => "generators",
            Self::Data => "data",
            Self::Finalizers => "known-finalizers",
        }
    }
}

/// The name of a fact: `generators/ExternalSecret.external-secrets.io`. Facts of a table with equal kinds share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowName {
    /// The table.
    pub table: Table,
    /// The kinds or the finalizer of the fact.
    pub row: Arc<str>,
}

impl RowName {
    /// Names the facts of a finalizer, given its name or pattern in the table.
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
