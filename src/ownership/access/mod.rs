//! Who runs as which ServiceAccount, and what RBAC grants it: by what a workload may change the finalizers of an object.
//!
//! Where the input leaves something open (a namespace that is not written, a plural that no CRD defines) the answer is
//! yes: a finding that no controller can remove a finalizer must not rest on a guess.

mod rule;
mod subject;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

pub use rule::{PolicyRule, ResourceRequest, may_set_blocking_reference};
use subject::Subject;

use super::finalizer_holder::FinalizerHolder;
use super::known_finalizers::{Controller, ImagePattern, image_name};
use super::workloads::{self, RunContainer, Workload};
use crate::inventory::{Inventory, Member, ObjectId, merged};
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, kinds};
use crate::manifest::Spanned;
use crate::yaml::Value;

const GROUP: &str = "rbac.authorization.k8s.io";
const CLUSTER_ROLE: GroupKind<&str> = GroupKind::new(GROUP, "ClusterRole");

/// The workloads of a bundle, and what bindings in it allow them.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Those that end on their own come last.
    pub(super) workloads: Vec<Workload>,
    /// Places among them, in order, by the names of their images.
    by_image: HashMap<String, Vec<usize>>,
    grants: Vec<Grant>,
    rule_sets: Vec<RuleSet>,
    /// Places among the rule sets, by the resources that their rules name; `*` is one of them.
    by_resource: HashMap<String, Vec<usize>>,
}

/// A rule, with the role that contains it; `None`: a role that every cluster has.
pub type RoleRule = (Option<ObjectId>, PolicyRule);

/// Rules, and the places of the grants that have them: many bindings may have one role.
#[derive(Clone, Debug)]
struct RuleSet {
    rules: Arc<[RoleRule]>,
    grants: Vec<usize>,
}

/// What one binding allows workloads in the input to do.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The RoleBinding or ClusterRoleBinding.
    pub binding: ObjectId,
    /// The role, if the input contains it.
    pub role: Option<ObjectId>,
    /// Each rule, with the role that contains it: the bound one, or one that it aggregates. Bindings of one role share them.
    pub rules: Arc<[RoleRule]>,
    /// Whether these may not be all of its rules: the role is not in the input, or the control plane aggregates it.
    pub partial: bool,
    /// Places among the workloads, of those whose ServiceAccount the binding names; never empty.
    pub(super) workloads: Vec<usize>,
    /// The namespace in which a RoleBinding counts; `None`: everywhere.
    within: Option<Namespace>,
}

/// The tie from permissions to a controller: what lets it release objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// The ServiceAccount that its Pods run as, if the input contains it.
    pub service_account: Option<ObjectId>,
    /// A binding with its role, and with a role that this one aggregates. Each of them is enough; without any, the input does not
    /// say what allows it.
    pub grants: Vec<Vec<ObjectId>>,
}

impl Authority {
    /// Everything that has to exist, in alternatives of which each is enough. None: nothing in the input matters.
    pub fn alternatives(&self) -> Vec<Vec<ObjectId>> {
        let account = self.service_account;
        match self.grants.as_slice() {
            [] => account.map(|account| vec![account]).into_iter().collect(),
            grants => grants.iter().map(|grant| account.into_iter().chain(grant.iter().copied()).collect()).collect(),
        }
    }
}

impl Grant {
    /// Whether it allows anything at all where an object is.
    pub fn counts_in(&self, scope: Option<Scope>, namespace: &Namespace) -> bool {
        match &self.within {
            None => true,
            // A RoleBinding allows nothing outside namespaces.
            Some(_) if scope == Some(Scope::Cluster) => false,
            Some(within) => !within.certainly_differs(namespace),
        }
    }

    fn counts_for(&self, holder: &FinalizerHolder<'_>) -> bool {
        self.counts_in(holder.scope, holder.namespace)
    }

    /// The objects by which it allows changing a subresource, once per rule that does.
    fn ways<'g>(
        &'g self,
        holder: &'g FinalizerHolder<'_>,
        resources: &'g [String],
        subresource: &'g str,
    ) -> impl Iterator<Item = Vec<ObjectId>> + 'g {
        let rules = self.rules.iter().filter(move |(_, rule)| allows(rule, holder, resources, subresource));
        rules.filter(|_| self.counts_for(holder)).map(|(written_in, _)| {
            let aggregated = written_in.filter(|role| Some(*role) != self.role);
            [Some(self.binding), self.role, aggregated].into_iter().flatten().collect()
        })
    }
}

impl RuleSet {
    /// Whether they allow changing `holder`, whose kind is one of `resources`, where they count.
    fn reaches(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
        self.rules.iter().any(|(_, rule)| changes(rule, holder, resources))
    }

    /// Whether they do so by a rule about the kind or its group, and not merely because one allows everything.
    fn names(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
        self.rules.iter().any(|(_, rule)| !rule.is_everything() && changes(rule, holder, resources))
    }
}

