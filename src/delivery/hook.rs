//! Hooks: objects that Helm or Argo CD creates at an event and does not keep up to date.
//!
//! Helm goes through the hooks of an event one after the other, by weight and name: it deletes the object of an earlier
//! run, creates the hook, and waits until a Job or Pod has ended. Once all have succeeded it deletes those with
//! `hook-succeeded` (helm pkg/action/hooks.go, execHook; pkg/release/v1/util/manifest_sorter.go). Argo CD applies the
//! hooks of a wave together, waits for all of them, and deletes those with `HookSucceeded` at the end of the sync
//! (gitops-engine pkg/sync/sync_context.go and pkg/sync/hook).

use super::argocd::wave_of;
use super::marks;
use crate::manifest::{Metadata, Spanned};

/// A tool that runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTool {
    /// Helm, and Flux's controller of HelmReleases, which runs it.
    Helm,
    /// Argo CD, which runs Helm's hooks of installs, upgrades and uninstalls as its own.
    ArgoCd,
}

/// The operation of a tool during which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// The first `helm install` of a release.
    Install,
    /// `helm upgrade`.
    Upgrade,
    /// `helm rollback`.
    Rollback,
    /// A sync of an Application, the first one included.
    Sync,
    /// `helm uninstall`, or the deletion of an Application.
    Delete,
}

/// The time in an operation at which a hook runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the tool touches anything else.
    Before,
    /// Among everything else.
    During,
    /// After everything else.
    After,
}

/// An event at which hooks run, except tests and failed syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookEvent {
    /// The operation of the tool.
    pub operation: Operation,
    /// The time in the operation.
    pub phase: Phase,
}

/// A hook as a tool runs it.
#[derive(Clone, Debug)]
pub struct Hook<'a> {
    /// The tool that runs it.
    pub tool: HookTool,
    /// The annotation that makes it a hook.
    pub annotation: Spanned<&'a str>,
    /// The annotation's key.
    pub key: &'static str,
    /// The events at which it runs; none for a hook that only `helm test` or a failed sync creates.
    pub events: Vec<HookEvent>,
    /// The key of the annotation with its deletion policy: that of the tool, or Helm's if only this
    /// one makes Argo CD delete the hook on success.
    pub delete_policy: &'static str,
    /// Its place among the hooks of an event: Helm's weight, or Argo CD's wave.
    pub weight: i64,
    /// Whether the tool deletes the object of an earlier run before it creates the hook.
    pub is_replaced: bool,
    /// Whether the tool deletes it because it has succeeded: Helm once all hooks of the event have, Argo CD at the end
    /// of the sync.
    pub is_deleted_on_success: bool,
}

impl<'a> Hook<'a> {
    /// Reads an object as a hook of `tool`; `None` if it is not one.
    pub fn of(metadata: Metadata<'a>, tool: HookTool) -> Option<Self> {
        match tool {
            HookTool::Helm => Self::of_helm(metadata),
            HookTool::ArgoCd => Self::of_argo_cd(metadata),
        }
    }

    fn of_helm(metadata: Metadata<'a>) -> Option<Self> {
        let annotation = metadata.annotation(marks::HELM_HOOK)?;
        let events = words(&annotation.value.to_lowercase(), helm_event);
        let written = metadata.annotation(marks::HELM_HOOK_DELETE_POLICY);
        let written = written.map(|policies| policies.value.to_lowercase());
        let policies = written.iter().flat_map(|policies| policies.split(','));
        let policies: Vec<&str> = policies.map(str::trim).collect();
        let weight = annotated(metadata, marks::HELM_HOOK_WEIGHT);
        Some(Self {
            tool: HookTool::Helm,
            annotation,
            key: marks::HELM_HOOK,
            delete_policy: marks::HELM_HOOK_DELETE_POLICY,
            events,
            weight: weight.parse().unwrap_or_default(),
            is_replaced: written.is_none() || policies.contains(&"before-hook-creation"),
            is_deleted_on_success: policies.contains(&"hook-succeeded"),
        })
    }

