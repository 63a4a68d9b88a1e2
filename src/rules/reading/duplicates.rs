//! The rule on objects that appear several times.

use std::collections::BTreeMap;

use crate::inventory::{Member, ObjectId};
use crate::kube::kinds;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{named, whereabouts};

pub(in crate::rules) static DUPLICATE_OBJECT: Rule = rule!(
    Reading,
    "duplicate-object",
    Info,
    Ignored,
    "A bundle contains the same object twice",
    duplicate_object
)
.once_per_files()
.slow();

fn duplicate_object(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for namesakes in inventory.duplicates() {
        let twins = in_shared_clusters(context, namesakes);
        let [first, .., last] = &*twins else {
            continue;
        };
        let (first, last) = (inventory.member(*first), inventory.member(*last));
        let (effect, help) = words_on_twins(first);
        let message = match twins.len() {
            2 => format!("{} appears twice", named(last)),
            n => format!("{} appears {n} times", named(last)),
        };
        let mut draft = Draft::on(last, last.object.name_span(), message)
            .label(format!("the last one, {}", whereabouts(last)))
            .reason(effect)
            .help(help)
            .related_object(first, "the first one");
        for twin in &twins[1..twins.len() - 1] {
            draft = draft.related_object(inventory.member(*twin), "and here");
        }
        sink.push(draft);
    }
}

/// Returns those of `namesakes`, objects with one key, that may be applied to the same cluster. If
/// all clusters are known, an object that is alone in each of its clusters is left out.
fn in_shared_clusters(context: &Context<'_>, namesakes: &[ObjectId]) -> Vec<ObjectId> {
    let reach = context.analysis.reach();
    let files = namesakes
        .iter()
        .map(|id| context.inventory.member(*id).file);
    let clusters: Option<Vec<_>> = files.map(|file| reach.clusters_of(file)).collect();
    let Some(clusters) = clusters else {
        return namesakes.to_vec();
    };
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for cluster in clusters.iter().copied().flatten() {
        *counts.entry(*cluster).or_default() += 1;
    }
    let kept = namesakes.iter().zip(clusters);
    let kept = kept.filter(|(_, clusters)| clusters.iter().any(|cluster| counts[cluster] > 1));
    kept.map(|(id, _)| *id).collect()
}

fn words_on_twins(member: &Member) -> (&'static str, &'static str) {
    if member.object.is(kinds::CUSTOM_RESOURCE_DEFINITION) {
        (
            "They define the same kind. ownerlint treats every version that one of them serves as served; in the \
         cluster, the one applied last wins.",
            "keep one copy of the CRD",
        )
    } else {
        (
            "The one applied last wins; the rest is lost.",
            "keep one of them, or make the folders separate bundles if they are for different clusters",
        )
    }
}
