//! RBAC: which workloads may change the finalizers of an object, and by which bindings and roles.
//!
//! A comparison with Kubernetes' evaluator:
//!
//! | here | Kubernetes |
//! |---|---|
//! | `PolicyRule::allows` and its conditions | `RuleAllows`, … (plugin/pkg/auth/authorizer/rbac/rbac.go) |
//! | `Access::may_change` | `Authorize` (there) |
//! | `Access::rules_for` | `VisitRulesFor` (pkg/registry/rbac/validation/rule.go) |
//! | `subject.rs` | `appliesTo` (there) |
//! | `roles.rs` | `GetRoleReferenceRules` (there), and the aggregation of ClusterRoles |
//!
//! There are three differences. If the input lacks a fact (an unwritten namespace, a plural that no
//! CRD defines), the answer is yes: a finding that no controller can remove a finalizer must not
//! rest on a guess. Bindings are indexed by subject. At most `MANY_GRANTS` bindings of a workload
//! and `MANY_RULES` rules are evaluated; beyond that, the answer is yes too.

mod releasing;
mod roles;
mod rule;
mod subject;

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

pub use releasing::Permission;
pub use roles::{BoundRole, Grant, RuleSet};
use roles::{RoleReader, Roles};
pub use rule::{PolicyRule, ResourceRequest, may_set_blocking_reference};
use subject::{Subject, SubjectTable};

use super::finalizer_holder::FinalizerHolder;
use super::workloads::{Workload, Workloads};
use crate::inventory::{Inventory, ObjectId};
use crate::kube::{GroupKind, ObjectKey, kinds};

/// A workload with more grants than this is treated as unrestricted.
const MANY_GRANTS: usize = 500;

/// Maximum number of rules evaluated for one object. If more rules might apply to it, the change is treated as allowed.
const MANY_RULES: usize = 1_000;

/// Changing the object itself (`""`) or its `finalizers` counts as permission to release it.
const WHOLE_OR_FINALIZERS: [&str; 2] = ["", "finalizers"];

/// The remaining number of rules that may be evaluated for one object, over all queries about it.
#[derive(Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MANY_RULES)
    }
}

impl Budget {
    /// Takes one rule; returns `false` if none is left.
    fn spend(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

/// The workloads of a bundle, and the permissions that its bindings give them.
#[derive(Debug, Default)]
pub struct Access {
    workloads: Workloads,
    /// By index of the workload: the subjects that include it, ascending. Omits workloads without
    /// any.
    subjects: HashMap<usize, Vec<usize>>,
    /// By subject: the grants that name it, ascending.
    granted_to: Vec<Vec<usize>>,
    roles: Roles,
    /// By resource name: (rule set, rule) of rules that allow changing it. Rules about everything are left out.
    by_resource: HashMap<String, Vec<(usize, usize)>>,
}

/// Workloads that have the same grants.
pub struct WorkloadsByGrants<'a> {
    /// The workloads, Jobs and CronJobs last.
    pub workloads: Vec<ObjectId>,
    /// The grants of their ServiceAccount, in order.
    pub grants: Vec<&'a Grant>,
}

/// The authority of a controller: the objects that allow it to release an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// The ServiceAccount that its Pods run as, if the input contains it.
    pub service_account: Option<ObjectId>,
    /// Each entry is a binding with its role, and possibly a role that this role aggregates. One
    /// entry is sufficient; without any, the input does not show what authorizes the controller.
    pub grants: Vec<Vec<ObjectId>>,
    /// Whether there are too many grants or rules to evaluate.
    pub unrestricted: bool,
}

impl Authority {
    /// Returns alternative sets of objects, of which one has to exist. Empty if none is known.
    pub fn alternatives(&self) -> Vec<Vec<ObjectId>> {
        let account = self.service_account;
        match self.grants.as_slice() {
            [] => account.map(|account| vec![account]).into_iter().collect(),
            grants => grants
                .iter()
                .map(|grant| account.into_iter().chain(grant.iter().copied()).collect())
                .collect(),
        }
    }
}

#[derive(Clone, Copy)]
struct GrantedRule<'a> {
    grant: &'a Grant,
    rule_set: &'a RuleSet,
    rule: &'a PolicyRule,
}

impl Access {
    /// Finds the workloads of `inventory` and the permissions of their ServiceAccounts.
    pub fn of(inventory: &Inventory) -> Self {
        let mut access = Self {
            workloads: Workloads::of(inventory),
            ..Self::default()
        };
        access.read_bindings(inventory);
        access.index_rules();
        access
    }

