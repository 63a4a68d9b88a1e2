//! Namespaces with an object that is never deleted.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::finding::Severity;
use crate::gc::{self, Step};
use crate::inventory::Member;
use crate::kube::{ObjectKey, Policy, Scope, kinds};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::references::simulation::{abandoned, holds_on};
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::trials::tried;
use crate::rules::words::named;

pub(in crate::rules) static NAMESPACE_NEVER_EMPTIES: Rule = rule!(
    Namespaces,
    "namespace-never-empties",
    Warning,
    Stuck,
    "A Namespace contains an object with a finalizer that no known controller removes",
    namespace_never_empties
)
.cascade(deleting);

/// Returns the cascade behind a finding of `namespace-never-empties`, and its title.
fn deleting(namespace: &ObjectKey) -> (Step, String) {
    let title = format!("When Namespace {} is deleted", namespace.name);
    (emptying(namespace.clone()), title)
}

pub(in crate::rules) fn emptying(namespace: ObjectKey) -> Step {
    Step::delete(vec![namespace], Some(Policy::Background))
}

/// [L-22], [NS-9]: only finalizers that no known controller removes count.
fn namespace_never_empties(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let mut content: BTreeMap<&str, SmallVec<[(&Member, &str); 1]>> = BTreeMap::new();
    for member in inventory.with_rare_fields() {
        if member.scope() == Some(Scope::Namespaced)
            && let Some(namespace) = member.key.namespace.name()
            && let Some(finalizer) = abandoned(context, member).next()
        {
            let held = content.entry(namespace).or_default();
            held.push((member, finalizer));
        }
    }
    if content.is_empty() {
        return;
    }
    let namespaces = inventory.of_kind(kinds::NAMESPACE);
    let filled = namespaces
        .filter_map(|namespace| Some((namespace, content.get(namespace.key.name.as_str())?)));
    for (namespace, held) in tried(filled, context, sink) {
        let key = &namespace.key;
        let step = emptying(key.clone());
        let Some(plan) = context.plans.plan(&step) else {
            return;
        };
        let mut holds = holds_on(&plan, key).into_iter();
        if holds.any(|hold| matches!(hold, gc::Hold::NamespaceContent { .. })) {
            sink.push(never_empties(context, namespace, held));
            context.plans.keep(step, plan);
        }
    }
}

fn never_empties(context: &Context<'_>, namespace: &Member, held: &[(&Member, &str)]) -> Draft {
    let objects = if held.len() == 1 {
        "1 object has a finalizer".to_owned()
    } else {
        format!("{} objects have finalizers", held.len())
    };
    let finalizers: BTreeSet<&str> = held.iter().map(|(_, finalizer)| *finalizer).collect();
    let message = format!(
        "{} never finishes deleting: {objects} that no known controller removes",
        named(namespace)
    );
    let mut draft = Draft::on(namespace, namespace.object.name_span(), message)
        .severity(if context.world == World::Closed { Severity::Error } else { Severity::Warning })
        .label("would stay Terminating")
        .reason(format!(
            "Deleting a Namespace deletes everything in it and waits until it is empty. An object \
             with a finalizer stays until the finalizer is removed, but neither the input nor the \
             table of known finalizers contains a controller that removes it. The Namespace would \
             report `Some content in the namespace has finalizers remaining: {} in {} resource \
             instances`.",
            held[0].1,
            held.iter().filter(|(_, finalizer)| *finalizer == held[0].1).count()
        ))
        .claims_absence(context.inventory)
        .help("add the controller that removes the finalizer, in another namespace, or remove the finalizer")
        .field("metadata.name")
        .target(finalizers.into_iter().collect::<Vec<_>>().join(","));
    for (member, finalizer) in held.iter().take(MAX_RELATED) {
        let mut written = member.object.metadata().finalizers().iter();
        let written = written.find(|written| written.value == *finalizer);
        let span = written.map_or_else(|| member.object.name_span(), |written| written.span);
        let words = format!("{} is held by `{finalizer}`", named(member));
        draft = draft.related(member.file, span, words);
    }
    draft
}
