//! Objects that generators create.

use super::builder::Builder;
use super::object::{ImpliedObject, ImpliedReference};
use crate::finding::Certainty;
use crate::inventory::Member;
use crate::kube::Namespace;
use crate::ownership::{TieKind, Ties};

/// The products to imply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// Only those that something in the input uses: a comparison should report that the Secret of a Deployment is
    /// deleted, not that every operator has Secrets.
    Used,
    /// Also those that are deleted with their generator, for a complete list of what a deletion deletes.
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
        let is_wanted =
            owned && products == Products::Owned || ties.users_of(&tie.to.key).next().is_some();
        if tie.certainty != Certainty::Certain || tie.to.id.is_some() || !is_wanted {
            continue;
        }
        let mut key = tie.to.key.clone();
        // An owned product is in its owner's namespace, which is unwritten for an owner of unknown scope.
        if owned && member.key.namespace == Namespace::Unwritten {
            key.namespace = Namespace::Unwritten;
        }
        // The table does not list the flags of the reference; they make no difference, because nothing delays the
        // deletion of the product.
        let reference = ImpliedReference::plain(member.object.api_version());
        builder.add(ImpliedObject {
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
