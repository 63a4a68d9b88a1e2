//! Objects of a release that become Helm hooks, and hooks that become part of the release.

use super::places::{changed_in_head, on_base};
use crate::delivery::helm::is_transient;
use crate::delivery::marks;
use crate::delivery::{Hook, HookEvent, HookTool, Operation, Phase, Regime, kept_by_upgrade};
use crate::finding::{Consequence, Severity};
use crate::inventory::Member;
use crate::kube::kinds;
use crate::merge::{EffectKind, Merge, Standing, Surprise, severity};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::Span;

pub(in crate::rules) static BECAME_HOOK: Rule = rule!(
    Change,
    "became-hook",
    Error,
    Collected,
    "An object of a release becomes a Helm hook: the upgrade deletes it",
    change became_hook
);

fn became_hook(merge: &Merge<'_>, sink: &mut Sink) {
    for object in merge.part.kept() {
        let regime = merge.regime_of(object.base);
        match (hook_key(object.base), hook_key(object.head)) {
            (None, Some(hook))
                if regime.is_release()
                    && !runs_once(object.base)
                    && is_deleted(merge, object.base)
                    && !exists_afterwards(object.head) =>
            {
                let draft = deleted(merge, object.base, regime);
                sink.push(changed_in_head(
                    draft,
                    merge,
                    object.head,
                    hook,
                    "makes it a hook",
                ));
            }
            (Some(hook), None) if regime.is_release() && stays(object.base) => {
                let draft = in_the_way(merge, object.base, regime, hook);
                sink.push(changed_in_head(
                    draft,
                    merge,
                    object.head,
                    object.head.object.name_span(),
                    "is part of the release from now on",
                ));
            }
            _ => {}
        }
    }
}

/// Returns the place of the annotation that makes an object a hook of Helm.
fn hook_key(member: &Member) -> Option<Span> {
    let hook = member.object.metadata().annotation(marks::HELM_HOOK);
    hook.map(|hook| hook.key_span)
}

/// Whether the object is a Job or Pod, which runs once: as a hook it runs again, which is the usual intention.
fn runs_once(member: &Member) -> bool {
    [kinds::JOB, kinds::POD].contains(&member.object.group_kind())
}

/// Whether the object that a hook created exists until the next upgrade: the hook runs before, and neither Helm nor the
/// controller of finished Jobs deletes it.
fn stays(member: &Member) -> bool {
    let hook = Hook::of(member.object.metadata(), HookTool::Helm);
    let runs = hook.is_some_and(|hook| {
        let mut events = hook.events.iter();
        events.any(|event| event.operation != Operation::Delete)
    });
    let lifetime = member.object.at(&["spec", "ttlSecondsAfterFinished"]);
    runs && !is_transient(&member.object) && lifetime.is_none()
}

/// Whether the upgrade ends with the object of the hook: it runs after the upgrade has removed what left the release, or
/// it is annotated to be kept.
fn exists_afterwards(member: &Member) -> bool {
    let metadata = member.object.metadata();
    let after_upgrade = HookEvent {
        operation: Operation::Upgrade,
        phase: Phase::After,
    };
    let is_kept = kept_by_upgrade(metadata).is_some();
    Hook::of(metadata, HookTool::Helm).is_some_and(|hook| {
        let is_created =
            hook.events.contains(&after_upgrade) || is_kept && hook.runs_in(Operation::Upgrade);
        is_created && !hook.is_deleted_on_success
    })
}

fn is_deleted(merge: &Merge<'_>, member: &Member) -> bool {
    let ends = [EffectKind::Deleted, EffectKind::Stuck];
    let mut effects = merge.effects_on(&member.key).iter();
    effects.any(|effect| ends.contains(&effect.effect))
}

fn deleted(merge: &Merge<'_>, member: &Member, regime: Regime) -> Draft {
    let surprise = Surprise {
        standing: Standing::Applied,
        ..Surprise::removed(merge.is_tool_known(member))
    };
    let upgrade = if regime == Regime::Helm {
        "`helm upgrade`"
    } else {
        "the upgrade of the HelmRelease"
    };
    on_base(
        merge,
        member,
        member.object.name_span(),
        format!("{upgrade} deletes {}, which becomes a hook", named(member)),
    )
    .label("is part of the release")
    .reason(
        "A hook is not part of the release. At the end of the upgrade, Helm deletes the objects \
         that left the release, including this one. If the hook ran before that, Helm deletes the \
         object that it created; if it runs only at other times, the object is not created again.",
    )
    .help(
        "leave the object in the release. If it must become a hook, give the hook another name; for a \
         hook that does not run at upgrades, it is enough to annotate the object with \
         `helm.sh/resource-policy: keep` and upgrade once before it becomes a hook",
    )
    .field("metadata.annotations")
    .severity(severity(surprise).unwrap_or(Severity::Error))
}

fn in_the_way(merge: &Merge<'_>, member: &Member, regime: Regime, hook: Span) -> Draft {
    let upgrade = if regime == Regime::Helm {
        "`helm upgrade` fails"
    } else {
        "the HelmRelease fails to upgrade"
    };
    on_base(merge, member, hook, format!("{} stops being a hook: {upgrade} if the hook still exists", named(member)))
        .label("was created as a hook")
        .reason(
            "Helm rejects a new object of the release that already exists without the annotations \
             of the release, and an object that a hook created has none.",
        )
        .help(
            "delete the hook's object before the upgrade, or annotate it with `meta.helm.sh/release-name` and \
             `meta.helm.sh/release-namespace` and label it `app.kubernetes.io/managed-by: Helm`",
        )
        .field("metadata.annotations")
        .severity(Severity::Warning)
        .consequence(Consequence::Rejected)
}
