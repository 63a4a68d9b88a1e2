//! Operators that lack a permission for the owner references that they write.
//!
//! Controllers make their custom resource the owner of the objects that they create, with `blockOwnerDeletion: true`,
//! because controller-runtime's helper sets it. A cluster that enforces permissions on owner references (OpenShift)
//! then requires `update` of the owner's `finalizers` [ADM-3]. The references are only in a controller's code, so this
//! rule infers them from its role.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use foldhash::HashMap;

use crate::finding::Applicability;
use crate::inventory::{Inventory, Member, ObjectId, table};
use crate::kube::{GroupKind, Namespace, Scope, kinds};
use crate::ownership::access::{
    Grant, PolicyRule, ResourceRequest, RuleSet, WorkloadsByGrants, may_set_blocking_reference,
};
use crate::rules::draft::Draft;
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{listed, named};
use crate::text::Span;
use crate::yaml::edit::NewValue;

pub(in crate::rules) static FINALIZERS_PERMISSION_MISSING: Rule = rule!(
    Finalizers,
    "finalizers-permission-missing",
    Info,
    Rejected,
    "An operator lacks the permission to update `finalizers` of its custom resource, which some \
     clusters require",
    finalizers_permission_missing
)
.fixes(&[Applicability::Suggested]);

/// Resources that controllers create without an owner: records, requests and leases.
const NEVER_OWNED: [(&str, &str); 7] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
];

/// Workloads whose roles name more kinds of the input than this are skipped: hardly any of them controls all of these
/// kinds.
const MANY_KINDS: usize = 100;

/// A kind that the input defines.
struct OwnKind<'a> {
    kind: GroupKind<&'a str>,
    plural: &'a str,
    scope: Option<Scope>,
    definition: &'a Member,
}

/// A kind whose `finalizers` a controller may not update.
struct Missing<'a> {
    own: &'a OwnKind<'a>,
    /// The role that allows changing objects of the kind, or their status.
    role: ObjectId,
    /// Whether the rules mention `finalizers`, so that their author knows of the permission.
    near_miss: bool,
}

