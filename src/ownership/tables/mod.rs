//! What operators do, as data: `rules/tables/generators.csv` and `data.csv`, and the rows that the configuration adds.
//!
//! An analysis is handed one [`Tables`]. Everything that rests on a row names it ([`RowName`]), so that readers can look it up
//! and a table without the row shows what rested on it.

mod data;
mod field;
mod generators;
mod name;
mod row;

use std::sync::{Arc, LazyLock};

use super::known_finalizers::{self, KnownFinalizers, OwnController};

pub use data::{DataFate, DataKind, DataVerdict, KeepCondition};
pub use field::{FieldPath, FieldValue, NotAField};
pub use generators::{Generator, OwningPolicy, PolicyAnswer, Product};
pub use name::{FoundName, NamePattern};
pub use row::{RowName, Table, TableError};

/// The tables of one run.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Who removes which finalizer.
    pub finalizers: Arc<KnownFinalizers>,
    /// What creates objects that no manifest contains.
    pub generators: Vec<Generator>,
    /// Kinds whose deletion deletes data.
    pub data: Vec<DataKind>,
}

impl Tables {
    /// The tables that are compiled in.
    pub fn bundled() -> Arc<Self> {
        // The text is compiled in and parsed by the tests, so the branch is unreachable in a build that passes them.
        static TABLES: LazyLock<Arc<Tables>> =
            LazyLock::new(|| match Tables::parse(generators::ROWS, data::ROWS) {
                Ok(tables) => Arc::new(tables),
                Err(error) => unreachable!("rules/tables: {error}"),
            });
        Arc::clone(&TABLES)
    }

    /// Reads the tables, beside the bundled one of finalizers.
    ///
    /// # Errors
    /// When one does not have the form that `rules/tables/README.md` describes.
    pub fn parse(generators: &str, data: &str) -> Result<Self, TableError> {
        let finalizers = Arc::clone(known_finalizers::table());
        Ok(Self {
            finalizers,
            generators: generators::parse(generators)?,
            data: data::parse(data)?,
        })
    }

    /// These tables with the rows of a configuration, which come first: who writes a row about a kind knows it better.
    pub fn with(
        &self,
        controllers: &[OwnController],
        generators: &[Generator],
        data: &[DataKind],
    ) -> Self {
        Self {
            finalizers: Arc::new(self.finalizers.with(controllers)),
            generators: [generators, &self.generators].concat(),
            data: [data, &self.data].concat(),
        }
    }

    /// These tables without the rows of that name.
    pub fn without(&self, row: &RowName) -> Self {
        let mut tables = self.clone();
        match row.table {
            Table::Generators => tables
                .generators
                .retain(|generator| generator.name() != *row),
            Table::Data => tables.data.retain(|data| data.name() != *row),
            Table::Finalizers => tables.finalizers = Arc::new(tables.finalizers.without(&row.row)),
        }
        tables
    }

    /// What creates objects for objects of a kind: all rows of the first table entry that lists the kind.
    pub fn generators_of<'t>(
        &'t self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'t Generator> + use<'t> {
        let first = self
            .generators
            .iter()
            .find(|row| row.kinds.matches(group, kind));
        let name = first.map(Generator::name);
        self.generators
            .iter()
            .filter(move |row| Some(row.name()) == name)
    }

    /// What the deletion of objects of a kind does to data.
    pub fn data_of(&self, group: &str, kind: &str) -> Option<&DataKind> {
        self.data.iter().find(|row| row.kinds.matches(group, kind))
    }

    /// The names of all rows, each once, in the order of the tables.
    pub fn names(&self) -> Vec<RowName> {
        let generators = self.generators.iter().map(Generator::name);
        let finalizers = self
            .finalizers
            .iter()
            .map(|known| RowName::of_finalizer(&known.finalizer));
        let mut names: Vec<RowName> = generators
            .chain(self.data.iter().map(DataKind::name))
            .chain(finalizers)
            .collect();
        names.dedup();
        names
    }
}
