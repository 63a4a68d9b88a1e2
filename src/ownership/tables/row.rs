//! What all tables have in common: rows with a name, and how they are read.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use super::field::NotAField;

/// A table of rows that findings rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// `generators.csv`.
    Generators,
    /// `data.csv`.
    Data,
    /// `known-finalizers.csv`.
    Finalizers,
}

impl Table {
    /// The name of the file, without its ending.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generators => "generators",
            Self::Data => "data",
            Self::Finalizers => "known-finalizers",
        }
    }
}

/// Which row: `generators/ExternalSecret.external-secrets.io`. Rows of one kind in one table share their name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowName {
    /// The table.
    pub table: Table,
    /// The kinds or the finalizer of the row, as it has them.
    pub row: Arc<str>,
}

impl RowName {
    /// The rows of a finalizer, as the table has it.
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

/// A table does not have the form its README describes.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A row has the wrong columns or an unknown word in one of them.
    #[error("{table}: {source}")]
    Rows {
        /// The table.
        table: &'static str,
        /// What is wrong.
        source: csv::Error,
    },
    /// A cell contains something that is not a field.
    #[error("{table}, row {row}: {source}")]
    Field {
        /// The table.
        table: &'static str,
        /// The kinds of the row.
        row: String,
        /// What is wrong.
        source: NotAField,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Proven {
    Yes,
    No,
}

/// The rows of a table.
pub(super) fn rows<R: for<'de> Deserialize<'de>>(
    table: &'static str,
    text: &str,
) -> Result<Vec<R>, TableError> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>()
        .map_err(|source| TableError::Rows { table, source })
}

/// What a cell lists.
pub(super) fn cells(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter(|cell| !cell.is_empty())
}
