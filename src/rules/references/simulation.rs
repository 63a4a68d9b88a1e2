//! Rules from the simulation: objects that are deleted right after they are applied, and deletions that never finish.
//!
//! These rules run the model of `gc` on the cluster that the bundle describes and report only what it confirms. In an
//! open world, an owner outside the input is assumed to exist, so absence alone never gets an object deleted.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashSet;

use crate::finding::{Relation, Severity};
use crate::gc::{self, Cause, Plan, Step};
use crate::inventory::{Inventory, Member, ObjectId, Release, Serving};
use crate::kube::{ObjectKey, Policy, Scope, finalizers};
use crate::ownership::{Owner, OwnerEdge, Remover};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::trials::tried;
use crate::rules::words::{field, named, place, reference_name, whereabouts};

pub(in crate::rules) static DELETED_ON_ARRIVAL: Rule = rule!(
    References,
    "deleted-on-arrival",
    Error,
    Collected,
    "The garbage collector deletes the object right after it is applied",
    deleted_on_arrival
)
.slow()
.cascade(arriving);

pub(in crate::rules) static FOREGROUND_DEADLOCK: Rule = rule!(
    References,
    "foreground-deadlock",
    Warning,
    Stuck,
    "A Foreground deletion of an owner can never finish",
    foreground_deadlock
);

/// Returns the cascade behind a finding of `deleted-on-arrival`, and its title.
fn arriving(_: &ObjectKey) -> (Step, String) {
    (Step::Settle, "Right after it is applied".to_owned())
}

/// [SIM-4]: objects with dangling references are deleted without any request.
fn deleted_on_arrival(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    if nothing_dangles(context) {
        return;
    }
    let edges = edges_by_dependent(context);
    let Some(built) = context.analysis.cluster() else {
        return;
    };
    let Some(plan) = context.plans.plan(&Step::Settle) else {
        return;
    };
    let gone = plan.gone_after(0).into_iter();
    let gone: HashSet<ObjectKey> = gone.map(|id| built.cluster.key(id)).collect();
    if gone.is_empty() {
        return;
    }
    let absent = built.assumptions.absent_owners.iter();
    let absent: HashSet<&ObjectKey> = absent.map(|(dependent, _)| dependent).collect();
    let causes = LazyCell::new(|| plan.causes(0));
    let mut cascades = CascadeSearch::of(context, gone);
    for (&id, edges) in &edges {
        let member = inventory.member(id);
        let doubtful = context.world == World::Open && absent.contains(&member.key);
        if !cascades.dies(id) || doubtful {
            continue;
        }
        if edges.iter().any(|edge| {
            is_shared(inventory, edge.reference(inventory).uid()) || finds_owner(inventory, edge)
        }) {
            continue;
        }
        let node = built.cluster.find(&member.key);
        let found = node.and_then(|node| causes.get(&node));
        if !found.into_iter().flatten().any(is_fault_of_references) {
            continue;
        }
        if let Some(edge) = edges.first() {
            sink.push(arrival(context, member, edge, &cascades.below(id)));
            context.plans.keep(Step::Settle, plan.clone());
        }
    }
}

/// Whether it is clear without a simulation that no object is deleted because of its references.
fn nothing_dangles(context: &Context<'_>) -> bool {
    let inventory = context.inventory;
    let mut edges = context.ownership.written.iter();
    // Before Kubernetes 1.20 the collector looked up some owners in the wrong namespace.
    inventory.kinds.release() >= Release::new(20)
        && edges.all(|edge| leads_to_owner(inventory, edge))
}

/// Whether a reference finds its owner, or is rendered, so that its owner is assumed to exist.
fn leads_to_owner(inventory: &Inventory, edge: &OwnerEdge) -> bool {
    match edge.owner {
        Owner::ByUid(_) => finds_owner(inventory, edge),
        _ => !edge.dependent(inventory).from_dump,
    }
}

/// Whether a cause is the fault of the object's references: the collector finds none of its owners. Other causes are
/// that the object is Terminating from the start, is in a deleted namespace, or has an owner that waits for it. For
/// Kubernetes before 1.20, `owner-of-cluster-scoped` reports references that are looked up in the wrong namespace.
fn is_fault_of_references(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::OwnerUnknown
            | Cause::OwnerGone
            | Cause::OwnerElsewhere
            | Cause::OwnerMismatch
            | Cause::OwnersGoneOrphaning
    )
}

/// Whether several objects have this uid. They never coexisted, so a finding would be false.
fn is_shared(inventory: &Inventory, uid: &str) -> bool {
    let objects = inventory.with_uid(uid).iter();
    let mut keys = objects.map(|id| &inventory.member(*id).key);
    let first = keys.next();
    keys.any(|key| Some(key) != first)
}

/// Whether the input contains the owner where the collector looks for it. If the object is deleted, its owner is
/// deleted, too: the reference is not wrong.
fn finds_owner(inventory: &Inventory, edge: &OwnerEdge) -> bool {
    edge.bound().is_some_and(|owner| {
        let (dependent, reference) = (edge.dependent(inventory), edge.reference(inventory));
        let wanted = inventory.owner_key(dependent, reference);
        wanted.as_ref() == Some(&inventory.member(owner).key)
    })
}

