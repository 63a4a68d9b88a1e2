//! Rules on finalizers that the API server accepts and that act in a way the author did not mean: what hangs, what is
//! orphaned, and who would remove what.
//!
//! What stands on an object that was read from a cluster is its controller's business, so that dumps get no warning
//! unless something is wrong on its face.

use super::draft::Draft;
use super::finalizer_words::{FinalizerEntry, entries, namespace_finalizers, who_removes, with_workload};
use super::rule::{Context, Rule, Sink, World, rule};
use super::words::named;
use crate::finding::{Consequence, Severity};
use crate::kube::{finalizers, kubectl};
use crate::manifest::label_key_errors;
use crate::ownership::Remover;
use crate::ownership::known_finalizers::{self, Added, Controller, Handles, KindPattern, KnownFinalizer};

pub(super) static FINALIZER_PRESET_GC: Rule = rule!(
    "finalizer-preset-gc",
    Warning,
    Orphaned,
    "A manifest contains one of the garbage collector's own finalizers",
    finalizer_preset_gc
);

pub(super) static FINALIZER_UNKNOWN: Rule =
    rule!("finalizer-unknown", Warning, Stuck, "No known controller removes a finalizer", finalizer_unknown);

pub(super) static FINALIZER_RUNTIME: Rule = rule!(
    "finalizer-runtime",
    Warning,
    Stuck,
    "A manifest contains a finalizer that its controller adds at run time",
    finalizer_runtime
);

pub(super) static FINALIZER_MISPLACED: Rule = rule!(
    "finalizer-misplaced",
    Warning,
    Stuck,
    "A finalizer is on a kind from which no known controller removes it",
    finalizer_misplaced
);

pub(super) static NAMESPACE_SPEC_FINALIZERS: Rule = rule!(
    "namespace-spec-finalizers",
    Warning,
    Stuck,
    "`spec.finalizers` of a Namespace contains more than `kubernetes`",
    namespace_spec_finalizers
);

/// [DEL-5], [GC-27], [L-10].
fn finalizer_preset_gc(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory).filter(|entry| finalizers::is_collectors(entry.name())) {
        let metadata = &entry.member.object.metadata;
        let both = metadata
            .finalizers
            .iter()
            .any(|other| finalizers::is_collectors(&other.value) && other.value != entry.name());
        // Both together are refused; on an object that is being deleted the API server wrote it, and the collector is at it.
        if both || entry.member.from_dump && metadata.has_server_field("deletionTimestamp") {
            continue;
        }
        let (consequence, effect) = match entry.name() == finalizers::ORPHAN {
            true => (
                Consequence::Orphaned,
                "A deletion that names no policy, and the collector when it deletes the object after its owner, then orphans: the \
                 object goes and its dependents stay, without an owner",
            ),
            false => (
                Consequence::Stuck,
                "A deletion that names no policy, and the collector when it deletes the object after its owner, then runs in the \
                 foreground: the object waits, Terminating, for every dependent that blocks it, for ever if one of them hangs",
            ),
        };
        let draft = entry
            .draft(format!("{} has the collector's finalizer `{}` written down", named(entry.member), entry.name()))
            .consequence(consequence)
            .label("meant for deletion requests only")
            .reason(format!(
                "{effect}. `kubectl delete` always names a policy and strips the finalizer, and so does the removal of the namespace. \
                 The garbage collector (kube-controller-manager) removes it, but from objects that are being deleted only."
            ))
            .help(format!(
                "remove the entry, and choose the policy when you delete: `kubectl delete --cascade=orphan|foreground|background`. An \
                 object that hangs is freed by {}",
                entry.unhang()
            ));
        sink.push(if entry.member.from_dump { draft.severity(Severity::Info) } else { draft });
    }
}

