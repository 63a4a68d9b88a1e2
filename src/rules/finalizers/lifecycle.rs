//! Rules on finalizers that the API server accepts but that have unintended effects: objects that get stuck or are
//! orphaned, and finalizers that no controller removes.
//!
//! A finalizer of an object that was read from a cluster is the responsibility of its controller: dumps get no warning
//! unless the finalizer is certainly wrong.

use crate::finding::{Applicability, Consequence, Severity};
use crate::knowledge::{Controller, Handles, KindPattern, KnownFinalizer};
use crate::kube::{finalizers, kinds, kubectl};
use crate::manifest::label_key_errors;
use crate::ownership::Remover;
use crate::rules::draft::Draft;
use crate::rules::finalizers::syntax::is_rejected;
use crate::rules::finalizers::words::{
    FinalizerEntry, entries, namespace_finalizers, who_removes, with_workload,
};
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::words::named;
use crate::text::capitalised;

pub(in crate::rules) static FINALIZER_PRESET_GC: Rule = rule!(
    Finalizers,
    "finalizer-preset-gc",
    Warning,
    Orphaned,
    "A manifest contains one of the garbage collector's own finalizers",
    finalizer_preset_gc
)
.fixes(&[Applicability::Safe, Applicability::Suggested])
.of_one_object();

pub(in crate::rules) static FINALIZER_UNKNOWN: Rule = rule!(
    Finalizers,
    "finalizer-unknown",
    Warning,
    Stuck,
    "No known controller removes a finalizer",
    finalizer_unknown
);

pub(in crate::rules) static FINALIZER_RUNTIME: Rule = rule!(
    Finalizers,
    "finalizer-runtime",
    Warning,
    Stuck,
    "A manifest contains a finalizer that its controller adds at run time",
    finalizer_runtime
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static FINALIZER_MISPLACED: Rule = rule!(
    Finalizers,
    "finalizer-misplaced",
    Warning,
    Stuck,
    "A finalizer is on a kind from which no known controller removes it",
    finalizer_misplaced
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static NAMESPACE_SPEC_FINALIZERS: Rule = rule!(
    Finalizers,
    "namespace-spec-finalizers",
    Warning,
    Stuck,
    "`spec.finalizers` of a Namespace contains more than `kubernetes`",
    namespace_spec_finalizers
)
.fixes(&[Applicability::Suggested])
.of_one_object();

/// [DEL-5], [GC-27], [L-10].
fn finalizer_preset_gc(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory).filter(|entry| finalizers::is_collectors(entry.name()))
    {
        let metadata = entry.member.object.metadata();
        let mut names = metadata.finalizer_names();
        let both = names.any(|name| finalizers::is_collectors(name) && name != entry.name());
        // Both together are rejected. On an object that is being deleted, the API server added the
        // finalizer, and the collector is working on it.
        if both || entry.member.from_dump && metadata.has_server_field("deletionTimestamp") {
            continue;
        }
        let (consequence, effect) = if entry.name() == finalizers::ORPHAN {
            (
                Consequence::Orphaned,
                "When a deletion sets no policy, or the collector deletes the object after its \
                 owner, the object is deleted and its dependents are kept, without an owner",
            )
        } else {
            (
                Consequence::Stuck,
                "When a deletion sets no policy, or the collector deletes the object after its \
                 owner, the deletion runs in the foreground: the object stays Terminating until \
                 every dependent that blocks it is gone, forever if one of them gets stuck",
            )
        };
        let draft = entry
            .draft(format!("{} has the garbage collector's own finalizer `{}`", named(entry.member), entry.name()))
            .consequence(consequence)
            .label("meant for deletion requests only")
            .reason(format!(
                "{effect}. `kubectl delete` always sets a policy and strips the finalizer, and so does the deletion \
                 of the namespace. The garbage collector (kube-controller-manager) removes it only from objects that \
                 are being deleted."
            ))
            .help(format!(
                "remove the entry, and choose the policy when you delete: `kubectl delete \
                 --cascade=orphan|foreground|background`. To release a stuck object, run {}",
                entry.release()
            ));
        sink.push(if entry.member.from_dump {
            draft
                .severity(Severity::Info)
                .fix(entry.removed(Proposal::suggested))
        } else {
            draft.fix(entry.removed(Proposal::safe))
        });
    }
}

/// [FIN-17]: only its controller removes a finalizer, and there is no timeout.
fn finalizer_unknown(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for entry in entries(inventory) {
        let (member, name) = (entry.member, entry.name());
        let known = known_of(context, &entry);
        let framework = known.and_then(|(_, _, row)| row.filter(|row| !row.is_identified()));
        let removers = &context.ownership.removers;
        if known.is_some() && framework.is_none()
            || !label_key_errors(name).is_empty()
            || is_rejected(member, name)
            || !matches!(removers.remover(inventory, member, name), Remover::Unknown)
        {
            continue;
        }
        let closed = context.world == World::Closed;
        // On an object read from a cluster, some controller outside the input added it.
        let severity = if member.from_dump && !closed {
            Severity::Info
        } else {
            Severity::Warning
        };
        let assumed = if closed {
            ""
        } else {
            " This assumes that no controller outside the input removes it."
        };
        let table = match framework.map(|row| &row.removed_by) {
            None => "The finalizer is not in the table of known finalizers".to_owned(),
            Some(who) => format!("The table of known finalizers names only \"{who}\""),
        };
        let kind = member.key.group_kind();
        let addition = if framework.is_some() {
            String::new()
        } else {
            format!(
                ", or add it to ownerlint itself: `ownerlint explain {name} {kind}` prints a template of the file"
            )
        };
        sink.push_with(|| {
            entry
                .draft(format!("no known controller removes finalizer `{name}` of {}", named(member)))
                .severity(severity)
                .label("who removes this?")
                .reason(format!(
                    "Once deleted, the object stays Terminating until the finalizer is removed by \
                     hand. There is no timeout: the deletion of its namespace or CRD, or the \
                     foreground deletion of an owner, waits for it. {table}, and no workload in \
                     the input has a ServiceAccount whose permissions let it change this \
                     kind.{assumed}"
                ))
                .claims_absence(inventory)
                .help(format!(
                    "remove the entry, or add its controller and the controller's RBAC to the input. If you know the \
                     controller, say so in ownerlint.yaml: `controllers: [{{name: NAME, images: [IMAGE], finalizers: [{name}], \
                     kinds: [{kind}]}}]`{addition}. To release a stuck object, run {release}; whatever the finalizer \
                     protects is then not cleaned up",
                    release = entry.release()
                ))
        });
    }
}

/// Returns the table's entry for a finalizer, whether its controllers handle the object's kind, and the row for that
/// kind. `None` for the collector's own finalizers.
fn known_of<'a>(
    context: &Context<'a>,
    entry: &FinalizerEntry<'_>,
) -> Option<(&'a KnownFinalizer, Handles, Option<&'a Controller>)> {
    if finalizers::is_collectors(entry.name()) {
        return None;
    }
    let known = context.ownership.removers.known().find(entry.name())?;
    let (group, kind) = (entry.member.key.group(), entry.member.key.kind());
    Some((
        known,
        known.handles(group, kind),
        known.controller_of(group, kind),
    ))
}

