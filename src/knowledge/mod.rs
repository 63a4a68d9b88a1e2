//! Facts about operators: the finalizers that they remove, the objects that they create although no manifest contains
//! them, and the objects whose deletion loses data.
//!
//! The facts come from one file for each operator (`rules/operators/<name>.yaml`, compiled in) and
//! from the configuration. An analysis gets them as [`Tables`]. Every finding that depends on a
//! fact names it ([`RowName`]), so that readers can look it up and tests can check without it.
//!
//! A fact is partial knowledge: it may support a claim, but never refute another.

mod bundled;
mod condition;
mod conflict;
mod data;
mod field;
mod finalizers;
mod generators;
mod name;
mod operator;
mod pattern;
mod row;
mod source;
mod written;

use std::sync::Arc;

use bundled::BUNDLED;

use crate::yaml::Value;

pub use bundled::{NamedOperator, operators, operators_of_chart, scope_of};
pub use condition::{Answer, Condition, Test};
pub use conflict::{Conflict, conflicts};
pub use data::{DataFate, DataKind};
pub use field::{FieldPath, FieldValue, NotAField};
pub use finalizers::{Added, Controller, Handles, KnownFinalizer, KnownFinalizers, OwnController};
pub use generators::{Generator, Owned, Product};
pub use name::{FoundName, NamePattern};
pub use operator::{
    DefinedKind, DefinedScope, Facts, FinalizerName, OPERATOR_SCHEMA, Operator, OperatorController,
    OperatorFinalizer, OwnedKind, Text,
};
pub use pattern::{ImagePattern, KindPattern, image_name};
pub use row::{RowName, Table};
pub use source::Sources;

/// The facts of one run.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Finalizers, and the controllers that remove them.
    pub finalizers: Arc<KnownFinalizers>,
    /// Objects that controllers create although no manifest contains them.
    pub generators: Vec<Generator>,
    /// Objects that operators make dependents of others.
    pub owns: Vec<OwnedKind>,
    /// Kinds whose deletion deletes data.
    pub data: Vec<DataKind>,
}

impl Tables {
    /// Returns the facts that are compiled in.
    pub fn bundled() -> Arc<Self> {
        Arc::clone(&BUNDLED.tables)
    }

    /// Collects the facts about operators. Those on created objects and on data are sorted so that the closest match of
    /// a kind comes first: facts about the kind itself, then about its group, groups below a domain, and every kind.
    fn of(mut facts: Facts) -> Self {
        facts.generators.sort_by_key(|row| row.kinds.breadth());
        facts.data.sort_by_key(|row| row.kinds.breadth());
        Self {
            finalizers: Arc::new(KnownFinalizers::new(facts.controllers)),
            generators: facts.generators,
            owns: facts.owns,
            data: facts.data,
        }
    }

    /// Returns these facts with those of a configuration, which take precedence: users know their own operators best.
    pub fn with(&self, own: &Facts) -> Self {
        Self {
            finalizers: Arc::new(self.finalizers.with(&own.controllers)),
            generators: [&*own.generators, &self.generators].concat(),
            owns: [&*own.owns, &self.owns].concat(),
            data: [&*own.data, &self.data].concat(),
        }
    }

    /// Returns these facts without those named `row`.
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

    /// Returns the facts on created objects for a kind: all with the pattern of the first match.
    pub fn generators_of<'t>(
        &'t self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'t Generator> + use<'t> {
        about(&self.generators, |row| &row.kinds, (group, kind))
    }

    /// Returns the facts on lost data for a kind: all with the pattern of the first match.
    pub fn data_about<'t>(
        &'t self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'t DataKind> + use<'t> {
        about(&self.data, |row| &row.kinds, (group, kind))
    }

    /// Returns the fact on the data lost with an object of a kind: the first whose conditions hold.
    pub fn data_of(&self, group: &str, kind: &str, object: Value<'_>) -> Option<&DataKind> {
        self.data_about(group, kind)
            .find(|row| row.when.iter().all(|condition| condition.holds(object)))
    }

    /// Returns the names of all facts in order, without consecutive duplicates.
    pub fn names(&self) -> Vec<RowName> {
        let finalizers = self.finalizers.iter();
        let finalizers = finalizers.map(|known| RowName::of_finalizer(&known.finalizer));
        let generators = self.generators.iter().map(Generator::name);
        let data = self.data.iter().map(DataKind::name);
        let mut names: Vec<RowName> = generators.chain(data).chain(finalizers).collect();
        names.dedup();
        names
    }
}

/// Returns the rows with the same kinds as the first row that matches a kind.
fn about<'t, Row>(
    rows: &'t [Row],
    kinds: fn(&Row) -> &KindPattern,
    (group, kind): (&str, &str),
) -> impl Iterator<Item = &'t Row> + use<'t, Row> {
    let first = rows.iter().position(|row| kinds(row).matches(group, kind));
    let rows = first.map_or(&[][..], |at| &rows[at..]);
    rows.iter().filter(move |row| kinds(row) == kinds(&rows[0]))
}
