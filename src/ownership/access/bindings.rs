//! Bindings and roles, as the input writes them.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::rule::PolicyRule;
use super::subject::Subjects;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{GroupKind, Namespace, Scope};
use crate::ownership::workloads::Workload;
use crate::yaml::Value;

const GROUP: &str = "rbac.authorization.k8s.io";
const ROLE: GroupKind<&str> = GroupKind::new(GROUP, "Role");
const CLUSTER_ROLE: GroupKind<&str> = GroupKind::new(GROUP, "ClusterRole");

/// What one binding allows workloads in the input to do.
#[derive(Debug)]
pub struct Grant {
    /// The RoleBinding or ClusterRoleBinding.
    pub binding: ObjectId,
    /// Its place among the bound roles.
    pub(super) role: usize,
    /// The groups of workloads that it names; in one of them is a workload.
    pub(super) subjects: Vec<usize>,
    /// The namespace in which a RoleBinding counts; `None`: everywhere.
    pub(super) within: Option<Namespace>,
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
}

/// The role that bindings name, as far as the input contains it.
#[derive(Debug)]
pub struct BoundRole {
    /// The role, if the input contains it.
    pub id: Option<ObjectId>,
    /// Whether its rules may not be all: it is not in the input, or the control plane aggregates it.
    pub partial: bool,
    /// What it allows: itself, and what its selectors select.
    pub(super) selections: Vec<usize>,
}

/// Roles that are granted together: one alone, or those that a selector of an aggregating role selects. Many roles may have one
/// selector, so nothing is copied for them.
#[derive(Debug, Default)]
pub(super) struct RoleSelection {
    /// Places among the sets of rules.
    pub(super) rule_sets: Vec<usize>,
    /// Places among the grants, in order.
    pub(super) grants: Vec<usize>,
}

/// The rules that one role writes.
#[derive(Debug)]
pub struct RuleSet {
    /// The role; `None`: it comes with every cluster.
    pub written_in: Option<ObjectId>,
    /// The rules, in written order.
    pub rules: Vec<PolicyRule>,
    /// Places among the selections that contain it.
    pub(super) selections: Vec<usize>,
}

/// All that is bound to workloads of an input.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// In the order of the input.
    pub(super) grants: Vec<Grant>,
    pub(super) roles: Vec<BoundRole>,
    pub(super) selections: Vec<RoleSelection>,
    pub(super) rule_sets: Vec<RuleSet>,
    /// For each group of workloads their places, in order.
    pub(super) subjects: Vec<Vec<usize>>,
}

impl Bindings {
    /// The bindings in the input that name a ServiceAccount of one of `workloads`.
    pub(super) fn of(inventory: &Inventory, workloads: &[Workload]) -> Self {
        let bindings = inventory.members.iter().filter_map(|member| Some((member, where_it_counts(member)?)));
        let mut subjects = Subjects::default();
        let bindings: Vec<_> = bindings
            .map(|(binding, within)| {
                let named = binding.object.at(&["subjects"]).into_iter().flat_map(Value::items);
                let mut named: Vec<usize> =
                    named.flat_map(|subject| subjects.named_by(subject).collect::<Vec<_>>()).collect();
                named.sort_unstable();
                named.dedup();
                (binding, within, named)
            })
            .collect();
        let mut reader = RoleReader::new(inventory, subjects.members(inventory, workloads));
        for (binding, within, mut subjects) in bindings {
            subjects.retain(|group| !reader.read.subjects[*group].is_empty());
            if !subjects.is_empty() {
                reader.grant(binding, within, subjects);
            }
        }
        reader.read
    }

    /// The role that a grant grants.
    pub(super) fn role_of(&self, grant: &Grant) -> &BoundRole {
        &self.roles[grant.role]
    }

    /// The rules of a role: its own, and those that it aggregates; each set with its place.
    pub(super) fn rule_sets_of(&self, role: &BoundRole) -> impl Iterator<Item = (usize, &RuleSet)> {
        let sets = role.selections.iter().flat_map(|at| &self.selections[*at].rule_sets);
        sets.map(|at| (*at, &self.rule_sets[*at]))
    }
}

/// The namespace in which a binding counts, `None` everywhere. `None` at all: it is no binding.
fn where_it_counts(member: &Member) -> Option<Option<Namespace>> {
    match (member.object.group(), member.object.kind()) {
        (GROUP, "ClusterRoleBinding") => Some(None),
        (GROUP, "RoleBinding") => Some(Some(member.key.namespace.clone())),
        _ => None,
    }
}

/// What a binding may name.
#[derive(PartialEq, Eq, Hash)]
enum BoundName {
    Written(ObjectId),
    /// `cluster-admin`, which comes with every cluster.
    Everything,
    Elsewhere {
        partial: bool,
    },
}

/// The labels that a selector asks for.
type WantedLabels<'a> = BTreeMap<&'a str, &'a str>;

/// Reads each role and each selector once.
struct RoleReader<'a> {
    inventory: &'a Inventory,
    read: Bindings,
    known: HashMap<BoundName, usize>,
    rule_sets: HashMap<ObjectId, usize>,
    selected: HashMap<WantedLabels<'a>, usize>,
    /// The ClusterRoles with a label, once somebody selects by labels.
    labelled: Option<HashMap<(&'a str, &'a str), Vec<&'a Member>>>,
}

