//! An operator that may not set the owner references that it writes.
//!
//! Controllers make their custom resource the owner of what they create, with `blockOwnerDeletion: true`, because
//! controller-runtime's helper does. A cluster that enforces permissions on owner references (OpenShift) then asks for `update`
//! of the owner's `finalizers` [ADM-3]. What a controller writes is in its code; its role shows what it is meant to do.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::draft::{Draft, MOST_RELATED};
use super::proposal::Proposal;
use super::rule::{Context, Rule, Sink, rule};
use super::words::{listed, named};
use crate::finding::Severity;
use crate::inventory::{Inventory, Member, ObjectId, table};
use crate::kube::{GroupKind, Namespace, Scope, kinds};
use crate::ownership::access::{Grant, PolicyRule, ResourceRequest, RoleRule, may_set_blocking_reference};
use crate::text::Span;
use crate::yaml::Value;
use crate::yaml::edit::NewValue;

pub(super) static FINALIZERS_PERMISSION_MISSING: Rule = rule!(
    "finalizers-permission-missing",
    Info,
    Rejected,
    "An operator may not update the `finalizers` of its custom resource, which it needs where owner references are checked",
    finalizers_permission_missing
);

/// What controllers create beside their dependents: records and requests that nobody owns, and leases.
const NEVER_OWNED: [(&str, &str); 7] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
];

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
    let mut sets = RuleSets { kinds: &kinds, by_plural: &by_plural, known: HashMap::default() };
    let mut by_role: BTreeMap<ObjectId, Vec<(&Member, Vec<Missing<'_>>)>> = BTreeMap::new();
    for (workload, grants) in context.ownership.removers.access().granted() {
        let workload = inventory.member(workload);
        // A Job does its work once; and roles that are not in the input may allow it.
        if workload.key.group == "batch" || grants.iter().any(|grant| grant.partial) {
            continue;
        }
        // Whoever may update the finalizers of one of them was given what its author found necessary.
        if grants.iter().any(|grant| sets.of(grant).grants_finalizers) {
            continue;
        }
        let known: BTreeSet<usize> = grants.iter().flat_map(|grant| sets.of(grant).names.clone()).collect();
        let own = known.iter().map(|at| &kinds[*at]);
        for missing in own.filter_map(|own| missing(own, &workload.key.namespace, &grants)) {
            let workloads = by_role.entry(missing.role).or_default();
            match workloads.last_mut().filter(|(last, _)| last.id == workload.id) {
                Some((_, together)) => together.push(missing),
                None => workloads.push((workload, vec![missing])),
            }
        }
    }
    for (role, workloads) in by_role {
        let role = inventory.member(role);
        // Many run as the ServiceAccount `default`. Whose role it is, its own file says.
        let beside = |workload: &Member| workload.file == role.file;
        let any_beside = workloads.iter().any(|(workload, _)| beside(workload));
        let meant = workloads.iter().filter(|(workload, _)| !any_beside || beside(workload));
        sink.extend(meant.map(|(workload, missing)| finding(context, workload, role, missing)));
    }
}

/// What the rules of a role say of the kinds that the input defines.
struct RuleSetFacts {
    /// Whether they allow updating the `finalizers` of one of them.
    grants_finalizers: bool,
    /// Those that they name.
    names: Vec<usize>,
}

/// What rules say, each set of them read once: many bindings and workloads share them.
struct RuleSets<'a> {
    kinds: &'a [OwnKind<'a>],
    /// Places among the kinds.
    by_plural: &'a HashMap<&'a str, Vec<usize>>,
    known: HashMap<*const RoleRule, RuleSetFacts>,
}

impl RuleSets<'_> {
    fn of(&mut self, grant: &Grant) -> &RuleSetFacts {
        let Self { kinds, by_plural, known } = self;
        known.entry(grant.rules.as_ptr()).or_insert_with(|| {
            let rules = || grant.rules.iter().map(|(_, rule)| rule);
            // An input has many kinds and many operators, and each operator knows a few kinds.
            let named = |plural: &str| by_plural.get(plural).into_iter().flatten().copied();
            let known_to = |rule: &PolicyRule| match rule.resources().any(|plural| plural == "*") {
                true => (0..kinds.len()).collect(),
                false => rule.resources().flat_map(named).collect::<Vec<_>>(),
            };
            let mut about_finalizers =
                rules().filter(|rule| rule.mentions_subresource("finalizers") || rule.mentions_everything());
            let is_granted = |rule: &PolicyRule, own: &OwnKind<'_>| {
                may_set_blocking_reference([rule], own.kind.group, own.plural, None)
            };
            let grants_finalizers =
                about_finalizers.any(|rule| known_to(rule).into_iter().any(|at| is_granted(rule, &kinds[at])));
            RuleSetFacts { grants_finalizers, names: rules().flat_map(PolicyRule::resources).flat_map(named).collect() }
        })
    }
}

fn own_kinds(inventory: &Inventory) -> Vec<OwnKind<'_>> {
    let own = |definition| {
        let member: &Member = definition;
        let crd = member.object.definition()?;
        let plural = crd.plural.as_ref()?.value.as_str();
        let scope = crd.scope.as_ref().map(|scope| scope.value);
        Some(OwnKind { kind: crd.group_kind(), plural, scope, definition: member })
    };
    let mut seen = BTreeSet::new();
    inventory.of_kind(kinds::CUSTOM_RESOURCE_DEFINITION).filter_map(own).filter(|own| seen.insert(own.kind)).collect()
}