fn edges_by_dependent<'a>(context: &Context<'a>) -> BTreeMap<ObjectId, Vec<&'a OwnerEdge>> {
    let mut edges: BTreeMap<ObjectId, Vec<&OwnerEdge>> = BTreeMap::new();
    for edge in &context.ownership.written {
        edges.entry(edge.dependent).or_default().push(edge);
    }
    edges
}

/// The maximum number of dependents that are visited for all findings together: many objects may
/// have the same large cascade. Findings beyond it do not name a cascade.
const MAX_LOOKS: usize = 1_000_000;

/// Finds the objects that are deleted with another, within a budget.
struct CascadeSearch<'a> {
    inventory: &'a Inventory,
    /// Every object that is deleted.
    gone: HashSet<ObjectKey>,
    /// The objects whose references find their owner, by owner.
    dependents: BTreeMap<ObjectId, Vec<ObjectId>>,
    looks_left: usize,
}

impl<'a> CascadeSearch<'a> {
    fn of(context: &Context<'a>, gone: HashSet<ObjectKey>) -> Self {
        let mut dependents: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
        for edge in &context.ownership.written {
            let owner = edge.bound();
            if let Some(owner) = owner.filter(|_| finds_owner(context.inventory, edge)) {
                dependents.entry(owner).or_default().push(edge.dependent);
            }
        }
        Self {
            inventory: context.inventory,
            gone,
            dependents,
            looks_left: MAX_LOOKS,
        }
    }

    fn dies(&self, id: ObjectId) -> bool {
        self.gone.contains(&self.inventory.member(id).key)
    }

    /// Returns the objects that are deleted with `root`, in the order of the inventory; empty once the budget is spent.
    /// An object that is deleted because its own references are wrong, as `root` is, has a finding of its own.
    fn below(&mut self, root: ObjectId) -> Vec<ObjectId> {
        let mut found = BTreeSet::new();
        let mut pending = vec![root];
        while let Some(owner) = pending.pop() {
            for &dependent in self.dependents.get(&owner).into_iter().flatten() {
                let Some(left) = self.looks_left.checked_sub(1) else {
                    return Vec::new();
                };
                self.looks_left = left;
                if self.dies(dependent) && found.insert(dependent) {
                    pending.push(dependent);
                }
            }
        }
        found.into_iter().collect()
    }
}

fn arrival(
    context: &Context<'_>,
    member: &Member,
    edge: &OwnerEdge,
    cascade: &[ObjectId],
) -> Draft {
    let inventory = context.inventory;
    let reference = edge.reference(inventory);
    let with_it = match cascade.len() {
        0 => String::new(),
        1 => ", and 1 object with it".to_owned(),
        n => format!(", and {n} objects with it"),
    };
    let message = format!(
        "{} is deleted right after it is applied{with_it}",
        named(member)
    );
    let mut draft = Draft::on(member, place(reference), message)
        .label("matches no object that the collector accepts")
        .reason(format!(
            "The collector looks up every owner by name in the dependent's namespace and compares the uids. For {} it \
             finds no match, and no other owner keeps the object, so the collector deletes it in the background within \
             seconds [GC-22].",
            reference_name(reference)
        ))
        .help("remove the owner reference, or point it at an object that exists in this namespace with this uid")
        .field(field(reference));
    if let Owner::ByUid(owner) = edge.owner {
        let owner = inventory.member(owner);
        let (kind, place) = (owner.object.kind(), whereabouts(owner));
        draft = draft.related_object(owner, format!("the uid belongs to this {kind}, {place}"));
    }
    let deleted = cascade.iter().map(|id| inventory.member(*id));
    let keys = std::iter::once(member).chain(deleted.clone());
    let keys = keys.take(MAX_RELATED + 1).map(|member| member.key.clone());
    draft
        .related_objects(deleted, "is deleted with it")
        .chain(Relation::Takes, keys.filter(|_| !cascade.is_empty()))
}

