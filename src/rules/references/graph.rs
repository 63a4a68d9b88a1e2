//! Rules on the graph of owners: objects that own themselves, directly or through a cycle.

use std::collections::{BTreeMap, VecDeque};

use crate::finding::{Applicability, Consequence, Relation};
use crate::inventory::{Inventory, ObjectId};
use crate::ownership::{Owner, OwnerEdge};
use crate::rules::draft::Draft;
use crate::rules::proposal::Proposal;
use crate::rules::references::identity::{describes, is_contradicted};
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{field, named, place, reference_name, target};
use crate::text::plain::count;

pub(in crate::rules) static OWNER_SELF: Rule = rule!(
    References,
    "owner-self",
    Warning,
    Stuck,
    "An object names itself as its owner",
    owner_self
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static OWNER_CYCLE: Rule = rule!(
    References,
    "owner-cycle",
    Warning,
    NeverCollected,
    "Objects own each other in a cycle",
    owner_cycle
);

/// The maximum number of objects of a cycle that its message names.
const MAX_NAMED: usize = 10;

/// [GC-44], [GC-45].
fn owner_self(context: &Context<'_>, sink: &mut Sink) {
    for (edge, dependent, reference) in context.references() {
        if !is_self(context.inventory, edge) {
            continue;
        }
        sink.push_with(|| {
            let kind = dependent.object.kind();
            // The collector identifies objects by uid only ([GC-4]): the other fields of the reference do not matter.
            let what = if describes(reference, dependent) { format!("{} names itself as its owner", named(dependent)) } else { format!("{} has its own uid in the reference to its owner, {}", named(dependent), reference_name(reference)) };
            let draft = Draft::on(dependent, place(reference), what)
                .label("the object itself")
                .help("remove the reference")
                .fix(Proposal::suggested("remove the reference").remove(dependent, &field(reference)))
                .field(field(reference))
                .target(target(reference))
                .related_object(dependent, "the owner and the dependent");
            if reference.is_blocking() { draft.reason(format!(
                "The reference blocks: a Foreground deletion of this {kind} waits until its dependents are gone, and \
                 the {kind} is one of them. It stays Terminating with the finalizer `foregroundDeletion` until \
                 it is deleted again in the background."
            )) } else { draft.consequence(Consequence::NeverCollected).reason(format!(
                "As long as the {kind} exists, the collector finds this owner, so it never collects the {kind}, even \
                 when all its other owners are gone."
            )) }
        });
    }
}

/// Whether the reference leads back to its holder: by uid, or by name if the holder is rendered.
fn is_self(inventory: &Inventory, edge: &OwnerEdge) -> bool {
    let (dependent, reference) = (edge.dependent(inventory), edge.reference(inventory));
    match edge.owner {
        Owner::ByUid(_) => {
            dependent.object.uid() == Some(reference.uid()) && !is_contradicted(inventory, edge)
        }
        Owner::ByName(owner) => inventory.member(owner).key == dependent.key,
        Owner::Elsewhere | Owner::Absent => false,
    }
}

/// For each dependent, its owners and the edges to them, without edges that the collector finds dangling.
type OwnerGraph<'a> = BTreeMap<ObjectId, Vec<(ObjectId, &'a OwnerEdge)>>;

/// [GC-39] to [GC-43].
fn owner_cycle(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let mut graph = OwnerGraph::new();
    for edge in &context.ownership.written {
        let Some(owner) = edge.bound() else { continue };
        // A dangling edge gets its holder deleted, so it closes no cycle; `owner-self` reports self references.
        let here = &edge.dependent(inventory).key.namespace;
        let there = &inventory.member(owner).key.namespace;
        let dangling = here.certainly_differs(there) || is_contradicted(inventory, edge);
        if !dangling && !is_self(inventory, edge) {
            graph.entry(edge.dependent).or_default().push((owner, edge));
        }
    }
    for component in components(&graph) {
        if component.len() > 1 {
            let ring = shortest_ring(&graph, &component);
            sink.extend(cycle(inventory, &ring, component.len()));
        }
    }
}