/// Only the resource itself has finalizers to change; but `finalizers`, which appears in roles of controllers only, shows that
/// somebody meant to allow it.
fn changes(rule: &PolicyRule, holder: &FinalizerHolder<'_>, resources: &[String]) -> bool {
    ["", "finalizers"].into_iter().any(|subresource| allows(rule, holder, resources, subresource))
}

fn allows(rule: &PolicyRule, holder: &FinalizerHolder<'_>, resources: &[String], subresource: &str) -> bool {
    resources.iter().any(|resource| {
        ["update", "patch"].into_iter().any(|verb| {
            rule.allows(ResourceRequest { verb, group: holder.group, resource, subresource, name: holder.name })
        })
    })
}

impl Access {
    /// Finds every workload of `inventory` with its images and with what its ServiceAccount may do.
    pub fn of(inventory: &Inventory) -> Self {
        let workloads = workloads::of(inventory);
        let grants = grants(inventory, &workloads);
        let rule_sets = rule_sets(&grants);
        let mut by_resource: HashMap<String, Vec<usize>> = HashMap::default();
        for (at, set) in rule_sets.iter().enumerate() {
            let named: BTreeSet<&str> = set.rules.iter().flat_map(|(_, rule)| rule.resources()).collect();
            for resource in named {
                by_resource.entry(resource.to_owned()).or_default().push(at);
            }
        }
        let mut by_image: HashMap<String, Vec<usize>> = HashMap::default();
        for (at, workload) in workloads.iter().enumerate() {
            for container in workloads::containers(inventory.member(workload.id)) {
                let name = image_name(container.image.value);
                match by_image.get_mut(name) {
                    Some(places) => places.push(at),
                    None => _ = by_image.insert(name.to_owned(), vec![at]),
                }
            }
        }
        Self { workloads, by_image, grants, rule_sets, by_resource }
    }

    /// The workloads in which a controller runs, in order, each with the image.
    pub(super) fn running<'a>(
        &'a self,
        inventory: &'a Inventory,
        controller: &'a Controller,
    ) -> impl Iterator<Item = (ObjectId, Spanned<&'a str>)> {
        let named = |pattern: &ImagePattern| match pattern.name() {
            Some(name) => self.by_image.get(name).cloned().unwrap_or_default(),
            None => (0..self.workloads.len()).collect(),
        };
        let places: BTreeSet<usize> = controller.images.iter().flat_map(named).collect();
        places.into_iter().filter_map(|at| {
            let workload = self.workloads[at].id;
            let runs =
                |container: &RunContainer<'_>| controller.is_run_by(container.image.value, container.command_line());
            let container = workloads::containers(inventory.member(workload)).find(runs)?;
            Some((workload, container.image))
        })
    }

    /// The rules that may be about one of `resources`, in the order of their first grants. A cluster has hundreds, and few are about
    /// one kind.
    fn rules_about(&self, resources: &[String]) -> impl Iterator<Item = &RuleSet> {
        let names = resources.iter().map(String::as_str).chain(["*"]);
        let sets = names.filter_map(|name| self.by_resource.get(name)).map(Vec::as_slice).collect();
        merged(sets).map(|set| &self.rule_sets[set])
    }

    /// The first grant that allows changing `holder`, whose kind is one of `resources`, by a rule about its kind or group, and not
    /// merely because it allows everything.
    pub(super) fn naming(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> Option<&Grant> {
        let mut first = None;
        for set in self.rules_about(resources) {
            if first.is_some_and(|first| set.grants.first() > Some(&first)) {
                break;
            }
            let counting = set.grants.iter().find(|at| self.grants[**at].counts_for(holder));
            let sooner = counting.filter(|at| first.is_none_or(|first| **at < first));
            first = sooner.filter(|_| set.names(holder, resources)).copied().or(first);
        }
        first.map(|at| &self.grants[at])
    }

    /// The workloads, those that end on their own last, each with what its ServiceAccount is granted.
    pub fn granted(&self) -> impl Iterator<Item = (ObjectId, Vec<&Grant>)> {
        let mut grants: Vec<Vec<&Grant>> = vec![Vec::new(); self.workloads.len()];
        for grant in &self.grants {
            grant.workloads.iter().for_each(|at| grants[*at].push(grant));
        }
        self.workloads.iter().map(|workload| workload.id).zip(grants)
    }

    /// The workloads that may change `holder`, whose kind is one of `resources`.
    pub(super) fn able(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> HashSet<ObjectId> {
        let reaching = self.rules_about(resources).filter(|set| set.reaches(holder, resources));
        let grants = reaching.flat_map(|set| &set.grants).map(|at| &self.grants[*at]);
        let counting = grants.filter(|grant| grant.counts_for(holder));
        counting.flat_map(|grant| &grant.workloads).map(|at| self.workloads[*at].id).collect()
    }

    fn place(&self, workload: ObjectId) -> Option<usize> {
        self.workloads.iter().position(|known| known.id == workload)
    }

    /// What lets a workload change `holder`.
    pub fn authority(&self, inventory: &Inventory, workload: ObjectId, holder: &FinalizerHolder<'_>) -> Authority {
        let Some(at) = self.place(workload) else { return Authority::default() };
        let account = self.workloads[at].service_account.clone();
        let namespace = inventory.member(workload).key.namespace.clone();
        let account = inventory.with_key(&ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, account)).first();
        let resources = inventory.kinds.resources(GroupKind::new(holder.group, holder.kind));
        let own = || self.grants.iter().filter(|grant| grant.workloads.contains(&at));
        let ways = |subresource| -> Vec<Vec<ObjectId>> {
            own().flat_map(|grant| grant.ways(holder, &resources, subresource)).collect()
        };
        let mut grants = ways("");
        if grants.is_empty() {
            grants = ways("finalizers");
        }
        grants.sort_unstable();
        grants.dedup();
        Authority { service_account: account.copied(), grants }
    }
}