    fn read_bindings(&mut self, inventory: &Inventory) {
        let mut table = SubjectTable::default();
        let bindings: Vec<_> = roles::bindings(inventory)
            .map(|binding| (binding, roles::subjects_of(binding, &mut table)))
            .collect();
        let mut first_workload = vec![None; table.len()];
        for (at, workload) in self.workloads.all.iter().enumerate() {
            let namespace = &inventory.member(workload.id).key.namespace;
            let including = Subject::including(&workload.service_account, namespace);
            let mut named: Vec<usize> = including
                .iter()
                .filter_map(|subject| table.get(subject))
                .copied()
                .collect();
            named.sort_unstable();
            for subject in &named {
                first_workload[*subject].get_or_insert(at);
            }
            if !named.is_empty() {
                self.subjects.insert(at, named);
            }
        }
        self.granted_to = vec![Vec::new(); table.len()];
        let mut reader = RoleReader::new(inventory);
        for (binding, subjects) in bindings {
            let Some(first) = subjects
                .iter()
                .filter_map(|subject| first_workload[*subject])
                .min()
            else {
                continue;
            };
            let Some(grant) = reader.grant(binding, first) else {
                continue;
            };
            for subject in subjects {
                self.granted_to[subject].push(grant);
            }
        }
        self.roles = reader.read;
    }