fn cycle(inventory: &Inventory, ring: &[&OwnerEdge], members: usize) -> Option<Draft> {
    let (first, others) = ring.split_first()?;
    let (dependent, reference) = (first.dependent(inventory), first.reference(inventory));
    let more = match members - ring.len() {
        0 => String::new(),
        1 => " One more object belongs to the cycle through other references.".to_owned(),
        n => format!(" {n} more objects belong to the cycle through other references."),
    };
    let mut draft = Draft::on(
        dependent,
        place(reference),
        format!("{} owns itself indirectly: {}", named(dependent), circle(inventory, ring)),
    )
    .label(format!("owned by {}", others.first().map_or_else(String::new, |edge| named(edge.dependent(inventory)))))
    .reason(format!(
        "Each of these objects has an owner that exists, so the collector never deletes any of them automatically, \
         even when everything outside the cycle is gone. When one of them is deleted, the others are deleted \
         with it unless they have an owner outside the cycle.{more}"
    ))
    .help("remove the reference that points from an owner to its dependent")
    .field(field(reference))
    .target(target(reference))
    .chain(Relation::OwnedBy, ring.iter().chain([first]).map(|edge| edge.dependent(inventory).key.clone()));
    for (at, edge) in others.iter().enumerate() {
        let next = others.get(at + 1).unwrap_or(first).dependent(inventory);
        let holder = edge.dependent(inventory);
        let words = format!("{} is owned by {}", named(holder), named(next));
        draft = draft.related(holder.file, place(edge.reference(inventory)), words);
    }
    Some(draft)
}

/// Joins the keys of a cycle, which ends where it begins. For a long one, the first keys and the number of the others.
fn circle(inventory: &Inventory, ring: &[&OwnerEdge]) -> String {
    let keys = ring
        .iter()
        .map(|edge| edge.dependent(inventory).key.to_string());
    let more = ring.len().saturating_sub(MAX_NAMED);
    let mut shown: Vec<String> = keys.clone().take(MAX_NAMED).collect();
    shown.extend((more > 0).then(|| count(more, "more object")));
    shown.extend(keys.take(1));
    shown.join(" → ")
}

/// Returns a shortest cycle through the first object of a component, as edges from dependent to owner.
fn shortest_ring<'a>(graph: &OwnerGraph<'a>, component: &[ObjectId]) -> Vec<&'a OwnerEdge> {
    let Some(&start) = component.first() else {
        return Vec::new();
    };
    let mut reached: BTreeMap<ObjectId, &OwnerEdge> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for &(owner, edge) in graph.get(&node).into_iter().flatten() {
            if owner == start {
                return path_to(node, edge, &reached);
            }
            if component.binary_search(&owner).is_ok() && !reached.contains_key(&owner) {
                reached.insert(owner, edge);
                queue.push_back(owner);
            }
        }
    }
    Vec::new()
}

/// Returns the edges from the start, which `reached` does not contain, to `node`, then `last`.
fn path_to<'a>(
    node: ObjectId,
    last: &'a OwnerEdge,
    reached: &BTreeMap<ObjectId, &'a OwnerEdge>,
) -> Vec<&'a OwnerEdge> {
    let mut path = vec![last];
    let mut at = node;
    while let Some(edge) = reached.get(&at) {
        path.push(edge);
        at = edge.dependent;
    }
    path.reverse();
    path
}

/// A stack frame of Tarjan's algorithm: a node, and the number of its edges that are done.
struct Visit {
    node: ObjectId,
    done: usize,
}

/// Returns the strongly connected components, each sorted, in the order of their first object. Tarjan's algorithm with
/// an explicit stack: a chain of owners may be as long as the input.
fn components(graph: &OwnerGraph<'_>) -> Vec<Vec<ObjectId>> {
    let mut number: BTreeMap<ObjectId, usize> = BTreeMap::new();
    // The lowest number that a node reaches, for nodes that are still on the stack.
    let mut low: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut waiting = Vec::new();
    let mut found = Vec::new();
    for &root in graph.keys() {
        if number.contains_key(&root) {
            continue;
        }
        let mut visits = vec![Visit {
            node: root,
            done: 0,
        }];
        while let Some(visit) = visits.last_mut() {
            let node = visit.node;
            if visit.done == 0 {
                let next = number.len();
                number.entry(node).or_insert_with(|| {
                    low.insert(node, next);
                    waiting.push(node);
                    next
                });
            }
            let owners = graph.get(&node).map_or(&[][..], Vec::as_slice);
            if let Some(&(owner, _)) = owners.get(visit.done) {
                visit.done += 1;
                match number.get(&owner) {
                    None => visits.push(Visit {
                        node: owner,
                        done: 0,
                    }),
                    Some(&other) if low.contains_key(&owner) => lower(&mut low, node, other),
                    Some(_) => {}
                }
                continue;
            }
            visits.pop();
            let reaches = low.get(&node).copied().unwrap_or_default();
            if let Some(parent) = visits.last() {
                lower(&mut low, parent.node, reaches);
            }
            if number.get(&node) == Some(&reaches) {
                let from = waiting.iter().rposition(|other| *other == node);
                let from = from.unwrap_or_default();
                let mut component = waiting.split_off(from);
                for member in &component {
                    low.remove(member);
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found.sort_unstable();
    found
}

fn lower(low: &mut BTreeMap<ObjectId, usize>, node: ObjectId, to: usize) {
    if let Some(low) = low.get_mut(&node) {
        *low = to.min(*low);
    }
}
