//! The requests that a tool sends to remove objects, and the command that makes it send them.

mod application;
mod flux;
mod release;

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::request::{TeardownBy, TeardownRequest};
use crate::cluster::{Analysis, Scenario};
use crate::delivery::{Leaving, ToolRequest, Withdrawal, argocd, helm, kubectl, namespace};
use crate::engine::plan::clusters::PlannedCluster;
use crate::engine::plan::question::PlanError;
use crate::gc::{ClusterError, Plan};
use crate::inventory::Member;
use crate::kube::{
    GroupKind, Namespace, ObjectKey, Policy, kinds, kubectl as command_lines, shell,
};
use crate::manifest::Spanned;
use crate::merge::{FinalizerRemoval, release_steps};
use crate::ownership::Implied;

/// A removal by a tool.
pub(super) struct Withdrawn<'b> {
    pub(super) withdrawal: Withdrawal<'b>,
    /// The command that starts it, as users type it.
    pub(super) command: String,
    /// The propagation policy of its requests.
    pub(super) policy: Policy,
    /// Assumptions about it, one sentence each.
    pub(super) notes: Vec<String>,
    /// Whether the command is kubectl, which fails if it does not find an object.
    is_kubectl: bool,
    /// The objects in which Helm stores the release: deleted last, unless a request is rejected.
    pub(super) records: Vec<ObjectKey>,
    /// The finalizers that Argo CD removes from Applications once everything else is gone.
    finalizer_removals: Vec<FinalizerRemoval>,
    /// Objects that stay, with the reasons as half a sentence.
    pub(super) stays: Vec<(ObjectKey, String)>,
    /// The deleted delivery objects whose delivered objects are not known.
    pub(super) unread: Vec<ObjectKey>,
}

impl<'b> Withdrawn<'b> {
    fn new(
        withdrawal: Withdrawal<'b>,
        command: String,
        policy: Policy,
        notes: Vec<String>,
    ) -> Self {
        Self {
            withdrawal,
            command,
            policy,
            notes,
            is_kubectl: false,
            records: Vec::new(),
            finalizer_removals: Vec::new(),
            stays: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Builds the scenario of the requests of the tool.
    pub(super) fn scenario(
        &self,
        analysis: &Analysis<'_>,
        implied: &Implied<'_>,
        kubelet: bool,
    ) -> Result<Scenario, ClusterError> {
        let requests = &self.withdrawal.requests;
        let mut scenario = Scenario::removal(analysis, implied, requests, kubelet)?;
        if !self.finalizer_removals.is_empty() {
            let released = release_steps(&self.finalizer_removals, &scenario.verdict());
            scenario.release(released);
        }
        if self.records.is_empty() || is_rejected(&scenario.verdict()) {
            return Ok(scenario);
        }
        let records = self
            .records
            .iter()
            .map(|key| ToolRequest::delete(key, Policy::Background));
        let requests: Vec<ToolRequest> = requests.iter().cloned().chain(records).collect();
        Scenario::removal(analysis, implied, &requests, kubelet)
    }

    /// Returns the command to run after preparations that have deleted some of its targets.
    pub(super) fn after_preparations(&self) -> String {
        if self.is_kubectl {
            format!("{} --ignore-not-found", self.command)
        } else {
            self.command.clone()
        }
    }
}

/// Returns the option for a policy other than Background, the default of Helm and kubectl.
pub(super) fn cascade_option(policy: Policy) -> Option<String> {
    (policy != Policy::Background).then(|| format!("--cascade={}", policy.as_str()))
}

/// Returns the requests of the tool `by` that remove the selected objects of `cluster`.
pub(super) fn withdraw<'b>(
    cluster: PlannedCluster<'b>,
    analysis: &'b Analysis<'b>,
    (by, request): (TeardownBy, &TeardownRequest),
) -> Result<Withdrawn<'b>, PlanError> {
    let deliveries = analysis.deliveries();
    let members = match by {
        TeardownBy::Kubectl => in_reading_order(cluster),
        _ => cluster.asked_for().collect(),
    };
    let leaving = Leaving {
        inventory: cluster.inventory(),
        deliveries,
        members,
    };
    let tool = Tooling {
        cluster,
        request,
        leaving,
        live: cluster.inventory().live(),
    };
    match by {
        TeardownBy::Helm => Ok(tool.helm()),
        TeardownBy::Kubectl => Ok(tool.kubectl()),
        TeardownBy::ArgoCd => tool.argocd(),
        TeardownBy::Flux => Ok(tool.flux()),
        TeardownBy::Namespace => tool.namespace(),
    }
}

