//! The operators of `rules/operators`, compiled in.

use std::sync::LazyLock;

use serde::Deserialize;

use super::operator::Operator;

/// What the build script makes of the files: their names and contents, in the order of the names.
const FILES: &str = include_str!(concat!(env!("OUT_DIR"), "/operators.json"));

/// An operator, and the name of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct NamedOperator {
    /// The name of the file without its ending: `rook`.
    pub name: String,
    /// What it says.
    pub operator: Operator,
}

/// The operators that are compiled in, in the order of their names.
pub fn operators() -> &'static [NamedOperator] {
    // The files are read by the build and by the tests, so the branch is unreachable in a build that passes them.
    static OPERATORS: LazyLock<Vec<NamedOperator>> =
        LazyLock::new(|| match serde_json::from_str(FILES) {
            Ok(operators) => operators,
            Err(error) => unreachable!("rules/operators: {error}"),
        });
    &OPERATORS
}
