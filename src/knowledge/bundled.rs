//! The operators of `rules/operators`, compiled into the program.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use smol_str::SmolStr;

use super::Tables;
use super::operator::{DefinedKind, DefinedScope, Facts, Operator};
use super::pattern::KindPattern;

/// The files as one JSON array, embedded by the build script: their names and contents, in the order of the names.
const FILES: &str = include_str!(concat!(env!("OUT_DIR"), "/rules/operators.json"));

/// An operator, and the name of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct NamedOperator {
    /// The name of the file without its ending: `rook`.
    pub name: String,
    /// Its content.
    pub operator: Operator,
}

/// The tables of all operators, built once per process and on first use.
pub(super) struct Bundled {
    pub(super) tables: Arc<Tables>,
    scopes: BTreeMap<(SmolStr, SmolStr), DefinedScope>,
}

pub(super) static BUNDLED: LazyLock<Bundled> = LazyLock::new(|| {
    let mut facts = Facts::default();
    for NamedOperator { operator, .. } in operators() {
        facts.add(operator.into_facts());
    }
    let mut scopes = BTreeMap::new();
    for DefinedKind { kind, scope } in &facts.crds {
        if let KindPattern::Exact { kind, group } = kind {
            scopes.insert((group.clone(), kind.clone()), *scope);
        }
    }
    Bundled {
        tables: Arc::new(Tables::of(facts)),
        scopes,
    }
});

/// Returns the operators that are compiled in, in the order of their names.
pub fn operators() -> Vec<NamedOperator> {
    match serde_json::from_str(FILES) {
        Ok(operators) => operators,
        // The build script and the tests parse these files, so this does not happen.
        Err(error) => unreachable!("rules/operators: {error}"),
    }
}

/// Returns the operators that a chart probably installs: their files or the repositories of their sources have its name.
pub fn operators_of_chart(chart: &str) -> impl Iterator<Item = &'static NamedOperator> {
    static OPERATORS: LazyLock<Vec<NamedOperator>> = LazyLock::new(operators);
    OPERATORS.iter().filter(move |known| {
        let repository = known.operator.project.as_str().rsplit('/').next();
        known.name == chart || repository == Some(chart)
    })
}

/// Returns the scope of a kind that an operator defines; `None` if no operator is known to define it.
pub fn scope_of(group: &str, kind: &str) -> Option<DefinedScope> {
    let kind = (group.into(), kind.into());
    BUNDLED.scopes.get(&kind).copied()
}