/// A workload, and the kinds whose `finalizers` it may not update. Workloads with the same grants share the kinds.
type LackingWorkload<'a> = (&'a Member, Rc<[Missing<'a>]>);

fn finalizers_permission_missing(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let kinds = OwnKinds::of(inventory);
    if kinds.all.is_empty() {
        return;
    }
    let access = context.ownership.removers.access();
    // Many bindings and workloads share a set of rules.
    let mut facts: HashMap<usize, RuleSetFacts<'_>> = HashMap::default();
    let mut by_role: BTreeMap<ObjectId, Vec<LackingWorkload<'_>>> = BTreeMap::new();
    for WorkloadsByGrants { workloads, grants } in access.granted() {
        // Skip workloads with roles that are incomplete in the input: these may contain the permission.
        if grants.iter().any(|grant| access.role_of(grant).partial) {
            continue;
        }
        for (number, set) in grants.iter().flat_map(|grant| access.rule_sets(grant)) {
            facts.entry(number).or_insert_with(|| kinds.facts(set));
        }
        let mut granted = Vec::new();
        for grant in grants {
            let sets = access.rule_sets(grant).map(|(number, _)| &facts[&number]);
            granted.extend(sets.map(|set| (grant, set)));
        }
        // The author of a role that may update one kind's finalizers knew which kinds need it.
        if granted.iter().any(|(_, set)| set.grants_finalizers) {
            continue;
        }
        let known = granted.iter().flat_map(|(_, set)| &set.names);
        let known: BTreeSet<usize> = known.copied().collect();
        if known.len() > MANY_KINDS {
            continue;
        }
        let mut together: BTreeMap<ObjectId, Vec<Missing<'_>>> = BTreeMap::new();
        for at in known {
            if let Some(missing) = missing(&kinds.all[at], &granted) {
                together.entry(missing.role).or_default().push(missing);
            }
        }
        for (role, missing) in together {
            let missing: Rc<[Missing<'_>]> = missing.into();
            let workloads = workloads.iter().map(|id| inventory.member(*id));
            // A Job runs to completion: it is not an operator.
            let operators = workloads.filter(|member| member.key.group() != "batch");
            let lacking = operators.map(|operator| (operator, Rc::clone(&missing)));
            by_role.entry(role).or_default().extend(lacking);
        }
    }
    for (role, mut workloads) in by_role {
        workloads.sort_by_key(|(workload, _)| workload.id);
        let role = inventory.member(role);
        // Many workloads run as the ServiceAccount `default`: prefer those in the file of the role.
        let mut files = workloads.iter().map(|(workload, _)| workload.file);
        if files.any(|file| file == role.file) {
            workloads.retain(|(workload, _)| workload.file == role.file);
        }
        for (workload, missing) in &workloads {
            sink.push(finding(context, workload, role, missing));
        }
    }
}

/// Facts about a set of rules: its permissions for the kinds that the input defines.
struct RuleSetFacts<'a> {
    /// Whether the rules allow updating the `finalizers` of one of the kinds.
    grants_finalizers: bool,
    /// The indexes in [`OwnKinds::all`] of the kinds that the rules name.
    names: Vec<usize>,
    /// The role, if it is in the input.
    written_in: Option<ObjectId>,
    /// The rules by the resources that they name.
    by_resource: HashMap<&'a str, Vec<&'a PolicyRule>>,
    /// Whether the rules mention `finalizers`, so that their author knows of the permission.
    mentions_finalizers: bool,
    /// Up to two kinds that the rules allow creating and that could have an owner.
    creates: Vec<(&'a str, &'a str)>,
}

impl<'a> RuleSetFacts<'a> {
    fn about(&self, resource: &str) -> impl Iterator<Item = &'a PolicyRule> {
        let rules = self.by_resource.get(resource).into_iter();
        rules.flatten().copied()
    }
}

/// The kinds that the input defines.
struct OwnKinds<'a> {
    all: Vec<OwnKind<'a>>,
    /// Their indexes in `all`, by plural: each operator names few of the many kinds.
    by_plural: HashMap<&'a str, Vec<usize>>,
}

impl<'a> OwnKinds<'a> {
    fn of(inventory: &'a Inventory) -> Self {
        let mut seen = BTreeSet::new();
        let all: Vec<_> = inventory
            .of_kind(kinds::CUSTOM_RESOURCE_DEFINITION)
            .filter_map(OwnKind::of)
            .filter(|own| seen.insert(own.kind))
            .collect();
        let mut by_plural: HashMap<&str, Vec<usize>> = HashMap::default();
        for (at, own) in all.iter().enumerate() {
            by_plural.entry(own.plural).or_default().push(at);
        }
        Self { all, by_plural }
    }

    fn facts<'r>(&self, set: &'r RuleSet) -> RuleSetFacts<'r> {
        let mut by_resource: HashMap<&str, Vec<&PolicyRule>> = HashMap::default();
        let mut creates: Vec<(&str, &str)> = Vec::new();
        for rule in &set.rules {
            for resource in rule.resources().collect::<BTreeSet<_>>() {
                by_resource.entry(resource).or_default().push(rule);
            }
            for created in rule.creates().filter(|created| could_be_owned(*created)) {
                if creates.len() < 2 && !creates.contains(&created) {
                    creates.push(created);
                }
            }
        }
        let resources = set.rules.iter().flat_map(PolicyRule::resources);
        let mut mentioning = set.rules.iter();
        RuleSetFacts {
            grants_finalizers: set.rules.iter().any(|rule| self.grants_finalizers(rule)),
            names: resources.flat_map(|plural| self.named(plural)).collect(),
            written_in: set.written_in,
            by_resource,
            mentions_finalizers: mentioning.any(|rule| rule.mentions_subresource("finalizers")),
            creates,
        }
    }

    /// Whether a rule allows updating the `finalizers` of one of the kinds.
    fn grants_finalizers(&self, rule: &PolicyRule) -> bool {
        if !rule.mentions_subresource("finalizers") && !rule.mentions_everything() {
            return false;
        }
        let known: Vec<usize> = if rule.resources().any(|plural| plural == "*") {
            (0..self.all.len()).collect()
        } else {
            let named = rule.resources().flat_map(|plural| self.named(plural));
            named.collect()
        };
        let mut known = known.into_iter().map(|at| &self.all[at]);
        known.any(|own| may_set_blocking_reference([rule], own.kind.group, own.plural, None))
    }

    fn named(&self, plural: &str) -> impl Iterator<Item = usize> {
        self.by_plural.get(plural).into_iter().flatten().copied()
    }
}

