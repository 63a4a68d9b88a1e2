//! Phrases for plans: why an object is deleted, stuck or kept.

use std::collections::BTreeSet;

use super::outline::KindCounts;
use super::telling::{Affected, Fate, Story};
use crate::gc::{Cause, Edge, Effect, FailingApi, ObjectId};
use crate::kube::{ApiVersion, GroupKind, ObjectKey, kinds as resources};
use crate::text::plain;

/// Maximum number of objects that a sentence names.
const NAMED: usize = 3;

/// Formats a key as one line that is safe for a terminal.
pub(crate) fn key(key: &ObjectKey) -> String {
    plain::one_line(&key.to_string())
}

/// Lists some keys, and counts the others.
pub(crate) fn keys<'k>(keys: impl ExactSizeIterator<Item = &'k ObjectKey>) -> String {
    some(keys.map(key), NAMED)
}

/// Says that a StatefulSet leaves its claims, as half a sentence.
pub(crate) fn kept_claims(set: &ObjectKey) -> String {
    format!(
        "{} does not delete its claims, and their data stays",
        key(set)
    )
}

/// Lists at most `most` names, and counts the others.
fn some(names: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let rest = names.len().saturating_sub(most);
    let named: Vec<String> = names.take(most).collect();
    let more = if rest > 0 {
        format!(" and {rest} more")
    } else {
        String::new()
    };
    named.join(", ") + &more
}

/// Maximum number of finalizers that a sentence names.
const FINALIZERS: usize = 10;

/// Lists names of finalizers in order, each once, and counts those beyond the limit.
pub(crate) fn finalizers(names: &[String]) -> String {
    let names: BTreeSet<&String> = names.iter().collect();
    let names = names.into_iter().map(|name| plain::one_line(name));
    some(names, FINALIZERS)
}

pub(crate) fn count_kinds<'k>(keys: impl Iterator<Item = &'k ObjectKey>) -> KindCounts {
    let mut kinds = KindCounts::new();
    for key in keys {
        *kinds.entry(key.kind().to_string()).or_default() += 1;
    }
    kinds
}

/// Formats numbers of objects as `20 Pod, 3 Secret`.
pub(crate) fn kinds(kinds: &KindCounts) -> String {
    let kinds: Vec<_> = kinds
        .iter()
        .map(|(kind, number)| format!("{number} {}", plain::one_line(kind)))
        .collect();
    kinds.join(", ")
}

/// Returns a number between two texts; empty for zero.
pub(crate) fn unless_zero(number: usize, before: &str, after: &str) -> String {
    match number {
        0 => String::new(),
        number => format!("{before}{number}{after}"),
    }
}

/// Formats siblings as `94 more that are stuck: Pod` or `23 more that are deleted: 20 Pod, 3 Secret`.
pub(crate) fn rest(siblings: &[&Affected]) -> String {
    let by_kind = count_kinds(siblings.iter().map(|affected| &affected.key));
    let fates: BTreeSet<Fate> = siblings.iter().map(|affected| affected.fate).collect();
    let fates: Vec<&str> = fates.into_iter().map(fate_word).collect();
    let which = match by_kind.first_key_value() {
        Some((kind, _)) if by_kind.len() == 1 => plain::one_line(kind),
        _ => kinds(&by_kind),
    };
    format!(
        "{} more that are {}: {which}",
        siblings.len(),
        fates.join(" or ")
    )
}

/// Formats the deleted data as `2 claims, 1 Cluster`; `None` if there is none.
pub(crate) fn data(story: &Story<'_>) -> Option<String> {
    let data: Vec<String> = story
        .data()
        .iter()
        .map(|(what, number)| plain::count(*number, what))
        .collect();
    (!data.is_empty()).then(|| data.join(", "))
}

pub(crate) fn fate_word(fate: Fate) -> &'static str {
    match fate {
        Fate::Deleted => "deleted",
        Fate::Stuck => "stuck",
        Fate::Kept => "kept",
    }
}

/// Returns the reason for an object's ending. The object's parent in the tree of causes is called "it".
pub(crate) fn reason(story: &Story<'_>, affected: &Affected) -> String {
    match affected.fate {
        Fate::Kept => why_kept(story, affected),
        Fate::Deleted | Fate::Stuck => {
            why_deleted(story, affected) + instances_of_definition(affected)
        }
    }
}