    fn of_argo_cd(metadata: Metadata<'a>) -> Option<Self> {
        let keys = [
            (marks::ARGOCD_HOOK, argo_cd_event as fn(&str) -> _),
            (marks::HELM_HOOK, helm_event_in_argo_cd),
        ];
        let (annotation, key, event) = keys
            .into_iter()
            .find_map(|(key, event)| Some((metadata.annotation(key)?, key, event)))?;
        if annotation.value == "Skip" || annotation.value == "crd-install" {
            return None;
        }
        let on_success = policy_key(metadata, ["HookSucceeded", "hook-succeeded"]);
        let is_written =
            on_success.is_some() || policy_key(metadata, ["HookFailed", "hook-failed"]).is_some();
        let before_creation = ["BeforeHookCreation", "before-hook-creation"];
        Some(Self {
            tool: HookTool::ArgoCd,
            annotation,
            key,
            delete_policy: on_success.unwrap_or(marks::ARGOCD_HOOK_DELETE_POLICY),
            events: words(annotation.value, event),
            weight: wave_of(metadata),
            is_replaced: !is_written || policy_key(metadata, before_creation).is_some(),
            is_deleted_on_success: on_success.is_some(),
        })
    }

    /// Returns the repeatable operations in which it runs.
    pub fn repeats(&self) -> impl Iterator<Item = Operation> {
        let repeated = [Operation::Upgrade, Operation::Rollback, Operation::Sync];
        let operations = repeated.into_iter();
        operations.filter(|operation| self.runs_in(*operation))
    }

    /// Whether it runs in an operation.
    pub fn runs_in(&self, operation: Operation) -> bool {
        self.events.iter().any(|event| event.operation == operation)
    }

    /// Whether the first install or sync creates it.
    pub fn runs_at_first(&self) -> bool {
        self.runs_in(Operation::Install) || self.runs_in(Operation::Sync)
    }
}

impl HookTool {
    /// Returns the first operation of the tool, which creates the objects that are not hooks.
    pub fn first(self) -> Operation {
        match self {
            Self::Helm => Operation::Install,
            Self::ArgoCd => Operation::Sync,
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Helm => "Helm",
            Self::ArgoCd => "Argo CD",
        }
    }
}

/// Returns the key of the annotation that contains one of `names`, the names of a deletion policy.
/// Argo CD reads its own annotation and Helm's.
fn policy_key(metadata: Metadata<'_>, names: [&str; 2]) -> Option<&'static str> {
    let keys = [
        marks::ARGOCD_HOOK_DELETE_POLICY,
        marks::HELM_HOOK_DELETE_POLICY,
    ];
    keys.into_iter().find(|key| {
        let mut policies = marks::sync_options(annotated(metadata, key));
        policies.any(|policy| names.contains(&policy))
    })
}

fn annotated<'a>(metadata: Metadata<'a>, key: &str) -> &'a str {
    metadata
        .annotation(key)
        .map_or("", |annotation| annotation.value)
}

fn words(list: &str, event: impl Fn(&str) -> Option<HookEvent>) -> Vec<HookEvent> {
    let events = list.split(',').map(str::trim);
    events.filter_map(event).collect()
}

fn helm_event(name: &str) -> Option<HookEvent> {
    let (phase, operation) = name.split_once('-')?;
    Some(HookEvent {
        operation: match operation {
            "install" => Operation::Install,
            "upgrade" => Operation::Upgrade,
            "rollback" => Operation::Rollback,
            "delete" => Operation::Delete,
            _ => return None,
        },
        phase: match phase {
            "pre" => Phase::Before,
            "post" => Phase::After,
            _ => return None,
        },
    })
}

fn helm_event_in_argo_cd(name: &str) -> Option<HookEvent> {
    let event = helm_event(name)?;
    let operation = match event.operation {
        Operation::Install | Operation::Upgrade => Operation::Sync,
        Operation::Delete => Operation::Delete,
        Operation::Rollback | Operation::Sync => return None,
    };
    Some(HookEvent { operation, ..event })
}

fn argo_cd_event(name: &str) -> Option<HookEvent> {
    let (operation, phase) = match name {
        "PreSync" => (Operation::Sync, Phase::Before),
        "Sync" => (Operation::Sync, Phase::During),
        "PostSync" => (Operation::Sync, Phase::After),
        "PreDelete" => (Operation::Delete, Phase::Before),
        "PostDelete" => (Operation::Delete, Phase::After),
        _ => return None,
    };
    Some(HookEvent { operation, phase })
}
