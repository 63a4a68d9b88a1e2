//! Delivery objects of the tree: two of them build the same object for the same cluster.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::words::{HELP, PRUNED};
use crate::inventory::{Inventory, Member};
use crate::kube::ObjectKey;
use crate::ownership::{DeliveryKind, DeliveryObject, Reach, TieEnd};
use crate::rules::draft::Draft;
use crate::rules::rule::Context;
use crate::rules::words::named;
use crate::text::Span;

/// A pair of delivery objects with the objects that both deliver.
type Shared = BTreeMap<(usize, usize), Vec<TieEnd>>;

/// One finding for each pair of delivery objects that share objects.
pub(super) fn twice(context: &Context<'_>) -> Vec<Draft> {
    let objects = context.analysis.delivery_objects();
    if objects.len() < 2 {
        return Vec::new();
    }
    let (inventory, reach) = (context.inventory, context.analysis.reach());
    shared(inventory, objects, reach)
        .iter()
        .map(|(pair, shared)| draft(inventory, [&objects[pair.0], &objects[pair.1]], shared))
        .collect()
}

/// Every object is compared with the first that delivers it: a third is one finding more, not two.
fn shared(inventory: &Inventory, objects: &[DeliveryObject], reach: &Reach) -> Shared {
    let mut first: HashMap<([&str; 3], ObjectKey), usize> = HashMap::default();
    let mut shared = Shared::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, one)| !one.suspended) {
        for delivery in reach.deliveries(at).filter(|one| !one.is_possible()) {
            for delivered in delivery.objects(inventory) {
                // A name with a variable in it differs for each deliverer that fills it in.
                if delivered.key.name.contains("${") || delivered.key.name.is_empty() {
                    continue;
                }
                let key = (delivery.cluster(), delivered.key.clone());
                let claimed = *first.entry(key).or_insert(at);
                if claimed != at && are_two(inventory, &objects[claimed], object) {
                    shared.entry((claimed, at)).or_default().push(delivered);
                }
            }
        }
    }
    shared
}

/// Whether both are sure to exist beside each other, and to mean this repository.
fn are_two(inventory: &Inventory, first: &DeliveryObject, second: &DeliveryObject) -> bool {
    let key = |object: &DeliveryObject| &inventory.member(object.id).key;
    let repository = |object: &DeliveryObject| {
        object
            .sources
            .first()
            .and_then(|source| source.repository.clone())
    };
    (key(first), &first.name) != (key(second), &second.name)
        && repository(first) == repository(second)
}

fn draft(inventory: &Inventory, [first, second]: [&DeliveryObject; 2], shared: &[TieEnd]) -> Draft {
    let (one, other) = (inventory.member(first.id), inventory.member(second.id));
    let TieEnd { key, id } = &shared[0];
    let objects = match shared.len() {
        1 => format!("{key}"),
        2 => format!("{key} and 1 more object"),
        n => format!("{key} and {} more objects", n - 1),
    };
    let message = format!(
        "{} delivers {objects} that {} delivers, too",
        words(other, second),
        words(one, first)
    );
    let draft = Draft::on(other, place(other, second), message)
        .label("builds it here")
        .reason(PRUNED)
        .help(HELP)
        .target(words(one, first))
        .related(one.file, place(one, first), "and here");
    id.iter().fold(draft, |draft, id| {
        draft.related_object(inventory.member(*id), "is delivered twice")
    })
}

/// A delivery object in a sentence.
fn words(member: &Member, object: &DeliveryObject) -> String {
    match object.kind {
        DeliveryKind::Generated => format!("Application `{}` of {}", object.name, named(member)),
        _ => named(member),
    }
}

/// Where a delivery object says what it delivers.
fn place(member: &Member, object: &DeliveryObject) -> Span {
    object
        .sources
        .first()
        .map_or(member.object.name_span(), |source| source.span)
}
