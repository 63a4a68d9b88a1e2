//! Custom resources that a change removes although objects that their controller created are still used.

use super::recipe::keep;
use super::words::{counted, deletes, describe_losses, leaving, on_culprit, stuck, tool};
use crate::merge::{Cascade, CascadeKind, EffectCertainty, Loss, Merge};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static GENERATOR_REMOVED: Rule = rule!(
    Change,
    "generator-removed",
    Error,
    Collected,
    "A custom resource is removed, and the objects that a controller created for it are deleted with it",
    change generator_removed
);

fn generator_removed(merge: &Merge<'_>, sink: &mut Sink) {
    for cascade in merge.of_kind(CascadeKind::Generator) {
        sink.push(draft(merge, cascade));
    }
}

fn draft(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Draft {
    let generator = cascade.culprit;
    let losses = cascade.losses.iter();
    let used: Vec<&Loss<'_>> = losses.filter(|loss| !loss.users.is_empty()).collect();
    let taken = match used.as_slice() {
        [] => describe_losses(cascade),
        used => format!("{}, which head still uses", counted(used)),
    };
    let restart = if used.is_empty() {
        ""
    } else {
        " Running Pods and controllers keep what they have read; anything that is started or reconciled later fails."
    };
    // Another custom resource that generates the same object cannot take it over from the old one, which owns it.
    let again = cascade.losses.iter().find_map(|loss| loss.provider);
    let again = again
        .map(|maker| format!(" {} recreates it once it is gone.", named(maker)))
        .unwrap_or_default();
    // If the deletion of the generator may not finish, its objects may stay.
    let mut deleted = cascade.losses.iter().filter(|loss| !loss.stuck);
    let is_in_doubt = deleted.all(|loss| loss.certainty == EffectCertainty::Possible);
    let deletes = if is_in_doubt {
        "may delete"
    } else {
        deletes(merge, generator)
    };
    let leaving = leaving(merge, generator);
    on_culprit(merge, cascade, format!("{leaving} {deletes} {taken}"))
        .label("owns the deleted objects")
        .reason(format!(
            "{} deletes the {}, and the garbage collector deletes the objects that its controller created for it.{restart}{again}{}",
            tool(merge, generator),
            generator.object.kind(),
            stuck(cascade)
        ))
        .help(keep(&merge.tools_of(generator), "it"))
}