/// [FIN-17]: nobody but its controller removes a finalizer, and there is no timeout.
fn finalizer_unknown(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for entry in entries(inventory) {
        let (member, name) = (entry.member, entry.name());
        let known = known_finalizers::table().find(name).is_some();
        if known || !label_key_errors(name).is_empty() {
            continue;
        }
        if !matches!(context.ownership.removers.remover(inventory, member, name), Remover::Nobody) {
            continue;
        }
        let closed = context.world == World::Closed;
        // On an object of a cluster some controller wrote it, which then is outside of the input.
        let severity = if member.from_dump && !closed { Severity::Info } else { Severity::Warning };
        let assumed = match closed {
            true => "",
            false => " This assumes that no controller outside of this input removes it.",
        };
        sink.push(
            entry
                .draft(format!("nobody known removes finalizer `{name}` of {}", named(member)))
                .severity(severity)
                .label("who removes this?")
                .reason(format!(
                    "Once deleted, the object stays Terminating until somebody removes the finalizer; there is no timeout, and its \
                     namespace, its CRD and a foreground deletion of its owner wait with it. The table of known finalizers does not have \
                     this one, and no workload of the input has a ServiceAccount whose rights name this kind or its group.{assumed}"
                ))
                .claims_absence(inventory)
                .help(format!(
                    "remove the entry, or add its controller with its RBAC to the input. An object that hangs is freed by {}; what the \
                     finalizer protected is then not cleaned up",
                    entry.unhang()
                )),
        );
    }
}

/// The table's entry for a finalizer, and the row for the object's kind. Not for the collector's own.
fn known_of(entry: &FinalizerEntry<'_>) -> Option<(&'static KnownFinalizer, Handles, Option<&'static Controller>)> {
    if finalizers::is_collectors(entry.name()) {
        return None;
    }
    let known = known_finalizers::table().find(entry.name())?;
    let (group, kind) = (entry.member.key.group.as_str(), entry.member.key.kind.as_str());
    Some((known, known.handles(group, kind), known.controller_of(group, kind)))
}

/// [VAL-24], [L-34].
fn finalizer_runtime(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for entry in entries(inventory).filter(|entry| !entry.member.from_dump) {
        let Some((known, handles, controller)) = known_of(&entry) else { continue };
        let (member, name) = (entry.member, entry.name());
        let at_run_time = match controller {
            Some(controller) => controller.added == Added::Runtime,
            None => handles == Handles::Unproven && known.controllers.iter().all(|row| row.added == Added::Runtime),
        };
        if !at_run_time {
            continue;
        }
        let verified = controller.is_some_and(|controller| controller.verified);
        let remover = context.ownership.removers.remover(inventory, member, name);
        let hangs = match remover {
            Remover::ControlPlane(_) => "",
            Remover::Workload { .. } => " If that goes first, the object never finishes its deletion.",
            Remover::KnownElsewhere(_) | Remover::Unlisted(_) | Remover::Nobody => {
                " Without it the object never finishes its deletion."
            }
        };
        let draft = entry
            .draft(format!("finalizer `{name}` of {} is one that its controller adds at run time", named(member)))
            .severity(if verified { Severity::Warning } else { Severity::Info })
            .label("copied from a live object?")
            .reason(format!(
                "{}.{hangs} While the object is being deleted, every apply of this manifest after the controller has removed the \
                 finalizer fails: `no new finalizers can be added if the object is being deleted`.{}",
                capitalised(&who_removes(inventory, &remover)),
                if verified { "" } else { " The table's source does not prove this for the kind." }
            ))
            .help(format!("remove the entry: the controller adds it when it needs it. An object that hangs is freed by {}", entry.unhang()));
        sink.push(with_workload(draft, inventory, &remover));
    }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// [FIN-16], [L-33].
fn finalizer_misplaced(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory) {
        let Some((known, handles, _)) = known_of(&entry) else { continue };
        match handles {
            Handles::No => sink.extend(never_removed(&entry, known)),
            Handles::Unlisted => sink.extend(unlisted(context, &entry, known)),
            Handles::Yes | Handles::Unproven => {}
        }
    }
}