fn rule_sets(grants: &[Grant]) -> Vec<RuleSet> {
    let mut sets: Vec<RuleSet> = Vec::new();
    let mut known = HashMap::default();
    for (at, grant) in grants.iter().enumerate() {
        let set = *known.entry(grant.rules.as_ptr()).or_insert(sets.len());
        match sets.get_mut(set) {
            Some(set) => set.grants.push(at),
            None => sets.push(RuleSet { rules: Arc::clone(&grant.rules), grants: vec![at] }),
        }
    }
    sets
}

/// The bindings in the input that name a ServiceAccount of one of `workloads`.
fn grants(inventory: &Inventory, workloads: &[Workload]) -> Vec<Grant> {
    let mut by_account: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, workload) in workloads.iter().enumerate() {
        by_account.entry(workload.service_account.as_str()).or_default().push(at);
    }
    let namespace = |at: &usize| &inventory.member(workloads[*at].id).key.namespace;
    let bindings = inventory.members.iter().filter(|member| member.object.group() == GROUP);
    let mut known = HashMap::default();
    bindings
        .filter_map(|binding| {
            let within = match binding.object.kind() {
                "ClusterRoleBinding" => None,
                "RoleBinding" => Some(binding.key.namespace.clone()),
                _ => return None,
            };
            let subjects = binding.object.at(&["subjects"]).into_iter().flat_map(Value::items);
            let bound = subjects.filter_map(Subject::of).flat_map(|subject| subject.workloads(&by_account, namespace));
            let mut bound: Vec<usize> = bound.collect();
            bound.sort_unstable();
            bound.dedup();
            if bound.is_empty() {
                return None;
            }
            let BoundRole { role, rules, partial } = bound_role(inventory, binding, &mut known)?;
            Some(Grant { binding: binding.id, role, rules, partial, workloads: bound, within })
        })
        .collect()
}

/// The role that a binding names, as far as the input contains it.
#[derive(Clone)]
struct BoundRole {
    role: Option<ObjectId>,
    rules: Arc<[RoleRule]>,
    partial: bool,
}

/// `known`: what was found out about roles so far.
fn bound_role(inventory: &Inventory, binding: &Member, known: &mut HashMap<ObjectId, BoundRole>) -> Option<BoundRole> {
    let reference = binding.object.at(&["roleRef"])?;
    let (kind, name) = (reference.get("kind")?.as_str()?, reference.get("name")?.as_str()?);
    let elsewhere = |role: &&Member| kind == "Role" && binding.key.namespace.certainly_differs(&role.key.namespace);
    let mut roles = inventory.with_name(GROUP, kind, name).iter().map(|id| inventory.member(*id));
    let Some(role) = roles.find(|role| !elsewhere(role)) else {
        // Of the roles that every cluster has, only this one covers custom resources without aggregation; those of the
        // control plane's own parts cover none.
        let everything = (kind, name) == ("ClusterRole", "cluster-admin");
        let rules = everything.then(|| (None, PolicyRule::everything())).into_iter().collect();
        return Some(BoundRole { role: None, rules, partial: !everything && !name.starts_with("system:") });
    };
    Some(known.entry(role.id).or_insert_with(|| written_role(inventory, role)).clone())
}

fn written_role(inventory: &Inventory, role: &Member) -> BoundRole {
    let mut rules: Vec<RoleRule> = rules_of(role).collect();
    let selectors = role.object.at(&["aggregationRule", "clusterRoleSelectors"]).into_iter().flat_map(Value::items);
    let mut partial = false;
    for selector in selectors {
        partial = true;
        let cluster_roles = inventory.of_kind(CLUSTER_ROLE);
        rules.extend(cluster_roles.filter(|other| selects(selector, other)).flat_map(rules_of));
    }
    BoundRole { role: Some(role.id), rules: rules.into(), partial }
}

fn rules_of(role: &Member) -> impl Iterator<Item = RoleRule> + use<'_> {
    let rules = role.object.at(&["rules"]).into_iter().flat_map(Value::items);
    rules.map(|rule| (Some(role.id), PolicyRule::of(rule)))
}

/// Whether an aggregating role includes another one. Selectors by expression are assumed to select it.
fn selects(selector: Value<'_>, role: &Member) -> bool {
    let labels = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let metadata = role.object.metadata();
    labels.into_iter().all(|wanted| metadata.label(wanted.key).map(|label| label.value) == wanted.value.as_str())
}