/// Returns the hooks of Helm that are not in the cluster while the release is installed.
pub(super) fn transient<'b>(
    cluster: PlannedCluster<'b>,
    analysis: &Analysis<'_>,
    by: TeardownBy,
) -> Vec<&'b Member> {
    let by_helm = matches!(by, TeardownBy::Helm | TeardownBy::Flux);
    let asked = cluster.asked_for();
    asked
        .filter(|member| {
            by_helm
                && helm::is_transient(&member.object)
                && (by == TeardownBy::Helm
                    || analysis.deliveries().regime(member).regime.is_release())
        })
        .collect()
}

/// Whether a request of the last step was rejected.
pub(super) fn is_rejected(plan: &Plan<'_>) -> bool {
    plan.steps.last().is_some_and(|step| {
        step.responses
            .iter()
            .any(|http| *http >= 400 && *http != 404)
    })
}

fn keys_of(members: &[&Member]) -> Vec<ObjectKey> {
    members.iter().map(|member| member.key.clone()).collect()
}

/// Returns the objects in kubectl's order: arguments as given, files of a folder by name, documents in order.
fn in_reading_order(cluster: PlannedCluster<'_>) -> Vec<&Member> {
    let mut members: Vec<&Member> = cluster.asked_for().collect();
    members.sort_by_cached_key(|member| {
        let path = cluster.inventory().sources.file(member.file).path();
        let argument = cluster.bundle.argument_of(path);
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        (argument, parts, member.id)
    });
    members
}

/// The input of a removal: the request, and the objects that it removes.
struct Tooling<'b, 'r> {
    cluster: PlannedCluster<'b>,
    request: &'r TeardownRequest,
    leaving: Leaving<'b>,
    /// The objects that were read from a cluster, by key.
    live: HashMap<&'b ObjectKey, &'b Member>,
}

