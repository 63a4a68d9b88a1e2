//! An operator that may not set the owner references that it writes.
//!
//! Controllers make their custom resource the owner of the objects that they create, with `blockOwnerDeletion: true`, because
//! controller-runtime's helper does. A cluster that enforces permissions on owner references (OpenShift) then asks for `update`
//! of the owner's `finalizers` [ADM-3]. The references that a controller writes are in its code; its role shows what it
//! is meant to do.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use foldhash::HashMap;

use crate::finding::Applicability;
use crate::inventory::{Inventory, Member, ObjectId, table};
use crate::kube::{GroupKind, Namespace, Scope, kinds};
use crate::ownership::access::{
    AlikeWorkloads, Grant, PolicyRule, ResourceRequest, RuleSet, may_set_blocking_reference,
};
use crate::rules::draft::{Draft, MOST_RELATED};
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{listed, named};
use crate::text::Span;
use crate::yaml::Value;
use crate::yaml::edit::NewValue;

pub(in crate::rules) static FINALIZERS_PERMISSION_MISSING: Rule = rule!(
    Finalizers,
    "finalizers-permission-missing",
    Info,
    Rejected,
    "An operator may not update the `finalizers` of its custom resource, which it needs where owner references are checked",
    finalizers_permission_missing
).fixes(&[Applicability::Suggested]);

/// Objects that controllers create beside their dependents: records and requests without an owner, and leases.
const NEVER_OWNED: [(&str, &str); 7] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
];

/// A role that names more kinds of the input than this is hardly that of a controller of each: it is left out.
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
    /// The role that lets it change objects of the kind, or their status.
    role: ObjectId,
    /// Whether the roles show that their author knows of the permission.
    near_miss: bool,
}

/// A workload, and the kinds of which a role lets it change the objects. Workloads that are granted the same share them.
type LackingWorkload<'a> = (&'a Member, Rc<[Missing<'a>]>);

fn finalizers_permission_missing(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let kinds = own_kinds(inventory);
    if kinds.is_empty() {
        return;
    }
    let mut by_plural: HashMap<&str, Vec<usize>> = HashMap::default();
    for (at, own) in kinds.iter().enumerate() {
        by_plural.entry(own.plural).or_default().push(at);
    }
    let access = context.ownership.removers.access();
    let mut sets = RuleSets {
        kinds: &kinds,
        by_plural: &by_plural,
        known: HashMap::default(),
    };
    let mut by_role: BTreeMap<ObjectId, Vec<LackingWorkload<'_>>> = BTreeMap::new();
    for AlikeWorkloads { workloads, grants } in access.granted() {
        // Roles that are not in the input may allow it.
        if grants.iter().any(|grant| access.role_of(grant).partial) {
            continue;
        }
        let granted = || {
            grants
                .iter()
                .flat_map(|grant| access.rule_sets(grant).map(|set| (*grant, set)))
        };
        granted().for_each(|(_, (number, set))| sets.read(number, set));
        let granted: Vec<_> = granted()
            .map(|(grant, (number, _))| (grant, &sets.known[&number]))
            .collect();
        // A role with permission to update the finalizers of one of them has what its author found necessary.
        if granted.iter().any(|(_, set)| set.grants_finalizers) {
            continue;
        }
        let known: BTreeSet<usize> = granted
            .iter()
            .flat_map(|(_, set)| set.names.iter().copied())
            .collect();
        if known.len() > MANY_KINDS {
            continue;
        }
        let mut together: BTreeMap<ObjectId, Vec<Missing<'_>>> = BTreeMap::new();
        for missing in known.iter().filter_map(|at| missing(&kinds[*at], &granted)) {
            together.entry(missing.role).or_default().push(missing);
        }
        // A Job does its work once.
        let workloads = || {
            workloads
                .iter()
                .map(|id| inventory.member(*id))
                .filter(|member| member.key.group() != "batch")
        };
        for (role, missing) in together {
            let missing: Rc<[Missing<'_>]> = missing.into();
            by_role
                .entry(role)
                .or_default()
                .extend(workloads().map(|workload| (workload, Rc::clone(&missing))));
        }
    }
    for (role, mut workloads) in by_role {
        workloads.sort_by_key(|(workload, _)| workload.id);
        let role = inventory.member(role);
        // Many run as the ServiceAccount `default`. Whose role it is, its own file says.
        let beside = |workload: &Member| workload.file == role.file;
        let any_beside = workloads.iter().any(|(workload, _)| beside(workload));
        let meant = workloads
            .iter()
            .filter(|(workload, _)| !any_beside || beside(workload));
        sink.extend(meant.map(|(workload, missing)| finding(context, workload, role, missing)));
    }
}

/// The permissions of a role for the kinds that the input defines.
struct RuleSetFacts<'a> {
    /// Whether they allow updating the `finalizers` of one of them.
    grants_finalizers: bool,
    /// Those that they name.
    names: Vec<usize>,
    /// The role, if it is in the input.
    written_in: Option<ObjectId>,
    /// The rules by the resources that they name.
    by_resource: HashMap<&'a str, Vec<&'a PolicyRule>>,
    /// Whether they show that their author knows of the permission.
    mentions_finalizers: bool,
    /// Up to two kinds of objects that they allow creating and that could have an owner.
    creates: Vec<(&'a str, &'a str)>,
}

impl<'a> RuleSetFacts<'a> {
    fn about(&self, resource: &str) -> impl Iterator<Item = &'a PolicyRule> {
        self.by_resource
            .get(resource)
            .into_iter()
            .flatten()
            .copied()
    }
}

