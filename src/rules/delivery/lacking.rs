//! Hooks that need objects which do not exist when they run.

use std::collections::BTreeSet;

use super::hooks::hook_of;
use crate::delivery::{Hook, HookEvent, HookTool, Operation, Phase, Removal, Sequence, kind_order};
use crate::finding::{Certainty, Consequence};
use crate::inventory::Member;
use crate::kube::{GroupKind, kinds};
use crate::ownership::{Tie, TieKind};
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{joined, named};

pub(in crate::rules) static HOOK_LACKS_DEPENDENCY: Rule = rule!(
    Delivery,
    "hook-lacks-dependency",
    Warning,
    Stuck,
    "A hook runs before something that it needs is created, or after it is deleted",
    hook_lacks_dependency
);

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
    /// The event of the hook, why the objects do not exist then, and whether they are hooks of that
    /// event; `None` if they are not hooks.
    why: (HookEvent, Lack, Option<bool>),
    /// The objects, with the ties that need them; never empty.
    needed: Vec<(&'a Member, &'a Tie)>,
}

impl Lacking<'_> {
    /// Names the objects in a sentence.
    fn named(&self) -> String {
        let names = self.needed.iter().map(|(needed, _)| named(needed));
        joined(&names.collect::<Vec<_>>())
    }

    /// Returns `one` if there is a single object, or else `several`.
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
        .label("does not exist when the hook runs")
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
