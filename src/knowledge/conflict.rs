//! Two operators that say the same thing of one kind: a mistake, because only one of them can be right.

use std::collections::BTreeMap;

use super::bundled::NamedOperator;
use super::operator::Operator;

/// A fact that two operators tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The common subject: ``finalizer `a.b/c` of Kind.group``.
    pub about: String,
    /// The first, by name.
    pub first: String,
    /// The second.
    pub second: String,
}

/// Contradictions of several operators about a finalizer and kind, about a kind's data, or about a kind's scope.
pub fn conflicts(operators: &[NamedOperator]) -> Vec<Conflict> {
    let mut told: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for NamedOperator { name, operator } in operators {
        for about in facts(operator) {
            match told.get(&about) {
                Some(first) if *first != name => found.push(Conflict {
                    about,
                    first: (*first).to_owned(),
                    second: name.clone(),
                }),
                _ => _ = told.insert(about, name),
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