/// Says that the API server deletes the instances of a CustomResourceDefinition with it, also those that no manifest
/// contains `[CRD-4]`; empty for other kinds.
fn instances_of_definition(affected: &Affected) -> &'static str {
    let began = affected.began.map(|began| began.cause);
    let is_over = matches!(began, None | Some(Cause::InstancesGone));
    if is_over || !affected.key.is(resources::CUSTOM_RESOURCE_DEFINITION) {
        return "";
    }
    ", with every object of its kind in the cluster"
}

fn why_deleted(story: &Story<'_>, affected: &Affected) -> String {
    let Some(began) = affected.began else {
        return "was only waiting to be removed".to_owned();
    };
    let above = affected.parent.map(|parent| story.affected[parent].id);
    let via = began.via.map_or_else(
        || "an object".to_owned(),
        |id| match above {
            Some(above) if above == id => "it".to_owned(),
            _ => key(&story.view.plan.cluster().key(id)),
        },
    );
    let text = match began.cause {
        Cause::Requested => "deleted by this step",
        Cause::Unheld => "this step removes what held it",
        Cause::NamespaceDeleted if above == began.via => "in the namespace",
        Cause::NamespaceDeleted => return format!("in the namespace of {via}"),
        Cause::DefinitionDeleted => return format!("instance of {via}"),
        Cause::LeaderGone => return format!("deleted along with {via}"),
        Cause::PodStopped => "its kubelet confirms that the containers have stopped",
        Cause::DependentsGone => "the dependents it waited for are gone",
        Cause::DependentsOrphaned => "its dependents are orphaned",
        Cause::NamespaceEmpty => "empty now",
        Cause::InstancesGone => "no instance is left",
        Cause::Unused(_) => "no longer in use",
        Cause::ControllerRemovesFinalizers => "its controller releases it",
        Cause::OwnerUnknown => "its owner does not exist",
        cause => return owned(story, affected, cause, began.via, &via),
    };
    text.to_owned()
}

/// Describes a decision of the garbage collector: the decisive owner, its defect, and other owners.
fn owned(
    story: &Story<'_>,
    affected: &Affected,
    cause: Cause,
    owner: Option<ObjectId>,
    name: &str,
) -> String {
    let cluster = story.view.plan.cluster();
    let edges: Vec<Edge> = cluster.edges(affected.id).collect();
    let Some(owner) = owner else {
        return "collected".to_owned();
    };
    let edge = edges.iter().find(|edge| edge.owner == Some(owner));
    let waits = matches!(cause, Cause::OwnerWaits | Cause::OwnerWaitsInTurn { .. });
    let waits = if waits && edge.is_some_and(|edge| edge.blocking) {
        ", and blocks its deletion"
    } else {
        ""
    };
    let mut text = match cause {
        Cause::OwnerElsewhere => format!("its owner {name} is in another namespace"),
        Cause::OwnerNamespaced => {
            format!("its owner {name} is namespaced, but was looked up outside all namespaces")
        }
        Cause::OwnerMistaken => format!(
            "its owner {name} is treated as absent: another dependent looks for it in the wrong place"
        ),
        Cause::OwnerMismatch => {
            format!("{name} has the uid of its owner, but not the name or kind")
        }
        _ => format!("owned by {name}{waits}"),
    };
    let others = edges.iter().filter_map(|edge| edge.owner);
    let others = others.filter(|other| *other != owner && *other != affected.id);
    let others: BTreeSet<ObjectKey> = others.map(|other| cluster.key(other)).collect();
    if !others.is_empty() {
        text.push_str(&format!("; also by {}", keys(others.iter())));
    }
    text
}

