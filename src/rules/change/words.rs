//! What a cascade takes along, in words.

use crate::finding::Severity;
use crate::merge::{Loss, Merge, MergeCascade, Standing};
use crate::rules::draft::{Draft, MOST_RELATED};

use super::places::{related_in_base, related_in_head};

/// What a cascade does besides deleting its culprit, to be read after "and": `2 objects that head still applies and 1 object that a
/// controller made`.
pub(super) fn toll(cascade: &MergeCascade<'_>) -> String {
    let others = || cascade.losses.iter().filter(|loss| loss.key != cascade.culprit.key);
    let used = |loss: &&Loss<'_>| !loss.users.is_empty() && loss.standing != Standing::Applied;
    let of = |standing| move |loss: &&Loss<'_>| loss.standing == standing && !used(loss);
    let groups = [
        (others().filter(of(Standing::Applied)).collect::<Vec<_>>(), "head still applies"),
        (others().filter(used).collect(), "head still uses"),
        (others().filter(of(Standing::Unapplied)).collect(), "stay in git and nobody applies any more"),
        (others().filter(of(Standing::Unwritten)).collect(), "controllers made"),
        (others().filter(of(Standing::Removed)).collect(), "the change removes"),
    ];
    let said = groups.into_iter().filter(|(losses, _)| !losses.is_empty());
    joined(&said.map(|(losses, words)| format!("{} that {words}", counted(&losses))).collect::<Vec<_>>())
}

/// `Secret db`, `3 objects of kind Secret`, `3 objects`.
pub(super) fn counted(losses: &[&Loss<'_>]) -> String {
    match losses {
        [one] => format!("{} `{}`", one.key.kind, one.key.name),
        [first, ..] if losses.iter().all(|loss| loss.key.kind == first.key.kind) => {
            format!("{} objects of kind {}", losses.len(), first.key.kind)
        }
        _ => format!("{} objects", losses.len()),
    }
}

/// `a, b and c`.
pub(super) fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What gets stuck and which data goes, in sentences; empty if neither does.
pub(super) fn grave(cascade: &MergeCascade<'_>) -> String {
    let stuck: Vec<&Loss<'_>> = cascade.losses.iter().filter(|loss| loss.stuck).collect();
    let data: Vec<&Loss<'_>> = cascade.losses.iter().filter(|loss| loss.data.is_some()).collect();
    let mut said = String::new();
    if !stuck.is_empty() {
        let verb = if stuck.len() == 1 { "gets" } else { "get" };
        said.push_str(&format!(" {} {verb} stuck in Terminating.", counted(&stuck)));
    }
    if !data.is_empty() {
        let certain = data.iter().all(|loss| loss.data == Some(true));
        let verb = if certain { "Data is" } else { "Data may be" };
        said.push_str(&format!(" {verb} deleted with {}.", counted(&data)));
    }
    said
}

/// Shows what caused it in head, then some of what it takes along and who uses that.
pub(super) fn shown(draft: Draft, merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let mut draft = match merge.part.cause_in_head(cascade.culprit) {
        Some((file, span)) => draft.related(file, span, "it left here"),
        None => draft,
    };
    let mut left = MOST_RELATED - 1;
    for loss in cascade.losses.iter().filter(|loss| loss.key != cascade.culprit.key || !loss.users.is_empty()) {
        if left == 0 {
            break;
        }
        if loss.severity < Some(Severity::Warning) {
            continue;
        }
        let after = merge.part.after(&loss.key);
        let ends = if loss.stuck { "gets stuck" } else { "is deleted with it" };
        match (after, loss.member, loss.users.first()) {
            (Some(after), ..) => draft = related_in_head(draft, merge, after, ends),
            (None, _, Some(user)) => {
                let words = format!("uses {} `{}`", loss.key.kind, loss.key.name);
                draft = related_in_head(draft, merge, user, words);
            }
            (None, Some(member), None) if member.id != cascade.culprit.id => {
                draft = related_in_base(draft, merge, member, ends);
            }
            (None, ..) => continue,
        }
        left -= 1;
    }
    draft
}
