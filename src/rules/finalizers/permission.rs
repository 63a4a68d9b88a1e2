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

/// Workloads whose roles name more kinds of the input than this are skipped: hardly one controls all of them.
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

/// A workload, and the kinds that lack the permission. Workloads with the same grants share them.
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
        // Skip workloads with roles that are incomplete in the input: these may allow it.
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
        // The author of a role that may update one kind's finalizers knew which kinds need it.
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
        // A Job runs to completion: it is not an operator.
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
        // Many workloads run as the ServiceAccount `default`: prefer those in the file of the role.
        let beside = |workload: &Member| workload.file == role.file;
        let any_beside = workloads.iter().any(|(workload, _)| beside(workload));
        let meant = workloads
            .iter()
            .filter(|(workload, _)| !any_beside || beside(workload));
        sink.extend(meant.map(|(workload, missing)| finding(context, workload, role, missing)));
    }
}

/// Facts about a set of rules: its permissions for the kinds that the input defines.
struct RuleSetFacts<'a> {
    /// Whether the rules allow updating the `finalizers` of one of the kinds.
    grants_finalizers: bool,
    /// The kinds that they name, as positions.
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
        self.by_resource
            .get(resource)
            .into_iter()
            .flatten()
            .copied()
    }
}

/// Cache of the facts about each set of rules: many bindings and workloads share one.
struct RuleSets<'a> {
    kinds: &'a [OwnKind<'a>],
    /// Positions among the kinds, by plural.
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
            // Looked up by name: an input has many kinds and operators, and each operator knows few of the kinds.
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

/// Returns the kind if these are the grants of its controller, and it may not make the kind an owner of its objects.
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
    // A Role counts in every namespace: the controller may run in any.
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
    // A controller writes the status of its own kind, and changes its objects. A workload that creates them may be the
    // controller of another kind, and one that writes only the status may just add information.
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

/// Proposes to add the permission to a role, with one rule for each API group.
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

/// Returns the place where a role names the status of a resource, or else the resource.
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