impl<'a> RoleReader<'a> {
    fn new(inventory: &'a Inventory, subjects: Vec<Vec<usize>>) -> Self {
        let read = Bindings { subjects, ..Bindings::default() };
        let (known, rule_sets, selected) = (HashMap::default(), HashMap::default(), HashMap::default());
        Self { inventory, read, known, rule_sets, selected, labelled: None }
    }

    fn grant(&mut self, binding: &'a Member, within: Option<Namespace>, subjects: Vec<usize>) {
        let Some(role) = self.bound_role(binding) else { return };
        let at = self.read.grants.len();
        for selection in &self.read.roles[role].selections {
            self.read.selections[*selection].grants.push(at);
        }
        self.read.grants.push(Grant { binding: binding.id, role, subjects, within });
    }

    fn bound_role(&mut self, binding: &'a Member) -> Option<usize> {
        let reference = binding.object.at(&["roleRef"])?;
        let (kind, name) = (reference.get("kind")?.as_str()?, reference.get("name")?.as_str()?);
        let role = match kind {
            "Role" => self.inventory.with_name_near(ROLE, name, &binding.key.namespace).next(),
            _ => self.inventory.with_name(GROUP, kind, name).first().copied(),
        };
        let role = role.map(|id| self.inventory.member(id));
        let named = match role {
            Some(role) => BoundName::Written(role.id),
            // Of the roles that every cluster has, only this one covers custom resources without aggregation; those of the
            // control plane's own parts cover none.
            None if (kind, name) == ("ClusterRole", "cluster-admin") => BoundName::Everything,
            None => BoundName::Elsewhere { partial: !name.starts_with("system:") },
        };
        if let Some(known) = self.known.get(&named) {
            return Some(*known);
        }
        let bound = match (role, &named) {
            (Some(role), _) => self.written_role(role),
            (None, BoundName::Everything) => {
                let rule_set = self.rule_set(None, vec![PolicyRule::everything()]);
                BoundRole { id: None, partial: false, selections: vec![self.selection(vec![rule_set])] }
            }
            (None, named) => {
                let partial = matches!(named, BoundName::Elsewhere { partial: true });
                BoundRole { id: None, partial, selections: Vec::new() }
            }
        };
        self.read.roles.push(bound);
        let at = self.read.roles.len() - 1;
        self.known.insert(named, at);
        Some(at)
    }

    fn written_role(&mut self, role: &'a Member) -> BoundRole {
        let own = self.rules_of(role);
        let mut selections = vec![self.selection(vec![own])];
        let selectors = role.object.at(&["aggregationRule", "clusterRoleSelectors"]).into_iter().flat_map(Value::items);
        let mut partial = false;
        for selector in selectors {
            partial = true;
            selections.push(self.selected_by(selector));
        }
        let mut seen = BTreeSet::new();
        selections.retain(|selection| seen.insert(*selection));
        BoundRole { id: Some(role.id), partial, selections }
    }

    /// The ClusterRoles that a selector of an aggregating role selects. Selectors by expression are assumed to select them.
    fn selected_by(&mut self, selector: Value<'a>) -> usize {
        let labels = selector.get("matchLabels").into_iter().flat_map(Value::entries);
        let wanted: WantedLabels<'a> = labels.filter_map(|label| Some((label.key, label.value.as_str()?))).collect();
        if let Some(known) = self.selected.get(&wanted) {
            return *known;
        }
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
        let lists = wanted.iter().map(|(key, value)| labelled.get(&(*key, *value)).map_or(&[][..], Vec::as_slice));
        let roles: Vec<&Member> = match lists.min_by_key(|list| list.len()) {
            Some(fewest) => fewest.iter().copied().filter(|role| has_all(role, &wanted)).collect(),
            None => inventory.of_kind(CLUSTER_ROLE).collect(),
        };
        let rule_sets = roles.into_iter().map(|role| self.rules_of(role)).collect();
        let selection = self.selection(rule_sets);
        self.selected.insert(wanted, selection);
        selection
    }

    fn selection(&mut self, rule_sets: Vec<usize>) -> usize {
        let at = self.read.selections.len();
        for rule_set in &rule_sets {
            self.read.rule_sets[*rule_set].selections.push(at);
        }
        self.read.selections.push(RoleSelection { rule_sets, grants: Vec::new() });
        at
    }

    /// The rules that a role writes.
    fn rules_of(&mut self, role: &Member) -> usize {
        if let Some(known) = self.rule_sets.get(&role.id) {
            return *known;
        }
        let rules = role.object.at(&["rules"]).into_iter().flat_map(Value::items).map(PolicyRule::of).collect();
        let at = self.rule_set(Some(role.id), rules);
        self.rule_sets.insert(role.id, at);
        at
    }

    fn rule_set(&mut self, written_in: Option<ObjectId>, rules: Vec<PolicyRule>) -> usize {
        self.read.rule_sets.push(RuleSet { written_in, rules, selections: Vec::new() });
        self.read.rule_sets.len() - 1
    }
}

fn has_all(role: &Member, wanted: &WantedLabels<'_>) -> bool {
    let metadata = role.object.metadata();
    wanted.iter().all(|(key, value)| metadata.label(key).is_some_and(|label| label.value == *value))
}
