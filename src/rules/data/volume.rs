//! Volumes that are deleted with an object whose manifest asks for it, or with their Helm release.

use foldhash::HashSet;

use crate::inventory::Member;
use crate::knowledge::{Condition, DataFate, FieldValue, Test};
use crate::kube::{Namespace, kinds};
use crate::ownership::{DataLoss, Ties, data_loss};
use crate::rules::draft::Draft;
use crate::rules::helm::release::is_uninstalled;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static VOLUME_DELETED_WITH_OWNER: Rule = rule!(
    Data,
    "volume-deleted-with-owner",
    Info,
    Collected,
    "Volumes are deleted together with an object or a release",
    volume_deleted_with_owner
);

fn volume_deleted_with_owner(context: &Context<'_>, sink: &mut Sink) {
    let (inventory, tables) = (context.inventory, context.analysis.tables());
    let mut claims = Vec::new();
    for member in &inventory.members {
        let (group, kind) = (member.key.group(), member.key.kind());
        let row = tables.data_of(group, kind, member.object.value());
        let Some(row) = row.filter(|row| row.volumes) else {
            continue;
        };
        let Some(loss) = data_loss(inventory, tables, member) else {
            continue;
        };
        if loss.fate == DataFate::Kept {
            continue;
        }
        if member.object.is(kinds::PERSISTENT_VOLUME_CLAIM) {
            claims.extend(is_uninstalled(context, member).then_some((member, loss)));
        } else if let Some((field, value)) = &loss.written
            && let Some(condition) = row.keep.iter().find(|condition| condition.field == *field)
        {
            // The written value does not meet the condition that keeps the volumes.
            sink.push(written(member, condition, value, &loss));
        }
    }
    if claims.is_empty() {
        return;
    }
    // A Pod is in the namespace of the claims that it mounts.
    let namespaces = claims.iter().map(|(claim, _)| &claim.key.namespace);
    let namespaces: HashSet<&Namespace> = namespaces.collect();
    let ties = Ties::filtered(inventory, tables, |member| {
        namespaces.contains(&inventory.namespace_beside(member))
    });
    for (claim, loss) in &claims {
        let user = ties.users_of(&claim.key).next();
        let user = user.map(|tie| inventory.member(tie.from));
        sink.push(in_release(claim, loss, user));
    }
}

/// The only list among the fields that decide whether volumes are kept.
const FINALIZERS: &str = "metadata.finalizers";

fn written(member: &Member, condition: &Condition, value: &FieldValue, loss: &DataLoss) -> Draft {
    let field = &condition.field;
    let is_list = field.as_str() == FINALIZERS;
    let is = if is_list { "contains" } else { "is" };
    let help = match &condition.test {
        Test::Is(values) => format!("to keep them, set `{field}` to {}", values.join(" or ")),
        Test::IsNot(values) if is_list => {
            format!(
                "to keep them, remove {} from `{field}`",
                values.join(" and ")
            )
        }
        Test::IsNot(values) => format!(
            "to keep them, remove `{field}`, or set it to something other than {}",
            values.join(" and ")
        ),
        Test::Set(true) => format!("to keep them, set `{field}`"),
        Test::Set(false) => format!("to keep them, remove `{field}`"),
    };
    let message = format!("deleting {} deletes {}", named(member), loss.lost);
    Draft::on(member, value.span, message)
        .label("deletes them with the object")
        .reason(format!(
            "`{field}` {is} `{}`. So deleting, renaming or pruning the object deletes {}, and the data \
             too unless the reclaim policy of the volumes is Retain.",
            value.text, loss.lost
        ))
        .help(help)
        .field(field.as_str())
        .rests_on(&loss.row, loss.verified)
}

/// Reports a claim that is deleted with its Helm release, with an object that uses it.
fn in_release(claim: &Member, loss: &DataLoss, user: Option<&Member>) -> Draft {
    let message = format!("{} is deleted with its Helm release", named(claim));
    Draft::on(claim, claim.object.name_span(), message)
        .label("is deleted by `helm uninstall`")
        .reason(
            "`helm uninstall` deletes every object of a release, and an upgrade deletes objects that the chart no \
             longer contains, for example because they have a new name. \
             The claim's volume is deleted with it, unless the volume's reclaim policy is Retain.",
        )
        .help(
            "annotate the claim with `helm.sh/resource-policy: keep`, or create it outside the release and let the chart use it \
             (often `existingClaim`)",
        )
        .field("metadata.name")
        .rests_on(&loss.row, loss.verified)
        .related_objects(user, "uses the claim")
}
