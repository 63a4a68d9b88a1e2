//! Objects that generators create.

use super::builder::Builder;
use super::object::{ImpliedObject, ImpliedReference};
use crate::finding::Certainty;
use crate::inventory::Member;
use crate::kube::Namespace;
use crate::ownership::{TieKind, Ties};

/// Which products are implied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Those that something in the input uses: who compares wants to know that the Secret of a Deployment is deleted, not that
    /// every operator has Secrets.
    Used,
    /// Those that are deleted with their generator, too: who asks what a deletion takes along wants to know them.
    Owned,
}

pub(super) fn of<'a>(
    builder: &mut Builder<'a>,
    member: &'a Member,
    ties: &Ties,
    products: Products,
) {
    for tie in ties.from(member.id) {
        let TieKind::Generates { owned } = tie.kind else {
            continue;
        };
        let Some(row) = tie.evidence.row.as_ref() else {
            continue;
        };
        let is_told =
            owned && products == Products::Owned || ties.users_of(&tie.to.key).next().is_some();
        if tie.certainty != Certainty::Certain || tie.to.id.is_some() || !is_told {
            continue;
        }
        let mut key = tie.to.key.clone();
        // What is owned is where its owner is. An owner of unknown scope has no namespace of the input, and its product has.
        if owned && member.key.namespace == Namespace::Unwritten {
            key.namespace = Namespace::Unwritten;
        }
        // Which flags a controller sets, the table does not say; they make no difference to a product that nothing blocks.
        let reference = ImpliedReference::plain(member.object.api_version());
        builder.add(ImpliedObject {
            api_version: "v1",
            key,
            owner: member.key.clone(),
            reference: owned.then_some(reference),
            finalizers: Vec::new(),
            copied_references: Vec::new(),
            spec: None,
            claims: Vec::new(),
            rule: row.to_string().into(),
        });
    }
}
