//! RBAC, as far as it shows which workload may change the finalizers of which objects.
//!
//! Where the input leaves something open (a namespace that is not written, a plural that no CRD defines) the answer is
//! yes: a finding that no controller can remove a finalizer must not rest on a guess.

use std::collections::BTreeMap;

use super::finalizer_holder::FinalizerHolder;
use super::workloads::Workload;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{GroupKind, Namespace, Scope, guessed_plurals};
use crate::yaml::Value;

const GROUP: &str = "rbac.authorization.k8s.io";

/// What one binding allows workloads in the input to do.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) binding: ObjectId,
    pub(super) role: Option<ObjectId>,
    /// Places among the workloads, of those whose ServiceAccount the binding names; never empty.
    pub(super) workloads: Vec<usize>,
    /// The namespace in which a RoleBinding counts; `None`: everywhere.
    within: Option<Namespace>,
    rules: Vec<RoleRule>,
}

/// One rule of a role that allows `update` or `patch`.
#[derive(Clone, Debug)]
struct RoleRule {
    groups: Vec<String>,
    resources: Vec<String>,
    /// Empty: all names.
    names: Vec<String>,
}

impl Grant {
    /// Whether it allows changing `holder`, whose kind is one of `resources`.
    pub(super) fn reaches(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
        self.counts_for(holder) && self.rules.iter().any(|rule| rule.allows(holder, resources))
    }

    /// Whether it does so by a rule about the kind or its group, and not merely because it allows everything.
    pub(super) fn names(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
        let about_it = |rule: &RoleRule| !rule.is_everything() && rule.allows(holder, resources);
        self.counts_for(holder) && self.rules.iter().any(about_it)
    }

    fn counts_for(&self, holder: &FinalizerHolder<'_>) -> bool {
        match &self.within {
            None => true,
            // A RoleBinding allows nothing outside namespaces.
            Some(_) if holder.scope == Some(Scope::Cluster) => false,
            Some(namespace) => !namespace.certainly_differs(holder.namespace),
        }
    }
}

impl RoleRule {
    fn of(value: Value<'_>) -> Option<Self> {
        let verbs = strings(value.get("verbs"));
        let changes = verbs.iter().any(|verb| matches!(verb.as_str(), "update" | "patch" | "*"));
        changes.then(|| Self {
            groups: strings(value.get("apiGroups")),
            resources: strings(value.get("resources")),
            names: strings(value.get("resourceNames")),
        })
    }

    fn everything() -> Self {
        Self { groups: vec!["*".to_owned()], resources: vec!["*".to_owned()], names: Vec::new() }
    }

    /// Whether it names neither a group nor a resource. `*/finalizers` is not everything: only controllers ask for it.
    fn is_everything(&self) -> bool {
        self.groups.iter().any(|group| group == "*") && self.resources.iter().any(|resource| resource == "*")
    }

    fn allows(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
        let group = self.groups.iter().any(|group| group == "*" || group == holder.group);
        let name = self.names.is_empty() || holder.name.is_none_or(|name| self.names.iter().any(|n| n == name));
        group && name && self.resources.iter().any(|written| allows_resource(written, resources))
    }
}

/// The resource itself, or its `finalizers` subresource, which appears only in the roles of controllers.
fn allows_resource(written: &str, resources: &[String]) -> bool {
    let resource = written.strip_suffix("/finalizers").unwrap_or(written);
    resource == "*" || resources.iter().any(|known| known == resource)
}

/// The names under which RBAC may know a kind: that of its CRD or of the built-in table; else every plural that
/// code generators make.
pub(super) fn resources_of(inventory: &Inventory, kind: GroupKind<&str>) -> Vec<String> {
    match inventory.kinds.plural(kind) {
        Some(plural) => vec![plural.to_owned()],
        None => guessed_plurals(kind.kind),
    }
}

