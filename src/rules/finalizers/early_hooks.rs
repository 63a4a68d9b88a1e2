//! Hooks that run before a tool deletes anything, and may delete the objects that would get stuck.

use foldhash::HashMap;

use crate::delivery::DeliveredSet;
use crate::inventory::{Member, ObjectId, table};
use crate::kube::{GroupKind, Namespace};
use crate::ownership::access::{Budget, Permission};
use crate::ownership::{FinalizerHolder, command_words, may_run_pods};
use crate::rules::delivery::hooks::runs_before_deletion;
use crate::rules::draft::Draft;
use crate::rules::rule::Context;

/// The facts about an object that decide whether a hook may release it, with the workload that releases it.
type AlikeObjects<'a> = (GroupKind<&'a str>, &'a Namespace, Option<ObjectId>);

/// The hooks of one release or Application that run before the tool deletes the rest.
pub(super) struct EarlyHooks<'a> {
    /// Objects that run Pods: the others cannot delete anything.
    hooks: Vec<&'a Member>,
    known: HashMap<AlikeObjects<'a>, bool>,
}

impl<'a> EarlyHooks<'a> {
    pub(super) fn of(context: &Context<'a>, set: &DeliveredSet) -> Self {
        let members = set.members.iter().map(|id| context.inventory.member(*id));
        let running = members.filter(|member| may_run_pods(member.key.group_kind()));
        Self {
            hooks: running
                .filter(|member| runs_before_deletion(context, member))
                .collect(),
            known: HashMap::default(),
        }
    }

    /// Whether a hook may delete `object` and wait for it, or remove its finalizers. `operator` is the workload that
    /// releases it.
    pub(super) fn may_release(
        &mut self,
        context: &Context<'_>,
        object: &'a Member,
        operator: Option<ObjectId>,
    ) -> bool {
        let Self { hooks, known } = self;
        let alike = (object.key.group_kind(), &object.key.namespace, operator);
        *known.entry(alike).or_insert_with(|| {
            let mut hooks = hooks.iter();
            hooks.any(|hook| may_release(context, hook, object, operator))
        })
    }

    /// Adds the hooks to a finding about objects that they may not release.
    pub(super) fn beside(&self, draft: Draft) -> Draft {
        let hooks = self.hooks.iter().copied();
        draft.related_objects(
            hooks,
            "runs first, but has no permission to delete or change these objects",
        )
    }
}

fn may_release(
    context: &Context<'_>,
    hook: &Member,
    object: &Member,
    operator: Option<ObjectId>,
) -> bool {
    // The permissions of a custom resource, such as a workflow, are those of its operator.
    if !table().is_builtin_group(hook.key.group()) {
        return true;
    }
    let (inventory, access) = (context.inventory, context.ownership.removers.access());
    if operator.is_some_and(|operator| access.share_account(inventory, hook.id, operator)) {
        return true;
    }
    let holder = FinalizerHolder::unnamed(object);
    match access.may_release(inventory, hook.id, &holder, &mut Budget::default()) {
        Permission::Granted | Permission::Unknown => true,
        Permission::Denied => false,
        // A command that names the kind is evidence of a binding elsewhere.
        Permission::Unbound => names_kind(context, hook, object),
    }
}

/// Whether the command line of a workload names the kind of an object.
fn names_kind(context: &Context<'_>, workload: &Member, object: &Member) -> bool {
    let kind = object.key.group_kind();
    let mut names = context.inventory.kinds.resources(kind);
    names.push(kind.kind.to_lowercase());
    command_words(workload).any(|word| {
        let word = word.to_lowercase();
        names.iter().any(|name| word.contains(name))
    })
}
