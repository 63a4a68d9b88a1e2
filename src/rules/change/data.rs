//! Data outside Git that is deleted with a removed object: volumes, and the data that custom resources represent.

use std::collections::BTreeSet;

use super::places::{changed_in_head, on_name};
use super::recipe::{deleted_namespace, goes_with_namespace, keep_contained};
use super::words::{deletes, describe_losses, leaving, on_culprit, stuck, tool};
use crate::finding::Severity;
use crate::inventory::{Member, ObjectId};
use crate::knowledge::Test;
use crate::kube::kinds;
use crate::merge::{Cascade, CascadeKind, Merge};
use crate::ownership::data_loss;
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static VOLUME_REMOVED: Rule = rule!(
    Change,
    "volume-removed",
    Warning,
    Collected,
    "A volume is deleted, or a renamed StatefulSet starts with empty volumes",
    change volume_removed
);

pub(in crate::rules) static DATA_REMOVED: Rule = rule!(
    Change,
    "data-removed",
    Error,
    Collected,
    "A custom resource is removed, and its data is deleted",
    change data_removed
);

fn volume_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for cascade in merge.of_kind(CascadeKind::Volume) {
        sink.push(lost_volume(merge, cascade));
    }
    let leaving = merge.part.leaving.iter().copied();
    let from_releases = merge.withdrawn.deleters.values().flatten();
    let leaving: BTreeSet<ObjectId> = leaving.chain(from_releases.map(|(_, id)| *id)).collect();
    for id in leaving {
        let member = merge.part.base.inventory.member(id);
        let mut cascades = merge.of_kind(CascadeKind::Volume);
        if member.object.is(kinds::STATEFUL_SET)
            && !cascades.any(|cascade| cascade.culprit.id == id)
            && let Some(after) = merge.part.renamed(member)
        {
            sink.extend(stranded(merge, member, after));
        }
    }
}