impl<'b> Tooling<'b, '_> {
    fn policy(&self, of_tool: Policy) -> Policy {
        self.request.cascade.unwrap_or(of_tool)
    }

    /// Returns the option for the requested policy, unless that is Background.
    fn cascade_option(&self) -> Option<String> {
        self.request.cascade.and_then(cascade_option)
    }

    fn helm(self) -> Withdrawn<'b> {
        let policy = self.policy(Policy::Background);
        let (name, namespace) = (self.release(), self.release_namespace());
        let records = match (&name, &namespace) {
            (Some(name), Some(namespace)) => {
                helm::records(self.cluster.inventory(), name, namespace)
            }
            _ => Vec::new(),
        };
        let mut leaving = self.leaving.clone();
        leaving
            .members
            .retain(|member| helm::record_of(member).is_none());
        let notes = self.keep_release(&mut leaving.members, name.as_deref());
        let withdrawal = helm::uninstall(&leaving, self.request.helm_version, policy);
        let name = shell::operand(name.as_deref(), "RELEASE");
        let namespace = shell::operand(namespace.as_deref(), "NAMESPACE");
        let option = self.cascade_option();
        let words = ["helm", "uninstall", name, "-n", namespace];
        let command = shell::line(words.into_iter().chain(option.as_deref()));
        Withdrawn {
            records: keys_of(&records),
            ..Withdrawn::new(withdrawal, command, policy, notes)
        }
    }

    fn kubectl(self) -> Withdrawn<'b> {
        let policy = self.policy(Policy::Background);
        let withdrawal = kubectl::delete(&self.leaving, policy);
        let sources = &self.cluster.inventory().sources;
        let members = self.leaving.members.iter();
        let files: BTreeSet<&str> = members
            .map(|member| sources.file(member.file).path())
            .collect();
        let arguments = &self.cluster.bundle.arguments;
        let has_folders = arguments.iter().any(|one| !files.contains(one.as_str()));
        let option = self.cascade_option();
        let recursive = has_folders.then_some("-R");
        let options: Vec<&str> = recursive.into_iter().chain(option.as_deref()).collect();
        let command = command_lines::delete_files(arguments, &options);
        Withdrawn {
            is_kubectl: true,
            ..Withdrawn::new(withdrawal, command, policy, Vec::new())
        }
    }

    fn argocd(self) -> Result<Withdrawn<'b>, PlanError> {
        let name = self.delivering_application()?;
        let application = name
            .as_deref()
            .and_then(|name| self.delivering(kinds::APPLICATION, name, None));
        let settings = application.map(|member| argocd::policy_of(&member.object));
        let policy = self.policy(settings.flatten().unwrap_or(Policy::Foreground));
        if let (Some(application), Some(None)) = (application, settings) {
            return Ok(self.without_finalizer(application, policy));
        }
        let app = name.as_deref().unwrap_or("APP");
        let mut leaving = self.leaving.clone();
        let mut notes = self.keep_application(&mut leaving.members, application, name.as_deref());
        let own = application.filter(|own| {
            let mut members = leaving.members.iter();
            members.any(|member| member.id == own.id)
        });
        leaving
            .members
            .retain(|member| own.is_none_or(|own| own.id != member.id));
        let mut withdrawal = argocd::application_deleted(&leaving, policy);
        let delivered: Arc<[ObjectKey]> = keys_of(&leaving.members).into();
        if let Some(own) = own {
            let first = ToolRequest::delete(&own.key, Policy::Background);
            withdrawal.requests.insert(0, first);
        }
        let members = leaving.members.iter().copied().chain(own);
        let applications = members.filter(|member| member.key.is(kinds::APPLICATION));
        let finalizer_removals = applications
            .map(|application| FinalizerRemoval::of(application, Arc::clone(&delivered)))
            .collect();
        let option = self
            .request
            .cascade
            .map(|policy| format!("--propagation-policy={}", policy.as_str()));
        let words = ["argocd", "app", "delete", shell::operand(Some(app), "APP")];
        let command = shell::line(words.into_iter().chain(option.as_deref()));
        if application.is_none() {
            notes.push(
                "The Application is assumed to have a resources finalizer, which `argocd app delete` adds: without one, \
                 nothing is deleted with it."
                    .to_owned(),
            );
        }
        Ok(Withdrawn {
            finalizer_removals,
            ..Withdrawn::new(withdrawal, command, policy, notes)
        })
    }

    /// Returns the deletion of an Application without a resources finalizer. `argocd app delete` would add one (argo-cd
    /// server/application/application.go, `Delete`).
    fn without_finalizer(&self, application: &Member, policy: Policy) -> Withdrawn<'b> {
        let key = &application.key;
        let target =
            command_lines::Target::new("application.argoproj.io", &key.name, &key.namespace);
        let note = format!(
            "{key} has no resources finalizer. `argocd app delete` adds one, and then deletes what it delivered."
        );
        Withdrawn::new(
            Withdrawal::nothing("has no resources finalizer"),
            command_lines::delete(&target, &[]),
            policy,
            vec![note],
        )
    }

    fn namespace(self) -> Result<Withdrawn<'b>, PlanError> {
        let names = self.namespaces()?;
        let policy = self.policy(Policy::Background);
        let withdrawal = namespace::delete(&self.leaving, &names, policy);
        let option = self.cascade_option();
        let words = ["kubectl", "delete", "namespace"].into_iter().chain(
            names
                .iter()
                .map(|name| shell::operand(Some(name), "NAMESPACE")),
        );
        let command = shell::line(words.chain(option.as_deref()));
        Ok(Withdrawn {
            is_kubectl: true,
            ..Withdrawn::new(withdrawal, command, policy, Vec::new())
        })
    }

    /// Returns the requested Namespace; else the Namespaces among the objects; else the one that contains all objects.
    fn namespaces(&self) -> Result<BTreeSet<String>, PlanError> {
        if let Some(name) = &self.request.release_namespace {
            return Ok(BTreeSet::from([name.clone()]));
        }
        let members = &self.leaving.members;
        let written: BTreeSet<String> = members
            .iter()
            .filter(|member| member.key.is(kinds::NAMESPACE))
            .map(|member| member.key.name.to_string())
            .collect();
        if !written.is_empty() {
            return Ok(written);
        }
        let homes: BTreeSet<&Namespace> = members
            .iter()
            .map(|member| &member.key.namespace)
            .filter(|namespace| **namespace != Namespace::None)
            .collect();
        let names: Vec<Option<&str>> = homes.iter().map(|home| home.name()).collect();
        let found = match names[..] {
            [Some(one)] => return Ok(BTreeSet::from([one.to_owned()])),
            [] => "nothing in the input lives in one".to_owned(),
            [None] => "the objects have none written".to_owned(),
            _ => format!("the objects live in {}", names.len()),
        };
        Err(PlanError::WhichNamespace { found })
    }

    /// Returns the first value that `says` returns: for live objects, else for written ones.
    fn named_by(&self, says: impl Fn(&'b Member) -> Option<Spanned<&'b str>>) -> Option<String> {
        let members = self.leaving.members.iter().copied();
        let live = members
            .clone()
            .filter_map(|member| self.live.get(&member.key).copied());
        let said = live.chain(members).find_map(says);
        said.map(|said| said.value.to_owned())
    }

    /// Returns the object of this kind and name, if the input contains it.
    fn delivering(
        &self,
        kind: GroupKind<&str>,
        name: &str,
        namespace: Option<&str>,
    ) -> Option<&'b Member> {
        let inventory = self.cluster.inventory();
        let found = inventory.with_name(kind.group, kind.kind, name).iter();
        found.map(|id| inventory.member(*id)).find(|member| {
            let home = member.key.namespace.name();
            namespace.is_none() || home.is_none() || home == namespace
        })
    }
}
