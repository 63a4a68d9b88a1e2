//! Volumes that are deleted with something else: with the object whose manifest says so, or with their Helm release.

use super::draft::Draft;
use super::rule::{Context, Rule, Sink, rule};
use super::words::named;
use crate::delivery::{Regime, Removal};
use crate::inventory::{Member, ObjectId};
use crate::kube::kinds;
use crate::ownership::tables::{DataFate, FieldValue, KeepCondition};
use crate::ownership::{DataLoss, data_loss, reclaim_policy};
use crate::yaml::Value;

pub(super) static VOLUME_DELETED_WITH_OWNER: Rule = rule!(
    "volume-deleted-with-owner",
    Info,
    Collected,
    "Volumes are deleted together with an object or a release",
    volume_deleted_with_owner
);

fn volume_deleted_with_owner(context: &Context<'_>, sink: &mut Sink) {
    let (inventory, tables) = (context.inventory, context.analysis.tables());
    for member in &inventory.members {
        let Some(row) = tables.data_of(&member.key.group, &member.key.kind).filter(|row| row.volumes) else { continue };
        let Some(loss) = data_loss(inventory, tables, member).filter(|loss| loss.fate != DataFate::Kept) else {
            continue;
        };
        if member.object.is(kinds::PERSISTENT_VOLUME_CLAIM) {
            sink.extend(in_release(context, member, &loss));
        } else if let Some((condition, value)) = row.keep.iter().find_map(|condition| decides(condition, &loss))
            && !keeps_its_volumes(context, member)
        {
            sink.push(written(member, condition, value, &loss));
        }
    }
}

/// The condition that a written value does not fulfil.
fn decides<'a>(condition: &'a KeepCondition, loss: &'a DataLoss) -> Option<(&'a KeepCondition, &'a FieldValue)> {
    let (field, value) = loss.written.as_ref()?;
    (*field == condition.field).then_some((condition, value))
}

/// Whether the storage behind every claim of a StatefulSet certainly outlives the claim, or it has none.
fn keeps_its_volumes(context: &Context<'_>, member: &Member) -> bool {
    let templates = || member.object.at(&["spec", "volumeClaimTemplates"]).into_iter().flat_map(Value::items);
    let kept = |claim: Value<'_>| reclaim_policy(context.inventory, claim.get("spec")) == Some(DataFate::Kept);
    member.object.is(kinds::STATEFUL_SET) && templates().all(kept)
}

fn written(member: &Member, condition: &KeepCondition, value: &FieldValue, loss: &DataLoss) -> Draft {
    let KeepCondition { field, values, negated } = condition;
    let help = match negated {
        true => format!("leave `{field}` out, or without {}, to keep them", values.join(" and ")),
        false => format!("set `{field}` to {} to keep them", values.join(" or ")),
    };
    Draft::on(member, value.span, format!("deleting {} deletes {}", named(member), loss.lost))
        .label("they do not outlive it")
        .reason(format!(
            "`{field}` is `{}`. So whoever deletes or renames the object, or lets a delivery tool prune it, deletes {}, and what \
             is on the volumes unless their reclaim policy is Retain.",
            value.text, loss.lost
        ))
        .help(help)
        .field(field.as_str())
        .rests_on(&loss.row, loss.verified)
}

/// A claim of a Helm release that nothing keeps.
fn in_release(context: &Context<'_>, claim: &Member, loss: &DataLoss) -> Option<Draft> {
    let deliveries = context.analysis.deliveries();
    let regime = deliveries.evident(context.inventory, claim)?;
    let is_release = matches!(regime, Regime::Helm | Regime::Flux(crate::delivery::FluxObject::HelmRelease));
    if !is_release || deliveries.spared(context.inventory, claim, Removal::HelmUninstall).is_some() {
        return None;
    }
    let used = context.analysis.ties().users_of(&claim.key).next().map(|tie| tie.from);
    let draft = Draft::on(
        claim,
        claim.object.name_span(),
        format!("{} is deleted with its Helm release", named(claim)),
    )
    .label("is deleted by `helm uninstall`")
    .reason(
        "`helm uninstall` deletes every object of a release, and an upgrade deletes what left the chart, as a new name does. \
         With the claim goes its volume, unless the volume's reclaim policy is Retain.",
    )
    .help(
        "annotate the claim with `helm.sh/resource-policy: keep`, or create it outside the release and let the chart use it \
         (often `existingClaim`)",
    )
    .field("metadata.name")
    .rests_on(&loss.row, loss.verified);
    Some(
        used.into_iter()
            .fold(draft, |draft, id: ObjectId| draft.related_object(context.inventory.member(id), "uses the claim")),
    )
}
