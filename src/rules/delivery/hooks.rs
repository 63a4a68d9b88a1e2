//! Rules on hooks: what is lost when they are deleted, and which of their dependencies do not exist when they run.

use std::collections::BTreeSet;

use crate::delivery::{
    FluxObject, Hook, HookEvent, HookTool, Operation, Phase, Regime, Removal, Sequence, kind_order,
    marks,
};
use crate::finding::{Certainty, Consequence, Severity};
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::{GroupKind, kinds};
use crate::ownership::{Tie, TieKind, data_loss};
use crate::rules::delivery::protection::keep_of_helm;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{joined, named};

pub(in crate::rules) static HOOK_NOT_KEPT: Rule = rule!(
    Delivery,
    "hook-not-kept",
    Warning,
    Collected,
    "Helm or Argo CD deletes a hook that holds data, contains objects or is still used",
    hook_not_kept
);

pub(in crate::rules) static HOOK_LACKS_DEPENDENCY: Rule = rule!(
    Delivery,
    "hook-lacks-dependency",
    Warning,
    Stuck,
    "A hook runs before something that it needs is created, or after it is deleted",
    hook_lacks_dependency
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
        Operation::Sync => "at each sync, and creates it anew",
        Operation::Rollback => "at each rollback, and creates it anew",
        _ => "at each upgrade, and creates it anew",
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

/// Describes what is lost with an object, and the severity; `None` if nothing is.
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

/// Kinds of hooks that run to completion, so that the tool waits for them.
const AWAITED: [GroupKind<&str>; 2] = [kinds::JOB, kinds::POD];

/// Why an object does not exist when a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lack {
    /// The tool creates it later in the same operation.
    NotYet,
    /// The tool creates it only in other operations.
    OtherOperation,
    /// The operation deleted it.
    Gone,
    /// It is a hook that was deleted once it had succeeded.
    DeletedOnSuccess,
}

fn hook_lacks_dependency(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let analysis = context.analysis;
    for member in inventory.of_kinds(&AWAITED) {
        let Some(hook) = hook_of(context, member) else {
            continue;
        };
        let needs = analysis.ties().from(member.id).iter();
        let needs =
            needs.filter(|tie| tie.kind == TieKind::Uses && tie.certainty == Certainty::Certain);
        let mut lacking: Vec<Lacking<'_>> = Vec::new();
        let mut seen = BTreeSet::new();
        for tie in needs {
            let Some(needed) = tie.to.id.map(|id| inventory.member(id)) else {
                continue;
            };
            if !seen.insert(needed.id) || !analysis.together().has(member, needed) {
                continue;
            }
            let mut events = hook.events.iter();
            let found = events
                .find_map(|event| Some((*event, lack(context, (member, &hook), *event, needed)?)));
            let Some((event, lack)) = found else {
                continue;
            };
            let is_of_event = hook_of(context, needed).map(|other| other.events.contains(&event));
            let why = (event, lack, is_of_event);
            match lacking.iter_mut().find(|one| one.why == why) {
                Some(alike) => alike.needed.push((needed, tie)),
                None => lacking.push(Lacking {
                    why,
                    needed: vec![(needed, tie)],
                }),
            }
        }
        sink.extend(
            lacking
                .iter()
                .map(|lacking| lacking_draft((member, &hook), lacking)),
        );
    }
}

/// Objects that a hook needs and that do not exist for one reason when it runs.
struct Lacking<'a> {
    /// The event of the hook, why the objects do not exist then, and whether they are hooks of that event; `None` if they
    /// are no hooks.
    why: (HookEvent, Lack, Option<bool>),
    /// The objects, with the ties that need them; never empty.
    needed: Vec<(&'a Member, &'a Tie)>,
}

impl Lacking<'_> {
    /// Returns the objects in words.
    fn named(&self) -> String {
        let names = self.needed.iter().map(|(needed, _)| named(needed));
        joined(&names.collect::<Vec<_>>())
    }

    /// Returns the word for one or for several objects.
    fn either<'w>(&self, one: &'w str, several: &'w str) -> &'w str {
        if self.needed.len() == 1 { one } else { several }
    }
}

