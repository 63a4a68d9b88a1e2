//! A Namespace that contains objects together with the controller that must release them.
//!
//! Since Kubernetes 1.33, deleting a Namespace first deletes its Pods and waits for them. By the time everything else
//! is deleted, the controller is gone. Before 1.33, there was no fixed order.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, kinds, kubectl};
use crate::rules::draft::Draft;
use crate::rules::finalizers::held::{Held, counted, held, with_held};
use crate::rules::finalizers::words::with_workload;
use crate::rules::namespaces::never_empties::emptying;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::trials::tried;
use crate::rules::words::named;

pub(in crate::rules) static NAMESPACE_SHARED_WITH_OPERATOR: Rule = rule!(
    Namespaces,
    "namespace-shared-with-operator",
    Info,
    Stuck,
    "A Namespace contains an operator and the objects that only it can release",
    namespace_shared_with_operator
);

fn namespace_shared_with_operator(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let namespaces: Vec<&Member> = inventory.of_kind(kinds::NAMESPACE).collect();
    if namespaces.is_empty() {
        return;
    }
    let mut shared: BTreeMap<&str, Vec<Held<'_>>> = BTreeMap::new();
    // The scope of a custom kind is often unknown: an object with `metadata.namespace` is treated as namespaced.
    for held in held(context) {
        let Some(namespace) = held.member.key.namespace.name() else {
            continue;
        };
        if inventory.member(held.operator).key.namespace.name() == Some(namespace) {
            shared.entry(namespace).or_default().push(held);
        }
    }
    let sharing = namespaces
        .into_iter()
        .filter_map(|namespace| Some((namespace, shared.get(namespace.key.name.as_str())?)));
    for (namespace, all) in tried(sharing, context, sink) {
        let (guesses, known): (Vec<_>, Vec<_>) = all.iter().cloned().partition(Held::is_guess);
        let stuck = stuck_unless_quicker(context, namespace, known);
        // One finding for each Namespace: known operators take precedence over guesses.
        let held = if stuck.is_empty() { guesses } else { stuck };
        if let Some(first) = held.first() {
            sink.push(note(context, namespace, first, &held));
        }
    }
}

/// Returns the objects of `held` that may stay Terminating when the Namespace is deleted, but need not: their operator
/// may remove the finalizer before its Pods end.
fn stuck_unless_quicker<'a>(
    context: &Context<'_>,
    namespace: &Member,
    mut held: Vec<Held<'a>>,
) -> Vec<Held<'a>> {
    if held.is_empty() {
        return held;
    }
    let step = emptying(namespace.key.clone());
    let Some(plan) = context.plans.plan(&step) else {
        return Vec::new();
    };
    let stuck = plan.stuck(0).into_iter();
    let stuck = stuck.filter(|stuck| !stuck.is_certain());
    let stuck = stuck.map(|stuck| plan.cluster().key(stuck.object));
    let stuck: BTreeSet<ObjectKey> = stuck.collect();
    held.retain(|held| stuck.contains(&held.member.key));
    held
}

fn note(context: &Context<'_>, namespace: &Member, first: &Held<'_>, held: &[Held<'_>]) -> Draft {
    let inventory = context.inventory;
    let operators: BTreeSet<ObjectId> = held.iter().map(|held| held.operator).collect();
    let operators = operators.into_iter().map(|id| named(inventory.member(id)));
    let operators: Vec<String> = operators.collect();
    let operator = named(inventory.member(first.operator));
    let objects = counted(named(first.member), held.len());
    let (removes, remover) = if first.is_guess() {
        (
            "may be the one that removes",
            "no other controller is known to release",
        )
    } else {
        ("removes", "no controller is left to release")
    };
    let delete = kubectl::delete(&(&first.member.key).into(), &[]);
    let draft = Draft::on(
        namespace,
        namespace.object.name_span(),
        format!("deleting {} may get stuck: the Pods of {operator} are deleted first, and {remover} {objects}", named(namespace)),
    )
    .label("would stay Terminating")
    .reason(format!(
        "Since Kubernetes 1.33, deleting a Namespace deletes its Pods first, and everything else once they are gone. \
         {operator} {removes} the finalizer `{}` of {}. If its Pods end before that, the object and the Namespace stay Terminating.",
        first.finalizer,
        named(first.member)
    ))
    .help(format!(
        "delete the objects that the operator manages first, for example with `{delete}`, and the Namespace once they are \
         gone; or keep the operator in another namespace"
    ))
    .field("metadata.name")
    .target(operators.join(", "));
    let draft = with_workload(draft, inventory, &first.remover);
    with_held(draft, context, held.iter())
}
