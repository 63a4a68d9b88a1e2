//! Delivery objects of the tree: two of them build the same object for the same cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{HELP, PRUNED};
use crate::inventory::{Inventory, Member};
use crate::kube::ObjectKey;
use crate::ownership::{Build, DeliveryKind, DeliveryObject, Reach, TieEnd};
use crate::rules::draft::Draft;
use crate::rules::rule::Context;
use crate::rules::words::named;
use crate::text::{FileId, Span};
use crate::yaml::Value;

/// How many delivery objects are followed upwards to the cluster in which one lives.
const MOST_PARENTS: usize = 16;

/// A pair of delivery objects with the objects that both deliver.
type Shared = BTreeMap<(usize, usize), Vec<TieEnd>>;

/// One finding for each pair of delivery objects that share objects.
pub(super) fn twice(context: &Context<'_>) -> Vec<Draft> {
    let objects = context.analysis.delivery_objects();
    if objects.len() < 2 {
        return Vec::new();
    }
    let (inventory, reach) = (context.inventory, context.analysis.reach());
    let clusters = Clusters {
        inventory,
        objects,
        parents: parents(objects.len(), reach),
    };
    shared(inventory, objects, reach, &clusters)
        .iter()
        .map(|(pair, shared)| draft(inventory, [&objects[pair.0], &objects[pair.1]], shared))
        .collect()
}

/// Every object is compared with the first that delivers it: a third is one finding more, not two.
fn shared(
    inventory: &Inventory,
    objects: &[DeliveryObject],
    reach: &Reach,
    clusters: &Clusters<'_>,
) -> Shared {
    let mut first: BTreeMap<(String, ObjectKey), usize> = BTreeMap::new();
    // A file that two delivery objects build alike is read for both; of more, for two: their number must not multiply
    // the objects.
    let mut readers: BTreeMap<(String, Build), usize> = BTreeMap::new();
    let mut shared = Shared::new();
    for (at, object) in objects.iter().enumerate() {
        if !is_plain(inventory, object) {
            continue;
        }
        let cluster = clusters.of(at);
        for &build in reach.builds(at) {
            let readers = readers.entry((cluster.clone(), build)).or_default();
            *readers += 1;
            if *readers > 2 {
                continue;
            }
            for delivered in
                reach.objects(inventory, build, object.destination.namespace.as_deref())
            {
                // A name with a variable in it differs for each deliverer that fills it in.
                if delivered.key.name.contains("${") || delivered.key.name.is_empty() {
                    continue;
                }
                let claimed = *first
                    .entry((cluster.clone(), delivered.key.clone()))
                    .or_insert(at);
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

/// Whether what it delivers is what its folder contains: no chart, no plugin, no part of the folder, no patch of names.
fn is_plain(inventory: &Inventory, object: &DeliveryObject) -> bool {
    let path: &[&str] = match object.kind {
        DeliveryKind::Application | DeliveryKind::Kustomization => &["spec"],
        DeliveryKind::Generated => &["spec", "template", "spec"],
        DeliveryKind::HelmRelease => return false,
    };
    let Some(spec) = inventory
        .member(object.id)
        .object
        .at(path)
        .filter(|_| !object.suspended)
    else {
        return false;
    };
    let sources = spec
        .get("sources")
        .into_iter()
        .flat_map(Value::items)
        .chain(spec.get("source"));
    let chosen = |source: Value<'_>| {
        let parts = ["include", "exclude"]
            .iter()
            .any(|key| source.at(&["directory", key]).is_some());
        parts
            || ["helm", "plugin", "chart"]
                .iter()
                .any(|key| source.get(key).is_some())
    };
    let patches = spec.get("patches").into_iter().flat_map(Value::items);
    !sources.into_iter().any(chosen)
        && !patches.into_iter().any(|patch| {
            let text = patch.get("patch").and_then(Value::as_str);
            text.is_some_and(|text| text.contains("/metadata/name"))
        })
}

/// For each delivery object one that delivers it.
fn parents(number: usize, reach: &Reach) -> BTreeMap<FileId, usize> {
    let mut parents = BTreeMap::new();
    for at in 0..number {
        for file in reach
            .builds(at)
            .iter()
            .flat_map(|build| reach.files(*build))
        {
            parents.entry(file).or_insert(at);
        }
    }
    parents
}

/// Into which cluster delivery objects deliver.
struct Clusters<'a> {
    inventory: &'a Inventory,
    objects: &'a [DeliveryObject],
    /// The deliverer of the objects of a file.
    parents: BTreeMap<FileId, usize>,
}

impl Clusters<'_> {
    /// The object's own cluster: its deliverer, up to one that is not delivered, whose folder stands for the cluster;
    /// then, on the way down, the clusters that each of them names.
    fn of(&self, at: usize) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut at = at;
        loop {
            let object = &self.objects[at];
            names.extend(object.destination.cluster.as_deref());
            let file = self.inventory.member(object.id).file;
            seen.insert(at);
            match self.parents.get(&file) {
                Some(&parent) if seen.len() < MOST_PARENTS && !seen.contains(&parent) => {
                    at = parent;
                }
                _ => {
                    let path = self.inventory.sources.file(file).path();
                    names.push(path.rsplit_once('/').map_or("", |(folder, _)| folder));
                    break;
                }
            }
        }
        names.join("\n")
    }
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