/// [VAL-24], [L-34].
fn finalizer_runtime(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for entry in entries(inventory).filter(|entry| !entry.member.from_dump) {
        let Some((known, handles, controller)) = known_of(context, &entry) else {
            continue;
        };
        let (member, name) = (entry.member, entry.name());
        let at_run_time = if let Some(controller) = controller {
            controller.added.is_at_run_time() && controller.is_identified()
        } else {
            let mut rows = known.controllers.iter();
            handles == Handles::Unproven && rows.all(|row| row.added.is_at_run_time())
        };
        if !at_run_time {
            continue;
        }
        let verified = controller.is_some_and(Controller::is_proven);
        let remover = context.ownership.removers.remover(inventory, member, name);
        let stuck = match remover {
            Remover::ControlPlane(_) => "",
            Remover::Workload { .. } => {
                " If that is deleted first, the deletion of the object never finishes."
            }
            Remover::KnownElsewhere(_) | Remover::Unlisted(_) | Remover::Unknown => {
                " Without that controller, the deletion of the object never finishes."
            }
        };
        let draft = entry
            .draft(format!("finalizer `{name}` of {} is one that a controller adds at run time", named(member)))
            .severity(if verified { Severity::Warning } else { Severity::Info })
            .label("copied from a live object?")
            .reason(format!(
                "{}.{stuck} Once the controller has removed the finalizer from an object that is being deleted, every \
                 apply of this manifest fails: `no new finalizers can be added if the object is being deleted`.{}",
                capitalised(&who_removes(inventory, &remover)),
                if verified { "" } else { " The source that ownerlint cites does not prove which program removes the finalizer from this kind." }
            ))
            .help(format!(
                "remove the entry: the controller adds the finalizer itself when it needs it. To release a stuck object, run {}",
                entry.release()
            ));
        let draft = draft.fix(entry.removed(Proposal::suggested));
        sink.push(with_workload(
            draft.rests_on_finalizer(known),
            inventory,
            &remover,
        ));
    }
}