impl<'a> OwnKind<'a> {
    fn of(definition: &'a Member) -> Option<Self> {
        let crd = definition.object.definition()?;
        Some(Self {
            kind: crd.group_kind(),
            plural: crd.plural.as_ref()?.value.as_str(),
            scope: crd.scope.as_ref().map(|scope| scope.value),
            definition,
        })
    }

    /// Returns the first of some sets of rules that names the kind and allows one of the verbs.
    fn allowed_by<'s, 'r>(
        &self,
        sets: &[&'s RuleSetFacts<'r>],
        verbs: &[&str],
        subresource: &str,
    ) -> Option<&'s RuleSetFacts<'r>> {
        sets.iter().copied().find(|set| {
            set.about(self.plural).any(|rule| {
                rule.names(self.kind.group, self.plural) && self.allows(rule, verbs, subresource)
            })
        })
    }

    /// Whether a rule allows one of the verbs for the kind.
    fn allows(&self, rule: &PolicyRule, verbs: &[&str], subresource: &str) -> bool {
        verbs.iter().any(|verb| {
            rule.allows(ResourceRequest {
                verb,
                group: self.kind.group,
                resource: self.plural,
                subresource,
                name: None,
            })
        })
    }
}

/// Returns the kind if `granted` looks like the grants of its controller, which creates objects that it could own.
fn missing<'a>(
    own: &'a OwnKind<'a>,
    granted: &[(&Grant, &RuleSetFacts<'_>)],
) -> Option<Missing<'a>> {
    // A Role counts in every namespace: the controller may run in any.
    let counting = granted
        .iter()
        .filter(|(grant, _)| grant.counts_in(own.scope, &Namespace::None));
    let sets: Vec<&RuleSetFacts<'_>> = counting.map(|(_, set)| *set).collect();
    let status = own.allowed_by(&sets, &["update", "patch"], "status");
    let whole = own.allowed_by(&sets, &["update", "patch"], "");
    let near_miss = sets.iter().any(|set| set.mentions_finalizers);
    // A controller writes the status of its own kind, and changes its objects. A workload that creates them may be the
    // controller of another kind, and one that writes only the status may just add information.
    let changing = match (status, whole) {
        (Some(status), Some(_)) => status,
        (None, Some(whole)) if own.allowed_by(&sets, &["create"], "").is_none() => whole,
        (Some(status), None) if near_miss => status,
        _ => return None,
    };
    let watches = ["*", own.plural].into_iter().any(|resource| {
        let mut rules = sets.iter().flat_map(|set| set.about(resource));
        rules.any(|rule| own.allows(rule, &["list", "watch"], ""))
    });
    let mut created = granted.iter().flat_map(|(_, set)| &set.creates);
    if !watches || !created.any(|created| *created != (own.kind.group, own.plural)) {
        return None;
    }
    Some(Missing {
        own,
        role: changing.written_in?,
        near_miss,
    })
}