/// Of Kubernetes' own finalizers it is known to the last kind who removes them.
fn never_removed(entry: &FinalizerEntry<'_>, known: &KnownFinalizer) -> Option<Draft> {
    let (member, name) = (entry.member, entry.name());
    let reason = match name == finalizers::KUBERNETES {
        true => "The namespace controller removes `kubernetes` from `spec.finalizers` of Namespaces only; from `metadata.finalizers` \
                 nobody does, on any kind. Once deleted, the object stays Terminating until somebody edits it."
            .to_owned(),
        false => format!(
            "{} removes `{name}`, but from {} only: it never looks at this {}. Once deleted, the object stays Terminating until \
             somebody edits it.",
            capitalised(&known.controllers.first()?.removed_by),
            kinds(known),
            member.key.kind
        ),
    };
    Some(misplaced(entry, format!("nobody removes finalizer `{name}` from {}", named(member))).reason(reason))
}

/// What a row does not list its controller may have learned since, and a fork of it may have taken over. Silent when a
/// workload of the input has rights on the kind: that one may be the controller.
fn unlisted(context: &Context<'_>, entry: &FinalizerEntry<'_>, known: &KnownFinalizer) -> Option<Draft> {
    let (member, name) = (entry.member, entry.name());
    let Remover::Unlisted(controller) = context.ownership.removers.remover(context.inventory, member, name) else {
        return None;
    };
    let kind = &member.key.kind;
    let draft = misplaced(entry, format!("finalizer `{name}` is not known on {kind}"));
    Some(draft.severity(Severity::Info).reason(format!(
        "The table of known finalizers knows only that {} removes it from {}. If nobody removes it from this {kind} too, the \
         object stays Terminating once it is deleted.",
        controller.removed_by,
        kinds(known),
    )))
}

fn misplaced(entry: &FinalizerEntry<'_>, message: String) -> Draft {
    let help = format!("remove the entry. An object that hangs is freed by {}", entry.unhang());
    entry.draft(message).label(format!("not known on {}", entry.member.key.kind)).help(help)
}

fn kinds(known: &KnownFinalizer) -> String {
    let all = known.controllers.iter().flat_map(|row| &row.kinds);
    let names: Vec<_> = all
        .map(|pattern| match pattern {
            KindPattern::Any => "any kind".to_owned(),
            KindPattern::Exact { kind, group } if group.is_empty() => kind.clone(),
            KindPattern::Exact { kind, group } => format!("{kind}.{group}"),
            KindPattern::Group(group) => format!("kinds of {group}"),
            KindPattern::GroupsBelow(parent) => format!("kinds of the groups below {parent}"),
        })
        .collect();
    names.join(", ")
}

/// [VAL-26], [L-8].
fn namespace_spec_finalizers(context: &Context<'_>, sink: &mut Sink) {
    for member in &context.inventory.members {
        for (index, finalizer) in namespace_finalizers(member) {
            let name = finalizer.as_str();
            let valid = label_key_errors(name).is_empty() && (name.contains('/') || finalizers::is_collectors(name));
            if !valid || name == finalizers::KUBERNETES {
                continue;
            }
            let command = kubectl::remove_spec_finalizer(&member.key.name, name);
            let draft = Draft::on(member, finalizer.span, format!("{} has `{name}` in `spec.finalizers`", named(member)))
                .label("only `kubernetes` is removed on its own")
                .reason(format!(
                    "Created so, the namespace keeps `{name}` until a controller removes it through the `finalize` subresource; its \
                     deletion hangs if none does, after all that it held is gone. On a namespace that exists an apply changes nothing \
                     here: the API server restores the stored list in silence. This assumes that no controller elsewhere removes it."
                ))
                .help(format!(
                    "remove the entry; the API server adds `kubernetes` by itself. A namespace that hangs is freed by `{command}`"
                ))
                .field(format!("spec.finalizers[{index}]"))
                .target(name);
            sink.push(if member.from_dump { draft.severity(Severity::Info) } else { draft });
        }
    }
}
