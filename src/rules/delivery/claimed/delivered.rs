//! Evidence from delivery objects: two of them build the same object for the same cluster.

use std::collections::BTreeMap;

use foldhash::HashMap;

use super::{HELP, PRUNED};
use crate::inventory::{Inventory, Member};
use crate::kube::ObjectKey;
use crate::ownership::{DeliveryKind, DeliveryObject, Reach, TieEnd};
use crate::rules::draft::Draft;
use crate::rules::finalizers::held::counted;
use crate::rules::rule::Context;
use crate::rules::words::named;
use crate::text::Span;

/// A delivery object of the tree.
#[derive(Clone, Copy)]
struct Claimant<'a> {
    /// Its index among the delivery objects.
    at: usize,
    object: &'a DeliveryObject,
    member: &'a Member,
    /// Its name, or that of the Application that it generates.
    name: &'a str,
}

/// Pairs of delivery objects, each with the objects that both deliver.
type Shared<'a> = BTreeMap<[(usize, &'a str); 2], ([Claimant<'a>; 2], Vec<TieEnd>)>;

/// Reports each pair of delivery objects that share objects.
pub(super) fn twice(context: &Context<'_>) -> Vec<Draft> {
    let objects = context.analysis.delivery_objects();
    // Only an ApplicationSet delivers an object through several Applications.
    let mut kinds = objects.iter().map(|object| object.kind);
    if objects.len() < 2 && !kinds.any(|kind| kind == DeliveryKind::ApplicationSet) {
        return Vec::new();
    }
    let inventory = context.inventory;
    let shared = shared(inventory, objects, context.analysis.reach());
    let drafts = shared
        .values()
        .map(|(pair, shared)| draft(inventory, *pair, shared));
    drafts.collect()
}

/// Compares each deliverer of an object with the first one only: a third adds one finding, not two.
fn shared<'a>(
    inventory: &'a Inventory,
    objects: &'a [DeliveryObject],
    reach: &'a Reach,
) -> Shared<'a> {
    let mut first: HashMap<([&str; 3], ObjectKey), Claimant<'_>> = HashMap::default();
    let mut shared = Shared::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, one)| !one.suspended) {
        let member = inventory.member(object.id);
        for delivery in reach.deliveries(at).filter(|one| !one.is_possible()) {
            let claimant = Claimant {
                at,
                object,
                member,
                name: delivery.name().unwrap_or(&member.key.name),
            };
            for delivered in delivery.objects(inventory) {
                // A name with a variable may be different for each deliverer.
                if delivered.key.name.contains("${") || delivered.key.name.is_empty() {
                    continue;
                }
                let key = (delivery.cluster(), delivered.key.clone());
                let claimed = *first.entry(key).or_insert(claimant);
                if claimed.conflicts_with(&claimant) {
                    let pair = [(claimed.at, claimed.name), (at, claimant.name)];
                    let shared = shared.entry(pair);
                    let (_, ends) = shared.or_insert_with(|| ([claimed, claimant], Vec::new()));
                    ends.push(delivered);
                }
            }
        }
    }
    shared
}

impl Claimant<'_> {
    /// Whether the two are different delivery objects or Applications, with the same repository.
    fn conflicts_with(&self, other: &Self) -> bool {
        (&self.member.key, self.name) != (&other.member.key, other.name)
            && self.repository() == other.repository()
    }

    fn repository(&self) -> Option<&str> {
        self.object.sources.first()?.repository.as_deref()
    }

    /// Its description in a sentence.
    fn words(&self) -> String {
        match self.object.kind {
            DeliveryKind::ApplicationSet => {
                format!("Application `{}` of {}", self.name, named(self.member))
            }
            _ => named(self.member),
        }
    }

    /// Returns the place of its first source, which says what it delivers.
    fn place(&self) -> Span {
        let source = self.object.sources.first();
        source.map_or(self.member.object.name_span(), |source| source.span)
    }
}

fn draft(inventory: &Inventory, [one, other]: [Claimant<'_>; 2], shared: &[TieEnd]) -> Draft {
    let TieEnd { key, id } = &shared[0];
    let objects = counted(key.to_string(), shared.len());
    let (one_words, other_words) = (one.words(), other.words());
    let message = format!("{other_words} delivers {objects} that {one_words} delivers, too");
    Draft::on(other.member, other.place(), message)
        .label("builds it here")
        .reason(PRUNED)
        .help(HELP)
        .target(one_words)
        .related(one.member.file, one.place(), "and here")
        .related_objects(id.map(|id| inventory.member(id)), "is delivered twice")
}