/// Whether objects of a resource could have an owner. Only built-in kinds count, because custom resources are mostly
/// reports of agents; wildcards are typical of general-purpose tools.
fn could_be_owned((group, resource): (&str, &str)) -> bool {
    let is_object = table().is_builtin_group(group) && resource != "*" && !resource.contains('/');
    is_object && !NEVER_OWNED.contains(&(group, resource))
}

fn finding(
    context: &Context<'_>,
    workload: &Member,
    role: &Member,
    missing: &[Missing<'_>],
) -> Draft {
    let (who, first) = (named(workload), &missing[0].own);
    let plurals = missing.iter().map(|missing| missing.own.plural);
    let resources: Vec<_> = plurals
        .map(|plural| format!("{plural}/finalizers"))
        .collect();
    let lacking = listed(resources.iter().map(String::as_str));
    let kinds = listed(missing.iter().map(|missing| missing.own.kind.kind));
    let near_miss = missing.iter().any(|missing| missing.near_miss);
    let hint = if near_miss {
        " The role mentions `finalizers` elsewhere: what counts is the verb `update` for the kind of the owner."
    } else {
        ""
    };
    let draft = Draft::on(
        role,
        place(role, first.plural).unwrap_or_else(|| role.object.name_span()),
        format!("objects with owner references to {kinds} may be rejected: {who} has no permission to update {lacking}"),
    )
    .label("grants no `update` of `finalizers`, nor does another rule")
    .reason(format!(
        "Its ServiceAccount may create objects and change {kinds}, as their controller does. Controllers set \
         `blockOwnerDeletion: true` in the owner references of the objects that they create. A cluster with the admission \
         plugin \
         OwnerReferencesPermissionEnforcement, such as OpenShift, rejects that unless the client may update the owner's \
         `finalizers`: `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers \
         on`.{hint} This assumes that {who} makes {kinds} the owner of objects that it creates."
    ))
    .claims_absence(context.inventory)
    .help(format!(
        "add a rule to the role: `apiGroups: [{}]`, `resources: [{}]`, `verbs: [update]`",
        first.kind.group,
        resources.join(", ")
    ))
    .fix(allowed(role, missing))
    .field("rules")
    .target(missing.iter().map(|missing| missing.own.kind.to_string()).collect::<Vec<_>>().join(","))
    .related_object(workload, "runs with this role");
    let definitions = missing.iter().map(|missing| missing.own.definition);
    draft.related_objects(definitions, "defines the kind")
}

/// Proposes to add the permission to a role, with one rule for each API group.
fn allowed(role: &Member, missing: &[Missing<'_>]) -> Proposal {
    let mut by_group: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Missing { own, .. } in missing {
        let resources = by_group.entry(own.kind.group).or_default();
        resources.push(format!("{}/finalizers", own.plural));
    }
    let proposal = Proposal::suggested("allow `update` of `finalizers`");
    by_group
        .into_iter()
        .fold(proposal, |proposal, (group, resources)| {
            let rule = [
                ("apiGroups", vec![group.to_owned()]),
                ("resources", resources),
                ("verbs", vec!["update".to_owned()]),
            ];
            let rule = rule
                .into_iter()
                .map(|(key, texts)| (key.to_owned(), NewValue::texts(texts)));
            proposal.append(role, "rules", NewValue::Map(rule.collect()))
        })
}

/// Returns the place where a role names the status of a resource, or else the resource.
fn place(role: &Member, plural: &str) -> Option<Span> {
    mention(role, &format!("{plural}/status")).or_else(|| mention(role, plural))
}

/// Returns the first place where the rules of a role name a resource.
fn mention(role: &Member, resource: &str) -> Option<Span> {
    let rules = role.object.at(&["rules"])?.items();
    let mut resources = rules.flat_map(|rule| rule.items_at("resources"));
    let named = resources.find(|named| named.as_str() == Some(resource))?;
    Some(named.span())
}