    fn index_rules(&mut self) {
        for (set, written) in self.roles.rule_sets.iter().enumerate() {
            let rules = written.rules.iter().enumerate();
            for (at, rule) in rules.filter(|(_, rule)| !rule.is_everything()) {
                for resource in rule.changeable().collect::<BTreeSet<_>>() {
                    match self.by_resource.get_mut(resource) {
                        Some(places) => places.push((set, at)),
                        None => {
                            _ = self
                                .by_resource
                                .insert(resource.to_owned(), vec![(set, at)]);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn workloads(&self) -> &Workloads {
        &self.workloads
    }

    /// Whether any binding grants a workload something.
    pub fn has_grants(&self) -> bool {
        !self.roles.grants.is_empty()
    }

    /// Returns the role that a grant grants.
    pub fn role_of(&self, grant: &Grant) -> &BoundRole {
        &self.roles.roles[grant.role]
    }

    /// Returns the rules of a grant as sets, one for each role that contains them: the bound one, or one that it
    /// aggregates. Each set comes with its index, because many grants share one.
    pub fn rule_sets(&self, grant: &Grant) -> impl Iterator<Item = (usize, &RuleSet)> {
        self.role_of(grant)
            .rule_sets
            .iter()
            .map(|at| (*at, &self.roles.rule_sets[*at]))
    }

    /// Returns the grants that name one of `subjects`, unordered and possibly twice; `None` if there are too many.
    fn grants_to(&self, subjects: &[usize]) -> Option<impl Iterator<Item = usize>> {
        let granted = subjects.iter().map(|subject| &self.granted_to[*subject]);
        let count: usize = granted.clone().map(Vec::len).sum();
        (count <= MANY_GRANTS).then(|| granted.flatten().copied())
    }

    /// Returns the rules that apply to a workload in the namespace of `holder`; `None` if it has too many grants.
    fn rules_for<'a>(
        &'a self,
        workload: usize,
        holder: &FinalizerHolder<'a>,
    ) -> Option<impl Iterator<Item = GrantedRule<'a>>> {
        let (scope, namespace) = (holder.scope, holder.namespace);
        let subjects = self.subjects.get(&workload).map_or(&[][..], Vec::as_slice);
        let grants = self.grants_to(subjects)?;
        let grants = grants.map(|at| &self.roles.grants[at]);
        let counting = grants.filter(move |grant| grant.counts_in(scope, namespace));
        let sets = counting.flat_map(|grant| {
            self.rule_sets(grant)
                .map(move |(_, rule_set)| (grant, rule_set))
        });
        Some(sets.flat_map(|(grant, rule_set)| {
            rule_set.rules.iter().map(move |rule| GrantedRule {
                grant,
                rule_set,
                rule,
            })
        }))
    }

    /// Whether a workload may change `holder`, whose kind is one of `resources`: `Authorize`.
    pub(super) fn may_change(
        &self,
        workload: ObjectId,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        budget: &mut Budget,
    ) -> bool {
        let Some(at) = self.workloads.place(workload).filter(|_| self.has_grants()) else {
            return false;
        };
        let Some(mut rules) = self.rules_for(at, holder).filter(|_| budget.spend()) else {
            return true;
        };
        rules.any(|granted| {
            !budget.spend()
                || granted
                    .rule
                    .allows_change(holder, resources, &WHOLE_OR_FINALIZERS)
        })
    }

    /// Returns the first grant that allows changing `holder`, whose kind is one of `resources`,
    /// with the first workload that it names. A rule for all groups and resources does not count.
    pub(super) fn first_grant_naming_kind(
        &self,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
    ) -> Option<(&Grant, &Workload)> {
        let Roles {
            grants,
            roles,
            rule_sets,
        } = &self.roles;
        let named = resources
            .iter()
            .map(String::as_str)
            .chain(["*"])
            .filter_map(|name| self.by_resource.get(name));
        let rules = named
            .flatten()
            .map(|(set, at)| (&rule_sets[*set], &rule_sets[*set].rules[*at]));
        let granted = rules.flat_map(|(set, rule)| {
            let grants = set.roles.iter().flat_map(|role| &roles[*role].grants);
            grants.map(move |grant| (*grant, rule))
        });
        let mut first: Option<usize> = None;
        let mut budget = Budget::default();
        for (grant, rule) in granted {
            if !budget.spend() {
                first = first.or(Some(grant));
                break;
            }
            if first.is_none_or(|first| grant < first)
                && grants[grant].counts_in(holder.scope, holder.namespace)
                && rule.allows_change(holder, resources, &WHOLE_OR_FINALIZERS)
            {
                first = Some(grant);
            }
        }
        let grant = &grants[first?];
        Some((grant, &self.workloads.all[grant.first_workload]))
    }

    /// Returns the workloads that bindings name, grouped by their grants, except for those with too many grants.
    pub fn granted(&self) -> impl Iterator<Item = WorkloadsByGrants<'_>> {
        let mut alike: BTreeMap<&[usize], Vec<ObjectId>> = BTreeMap::new();
        for (at, workload) in self.workloads.all.iter().enumerate() {
            if let Some(subjects) = self.subjects.get(&at) {
                alike.entry(subjects).or_default().push(workload.id);
            }
        }
        alike.into_iter().filter_map(|(subjects, workloads)| {
            let grants: BTreeSet<usize> = self.grants_to(subjects)?.collect();
            let grants = grants.into_iter().map(|at| &self.roles.grants[at]);
            Some(WorkloadsByGrants {
                workloads,
                grants: grants.collect(),
            })
        })
    }

    /// Returns the authority by which a workload may change `holder`.
    pub fn authority(
        &self,
        inventory: &Inventory,
        workload: ObjectId,
        holder: &FinalizerHolder<'_>,
        budget: &mut Budget,
    ) -> Authority {
        let Some(at) = self.workloads.place(workload) else {
            return Authority::default();
        };
        let account = self.workloads.all[at].service_account.clone();
        let namespace = inventory.member(workload).key.namespace.clone();
        let account = inventory
            .with_key(&ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, account))
            .first();
        let resources = inventory
            .kinds
            .resources(GroupKind::new(holder.group, holder.kind));
        let mut grants = self.ways(at, holder, &resources, "", budget);
        if grants.as_ref().is_some_and(BTreeSet::is_empty) {
            grants = self.ways(at, holder, &resources, "finalizers", budget);
        }
        let grants = grants.filter(|grants| grants.len() <= MANY_GRANTS);
        Authority {
            service_account: account.copied(),
            unrestricted: grants.is_none(),
            grants: grants.into_iter().flatten().collect(),
        }
    }

    /// Returns the combinations of binding and roles by which a workload may change `holder` or a subresource of it,
    /// one for each role that allows it. `None` if there are too many grants or rules.
    fn ways(
        &self,
        workload: usize,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        subresource: &str,
        budget: &mut Budget,
    ) -> Option<BTreeSet<Vec<ObjectId>>> {
        let mut ways = BTreeSet::new();
        for GrantedRule {
            grant,
            rule_set,
            rule,
        } in self.rules_for(workload, holder)?
        {
            if !budget.spend() {
                return None;
            }
            if rule.allows_change(holder, resources, &[subresource]) {
                let role = self.role_of(grant).id;
                let aggregated = rule_set
                    .written_in
                    .filter(|written_in| Some(*written_in) != role);
                let way = [Some(grant.binding), role, aggregated];
                ways.insert(way.into_iter().flatten().collect());
            }
        }
        Some(ways)
    }
}