/// [FIN-16], [L-33].
fn finalizer_misplaced(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory) {
        let Some((known, handles, _)) = known_of(context, &entry) else {
            continue;
        };
        match handles {
            Handles::No => sink.extend(never_removed(&entry, known)),
            Handles::Unlisted => sink.extend(unlisted(context, &entry, known)),
            Handles::Yes | Handles::Unproven => {}
        }
    }
}

/// Reports one of Kubernetes' own finalizers, whose kinds the table lists in full, on another kind.
fn never_removed(entry: &FinalizerEntry<'_>, known: &KnownFinalizer) -> Option<Draft> {
    let (member, name) = (entry.member, entry.name());
    let reason = if name == finalizers::KUBERNETES {
        "The namespace controller removes `kubernetes` only from `spec.finalizers` of Namespaces. No \
         controller removes it from `metadata.finalizers` of any kind. Once deleted, the object stays \
         Terminating until it is edited by hand."
    .to_owned()
    } else {
        format!(
            "{} removes `{name}`, but only from {}: it never looks at this {}. Once deleted, the \
             object stays Terminating until it is edited by hand.",
            capitalised(&known.controllers.first()?.removed_by),
            kinds(known),
            member.key.kind()
        )
    };
    let message = format!(
        "no controller removes finalizer `{name}` from {}",
        named(member)
    );
    let draft = misplaced(entry, message)
        .reason(reason)
        .fix(entry.removed(Proposal::suggested))
        .rests_on_finalizer(known);
    Some(draft)
}

/// Reports a kind that the controller's row does not list: a newer release or a fork may handle it. Silent if a
/// workload in the input may change the kind, because it may be the controller.
fn unlisted(
    context: &Context<'_>,
    entry: &FinalizerEntry<'_>,
    known: &KnownFinalizer,
) -> Option<Draft> {
    let (member, name) = (entry.member, entry.name());
    let removers = &context.ownership.removers;
    let Remover::Unlisted(controller) = removers.remover(context.inventory, member, name) else {
        return None;
    };
    let kind = member.key.kind();
    let draft = misplaced(entry, format!("finalizer `{name}` is not known on {kind}"));
    let draft = draft.severity(Severity::Info).rests_on_finalizer(known);
    Some(draft.reason(format!(
        "According to the table of known finalizers, {} removes it from {}. If no controller removes it from this \
         {kind}, the object stays Terminating once it is deleted.",
        controller.removed_by,
        kinds(known),
    )))
}

fn misplaced(entry: &FinalizerEntry<'_>, message: String) -> Draft {
    let release = entry.release();
    entry
        .draft(message)
        .label(format!("not known on {}", entry.member.key.kind()))
        .help(format!(
            "remove the entry. To release a stuck object, run {release}"
        ))
}

fn kinds(known: &KnownFinalizer) -> String {
    let all = known.controllers.iter().flat_map(|row| &row.kinds);
    let names = all.map(|pattern| match pattern {
        KindPattern::Any => "any kind".to_owned(),
        KindPattern::Exact { kind, group } if group.is_empty() => kind.to_string(),
        KindPattern::Exact { kind, group } => format!("{kind}.{group}"),
        KindPattern::Group(group) => format!("kinds of {group}"),
        KindPattern::GroupsBelow(parent) => format!("kinds of groups ending in .{parent}"),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// [VAL-26], [L-8].
fn namespace_spec_finalizers(context: &Context<'_>, sink: &mut Sink) {
    for member in context.inventory.of_kind(kinds::NAMESPACE) {
        for (index, finalizer) in namespace_finalizers(member) {
            let name = finalizer.as_str();
            let is_qualified = name.contains('/') || finalizers::is_collectors(name);
            if !is_qualified || !label_key_errors(name).is_empty() {
                continue;
            }
            sink.push_with(|| {
                let command = kubectl::remove_spec_finalizer(&member.key.name, name);
                let field = format!("spec.finalizers[{index}]");
                let message = format!("{} has `{name}` in `spec.finalizers`", named(member));
                let draft = Draft::on(member, finalizer.span, message)
                    .label("only `kubernetes` is removed automatically")
                    .reason(format!(
                        "A namespace that is created from this manifest keeps `{name}` until a controller removes it through \
                         the `finalize` subresource. If none does, the deletion of the namespace gets stuck after its \
                         content is gone. On an existing namespace an apply changes nothing here: the API server silently restores \
                         the stored list. This assumes that no controller outside the input removes `{name}`."
                    ))
                    .help(format!(
                        "remove the entry; the API server adds `kubernetes` automatically. To release a stuck namespace, run \
                         `{command}`"
                    ))
                    .field(&*field)
                    .target(name);
                if member.from_dump {
                    return draft.severity(Severity::Info);
                }
                draft.fix(Proposal::suggested("remove the finalizer").remove(member, &field))
            });
        }
    }
}