fn why_kept(story: &Story<'_>, affected: &Affected) -> String {
    let cluster = story.view.plan.cluster();
    let causes = &affected.causes;
    let kept = causes
        .iter()
        .any(|cause| matches!(cause, Cause::OtherOwner { .. }));
    let mut parts = Vec::new();
    if affected
        .began
        .is_some_and(|began| began.effect == Effect::Detached)
    {
        let stored = stored_uids(story, affected.id);
        let (left, lost): (Vec<Edge>, Vec<Edge>) = cluster
            .edges(affected.id)
            .partition(|edge| stored.contains(&edge.uid));
        let lost = lost.iter().filter_map(|edge| edge.owner);
        let lost: BTreeSet<ObjectKey> = lost.map(|owner| cluster.key(owner)).collect();
        let left = left.iter().filter_map(|edge| edge.owner);
        let left = left.filter(|owner| story.after.has(*owner));
        let left: BTreeSet<ObjectKey> = left.map(|owner| cluster.key(owner)).collect();
        let lost = if lost.is_empty() {
            "an owner".to_owned()
        } else {
            keys(lost.iter())
        };
        let orphaned = if causes.contains(&Cause::Orphaned) {
            "orphaned: "
        } else {
            ""
        };
        parts.push(format!("{orphaned}its reference to {lost} is removed"));
        parts.push(match (left.is_empty(), kept) {
            (true, _) => "no owner is left".to_owned(),
            (false, true) => format!("kept by {}", keys(left.iter())),
            (false, false) => format!("still owned by {}", keys(left.iter())),
        });
    }
    if causes.contains(&Cause::OwnerKindUnserved) {
        parts.push(never_collected(story, affected.id));
    }
    if causes.contains(&Cause::OwnerOutOfScope) {
        parts.push("never collected: it is cluster-scoped and its owner is not".to_owned());
    }
    if causes.contains(&Cause::OwnerTerminating) {
        parts.push("safe until its owner is really gone".to_owned());
    }
    if parts.is_empty() {
        parts.push("no longer blocks its owner".to_owned());
    }
    parts.join("; ")
        + if cluster.kind_of(affected.id).gc_tracked {
            ""
        } else {
            "; the collector does not watch its kind"
        }
}

/// Returns the uids of the references that an object has after the step.
pub(crate) fn stored_uids(story: &Story<'_>, id: ObjectId) -> BTreeSet<String> {
    let references = story
        .after
        .present(id)
        .into_iter()
        .flat_map(|present| present.owner_references);
    references.map(|reference| reference.uid.into()).collect()
}

/// Describes the kinds of the object's references that do not resolve: unserved and unknown kinds.
fn never_collected(story: &Story<'_>, id: ObjectId) -> String {
    let cluster = story.view.plan.cluster();
    let bad: Vec<_> = cluster.edges(id).filter(|edge| !edge.resolvable).collect();
    let unknown = bad.iter().any(|edge| {
        edge.owner
            .is_some_and(|owner| cluster.kind_of(owner).versions.is_empty())
    });
    let written = story
        .after
        .present(id)
        .into_iter()
        .flat_map(|present| present.owner_references);
    let bad_uids: BTreeSet<&str> = bad.iter().map(|edge| edge.uid.as_str()).collect();
    let written: Vec<_> = written
        .filter(|reference| bad_uids.contains(&*reference.uid))
        .collect();
    let open = !written.is_empty()
        && written.iter().all(|owner| {
            let kind = GroupKind::new(ApiVersion::split(&owner.api_version).group, &owner.kind);
            cluster.kind(kind).is_some_and(|info| info.open_versions)
        });
    let named = written
        .iter()
        .map(|owner| plain::one_line(&format!("{} ({})", owner.kind, owner.api_version)));
    let named = Vec::from_iter(BTreeSet::from_iter(named));
    let count = named.len();
    let named = named.join(", ");
    match count {
        0 => "never collected: the cluster no longer serves its owner's kind".to_owned(),
        1 if unknown => format!("kept, because the kind {named} is unknown"),
        _ if unknown => format!("kept, because the kinds {named} are unknown"),
        _ if open => {
            format!("kept, because nothing in the input shows that the cluster serves {named}")
        }
        _ => format!("never collected: the cluster does not serve {named}"),
    }
}

/// Says why an aggregated API is not served.
pub(crate) fn silent_api(api: &FailingApi) -> String {
    let group = plain::one_line(&api.group_version);
    format!(
        "{group} is not served, because {}",
        missing_backend(&api.service, api.service_exists)
    )
}

/// Says why a Service that the API server calls has no backend.
pub(crate) fn missing_backend(service: &ObjectKey, exists: bool) -> String {
    if exists {
        format!("{} has no Pods", key(service))
    } else {
        format!("{} does not exist", key(service))
    }
}

/// Formats citations for the end of a line.
pub(crate) fn cited(citations: &[&'static str]) -> String {
    if citations.is_empty() {
        String::new()
    } else {
        format!("[{}]", citations.join(", "))
    }
}