/// The permissions of rules, each set of them read once: many bindings and workloads share them.
struct RuleSets<'a> {
    kinds: &'a [OwnKind<'a>],
    /// Places among the kinds.
    by_plural: &'a HashMap<&'a str, Vec<usize>>,
    known: HashMap<usize, RuleSetFacts<'a>>,
}

impl<'a> RuleSets<'a> {
    fn read(&mut self, number: usize, set: &'a RuleSet) {
        let Self {
            kinds,
            by_plural,
            known,
        } = self;
        known.entry(number).or_insert_with(|| {
            let rules = || set.rules.iter();
            // An input has many kinds and many operators, and each operator knows a few kinds.
            let named = |plural: &str| by_plural.get(plural).into_iter().flatten().copied();
            let known_to = |rule: &PolicyRule| {
                if rule.resources().any(|plural| plural == "*") {
                    (0..kinds.len()).collect()
                } else {
                    rule.resources().flat_map(named).collect::<Vec<_>>()
                }
            };
            let about_finalizers = |rule: &&PolicyRule| {
                rule.mentions_subresource("finalizers") || rule.mentions_everything()
            };
            let is_granted = |rule: &PolicyRule, own: &OwnKind<'_>| {
                may_set_blocking_reference([rule], own.kind.group, own.plural, None)
            };
            let grants = |rule: &PolicyRule| {
                known_to(rule)
                    .into_iter()
                    .any(|at| is_granted(rule, &kinds[at]))
            };
            let mut by_resource: HashMap<&str, Vec<&PolicyRule>> = HashMap::default();
            for rule in rules() {
                for resource in rule.resources().collect::<BTreeSet<_>>() {
                    by_resource.entry(resource).or_default().push(rule);
                }
            }
            let mut creates: Vec<(&str, &str)> = Vec::new();
            for created in rules()
                .flat_map(PolicyRule::creates)
                .filter(|created| could_be_owned(*created))
            {
                if creates.len() < 2 && !creates.contains(&created) {
                    creates.push(created);
                }
            }
            RuleSetFacts {
                grants_finalizers: rules().filter(about_finalizers).any(grants),
                names: rules()
                    .flat_map(PolicyRule::resources)
                    .flat_map(named)
                    .collect(),
                written_in: set.written_in,
                by_resource,
                mentions_finalizers: rules().any(|rule| rule.mentions_subresource("finalizers")),
                creates,
            }
        });
    }
}

fn own_kinds(inventory: &Inventory) -> Vec<OwnKind<'_>> {
    let own = |definition| {
        let member: &Member = definition;
        let crd = member.object.definition()?;
        let plural = crd.plural.as_ref()?.value.as_str();
        let scope = crd.scope.as_ref().map(|scope| scope.value);
        Some(OwnKind {
            kind: crd.group_kind(),
            plural,
            scope,
            definition: member,
        })
    };
    let mut seen = BTreeSet::new();
    inventory
        .of_kind(kinds::CUSTOM_RESOURCE_DEFINITION)
        .filter_map(own)
        .filter(|own| seen.insert(own.kind))
        .collect()
}

