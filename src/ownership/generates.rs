//! Objects that a controller creates for another (generator → product), by the table of generators.

use std::cell::OnceCell;

use super::tie::{Tie, TieEnd, TieEvidence, TieKind};
use crate::finding::Certainty;
use crate::inventory::{Inventory, Member};
use crate::knowledge::{FoundName, Generator, Tables};
use crate::kube::{ApiVersion, KindMap, Namespace, ObjectKey, Scope};

/// Finds every product of every generator among the objects, in their order.
pub(super) fn of(inventory: &Inventory, tables: &Tables, members: &[&Member]) -> Vec<Tie> {
    let rows = KindMap::of(inventory.kinds_of_members(), |kind| {
        tables
            .generators_of(kind.group, kind.kind)
            .map(|row| (row, OnceCell::new()))
    });
    let mut ties = Vec::new();
    for member in members {
        for (row, is_cluster_scoped) in rows.get(member.key.group_kind()).into_iter().flatten() {
            ties.extend(products(inventory, member, row, is_cluster_scoped));
        }
    }
    ties
}

/// Returns the objects that an object generates according to a row. `is_cluster_scoped` caches whether the products are
/// cluster-scoped; it is computed only if there are any.
fn products<'a>(
    inventory: &'a Inventory,
    member: &'a Member,
    row: &'a Generator,
    is_cluster_scoped: &OnceCell<bool>,
) -> impl Iterator<Item = Tie> + use<'a> {
    let object = member.object.value();
    let is_created = row.when.iter().all(|condition| condition.holds(object));
    let owned = row.owned.holds(object);
    let mut names = row
        .product
        .names
        .iter()
        .filter(move |_| is_created)
        .flat_map(move |pattern| pattern.names(object, &member.key.name))
        .peekable();
    let namespaces = match names.peek() {
        None => Vec::new(),
        Some(_) if *is_cluster_scoped.get_or_init(|| are_cluster_scoped(inventory, row)) => {
            vec![Namespace::None]
        }
        Some(_) => namespaces(inventory, member, row),
    };
    names.flat_map(move |found| {
        namespaces
            .iter()
            .map(|namespace| tie(inventory, member, row, (&found, namespace), owned))
            .collect::<Vec<_>>()
    })
}

fn tie(
    inventory: &Inventory,
    member: &Member,
    row: &Generator,
    (found, namespace): (&FoundName, &Namespace),
    owned: bool,
) -> Tie {
    let key = ObjectKey::new(row.product.kind.as_ref(), namespace.clone(), &found.name);
    let to = TieEnd::of(inventory, key);
    // A rendered object has that name. Operators differ in which of the two they keep.
    let contested = to.id.is_some_and(|id| !inventory.member(id).from_dump);
    Tie {
        from: member.id,
        to,
        kind: TieKind::Generates { owned },
        evidence: TieEvidence {
            field: found.field.as_str().into(),
            span: found.span,
            row: Some(row.name()),
        },
        certainty: if row.proven && !contested {
            Certainty::Certain
        } else {
            Certainty::Possible
        },
    }
}

fn are_cluster_scoped(inventory: &Inventory, row: &Generator) -> bool {
    let kind = &row.product.kind;
    let version = ApiVersion {
        group: kind.group.as_str(),
        version: "",
    };
    inventory.kinds.resolve(version, &kind.kind).scope == Some(Scope::Cluster)
}

/// Returns the namespaces of namespaced products: those that a field lists, else the generator's; none if unknown.
fn namespaces(inventory: &Inventory, member: &Member, row: &Generator) -> Vec<Namespace> {
    let listed = row
        .product
        .namespace
        .as_ref()
        .map(|field| field.values(member.object.value()))
        .unwrap_or_default();
    if !listed.is_empty() {
        return listed
            .into_iter()
            .map(|value| Namespace::Named(value.text.into()))
            .collect();
    }
    match member.scope() {
        Some(Scope::Cluster) => Vec::new(),
        // The scope of an operator's kind is often unknown; an object with namespaced products is namespaced.
        _ => vec![inventory.namespace_beside(member)],
    }
}
