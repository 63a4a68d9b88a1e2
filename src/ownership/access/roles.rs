//! Bindings and the rules of their roles: `GetRoleReferenceRules` in Kubernetes' pkg/registry/rbac/validation/rule.go,
//! with the aggregation of pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go.

use foldhash::HashMap;

use super::rule::PolicyRule;
use super::subject::{Subject, SubjectTable};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{GroupKind, Namespace, Scope};
use crate::yaml::Value;

const GROUP: &str = "rbac.authorization.k8s.io";
const ROLE: GroupKind<&str> = GroupKind::new(GROUP, "Role");
const CLUSTER_ROLE: GroupKind<&str> = GroupKind::new(GROUP, "ClusterRole");

/// A ClusterRole that may aggregate more ClusterRoles than this is treated as `cluster-admin`.
const MANY_AGGREGATED: usize = 1_000;

/// A binding that names a ServiceAccount of a workload in the input.
#[derive(Debug)]
pub struct Grant {
    /// The RoleBinding or ClusterRoleBinding.
    pub binding: ObjectId,
    /// Index of its role among the bound roles.
    pub(super) role: usize,
    /// Index of the first workload that it names.
    pub(super) first_workload: usize,
    /// The namespace in which a RoleBinding applies; `None` for a ClusterRoleBinding.
    within: Option<Namespace>,
}

impl Grant {
    /// Whether it allows anything for an object with this scope and namespace.
    pub fn counts_in(&self, scope: Option<Scope>, namespace: &Namespace) -> bool {
        match &self.within {
            None => true,
            // A RoleBinding allows nothing outside namespaces.
            Some(_) if scope == Some(Scope::Cluster) => false,
            Some(within) => !within.certainly_differs(namespace),
        }
    }
}

/// A role that bindings name, as far as the input contains it.
#[derive(Debug)]
pub struct BoundRole {
    /// The role, if the input contains it.
    pub id: Option<ObjectId>,
    /// Whether its rules may be incomplete: it aggregates others, or it is not in the input and
    /// neither `cluster-admin` nor a `system:` role.
    pub partial: bool,
    /// Indexes of its rule sets: its own, and those that it aggregates.
    pub(super) rule_sets: Vec<usize>,
    /// Indexes of the grants that name it, ascending.
    pub(super) grants: Vec<usize>,
}

/// The rules in the manifest of one role.
#[derive(Debug, Default)]
pub struct RuleSet {
    /// The role; `None` for the rules of `cluster-admin`.
    pub written_in: Option<ObjectId>,
    /// The rules, in written order.
    pub rules: Vec<PolicyRule>,
    /// Indexes of the bound roles that include this set.
    pub(super) roles: Vec<usize>,
}

/// The bindings of an input and their roles.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// In the order of the input.
    pub(super) grants: Vec<Grant>,
    pub(super) roles: Vec<BoundRole>,
    pub(super) rule_sets: Vec<RuleSet>,
}

/// The role that a binding names.
#[derive(PartialEq, Eq, Hash)]
enum RoleReference {
    Written(ObjectId),
    /// `cluster-admin`, which comes with every cluster.
    ClusterAdmin,
    Elsewhere {
        partial: bool,
    },
}

/// Reads the bindings, and each role that they name once.
pub(super) struct RoleReader<'a> {
    inventory: &'a Inventory,
    pub(super) read: Roles,
    roles: HashMap<RoleReference, usize>,
    rule_sets: HashMap<Option<ObjectId>, usize>,
    /// The ClusterRoles by label; built when the first role aggregates.
    labelled: Option<HashMap<(&'a str, &'a str), Vec<&'a Member>>>,
}

impl<'a> RoleReader<'a> {
    pub(super) fn new(inventory: &'a Inventory) -> Self {
        Self {
            inventory,
            read: Roles::default(),
            roles: HashMap::default(),
            rule_sets: HashMap::default(),
            labelled: None,
        }
    }

    /// Adds the grant of a binding, and returns its index; `None` if the binding has no valid `roleRef`.
    pub(super) fn grant(&mut self, binding: &'a Member, first_workload: usize) -> Option<usize> {
        let within =
            (binding.object.kind() == "RoleBinding").then(|| binding.key.namespace.clone());
        let role = self.referenced(binding)?;
        let at = self.read.grants.len();
        self.read.roles[role].grants.push(at);
        self.read.grants.push(Grant {
            binding: binding.id,
            role,
            first_workload,
            within,
        });
        Some(at)
    }