/// The bindings in the input that name a ServiceAccount of one of `workloads`.
pub(super) fn grants(inventory: &Inventory, workloads: &[Workload]) -> Vec<Grant> {
    let mut by_account: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, workload) in workloads.iter().enumerate() {
        by_account.entry(workload.service_account.as_str()).or_default().push(at);
    }
    let namespace = |at: &usize| &inventory.member(workloads[*at].id).key.namespace;
    let bindings = inventory.members.iter().filter(|member| member.object.group() == GROUP);
    bindings
        .filter_map(|binding| {
            let within = match binding.object.kind.value.as_str() {
                "ClusterRoleBinding" => None,
                "RoleBinding" => Some(binding.key.namespace.clone()),
                _ => return None,
            };
            let (role, rules) = rules_of(inventory, binding)?;
            let mut bound: Vec<usize> = Vec::new();
            for subject in binding.object.at(&["subjects"]).into_iter().flat_map(Value::items) {
                bound.extend(
                    Subject::of(subject).into_iter().flat_map(|subject| subject.workloads(&by_account, namespace)),
                );
            }
            bound.sort_unstable();
            bound.dedup();
            (!bound.is_empty()).then_some(Grant { binding: binding.id, role, workloads: bound, within, rules })
        })
        .collect()
}

/// Whom a binding means among ServiceAccounts.
struct Subject<'a> {
    /// `None`: every ServiceAccount.
    name: Option<&'a str>,
    /// `None`: not written, or every namespace.
    namespace: Option<&'a str>,
}

impl<'a> Subject<'a> {
    fn of(subject: Value<'a>) -> Option<Self> {
        let text = |key: &str| subject.get(key).and_then(Value::as_str);
        let (kind, name) = (text("kind")?, text("name")?);
        match kind {
            "ServiceAccount" => Some(Self { name: Some(name), namespace: text("namespace").filter(|n| !n.is_empty()) }),
            "User" => {
                let (namespace, name) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
                Some(Self { name: Some(name), namespace: Some(namespace) })
            }
            "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => {
                Some(Self { name: None, namespace: None })
            }
            "Group" => Some(Self { name: None, namespace: Some(name.strip_prefix("system:serviceaccounts:")?) }),
            _ => None,
        }
    }

    fn workloads<'m>(
        &self,
        by_account: &BTreeMap<&str, Vec<usize>>,
        namespace: impl Fn(&usize) -> &'m Namespace,
    ) -> Vec<usize> {
        let named: Vec<usize> = match self.name {
            Some(name) => by_account.get(name).cloned().unwrap_or_default(),
            None => by_account.values().flatten().copied().collect(),
        };
        let here = |at: &usize| match (self.namespace, namespace(at)) {
            (Some(wanted), Namespace::Named(actual)) => wanted == actual,
            _ => true,
        };
        named.into_iter().filter(here).collect()
    }
}

/// The role that a binding names and what it allows to change. `None` if the input does not contain it.
fn rules_of(inventory: &Inventory, binding: &Member) -> Option<(Option<ObjectId>, Vec<RoleRule>)> {
    let reference = binding.object.at(&["roleRef"])?;
    let (kind, name) = (reference.get("kind")?.as_str()?, reference.get("name")?.as_str()?);
    let elsewhere = |role: &&Member| kind == "Role" && binding.key.namespace.certainly_differs(&role.key.namespace);
    let mut roles = inventory.with_name(GROUP, kind, name).iter().map(|id| inventory.member(*id));
    let Some(role) = roles.find(|role| !elsewhere(role)) else {
        // Of the roles that every cluster has, only this one covers custom resources without aggregation.
        return ((kind, name) == ("ClusterRole", "cluster-admin")).then(|| (None, vec![RoleRule::everything()]));
    };
    let mut rules = written_rules(role);
    for selector in role.object.at(&["aggregationRule", "clusterRoleSelectors"]).into_iter().flat_map(Value::items) {
        let cluster_roles =
            inventory.members.iter().filter(|member| member.object.is(GroupKind::new(GROUP, "ClusterRole")));
        rules.extend(cluster_roles.filter(|other| selects(selector, other)).flat_map(written_rules));
    }
    Some((Some(role.id), rules))
}

fn written_rules(role: &Member) -> Vec<RoleRule> {
    role.object.at(&["rules"]).into_iter().flat_map(Value::items).filter_map(RoleRule::of).collect()
}

/// Whether an aggregating role includes another one. Selectors by expression are assumed to select it.
fn selects(selector: Value<'_>, role: &Member) -> bool {
    let labels = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let metadata = &role.object.metadata;
    labels.into_iter().all(|wanted| metadata.label(wanted.key).map(|label| label.as_str()) == wanted.value.as_str())
}

fn strings(list: Option<Value<'_>>) -> Vec<String> {
    list.into_iter().flat_map(Value::items).filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
