//! Hooks, and what is lost when they are deleted.

use crate::delivery::{FluxObject, Hook, HookEvent, HookTool, Operation, Phase, Regime, marks};
use crate::finding::{Certainty, Severity};
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::kinds;
use crate::ownership::data_loss;
use crate::rules::delivery::protection::keep_of_helm;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static HOOK_NOT_KEPT: Rule = rule!(
    Delivery,
    "hook-not-kept",
    Warning,
    Collected,
    "Helm or Argo CD deletes a hook that holds data, contains objects or is still used",
    hook_not_kept
);

/// Returns an object as a hook of the tool that evidently delivers it, or of Helm or Argo CD if there is no evidence;
/// `None` if it is not such a hook.
pub(in crate::rules) fn hook_of<'a>(context: &Context<'_>, member: &'a Member) -> Option<Hook<'a>> {
    let metadata = member.object.metadata();
    if !metadata.has_labels_or_annotations() {
        return None;
    }
    let deliveries = context.analysis.deliveries();
    match deliveries.evident(member) {
        None => Hook::of(metadata, HookTool::Helm).or_else(|| Hook::of(metadata, HookTool::ArgoCd)),
        Some(Regime::Helm | Regime::Flux(FluxObject::HelmRelease)) => {
            Hook::of(metadata, HookTool::Helm)
        }
        Some(Regime::ArgoCd) => Hook::of(metadata, HookTool::ArgoCd),
        Some(Regime::Kubectl | Regime::Flux(FluxObject::Kustomization)) => None,
    }
}

/// Whether an object is a hook that runs before its tool deletes anything.
pub(in crate::rules) fn runs_before_deletion(context: &Context<'_>, member: &Member) -> bool {
    let before_deletion = HookEvent {
        operation: Operation::Delete,
        phase: Phase::Before,
    };
    hook_of(context, member).is_some_and(|hook| hook.events.contains(&before_deletion))
}

/// Returns words that follow the object's name in a message: when the tool deletes a hook that has run. `None` if the
/// tool never does.
pub(in crate::rules) fn deletion_of(hook: &Hook<'_>, member: &Member) -> Option<&'static str> {
    // Neither tool deletes a CRD as a hook.
    if member.object.is(kinds::CUSTOM_RESOURCE_DEFINITION) {
        return None;
    }
    if hook.is_deleted_on_success && !hook.events.is_empty() {
        return Some(match hook.tool {
            HookTool::Helm => "as soon as the hooks that run with it have succeeded",
            HookTool::ArgoCd
                if hook
                    .events
                    .iter()
                    .all(|event| event.operation == Operation::Delete) =>
            {
                "once the hooks of the deletion have succeeded"
            }
            HookTool::ArgoCd => "at the end of the sync",
        });
    }
    let repeated = hook.repeats().next().filter(|_| hook.is_replaced)?;
    Some(match repeated {
        Operation::Sync => "at each sync, and creates it again",
        Operation::Rollback => "at each rollback, and creates it again",
        _ => "at each upgrade, and creates it again",
    })
}

fn hook_not_kept(context: &Context<'_>, sink: &mut Sink) {
    for member in &context.inventory.members {
        let Some(hook) = hook_of(context, member) else {
            continue;
        };
        let Some(deleted) = deletion_of(&hook, member) else {
            continue;
        };
        // `protection-ineffective` reports hooks that are annotated to be kept.
        if keep_of_helm(member).is_some() {
            continue;
        }
        if let Some((loss, severity)) = loss(context, member) {
            let draft = not_kept(&hook, member, deleted)
                .reason(format!("{} {loss}", why(&hook)))
                .severity(severity);
            sink.push(draft);
        } else if let Some(user) = user_of(context, member) {
            let effect = if hook.is_deleted_on_success {
                "can no longer start Pods"
            } else if member.object.is(kinds::SECRET) {
                "finds different contents in the new one if they are generated on each rendering"
            } else {
                // Only a Secret is likely to contain generated values, which differ from one rendering to the next.
                continue;
            };
            let draft = not_kept(&hook, member, deleted)
                .reason(format!(
                    "{} {} uses it, and {effect}.",
                    why(&hook),
                    named(user)
                ))
                .info_if(!hook.is_deleted_on_success)
                .related_object(user, "uses it");
            sink.push(draft);
        }
    }
}

fn not_kept(hook: &Hook<'_>, member: &Member, deleted: &str) -> Draft {
    let tool = hook.tool.name();
    Draft::on(member, hook.annotation.key_span, format!("{tool} deletes {} {deleted}", named(member)))
        .label("runs it as a hook")
        .help(match hook.tool {
            HookTool::Helm => format!(
                "remove `{}`: the object is then part of the release, created before anything that uses it and updated in place",
                hook.key
            ),
            HookTool::ArgoCd => format!(
                "remove `{}`, and give the object a low `{}` if it must be there before others",
                hook.key,
                marks::ARGOCD_SYNC_WAVE
            ),
        })
        .field(format!("metadata.annotations.{}", hook.key))
}

fn why(hook: &Hook<'_>) -> String {
    let written = hook.delete_policy;
    let tool = hook.tool.name();
    match (hook.is_deleted_on_success, hook.tool) {
        (true, _) => format!("`{written}` tells {tool} to delete the hook once it has succeeded."),
        (false, HookTool::Helm) => format!(
            "A hook is not part of the release. Unless `{written}` says otherwise, Helm deletes the object of an earlier \
             run before it creates the hook again."
        ),
        (false, HookTool::ArgoCd) => format!(
            "Unless `{written}` says otherwise, Argo CD deletes the object of the last sync before it creates the hook \
             again."
        ),
    }
}

/// Describes the loss if `member` is deleted, and its severity; `None` if nothing is lost.
fn loss(context: &Context<'_>, member: &Member) -> Option<(String, Severity)> {
    if member.object.is(kinds::NAMESPACE) {
        let all = "Everything in the Namespace is deleted with it, even objects that come from elsewhere.";
        return Some((all.to_owned(), Severity::Warning));
    }
    if member.object.is(kinds::STATEFUL_SET) {
        let pods = "Its Pods are deleted with it, and nothing answers until new ones have started.";
        return Some((pods.to_owned(), Severity::Warning));
    }
    let tables = context.analysis.tables();
    let loss = data_loss(context.inventory, tables, member)?;
    let sentence = match loss.fate {
        DataFate::Kept => {
            let stays = "Its data stays, but nothing refers to it.";
            return Some((stays.to_owned(), Severity::Info));
        }
        DataFate::Lost => format!("Deleting the object also deletes {}.", loss.lost),
        DataFate::Unknown => format!("Deleting the object may also delete {}.", loss.lost),
    };
    Some((sentence, Severity::Warning))
}

/// Returns a user of `member` that is delivered with it and is not a hook itself.
fn user_of<'a>(context: &Context<'a>, member: &Member) -> Option<&'a Member> {
    let inventory = context.inventory;
    let users = context.analysis.ties().users_of(&member.key);
    let users = users.filter(|tie| tie.certainty == Certainty::Certain);
    let users = users.map(|tie| inventory.member(tie.from));
    let mut users = users.filter(|user| !user.object.is(kinds::SERVICE_ACCOUNT));
    let delivered = context.analysis.together();
    users.find(|user| delivered.has(user, member) && hook_of(context, user).is_none())
}
