//! A Namespace that contains objects together with the controller that must release them.
//!
//! Deleting a Namespace removes its Pods first and waits for them (section 4, step 3); only then does the deletion of
//! everything else begin, and by then the controller is gone.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::finalizer_words::with_workload;
use super::rule::{Context, Rule, Sink, rule};
use super::words::named;
use crate::inventory::{Member, ObjectId};
use crate::kube::{Scope, finalizers, kinds, kubectl};
use crate::ownership::{Evidence, Remover};

pub(super) static OPERATOR_DELETED_FIRST: Rule = rule!(
    "operator-deleted-first",
    Info,
    Stuck,
    "A Namespace contains an operator and the objects that only it can release",
    operator_deleted_first
);

/// How many other places a finding shows.
const MOST_RELATED: usize = 8;

/// An object with a finalizer that a workload of its own namespace removes.
struct Held<'a> {
    member: &'a Member,
    finalizer: &'a str,
    remover: Remover<'a>,
}

fn operator_deleted_first(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let namespaces = || inventory.members.iter().filter(|member| member.object.is(kinds::NAMESPACE));
    if namespaces().next().is_none() {
        return;
    }
    // By namespace and operator.
    let mut held: BTreeMap<(&str, ObjectId), Vec<Held<'_>>> = BTreeMap::new();
    // An operator's kinds are often unknown here; an object with a namespace is assumed to be in it.
    for member in inventory.members.iter().filter(|member| member.scope() != Some(Scope::Cluster)) {
        let Some(namespace) = member.key.namespace.name() else { continue };
        let released = finalizers(context, member).into_iter().find_map(|finalizer| {
            let remover = context.ownership.removers.remover(inventory, member, finalizer);
            let workload = operator(&remover).filter(|workload| *workload != member.id)?;
            let operator = inventory.member(workload);
            // A Job ends on its own: it is not an operator.
            let dies_too = operator.key.namespace.name() == Some(namespace) && operator.key.group != "batch";
            dies_too.then_some((workload, Held { member, finalizer, remover }))
        });
        if let Some((workload, object)) = released {
            held.entry((namespace, workload)).or_default().push(object);
        }
    }
    for namespace in namespaces() {
        let name = namespace.key.name.as_str();
        let here = held.range((name, ObjectId(0))..=(name, ObjectId(u32::MAX)));
        here.for_each(|((_, operator), held)| sink.push(stuck(context, namespace, *operator, held)));
    }
}

/// The finalizers that an object has, or gets as soon as its controller sees it.
fn finalizers<'a>(context: &Context<'a>, member: &'a Member) -> Vec<&'a str> {
    let written = member.object.metadata.finalizers.iter().map(|finalizer| finalizer.value.as_str());
    let mut finalizers: Vec<&str> = written.filter(|name| !finalizers::is_collectors(name)).collect();
    finalizers.extend(context.ownership.removers.added_finalizers(member));
    finalizers
}

/// The workload that removes it: it runs the controller's image, or has the permissions and no other controller is
/// known.
fn operator(remover: &Remover<'_>) -> Option<ObjectId> {
    match remover {
        Remover::Workload { id, evidence: Evidence::Image { .. } | Evidence::Configuration, .. }
        | Remover::Workload { id, controller: None, .. } => Some(*id),
        _ => None,
    }
}

fn stuck(context: &Context<'_>, namespace: &Member, operator: ObjectId, held: &[Held<'_>]) -> Draft {
    let inventory = context.inventory;
    let operator = named(inventory.member(operator));
    let Held { member, finalizer, remover } = &held[0];
    let first = match held.len() {
        1 => named(member),
        2 => format!("{} and 1 more object", named(member)),
        n => format!("{} and {} more objects", named(member), n - 1),
    };
    let by_image = !matches!(remover, Remover::Workload { evidence: Evidence::Access { .. }, .. });
    let removes = if by_image { "removes" } else { "may be the one that removes" };
    let delete = kubectl::delete(&(&member.key).into(), &[]);
    let draft = Draft::on(
        namespace,
        namespace.object.name_span(),
        match by_image {
            true => format!(
                "deleting {} gets stuck: {operator} is deleted first, and nobody is left to release {first}",
                named(namespace)
            ),
            false => format!(
                "deleting {} may get stuck: {operator} is deleted first, and no other controller is known to release \
                 {first}",
                named(namespace)
            ),
        },
    )
    .label("would stay Terminating")
    .reason(format!(
        "Deleting a Namespace removes its Pods first and waits for them; everything else is deleted only after \
         {operator} is gone. {operator} {removes} the finalizer `{finalizer}` of {}, which then stays Terminating, \
         and so does the Namespace.",
        named(member)
    ))
    .help(format!(
        "delete what the operator manages first, for example with `{delete}`, and the Namespace once that is gone; or \
         keep the operator in another namespace"
    ))
    .field("metadata.name")
    .target(operator.clone());
    let known = context.ownership.removers.known();
    let rows: BTreeMap<&str, _> =
        held.iter().filter_map(|held| known.find(held.finalizer)).map(|known| (&*known.finalizer, known)).collect();
    let draft = rows.into_values().fold(draft, Draft::rests_on_finalizer);
    let draft = with_workload(draft, inventory, remover);
    held.iter().take(MOST_RELATED).fold(draft, |draft, held| {
        draft.related_object(held.member, format!("has or gets the finalizer `{}`", held.finalizer))
    })
}
