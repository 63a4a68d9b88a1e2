//! Objects with a finalizer that a workload in the input removes.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::inventory::{Member, ObjectId};
use crate::knowledge::KnownFinalizers;
use crate::kube::{GroupKind, Namespace};
use crate::ownership::{Evidence, FinalizerHolder, Remover};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::Context;

/// An object, and the workload that removes one of its finalizers.
#[derive(Clone)]
pub(in crate::rules) struct Held<'a> {
    pub(in crate::rules) member: &'a Member,
    pub(in crate::rules) finalizer: &'a str,
    pub(in crate::rules) operator: ObjectId,
    pub(in crate::rules) remover: Remover<'a>,
}

impl Held<'_> {
    /// Whether the only evidence for the workload is its permissions or the name of its image.
    pub(in crate::rules) fn is_guess(&self) -> bool {
        matches!(
            self.remover,
            Remover::Workload {
                evidence: Evidence::Access { .. } | Evidence::ImageName { .. },
                ..
            }
        )
    }

    /// Whether the table has a row of the operator, and the operator's source proves it for this object.
    pub(in crate::rules) fn is_verified(&self) -> bool {
        let key = &self.member.key;
        matches!(
            self.remover,
            Remover::Workload { controller: Some(controller), .. }
                if controller.is_proven_for(key.group(), key.kind())
        )
    }
}

/// The facts about objects that decide who removes a finalizer: group and kind, namespace (if any grant depends on it),
/// and the row of the finalizer in the table.
type AlikeObjects<'a> = (GroupKind<&'a str>, Option<&'a Namespace>, Option<&'a str>);

/// Returns every object that has, or will get, a finalizer that a workload of the input removes: the workload runs the
/// controller, or has the permissions if no controller is known. Only the first such finalizer of an object is used.
pub(in crate::rules) fn held<'a>(context: &Context<'a>) -> Vec<Held<'a>> {
    let (inventory, removers) = (context.inventory, &context.ownership.removers);
    let by_namespace = removers.access().has_grants();
    let mut known: HashMap<AlikeObjects<'_>, Option<(ObjectId, Remover<'a>)>> = HashMap::default();
    let mut found = Vec::new();
    // Unless a controller adds finalizers to a kind of the input, only objects with rare fields can have one.
    let members: Vec<&Member> = if removers.adds_finalizers() {
        inventory.members.iter().collect()
    } else {
        inventory.with_rare_fields().collect()
    };
    for member in members {
        let namespace = by_namespace.then_some(&member.key.namespace);
        for finalizer in removers.finalizers_of(member) {
            let row = removers.known().find(finalizer);
            let row = row.map(|row| row.finalizer.as_str());
            let question = (member.key.group_kind(), namespace, row);
            let answer = known.entry(question).or_insert_with(|| {
                let holder = FinalizerHolder::unnamed(member);
                let remover = removers.remover_from(inventory, &holder, finalizer);
                // A Job runs to completion: it is not an operator.
                let operator = operator(&remover)?;
                (inventory.member(operator).key.group() != "batch").then_some((operator, remover))
            });
            if let Some((operator, remover)) = answer
                && *operator != member.id
            {
                found.push(Held {
                    member,
                    finalizer,
                    operator: *operator,
                    remover: remover.clone(),
                });
                break;
            }
        }
    }
    found
}

fn operator(remover: &Remover<'_>) -> Option<ObjectId> {
    match remover {
        Remover::Workload {
            id,
            evidence: Evidence::Image { .. } | Evidence::ImageName { .. } | Evidence::Configuration,
            ..
        }
        | Remover::Workload {
            id,
            controller: None,
            ..
        } => Some(*id),
        _ => None,
    }
}

/// Adds the table rows of `finalizers`, which the finding depends on.
pub(in crate::rules) fn resting<'h>(
    draft: Draft,
    known: &KnownFinalizers,
    finalizers: impl Iterator<Item = &'h str>,
) -> Draft {
    let rows = finalizers.filter_map(|name| known.find(name));
    let rows: BTreeMap<&str, _> = rows.map(|known| (&*known.finalizer, known)).collect();
    rows.into_values().fold(draft, Draft::rests_on_finalizer)
}

/// Adds some of the held objects, and the rows of the finalizer table that the finding depends on.
pub(in crate::rules) fn with_held<'h>(
    draft: Draft,
    context: &Context<'_>,
    held: impl Iterator<Item = &'h Held<'h>> + Clone,
) -> Draft {
    let known = context.ownership.removers.known();
    let draft = resting(draft, known, held.clone().map(|held| held.finalizer));
    held.take(MAX_RELATED).fold(draft, |draft, held| {
        let words = format!("has or gets the finalizer `{}`", held.finalizer);
        draft.related_object(held.member, words)
    })
}

/// Names the first of several objects, and counts the others.
pub(in crate::rules) fn counted(first: String, all: usize) -> String {
    match all {
        0 | 1 => first,
        2 => format!("{first} and 1 more object"),
        n => format!("{first} and {} more objects", n - 1),
    }
}