/// [GC-30], [GC-33]: an owner waits for every blocking dependent, even for one that can never be deleted.
fn foreground_deadlock(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let mut held: BTreeMap<ObjectId, Vec<(&OwnerEdge, Obstacle<'_>)>> = BTreeMap::new();
    for edge in &context.ownership.written {
        let reference = edge.reference(inventory);
        if let Some(owner) = edge.bound().filter(|owner| *owner != edge.dependent)
            && reference.is_blocking()
            && !is_shared(inventory, reference.uid())
            && let Some(hold) = hold(context, edge.dependent(inventory))
        {
            held.entry(owner).or_default().push((edge, hold));
        }
    }
    if held.is_empty() {
        return;
    }
    for (owner, mut edges) in tried(held.into_iter(), context, sink) {
        let owner = inventory.member(owner);
        let step = Step::delete(vec![owner.key.clone()], Some(Policy::Foreground));
        let Some(plan) = context.plans.plan(&step) else {
            return;
        };
        // The collector removes the reference of a dependent that another owner keeps: the owner does not wait for it.
        let blockers = blockers(&plan, &owner.key);
        edges.retain(|(edge, _)| {
            let dependent = plan.cluster().find(&edge.dependent(inventory).key);
            dependent.is_some_and(|dependent| blockers.contains(&dependent))
        });
        deadlock(inventory, owner, &edges, sink);
    }
}

/// Returns the dependents that keep an object Terminating after a plan of one step.
fn blockers(plan: &Plan<'_>, owner: &ObjectKey) -> BTreeSet<gc::ObjectId> {
    let holds = holds_on(plan, owner).into_iter();
    let blocking = holds.filter_map(|hold| match hold {
        gc::Hold::BlockingDependents { dependents, .. } => Some(dependents),
        _ => None,
    });
    blocking.flatten().collect()
}

/// Returns the holds that keep an object Terminating after a plan of one step.
pub(in crate::rules) fn holds_on(plan: &Plan<'_>, object: &ObjectKey) -> Vec<gc::Hold> {
    let object = plan.cluster().find(object);
    let mut stuck = plan.stuck(0).into_iter();
    let held = stuck.find(|held| Some(held.object) == object);
    held.map_or_else(Vec::new, |held| held.holds)
}

/// Why a dependent can never be deleted.
enum Obstacle<'m> {
    /// It is cluster-scoped and has a namespaced owner: the collector never decides [GC-20].
    OutOfScope,
    /// The kind of an owner cannot be resolved: the collector never decides [GC-16].
    Unresolvable,
    /// A finalizer that no known controller removes.
    Finalizer(&'m str),
}

fn hold<'m>(context: &'m Context<'_>, dependent: &'m Member) -> Option<Obstacle<'m>> {
    let inventory = context.inventory;
    let owners = dependent
        .object
        .metadata()
        .owner_references()
        .entries
        .iter();
    let mut owners = owners.map(|owner| inventory.owner_kind(owner));
    let mut scopes = owners.clone().map(|owner| owner.scope);
    if dependent.scope() == Some(Scope::Cluster)
        && scopes.any(|scope| scope == Some(Scope::Namespaced))
    {
        return Some(Obstacle::OutOfScope);
    }
    if owners.any(|owner| {
        matches!(
            owner.serving,
            Serving::Never { .. } | Serving::NotByCrd { .. } | Serving::Removed { .. }
        )
    }) {
        return Some(Obstacle::Unresolvable);
    }
    abandoned(context, dependent)
        .next()
        .map(Obstacle::Finalizer)
}

/// Returns the finalizers of an object that no controller in the table or in the input removes.
pub(in crate::rules) fn abandoned<'m>(
    context: &'m Context<'_>,
    member: &'m Member,
) -> impl Iterator<Item = &'m str> + 'm {
    let (inventory, removers) = (context.inventory, &context.ownership.removers);
    let finalizers = member.object.metadata().finalizer_names();
    let foreign = finalizers.filter(|name| !name.is_empty() && !finalizers::is_collectors(name));
    foreign.filter(|name| matches!(removers.remover(inventory, member, name), Remover::Unknown))
}

fn deadlock(
    inventory: &Inventory,
    owner: &Member,
    edges: &[(&OwnerEdge, Obstacle<'_>)],
    sink: &mut Sink,
) {
    let Some((edge, hold)) = edges.first() else {
        return;
    };
    let (dependent, reference) = (edge.dependent(inventory), edge.reference(inventory));
    let (severity, why) = match hold {
        Obstacle::OutOfScope => (
            Severity::Warning,
            "it is cluster-scoped and has a namespaced owner, and the collector leaves such objects alone".to_owned(),
        ),
        Obstacle::Unresolvable => (
            Severity::Warning,
            "the collector cannot resolve the kind of one of its owners, so it never decides whether to delete it"
                .to_owned(),
        ),
        Obstacle::Finalizer(name) => (
            Severity::Info,
            format!(
                "neither the input nor the table of known finalizers contains a controller that removes its finalizer \
                 `{name}`"
            ),
        ),
    };
    let flag = reference.block_owner_deletion.as_ref();
    let span = flag.map_or_else(|| place(reference), |flag| flag.span);
    let message = format!(
        "a Foreground deletion of {} never finishes: it waits for {}",
        named(owner),
        named(dependent)
    );
    let draft = Draft::on(dependent, span, message)
        .severity(severity)
        .label("blocks the deletion of its owner")
        .reason(format!(
            "With `--cascade=foreground` the owner stays Terminating until every blocking dependent is gone [GC-30]. {} \
             can never be removed: {why}.",
            named(dependent)
        ))
        .help(
            "remove `blockOwnerDeletion`, or fix what keeps the dependent; a second delete with `--cascade=background` \
             releases the owner",
        )
        .field(format!("{}.blockOwnerDeletion", field(reference)))
        .target(owner.key.to_string())
        .related_object(owner, format!("the owner that would get stuck, {}", whereabouts(owner)))
        .chain(Relation::OwnedBy, [dependent.key.clone(), owner.key.clone()]);
    let others = edges
        .iter()
        .skip(1)
        .map(|(other, _)| other.dependent(inventory));
    sink.push(draft.related_objects(others, "blocks it too"));
}