    /// Returns the index of the role that a binding names.
    fn referenced(&mut self, binding: &Member) -> Option<usize> {
        let reference = binding.object.at(&["roleRef"])?;
        let (kind, name) = (reference.str_at(&["kind"])?, reference.str_at(&["name"])?);
        let role = match kind {
            "Role" => self
                .inventory
                .with_name_near(ROLE, name, &binding.key.namespace)
                .next(),
            _ => self.inventory.with_name(GROUP, kind, name).first().copied(),
        };
        let reference = match role {
            Some(role) => RoleReference::Written(role),
            // Of the default roles of a cluster, only this one covers custom resources without aggregation. Those of
            // the control plane's own components (`system:`) cover none.
            None if (kind, name) == ("ClusterRole", "cluster-admin") => RoleReference::ClusterAdmin,
            None => RoleReference::Elsewhere {
                partial: !name.starts_with("system:"),
            },
        };
        if let Some(known) = self.roles.get(&reference) {
            return Some(*known);
        }
        let (partial, rule_sets) = match (role, &reference) {
            (Some(role), _) => self.rules_of(self.inventory.member(role)),
            (None, RoleReference::ClusterAdmin) => (false, vec![self.rule_set(None)]),
            (None, reference) => (
                *reference == RoleReference::Elsewhere { partial: true },
                Vec::new(),
            ),
        };
        let at = self.read.roles.len();
        for rule_set in &rule_sets {
            self.read.rule_sets[*rule_set].roles.push(at);
        }
        self.read.roles.push(BoundRole {
            id: role,
            partial,
            rule_sets,
            grants: Vec::new(),
        });
        self.roles.insert(reference, at);
        Some(at)
    }

    /// Returns whether a role aggregates others, and the indexes of its rule sets.
    fn rules_of(&mut self, role: &'a Member) -> (bool, Vec<usize>) {
        let selectors = role
            .object
            .at(&["aggregationRule", "clusterRoleSelectors"])
            .into_iter()
            .flat_map(Value::items);
        let (mut aggregates, mut written_in) = (false, vec![role.id]);
        for selector in selectors {
            aggregates = true;
            let Some(selected) = self.selected_by(selector) else {
                return (true, vec![self.rule_set(None)]);
            };
            written_in.extend(selected);
            if written_in.len() > MANY_AGGREGATED {
                return (true, vec![self.rule_set(None)]);
            }
        }
        let mut seen = foldhash::HashSet::default();
        written_in.retain(|role| seen.insert(*role));
        let rule_sets = written_in.into_iter().map(|role| self.rule_set(Some(role)));
        (aggregates, rule_sets.collect())
    }

    /// Returns the ClusterRoles that a selector of an aggregating role selects; `None` if there may be too many.
    /// Selectors by expression are assumed to select all.
    fn selected_by(&mut self, selector: Value<'_>) -> Option<Vec<ObjectId>> {
        let inventory = self.inventory;
        let labelled = self.labelled.get_or_insert_with(|| {
            let mut labelled: HashMap<_, Vec<_>> = HashMap::default();
            for role in inventory.of_kind(CLUSTER_ROLE) {
                for (key, label) in role.object.metadata().labels().iter() {
                    labelled.entry((key, label.value)).or_default().push(role);
                }
            }
            labelled
        });
        let wanted = selector
            .get("matchLabels")
            .into_iter()
            .flat_map(Value::entries);
        let wanted: Vec<_> = wanted
            .filter_map(|label| Some((label.key, label.value.as_str()?)))
            .collect();
        let lists = wanted
            .iter()
            .map(|label| labelled.get(label).map_or(&[][..], Vec::as_slice));
        let Some(fewest) = lists.min_by_key(|list| list.len()) else {
            let all: Vec<_> = inventory
                .of_kind(CLUSTER_ROLE)
                .take(MANY_AGGREGATED + 1)
                .map(|role| role.id)
                .collect();
            return (all.len() <= MANY_AGGREGATED).then_some(all);
        };
        let selected = fewest.iter().filter(|role| has_all(role, &wanted));
        (fewest.len() <= MANY_AGGREGATED).then(|| selected.map(|role| role.id).collect())
    }

    /// Returns the index of the rules in a role's manifest; `None` stands for those of `cluster-admin`.
    fn rule_set(&mut self, written_in: Option<ObjectId>) -> usize {
        if let Some(known) = self.rule_sets.get(&written_in) {
            return *known;
        }
        let rules = match written_in.map(|role| self.inventory.member(role)) {
            Some(role) => {
                let rules = role.object.value().items_at("rules");
                rules.map(PolicyRule::of).collect()
            }
            None => vec![PolicyRule::everything()],
        };
        let at = self.read.rule_sets.len();
        self.read.rule_sets.push(RuleSet {
            written_in,
            rules,
            roles: Vec::new(),
        });
        self.rule_sets.insert(written_in, at);
        at
    }
}

fn has_all(role: &Member, wanted: &[(&str, &str)]) -> bool {
    let metadata = role.object.metadata();
    wanted.iter().all(|(key, value)| {
        metadata
            .label(key)
            .is_some_and(|label| label.value == *value)
    })
}

/// Returns the RoleBindings and ClusterRoleBindings of an input, in order.
pub(super) fn bindings(inventory: &Inventory) -> impl Iterator<Item = &Member> {
    inventory.members.iter().filter(|member| {
        member.object.group() == GROUP
            && matches!(member.object.kind(), "RoleBinding" | "ClusterRoleBinding")
    })
}

/// Returns the indices of the subjects that a binding names, ascending.
pub(super) fn subjects_of<'a>(binding: &'a Member, table: &mut SubjectTable<'a>) -> Vec<usize> {
    let subjects = binding.object.value().items_at("subjects");
    let mut named: Vec<usize> = subjects
        .flat_map(|subject| Subject::all_of(subject, binding))
        .map(|subject| {
            let next = table.len();
            *table.entry(subject).or_insert(next)
        })
        .collect();
    named.sort_unstable();
    named.dedup();
    named
}