fn lost_volume(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Draft {
    let claim = cascade.culprit;
    let own = cascade.losses.iter().find(|loss| loss.key == claim.key);
    let verb = deletes(merge, claim);
    let is_certain = cascade.losses.iter().any(|loss| loss.data == Some(true));
    let is_stuck = own.is_some_and(|own| own.stuck);
    let is_kept =
        !claim.object.is(kinds::STATEFUL_SET) && own.is_some_and(|own| own.data.is_none());
    let (what, volume, fate) = words(claim, is_kept, is_stuck);
    let taken = if claim.object.is(kinds::STATEFUL_SET) {
        format!("{verb} {}", describe_losses(cascade))
    } else if is_kept {
        let ends = match (is_stuck, verb) {
            (false, verb) => format!("{verb} it"),
            (true, "deletes") => "leaves it stuck in Terminating".to_owned(),
            (true, _) => "may leave it stuck in Terminating".to_owned(),
        };
        format!("{ends}; {volume} is kept")
    } else if is_certain {
        format!("{verb} {volume}")
    } else {
        format!("{verb} {volume}, unless it is retained")
    };
    let used = own.is_some_and(|own| !own.users.is_empty());
    let still = if used { "; head still uses it" } else { "" };
    let message = format!("{} {taken}{still}", leaving(merge, claim));
    let namespace = deleted_namespace(merge, claim);
    let deletion = match namespace.filter(|_| goes_with_namespace(merge, claim)) {
        Some(namespace) => format!(
            "{} deletes {} and everything in it.",
            tool(merge, namespace),
            named(namespace)
        ),
        None => format!(
            "{} deletes the {}.",
            tool(merge, claim),
            claim.object.kind()
        ),
    };
    on_culprit(merge, cascade, message)
        .label(if is_kept {
            "its data stays"
        } else if is_certain {
            "its data is deleted"
        } else {
            "its data may be deleted"
        })
        .reason(format!("{deletion} {fate}{}", stuck(cascade)))
        .help(remedy(merge, claim, what, is_kept))
}

/// Returns the names of a removed claim or volume and of its storage, and the fate of the data.
fn words(
    claim: &Member,
    is_kept: bool,
    is_stuck: bool,
) -> (&'static str, &'static str, &'static str) {
    if claim.object.is(kinds::PERSISTENT_VOLUME) {
        (
            "the PersistentVolume",
            "the storage behind it",
            match (is_kept, is_stuck) {
                (true, true) => {
                    "Its reclaim policy keeps the storage behind it. Until its claim is deleted, it stays in the cluster and works as \
                     before."
                }
                (true, false) => "Its reclaim policy keeps the storage behind it.",
                (false, _) => {
                    "With the reclaim policy Delete, the storage behind it is deleted with it."
                }
            },
        )
    } else if is_kept {
        (
            "the claim",
            "its volume",
            "The reclaim policy of its volume is Retain: the data stays in the volume, which is \
             not bound to another claim.",
        )
    } else {
        (
            "the claim",
            "its volume",
            "The volume behind a claim is deleted with it unless the reclaim policy of its PersistentVolume is Retain. A provisioned \
             volume takes the policy from its StorageClass, where Delete is the default.",
        )
    }
}

/// Explains how to keep the data of a removed claim, volume or StatefulSet. `what` names it.
fn remedy(merge: &Merge<'_>, claim: &Member, what: &str, is_kept: bool) -> String {
    if claim.object.is(kinds::STATEFUL_SET) {
        let namespace = deleted_namespace(merge, claim);
        let too = namespace.map(|namespace| {
            format!(
                ". Keep {} as well: its claims are deleted with it",
                named(namespace)
            )
        });
        format!(
            "if the data is needed, set `spec.persistentVolumeClaimRetentionPolicy.whenDeleted` to `Retain`, merge that and wait \
             until it is applied; then remove or rename the StatefulSet{}",
            too.unwrap_or_default()
        )
    } else if claim.object.is(kinds::PERSISTENT_VOLUME_CLAIM) && merge.part.renamed(claim).is_some()
    {
        // Protecting the old claim does not help: the claim under the new name gets an empty volume.
        "a claim cannot move, and the new one gets an empty volume. To keep the data, set the \
         reclaim policy of the volume to Retain, write the name of the volume into \
         `spec.volumeName` of the new claim and merge that. Once the old claim is gone, remove \
         `spec.claimRef` from the volume, so that the new claim is bound to it"
            .to_owned()
    } else if is_kept {
        let keep = keep_contained(merge, claim, what);
        format!("if {what} is still needed, {keep}")
    } else {
        format!(
            "if the data is needed, {}; or set the reclaim policy of the volume to Retain first",
            keep_contained(merge, claim, what)
        )
    }
}

/// Reports a renamed StatefulSet: it creates new claims, and the old ones stay with their data.
fn stranded(merge: &Merge<'_>, set: &Member, after: &Member) -> Option<Draft> {
    merge.end_of(&set.key)?;
    let templates = set.object.at(&["spec", "volumeClaimTemplates"])?.items();
    let names: Vec<&str> = templates
        .filter_map(|template| template.at(&["metadata", "name"])?.as_str())
        .collect();
    let first = names.first()?;
    let (old, new) = (&set.key.name, &after.key.name);
    let message = format!("{} starts it with empty volumes", leaving(merge, set));
    let draft = on_name(merge, set, message)
        .label("its claims stay behind")
        .reason(format!(
            "{} creates StatefulSet `{new}` and deletes `{old}`. Claims are named after their \
             StatefulSet: the data stays in `{first}-{old}-0` and its siblings, while the new Pods \
             get new, empty volumes.",
            tool(merge, set)
        ))
        .help(format!(
            "keep the name (charts have `fullnameOverride`); or stop the old Pods, copy the volumes into claims named \
             `{first}-{new}-0` and so on, and rename then"
        ))
        .severity(Severity::Warning);
    let place = after.object.name_span();
    Some(changed_in_head(
        draft,
        merge,
        after,
        place,
        "gets new claims",
    ))
}

fn data_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for cascade in merge.of_kind(CascadeKind::Data) {
        sink.extend(lost_data(merge, cascade));
    }
}

fn lost_data(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Option<Draft> {
    let member = cascade.culprit;
    let tables = merge.part.analysis.tables();
    let loss = data_loss(&merge.part.base.inventory, tables, member)?;
    let mut losses = cascade.losses.iter();
    let certain = losses.any(|lost| lost.key == member.key && lost.data == Some(true));
    let (verb, takes) = if certain {
        (deletes(merge, member), "deletes")
    } else {
        ("may delete", "may delete")
    };
    let (group, kind) = (member.key.group(), member.key.kind());
    let row = tables.data_of(group, kind, member.object.value())?;
    let keeps = row.keep.first();
    let policy = match (&loss.written, keeps) {
        (Some((field, value)), _) => format!(" `{field}` is `{}`.", value.text),
        (None, Some(keeps)) => format!(" `{}` is not set.", keeps.field),
        (None, None) => String::new(),
    };
    let help =
        if let Some((field, Test::Is(values))) = keeps.map(|keeps| (&keeps.field, &keeps.test)) {
            format!(
                "back up the data; to keep it, set `{}` to `{}`, merge that and wait until it is \
                 applied, and remove the object in a second change",
                field,
                values.join("` or `")
            )
        } else {
            let keep = keep_contained(merge, member, "the object");
            format!("back up the data; or {keep}")
        };
    let message = format!("{} {verb} {}", leaving(merge, member), loss.lost);
    let draft = on_culprit(merge, cascade, message)
        .label("represents the data")
        .reason(format!(
            "{} deletes {}, and that {takes} data outside of Git: {}.{policy}{}",
            tool(merge, member),
            named(member),
            loss.lost,
            stuck(cascade)
        ))
        .help(help)
        .rests_on(&loss.row, true);
    Some(draft)
}
