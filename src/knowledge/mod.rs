//! Facts about operators: the finalizers that they remove, the objects that they create and no manifest contains, the
//! objects whose deletion loses data.
//!
//! The facts are files, one for each operator (`rules/operators/<name>.yaml`, compiled in), and what the configuration adds. An
//! analysis is handed one [`Tables`]. Everything that rests on a fact names it ([`RowName`]), so that readers can look it up
//! and tables without the fact show what rested on it.
//!
//! A fact is partial knowledge: it may support a claim, never deny another one.

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

pub use bundled::{NamedOperator, operators, scope_of};
pub use condition::{Answer, Condition, Test};
pub use conflict::{Conflict, conflicts};
pub use data::{DataFate, DataKind, DataVerdict};
pub use field::{FieldPath, FieldValue, NotAField};
pub use finalizers::{
    Added, AddedFinalizers, Controller, Handles, KnownFinalizer, KnownFinalizers, OwnController,
};
pub use generators::{Generator, Owned, PolicyAnswer, Product};
pub use name::{FoundName, NamePattern};
pub use operator::{
    DefinedKind, DefinedScope, Facts, FinalizerName, NoText, NotAFinalizer, OPERATOR_SCHEMA,
    Operator, OperatorController, OperatorFinalizer, OwnedKind, Text,
};
pub use pattern::{ImagePattern, KindPattern, image_name};
pub use row::{RowName, Table};
pub use source::Sources;

/// The facts of one run.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Who removes which finalizer.
    pub finalizers: Arc<KnownFinalizers>,
    /// The creation of objects that no manifest contains.
    pub generators: Vec<Generator>,
    /// Which objects operators make dependents of others.
    pub owns: Vec<OwnedKind>,
    /// Kinds whose deletion deletes data.
    pub data: Vec<DataKind>,
}

impl Tables {
    /// The facts that are compiled in.
    pub fn bundled() -> Arc<Self> {
        Arc::clone(&BUNDLED.tables)
    }

    /// Collects the facts about operators. Of facts about one kind the closest counts: that about the kind itself, that
    /// about its group, that about groups below, that about every kind; of several of these the first.
    fn of(operators: Vec<Facts>) -> Self {
        let mut tables = Self::default();
        let mut controllers = Vec::new();
        for facts in operators {
            controllers.extend(facts.controllers);
            tables.generators.extend(facts.generators);
            tables.owns.extend(facts.owns);
            tables.data.extend(facts.data);
        }
        tables.finalizers = Arc::new(KnownFinalizers::new(controllers));
        tables.generators.sort_by_key(|row| row.kinds.breadth());
        tables.data.sort_by_key(|row| row.kinds.breadth());
        tables
    }

    /// These facts with those of a configuration, which come first: who writes about their own operator knows it better.
    pub fn with(
        &self,
        controllers: &[OwnController],
        generators: &[Generator],
        owns: &[OwnedKind],
        data: &[DataKind],
    ) -> Self {
        Self {
            finalizers: Arc::new(self.finalizers.with(controllers)),
            generators: [generators, &self.generators].concat(),
            owns: [owns, &self.owns].concat(),
            data: [data, &self.data].concat(),
        }
    }

    /// These facts without those of that name.
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

    /// The objects created for objects of a kind: all facts about the first entry that names the kind.
    pub fn generators_of<'t>(
        &'t self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'t Generator> + use<'t> {
        about(&self.generators, |row| &row.kinds, (group, kind))
    }

    /// The effect of deleting objects of a kind on data: all facts about the first entry that names the kind.
    pub fn data_about<'t>(
        &'t self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = &'t DataKind> + use<'t> {
        about(&self.data, |row| &row.kinds, (group, kind))
    }

    /// The effect of deleting an object of a kind on data: the first fact whose conditions hold.
    pub fn data_of(&self, group: &str, kind: &str, object: Value<'_>) -> Option<&DataKind> {
        self.data_about(group, kind)
            .find(|row| row.when.iter().all(|condition| condition.holds(object)))
    }

    /// The names of all facts, each once, in their order.
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

/// All facts about the first entry that matches a kind.
fn about<'t, Row>(
    rows: &'t [Row],
    kinds: fn(&Row) -> &KindPattern,
    (group, kind): (&str, &str),
) -> impl Iterator<Item = &'t Row> + use<'t, Row> {
    let first = rows.iter().position(|row| kinds(row).matches(group, kind));
    let rows = first.map_or(&[][..], |at| &rows[at..]);
    rows.iter().filter(move |row| kinds(row) == kinds(&rows[0]))
}
