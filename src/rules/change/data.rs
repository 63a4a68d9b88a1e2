//! Data outside Git that is deleted with a removed object: volumes, and the data that custom resources represent.

use super::places::{changed_in_head, on_base};
use super::recipe::keep;
use super::words::{deletes, leaving, shown, stuck, toll, tool};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::knowledge::Test;
use crate::kube::kinds;
use crate::merge::{CascadeKind, Merge, MergeCascade};
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
    sink.extend(
        merge
            .of_kind(CascadeKind::Volume)
            .map(|cascade| lost_volume(merge, cascade)),
    );
    let leaving = merge
        .part
        .leaving
        .iter()
        .map(|id| merge.part.base.inventory.member(*id));
    let sets = leaving.filter(|member| {
        member.object.is(kinds::STATEFUL_SET)
            && !merge
                .of_kind(CascadeKind::Volume)
                .any(|cascade| cascade.culprit.id == member.id)
    });
    sink.extend(sets.filter_map(|set| stranded(merge, set, merge.part.renamed(set)?)));
}

fn lost_volume(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let claim = cascade.culprit;
    let regime = merge.tool_of(claim);
    let own = cascade.losses.iter().find(|loss| loss.key == claim.key);
    let certain = cascade.losses.iter().any(|loss| loss.data == Some(true));
    let used = own.is_some_and(|own| !own.users.is_empty());
    let verb = deletes(merge, claim);
    let taken = match (certain, claim.object.is(kinds::STATEFUL_SET)) {
        (_, true) => format!("{verb} {}", toll(cascade)),
        (true, false) => format!("{verb} its volume"),
        (false, false) => format!("{verb} its volume, unless that is retained"),
    };
    let moves = merge.part.renamed(claim).is_some();
    let (what, fate) = if claim.object.is(kinds::PERSISTENT_VOLUME) {
        (
            "the PersistentVolume",
            "With the reclaim policy Delete, the storage behind it is deleted with it.",
        )
    } else {
        (
            "the claim",
            "The volume behind a claim is deleted with it unless its reclaim policy is Retain: as its PersistentVolume says, else \
             its StorageClass, whose default is Delete.",
        )
    };
    let still = if used { "; head still uses it" } else { "" };
    let draft = on_base(
        merge,
        claim,
        claim.object.name_span(),
        format!("{} {taken}{still}", leaving(merge, claim)),
    )
    .label("its data is deleted")
    .reason(format!(
        "{} deletes the {}. {fate}{}",
        tool(merge, claim),
        claim.object.kind(),
        stuck(cascade)
    ))
.help(if claim.object.is(kinds::STATEFUL_SET) {
            "if the data is needed, set `spec.persistentVolumeClaimRetentionPolicy.whenDeleted` to `Retain`, merge that and wait until \
             it is applied; then remove or rename the StatefulSet"
                .to_owned()
        } else if claim.object.is(kinds::PERSISTENT_VOLUME_CLAIM) && moves {
            // Protecting the old claim does not help: the claim under the new name gets an empty volume.
            "a claim cannot move, and the new one gets an empty volume. To keep the data, set the reclaim policy of the volume to \
             Retain, write the name of the volume into `spec.volumeName` of the new claim and merge that; once the old claim is \
             gone, remove `spec.claimRef` from the volume, so that the new claim is bound to it"
                .to_owned()
        } else {
            format!(
                "if the data is needed, {}; or set the reclaim policy of the volume to Retain first",
                keep(regime, what)
            )
        })
    .field("metadata.name")
    .severity(cascade.severity);
    shown(draft, merge, cascade)
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
    let draft = on_base(merge, set, set.object.name_span(), message)
        .label("its claims stay behind")
        .reason(format!(
            "{} creates StatefulSet `{new}` and deletes `{old}`. Claims are named after their StatefulSet: the data stays in \
             `{first}-{old}-0` and its siblings, which no Pod mounts, and the new Pods get new, empty volumes.",
            tool(merge, set)
        ))
        .help(format!(
            "keep the name (charts have `fullnameOverride`); or stop the old Pods, copy the volumes into claims named \
             `{first}-{new}-0` and so on, and rename then"
        ))
        .field("metadata.name")
        .severity(Severity::Warning);
    Some(changed_in_head(
        draft,
        merge,
        after,
        after.object.name_span(),
        "gets new claims",
    ))
}

fn data_removed(merge: &Merge<'_>, sink: &mut Sink) {
    sink.extend(
        merge
            .of_kind(CascadeKind::Data)
            .filter_map(|cascade| lost_data(merge, cascade)),
    );
}

fn lost_data(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Option<Draft> {
    let member = cascade.culprit;
    let regime = merge.tool_of(member);
    let loss = data_loss(
        &merge.part.base.inventory,
        merge.part.analysis.tables(),
        member,
    )?;
    let certain = cascade
        .losses
        .iter()
        .any(|lost| lost.key == member.key && lost.data == Some(true));
    let verb = if certain {
        deletes(merge, member)
    } else {
        "may delete"
    };
    let row = merge.part.analysis.tables().data_of(
        member.key.group(),
        member.key.kind(),
        member.object.value(),
    )?;
    let keeps = row.keep.first();
    let policy = match (&loss.written, keeps) {
        (Some((field, value)), _) => format!(" `{field}` is `{}`.", value.text),
        (None, Some(keeps)) => format!(" `{}` is not set.", keeps.field),
        (None, None) => String::new(),
    };
    let help = match keeps.map(|keeps| (&keeps.field, &keeps.test)) {
        Some((field, Test::Is(values))) => format!(
            "back up the data; to keep it, set `{}` to `{}`, merge that and wait until it is applied, and remove the object in a second \
             change",
            field,
            values.join("` or `")
        ),
        _ => format!("back up the data; or {}", keep(regime, "the object")),
    };
    let draft = on_base(
        merge,
        member,
        member.object.name_span(),
        format!("{} {verb} {}", leaving(merge, member), loss.lost),
    )
    .label("represents the data")
    .reason(format!(
        "{} deletes {}, and that deletes data outside of git: {}.{policy}{}",
        tool(merge, member),
        named(member),
        loss.lost,
        stuck(cascade)
    ))
    .help(help)
    .field("metadata.name")
    .severity(cascade.severity)
    .rests_on(&loss.row, true);
    Some(shown(draft, merge, cascade))
}