/// Returns why `needed` does not exist when the hook `member` runs at `event`; `None` if it exists.
fn lack(
    context: &Context<'_>,
    (member, hook): (&Member, &Hook<'_>),
    event: HookEvent,
    needed: &Member,
) -> Option<Lack> {
    let first = hook.tool.first();
    let is_first = event.operation == first;
    let Some(other) = hook_of(context, needed) else {
        let removal = match hook.tool {
            HookTool::Helm => Removal::HelmUninstall,
            HookTool::ArgoCd => Removal::ArgoCdApplication,
        };
        return match (event.operation, event.phase) {
            (Operation::Delete, Phase::After) if !context.is_spared(needed, removal) => {
                Some(Lack::Gone)
            }
            (_, Phase::Before) if is_first => Some(Lack::NotYet),
            _ => None,
        };
    };
    let is_left = !is_first && other.runs_at_first() && !other.is_deleted_on_success;
    if is_left || is_created_before((member, hook), event, (needed, &other)) {
        return None;
    }
    let events = other.events.iter();
    let same = events.filter(|one| one.operation == event.operation);
    Some(match same.map(|one| one.phase).min() {
        Some(first) if first < event.phase => Lack::DeletedOnSuccess,
        Some(_) => Lack::NotYet,
        None if other.runs_at_first() => Lack::DeletedOnSuccess,
        None => Lack::OtherOperation,
    })
}

/// Whether the operation has created the hook `needed` before it runs `member`, and has not deleted it since.
fn is_created_before(
    (member, hook): (&Member, &Hook<'_>),
    event: HookEvent,
    (needed, other): (&Member, &Hook<'_>),
) -> bool {
    other.events.iter().any(|one| {
        if one.operation != event.operation {
            return false;
        }
        // Helm deletes a hook after its event, Argo CD at the end of the sync.
        let stays = !(other.is_deleted_on_success && other.tool == HookTool::Helm);
        match one.phase.cmp(&event.phase) {
            std::cmp::Ordering::Less => stays,
            std::cmp::Ordering::Equal => !runs_after((needed, other), (member, hook)),
            std::cmp::Ordering::Greater => false,
        }
    })
}

/// Whether a tool runs `one` after `other`, if both are hooks of one event.
fn runs_after((one, first): (&Member, &Hook<'_>), (other, second): (&Member, &Hook<'_>)) -> bool {
    if first.tool == HookTool::ArgoCd {
        return first.weight > second.weight;
    }
    let order = kind_order(Sequence::Helm4Install);
    let [one, other] = [(one, first), (other, second)].map(|(member, hook)| {
        let kind = order.place(member.object.kind());
        (hook.weight, &member.key.name, kind)
    });
    one > other
}

fn lacking_draft((member, hook): (&Member, &Hook<'_>), lacking: &Lacking<'_>) -> Draft {
    let (event, lack, _) = lacking.why;
    let tool = hook.tool.name();
    let (job, need) = (named(member), lacking.named());
    let moment = moment(hook.tool, event);
    let message = match lack {
        Lack::NotYet => format!("{job} runs before {tool} creates {need}, which it needs"),
        Lack::OtherOperation => {
            format!("{job} runs {moment}, and {tool} does not create {need} for it")
        }
        Lack::Gone => format!("{job} runs after {tool} has deleted {need}, which it needs"),
        Lack::DeletedOnSuccess => {
            format!("{job} runs {moment}, when {tool} has already deleted {need}, which it needs")
        }
    };
    let end = match event.operation {
        Operation::Install => "the install times out",
        Operation::Upgrade => "the upgrade times out",
        Operation::Rollback => "the rollback times out",
        Operation::Sync => "the sync does not end",
        Operation::Delete if hook.tool == HookTool::ArgoCd => "the Application stays Terminating",
        Operation::Delete => "the uninstall times out",
    };
    let mut needed = lacking.needed.iter();
    let starts = if needed.any(|(needed, _)| needed.object.is(kinds::SERVICE_ACCOUNT)) {
        "Without its ServiceAccount no Pod is created".to_owned()
    } else {
        format!(
            "Without {} the Pod does not start",
            lacking.either("it", "them")
        )
    };
    let (_, first) = lacking.needed[0];
    let draft = Draft::on(member, first.evidence.span, message)
        .label("is not there when the hook runs")
        .reason(format!(
            "{} {starts}, and {end}.",
            lack_reason(hook, lacking)
        ))
        .help(lack_help(hook, lacking, &job))
        .field(&*first.evidence.field)
        .consequence(Consequence::Stuck);
    lacking.needed.iter().fold(draft, |draft, (needed, _)| {
        draft.related_object(needed, "is needed by the hook")
    })
}

/// Returns why the objects do not exist when `hook` runs, as a sentence.
fn lack_reason(hook: &Hook<'_>, lacking: &Lacking<'_>) -> String {
    let (event, lack, is_of_event) = lacking.why;
    let need = lacking.named();
    let is = lacking.either("is", "are");
    let come = lacking.either("comes", "come");
    let all = lacking.either("Both are", "All are");
    let moment = moment(hook.tool, event);
    match (lack, is_of_event, hook.tool) {
        (Lack::NotYet, None, _) => {
            format!("The hook runs {moment}, and {need} {is} created with everything else.")
        }
        (Lack::NotYet, Some(false), _) => {
            format!("{all} hooks, and {need} {is} created in a later phase.")
        }
        (Lack::NotYet, Some(true), HookTool::Helm) => format!(
            "{all} hooks, and {need} {come} later: Helm runs the hooks of an event one after the other, by weight and then by \
             name, and waits until a Job or Pod has ended before it continues."
        ),
        (Lack::NotYet, Some(true), HookTool::ArgoCd) => format!(
            "{all} hooks, and {need} {come} later: Argo CD waits until the hooks of one wave have ended before it begins the \
             next."
        ),
        (Lack::OtherOperation, ..) => format!(
            "{need} {} of other operations only.",
            lacking.either("is a hook", "are hooks")
        ),
        (Lack::Gone, ..) => {
            format!("{need} {is} deleted with everything else before the hook runs.")
        }
        (Lack::DeletedOnSuccess, ..) => format!(
            "{need} {} deleted when {}.",
            lacking.either("is a hook that is", "are hooks that are"),
            lacking.either("it has succeeded", "they have succeeded")
        ),
    }
}

/// Returns how to make the objects exist when the hook `job` runs.
fn lack_help(hook: &Hook<'_>, lacking: &Lacking<'_>, job: &str) -> String {
    let (event, lack, _) = lacking.why;
    let need = lacking.named();
    let a_hook = lacking.either("a hook", "hooks");
    match lack {
        Lack::NotYet | Lack::OtherOperation => {
            let key = order_key(hook.tool);
            let instead = match (lack, event.phase) {
                (Lack::NotYet, Phase::Before) => format!(", or run {job} later"),
                // Without the annotation it would be created after the hook.
                (_, Phase::Before) if event.operation == hook.tool.first() => String::new(),
                _ => format!(", or remove the hook annotation from {need}"),
            };
            format!(
                "make {need} {a_hook} of the same event with a {key} below {}{instead}",
                hook.weight
            )
        }
        Lack::Gone => format!(
            "run the hook before the deletion, or give it {} of {need} that {} of the same event, with a {} below {}",
            lacking.either("a copy", "copies"),
            lacking.either("is a hook", "are hooks"),
            order_key(hook.tool),
            hook.weight
        ),
        Lack::DeletedOnSuccess => format!(
            "make {need} {a_hook} of this event too, or do not delete {} when {}",
            lacking.either("it", "them"),
            lacking.either("it has succeeded", "they have succeeded")
        ),
    }
}

fn order_key(tool: HookTool) -> &'static str {
    match tool {
        HookTool::Helm => "weight",
        HookTool::ArgoCd => "wave",
    }
}

/// Describes when the hooks of an event run, to follow "runs".
fn moment(tool: HookTool, event: HookEvent) -> String {
    let operation = match event.operation {
        Operation::Install => "the first install",
        Operation::Upgrade => "an upgrade",
        Operation::Rollback => "a rollback",
        Operation::Sync => "a sync",
        Operation::Delete if tool == HookTool::ArgoCd => "the deletion of the Application",
        Operation::Delete => "the uninstall",
    };
    match event.phase {
        Phase::Before => format!("before {operation}"),
        Phase::During => format!("during {operation}"),
        Phase::After => format!("after {operation}"),
    }
}
