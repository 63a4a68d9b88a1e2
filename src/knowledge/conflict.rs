//! Facts that several operators state about one subject: a mistake, because only one of them can be right.

use std::collections::BTreeMap;

use super::bundled::NamedOperator;
use super::operator::Operator;

/// A subject about which two operators state a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The common subject: ``finalizer `a.b/c` of Kind.group``.
    pub about: String,
    /// The name of the first operator.
    pub first: String,
    /// The name of the second operator.
    pub second: String,
}

/// Finds subjects that several operators describe: a kind's finalizer, a kind's data or a kind's scope.
pub fn conflicts(operators: &[NamedOperator]) -> Vec<Conflict> {
    let mut described: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for NamedOperator { name, operator } in operators {
        for about in facts(operator) {
            match described.get(&about) {
                Some(first) if *first != name => found.push(Conflict {
                    about,
                    first: (*first).to_owned(),
                    second: name.clone(),
                }),
                _ => _ = described.insert(about, name),
            }
        }
    }
    found
}

fn facts(operator: &Operator) -> impl Iterator<Item = String> {
    let finalizers = operator.controllers.iter().flat_map(|one| &one.finalizers);
    let finalizers = finalizers.flat_map(|finalizer| {
        let name = finalizer.name.as_str();
        finalizer
            .kinds
            .iter()
            .map(move |kind| format!("finalizer `{name}` of {kind}"))
    });
    let data = operator
        .data
        .iter()
        .map(|data| format!("data of {}", data.kinds));
    let crds = operator
        .crds
        .iter()
        .map(|crd| format!("scope of {}", crd.kind));
    finalizers.chain(data).chain(crds)
}