/// Whether these grants are those of a controller of a kind that creates objects and may not make the kind their owner.
fn missing<'a>(own: &'a OwnKind<'a>, home: &Namespace, grants: &[&Grant]) -> Option<Missing<'a>> {
    let OwnKind { kind, plural, scope, .. } = own;
    // A role in one namespace is taken as what the controller may do where it works.
    let counting = grants.iter().filter(|grant| *scope != Some(Scope::Cluster) || grant.counts_in(*scope, home));
    let rules: Vec<(Option<ObjectId>, &PolicyRule)> =
        counting.flat_map(|grant| grant.rules.iter().map(|(role, rule)| (*role, rule))).collect();
    let asks = |verbs: &[&str], subresource: &str, rule: &PolicyRule| {
        verbs.iter().any(|verb| {
            rule.allows(ResourceRequest { verb, group: kind.group, resource: plural, subresource, name: None })
        })
    };
    let named = || rules.iter().filter(|(_, rule)| rule.names(kind.group, plural));
    let allowed = |verbs: &[&str], subresource| named().find(|(_, rule)| asks(verbs, subresource, rule));
    let (status, whole) = (allowed(&["update", "patch"], "status"), allowed(&["update", "patch"], ""));
    let near_miss = rules.iter().any(|(_, rule)| rule.mentions_subresource("finalizers"));
    // Controllers write the status of their own kind, and change its objects. Who creates them may be the controller of another
    // kind, and who writes nothing but the status adds what it knows.
    let (role, _) = match (status, whole) {
        (Some(status), Some(_)) => status,
        (None, Some(whole)) if allowed(&["create"], "").is_none() => whole,
        (Some(status), None) if near_miss => status,
        _ => return None,
    };
    let watches = rules.iter().any(|(_, rule)| asks(&["list", "watch"], "", rule));
    let creates =
        grants.iter().flat_map(|grant| grant.rules.iter()).any(|(_, rule)| creates_dependents(rule, *kind, plural));
    if !watches || !creates {
        return None;
    }
    Some(Missing { own, role: (*role)?, near_miss })
}

/// Whether a rule allows creating something that could have an owner: an object of a built-in kind, because custom resources are
/// mostly what agents report in. Wildcards belong to tools for everything.
fn creates_dependents(rule: &PolicyRule, own: GroupKind<&str>, plural: &str) -> bool {
    rule.creates().any(|(group, resource)| {
        let is_object = table().is_builtin_group(group) && resource != "*" && !resource.contains('/');
        is_object && !NEVER_OWNED.contains(&(group, resource)) && (group, resource) != (own.group, plural)
    })
}

fn finding(context: &Context<'_>, workload: &Member, role: &Member, missing: &[Missing<'_>]) -> Draft {
    let (who, first) = (named(workload), &missing[0].own);
    let lacking: Vec<String> = missing.iter().map(|missing| format!("{}/finalizers", missing.own.plural)).collect();
    let lacking = listed(lacking.iter().map(String::as_str));
    let kinds = listed(missing.iter().map(|missing| missing.own.kind.kind));
    let near_miss = missing.iter().any(|missing| missing.near_miss);
    let hint = match near_miss {
        true => " Other kinds have that permission: of an owner reference, it is the owner whose `finalizers` count.",
        false => "",
    };
    let draft = Draft::on(
        role,
        place(role, first.plural).unwrap_or_else(|| role.object.name_span()),
        format!("{who} may not update {lacking}: where owner references are checked, it cannot make {kinds} an owner"),
    )
    .severity(if near_miss { Severity::Warning } else { Severity::Info })
    .label("allows this, and nothing allows `finalizers`")
    .reason(format!(
        "Its ServiceAccount may create objects and change {kinds}, as their controller does. Controllers set \
         `blockOwnerDeletion: true` in the owner references of what they create. A cluster with the admission plugin \
         OwnerReferencesPermissionEnforcement, such as OpenShift, rejects that without `update` of the owner's \
         `finalizers`: `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers \
         on`.{hint} This assumes that {who} owns what it creates."
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
    let definitions = missing.iter().take(MOST_RELATED).map(|missing| missing.own.definition);
    definitions.fold(draft, |draft, definition| draft.related_object(definition, "defines the kind"))
}

/// Adds the permission to a role, one rule for each group.
fn allowed(role: &Member, missing: &[Missing<'_>]) -> Proposal {
    let mut by_group: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Missing { own, .. } in missing {
        by_group.entry(own.kind.group).or_default().push(format!("{}/finalizers", own.plural));
    }
    let proposal = Proposal::suggested("allow `update` of `finalizers`");
    by_group.into_iter().fold(proposal, |proposal, (group, resources)| {
        let rule =
            [("apiGroups", vec![group.to_owned()]), ("resources", resources), ("verbs", vec!["update".to_owned()])];
        let rule = rule.into_iter().map(|(key, texts)| (key.to_owned(), NewValue::texts(texts)));
        proposal.append(role, "rules", NewValue::Map(rule.collect()))
    })
}

/// Where a role names the status of a resource, or the resource.
fn place(role: &Member, plural: &str) -> Option<Span> {
    let rules = || role.object.at(&["rules"]).into_iter().flat_map(Value::items);
    let resources = || rules().filter_map(|rule| rule.get("resources")).flat_map(Value::items);
    let named = |name: &str| resources().find(|resource| resource.as_str() == Some(name));
    named(&format!("{plural}/status")).or_else(|| named(plural)).map(Value::span)
}
