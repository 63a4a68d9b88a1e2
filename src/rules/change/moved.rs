//! Objects that move to another Kustomization or Application, and are deleted by the old one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::places::{on_name, related_in_head};
use super::recipe::preserve_in_set;
use super::words::name;
use crate::inventory::Member;
use crate::kustomize::SourceTool;
use crate::merge::{CascadeKind, EffectCertainty, Handover, Merge, MovedLoss};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static MOVE_DELETES: Rule = rule!(
    Change,
    "move-deletes",
    Error,
    Collected,
    "An object moves to another Kustomization or Application, and the old one deletes it with its data or its contents",
    change move_deletes
);

fn move_deletes(merge: &Merge<'_>, sink: &mut Sink) {
    let mut losses = merge.moved_losses();
    losses.sort_by_key(|loss| loss.moved.id);
    let mut together: BTreeMap<_, Vec<&MovedLoss<'_>>> = BTreeMap::new();
    for loss in &losses {
        // It is unknown what is deleted with these objects.
        if loss.others.is_empty() && loss.data.is_empty() {
            let MovedLoss { handover, kind, .. } = loss;
            let alike = together.entry((&handover.from, &handover.to, *kind));
            alike.or_default().push(loss);
        } else {
            sink.push(draft(merge, loss, &[]));
        }
    }
    for alike in together.values() {
        sink.push(draft(merge, alike[0], &alike[1..]));
    }
}

/// Builds the finding for `loss` and for `alike`, the other losses with its handover and kind.
fn draft(merge: &Merge<'_>, loss: &MovedLoss<'_>, alike: &[&MovedLoss<'_>]) -> Draft {
    let (moved, handover) = (loss.moved, loss.handover);
    let (from, to) = (&handover.from, &handover.to);
    let kind = to.tool.kind().kind;
    let (more, it) = match alike.len() {
        0 => (String::new(), "it"),
        others => (format!(" and {others} more"), "them"),
    };
    let it_is = if alike.is_empty() && loss.others.is_empty() {
        "it is"
    } else {
        "they are"
    };
    let deletes = if handover.pruned_first {
        "deletes"
    } else {
        "may delete"
    };
    let again = match handover.blocked {
        Some(_) => format!("and {it_is} not created again"),
        None if loss.stays_away => "and not all of them are created again".to_owned(),
        None => format!("before {it_is} created again"),
    };
    let message = format!(
        "moving {}{more} to {kind} `{to}` {deletes} {}, {again}",
        named(moved),
        taken(loss, it)
    );
    let help = match handover.recipe(it) {
        Some(recipe) => format!("to keep {it}, {recipe}"),
        None => format!(
            "to keep the delivered objects, {}; then move {it}",
            preserve_in_set(from)
        ),
    };
    let draft = on_name(merge, moved, message)
        .severity(loss.severity)
        .label("is deleted when it moves")
        .reason(match &handover.blocked {
            Some(why) => {
                format!("`{from}` deletes {it}, and `{to}` never applies {it}: {why}.")
            }
            None => format!("{} {}", order(handover, it), comes_back(loss)),
        })
        .help(help);
    let after = merge.part.after(&moved.key);
    let draft = match after {
        Some(after) => related_in_head(draft, merge, after, "its new place"),
        None => draft,
    };
    let draft = draft.alike(alike.iter().map(|one| one.moved));
    let alike = alike
        .iter()
        .filter_map(|one| merge.part.after(&one.moved.key));
    alike
        .take(MAX_RELATED - 1)
        .fold(draft, |draft, other: &Member| {
            related_in_head(draft, merge, other, "moves with it")
        })
}

/// Describes which deliverer acts first on the moved objects, `it` or `them`.
fn order(handover: &Handover, it: &str) -> String {
    let [from, to] =
        [&handover.from, &handover.to].map(|by| format!("{} `{by}`", by.tool.kind().kind));
    match (handover.from.tool, handover.to.tool) {
        (SourceTool::ArgoCdSet, SourceTool::ArgoCdSet) => format!(
            "The ApplicationSet controller deletes {it} once {from} no longer generates {it}. Until then, an owner reference to \
             {from} keeps {to} from taking {it} over."
        ),
        (SourceTool::ArgoCdSet, _) => format!(
            "The ApplicationSet controller deletes {it} once {from} no longer generates {it}: the \
             owner reference to {from} stays, even if {to} applies {it} first."
        ),
        _ if handover.pruned_first => format!("{to} waits for {from}, which deletes {it} first."),
        (SourceTool::Flux | SourceTool::FluxRelease, _) => format!(
            "Flux deletes {it} when it reconciles {from}, unless {to} has applied {it} by then. `{}` does not wait for that.",
            handover.from
        ),
        (SourceTool::ArgoCd, tool) => {
            let far_off = if tool == SourceTool::ArgoCd {
                format!(
                    ", and without `selfHeal` the next sync of `{}` may be far off",
                    handover.to
                )
            } else {
                String::new()
            };
            format!(
                "Argo CD deletes {it} when it syncs {from}, unless {to} has applied {it} by then. `{}` does not wait for \
                 that{far_off}.",
                handover.from
            )
        }
    }
}

/// Describes the deleted objects: ``it and 12 other objects, possibly with the data of PersistentVolumeClaim `db` ``.
fn taken(loss: &MovedLoss<'_>, it: &str) -> String {
    let mut others = loss.others.iter();
    let objects = match (others.next(), others.len()) {
        (None, _) => it.to_owned(),
        (Some(one), 0) => format!("{it} and {}", name(one)),
        (Some(_), more) => format!("{it} and {} other objects", more + 1),
    };
    let mut data = loss.data.keys();
    let whose = match (data.next(), data.len()) {
        (None, _) => return objects,
        (Some(one), 0) if **one == loss.moved.key || loss.others.len() == 1 => {
            "its data".to_owned()
        }
        (Some(one), 0) => format!("the data of {}", name(one)),
        (Some(_), more) => format!("the data of {} objects", more + 1),
    };
    let mut certainties = loss.data.values();
    let is_possible = certainties.any(|certainty| *certainty == EffectCertainty::Possible);
    let possibly = if is_possible { "possibly " } else { "" };
    format!("{objects}, {possibly}with {whose}")
}

/// Says what else is deleted, and whether it is created again.
fn comes_back(loss: &MovedLoss<'_>) -> Cow<'static, str> {
    let says = match loss.kind {
        Some(CascadeKind::Definition) => {
            "With a CustomResourceDefinition, the API server deletes every object of its kind, in \
             Git or not, and the garbage collector deletes their dependents."
        }
        Some(CascadeKind::Namespace) => {
            "With a Namespace, everything in it is deleted, in Git or not. Only the objects in Git come back, without their data."
        }
        Some(CascadeKind::Delivery) => {
            let end = if loss.stays_away {
                "Its delivery in head fails, so they do not come back."
            } else {
                "The objects come back without their data."
            };
            return Cow::Owned(format!(
                "With a deleted {}, everything that it delivered is deleted, too. {end}",
                loss.moved.object.kind()
            ));
        }
        _ => "The object comes back without its data.",
    };
    Cow::Borrowed(says)
}