/// Whether these grants are those of a controller of a kind that creates objects and may not make the kind their owner.
fn missing<'a>(
    own: &'a OwnKind<'a>,
    granted: &[(&Grant, &RuleSetFacts<'_>)],
) -> Option<Missing<'a>> {
    let OwnKind {
        kind,
        plural,
        scope,
        ..
    } = own;
    // A role in one namespace is taken as what the controller may do where it works.
    let counts =
        |grant: &Grant| *scope != Some(Scope::Cluster) || grant.counts_in(*scope, &Namespace::None);
    let counting = || {
        granted
            .iter()
            .filter(|(grant, _)| counts(grant))
            .map(|(_, set)| *set)
    };
    let asks = |verbs: &[&str], subresource: &str, rule: &PolicyRule| {
        verbs.iter().any(|verb| {
            rule.allows(ResourceRequest {
                verb,
                group: kind.group,
                resource: plural,
                subresource,
                name: None,
            })
        })
    };
    let named = || {
        let rules = counting().flat_map(|set| set.about(plural).map(|rule| (set.written_in, rule)));
        rules.filter(|(_, rule)| rule.names(kind.group, plural))
    };
    let allowed =
        |verbs: &[&str], subresource| named().find(|(_, rule)| asks(verbs, subresource, rule));
    let (status, whole) = (
        allowed(&["update", "patch"], "status"),
        allowed(&["update", "patch"], ""),
    );
    let near_miss = counting().any(|set| set.mentions_finalizers);
    // Controllers write the status of their own kind, and change its objects. Who creates them may be the controller of another
    // kind, and who writes nothing but the status adds what it knows.
    let (role, _) = match (status, whole) {
        (Some(status), Some(_)) => status,
        (None, Some(whole)) if allowed(&["create"], "").is_none() => whole,
        (Some(status), None) if near_miss => status,
        _ => return None,
    };
    let watches = ["*", plural].into_iter().any(|resource| {
        counting().any(|set| {
            set.about(resource)
                .any(|rule| asks(&["list", "watch"], "", rule))
        })
    });
    let mut created = granted.iter().flat_map(|(_, set)| &set.creates);
    if !watches || !created.any(|created| *created != (kind.group, *plural)) {
        return None;
    }
    Some(Missing {
        own,
        role: role?,
        near_miss,
    })
}

/// Whether objects of a resource could have an owner: those of built-in kinds, because custom resources are mostly what agents
/// report in. Wildcards belong to tools for everything.
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
    let lacking: Vec<String> = missing
        .iter()
        .map(|missing| format!("{}/finalizers", missing.own.plural))
        .collect();
    let lacking = listed(lacking.iter().map(String::as_str));
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
        format!("{who} has no permission to update {lacking}: a cluster that checks it rejects the owner references to {kinds} that controllers write"),
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
        missing.iter().map(|missing| format!("{}/finalizers", missing.own.plural)).collect::<Vec<_>>().join(", ")
    ))
    .fix(allowed(role, missing))
    .field("rules")
    .target(missing.iter().map(|missing| missing.own.kind.to_string()).collect::<Vec<_>>().join(","))
    .related_object(workload, "runs with this role");
    let definitions = missing
        .iter()
        .take(MOST_RELATED)
        .map(|missing| missing.own.definition);
    definitions.fold(draft, |draft, definition| {
        draft.related_object(definition, "defines the kind")
    })
}

/// Adds the permission to a role, one rule for each group.
fn allowed(role: &Member, missing: &[Missing<'_>]) -> Proposal {
    let mut by_group: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Missing { own, .. } in missing {
        by_group
            .entry(own.kind.group)
            .or_default()
            .push(format!("{}/finalizers", own.plural));
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

/// Where a role names the status of a resource, or the resource.
fn place(role: &Member, plural: &str) -> Option<Span> {
    let rules = || {
        role.object
            .at(&["rules"])
            .into_iter()
            .flat_map(Value::items)
    };
    let resources = || {
        rules()
            .filter_map(|rule| rule.get("resources"))
            .flat_map(Value::items)
    };
    let named = |name: &str| resources().find(|resource| resource.as_str() == Some(name));
    named(&format!("{plural}/status"))
        .or_else(|| named(plural))
        .map(Value::span)
}
