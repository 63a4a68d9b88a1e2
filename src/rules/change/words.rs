//! Words for the losses of a cascade.

use super::places::{left_in_head, on_name, related_in_base, related_in_head};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::ObjectKey;
use crate::merge::{Cascade, EffectCertainty, Loss, Merge, Standing};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::words::{joined, named, whereabouts};
use crate::text::plain;

/// The maximum number of objects that a message names.
const NAMED: usize = 3;

/// Describes the objects deleted with the culprit of a cascade, to follow "deletes": `2 objects that head still applies,
/// and Secret `x` that a controller created, with the data of Cluster `db``.
pub(super) fn describe_losses(cascade: &Cascade<'_>) -> String {
    let culprit = &cascade.culprit.key;
    let others = cascade.losses.iter();
    let others: Vec<&Loss<'_>> = others
        .filter(|loss| loss.key != *culprit && loss.because.contains(culprit))
        .collect();
    let (used, unused): (Vec<&Loss<'_>>, Vec<_>) = others
        .iter()
        .copied()
        .partition(|loss| !loss.users.is_empty() && loss.standing != Standing::Applied);
    let groups: [(Vec<&Loss<'_>>, &str, &str); 5] = [
        (
            of_standing(&unused, Standing::Applied),
            "head still applies",
            "head still applies",
        ),
        (used, "head still uses", "head still uses"),
        (
            of_standing(&unused, Standing::Unapplied),
            "nothing applies any more, although its file stays in Git",
            "nothing applies any more, although their files stay in Git",
        ),
        (
            of_standing(&unused, Standing::Unwritten),
            "a controller created",
            "controllers created",
        ),
        (
            of_standing(&unused, Standing::Removed),
            "the change removes",
            "the change removes",
        ),
    ];
    let said = groups.into_iter().filter(|(losses, ..)| !losses.is_empty());
    let said = said.map(|(losses, one, several)| {
        format!(
            "{} that {}",
            counted(&losses),
            if losses.len() == 1 { one } else { several }
        )
    });
    let mut said = match said.collect::<Vec<_>>().as_slice() {
        // A group may itself contain "and".
        [most @ .., last] if !most.is_empty() => format!("{}, and {last}", most.join(", ")),
        groups => groups.concat(),
    };
    let data = others.iter().copied().filter(|loss| loss.data.is_some());
    let data: Vec<&Loss<'_>> = data.collect();
    if !data.is_empty() {
        let certain = data.iter().all(|loss| loss.data == Some(true));
        let possibly = if certain { "" } else { "possibly " };
        let whose = match (data.len(), others.len()) {
            (1, 1) => "its data".to_owned(),
            (lost, all) if lost == all => "their data".to_owned(),
            _ => format!("the data of {}", counted(&data)),
        };
        said.push_str(&format!(", {possibly}with {whose}"));
    }
    said
}

fn of_standing<'c, 'a>(losses: &[&'c Loss<'a>], standing: Standing) -> Vec<&'c Loss<'a>> {
    let losses = losses.iter().copied();
    losses.filter(|loss| loss.standing == standing).collect()
}

/// Describes the effect of removing a cascade's culprit: `deletes 2 objects that head still applies`.
pub(super) fn taking(merge: &Merge<'_>, cascade: &Cascade<'_>) -> String {
    match describe_losses(cascade) {
        nothing if nothing.is_empty() && merge.is_tool_known(cascade.culprit) => {
            "leaves it stuck in Terminating".to_owned()
        }
        nothing if nothing.is_empty() => "may leave it stuck in Terminating".to_owned(),
        losses => format!("{} {losses}", deletes(merge, cascade.culprit)),
    }
}

/// Describes how an object is removed: `removing Namespace `a``, `renaming Namespace `a` to `b``.
pub(super) fn leaving(merge: &Merge<'_>, member: &Member) -> String {
    match merge.part.renamed(member) {
        Some(after) if after.key.name != member.key.name => {
            format!("renaming {} to `{}`", named(member), after.key.name)
        }
        Some(after) => format!(
            "moving {} to {}",
            named(member),
            whereabouts(after).trim_start_matches("in ")
        ),
        None if merge.part.is_reinstalled(member) => format!("reinstalling {}", named(member)),
        None if merge.part.still_applied(member).is_some() => {
            format!("moving {} elsewhere", named(member))
        }
        None => format!("removing {}", named(member)),
    }
}

/// Returns the tools that delete an object, as the beginning of a sentence that is conditional if the tool is a guess.
pub(super) fn tool(merge: &Merge<'_>, member: &Member) -> String {
    let mut names: Vec<String> = Vec::new();
    for tool in merge.tools_of(member) {
        let name = tool.tool();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    match names.as_slice() {
        [] => "The delivery tool".to_owned(),
        [tool] if merge.is_tool_known(member) => match merge.part.removed_only_if(member) {
            Some(condition) => format!("{condition}, {tool}"),
            None => tool.clone(),
        },
        [tool] => format!("If {tool} applies this, it"),
        several => format!("Each of {}", joined(several)),
    }
}

/// Returns `deletes`, or `may delete` if the deletion of the object is only possible or no tool is known to deliver it.
pub(super) fn deletes(merge: &Merge<'_>, member: &Member) -> &'static str {
    let is_certain = merge.is_tool_known(member) && !merge.is_possible(&member.key);
    if is_certain && merge.part.removed_only_if(member).is_none() {
        "deletes"
    } else {
        "may delete"
    }
}

/// Counts or names objects: `Secret `a` and `b``, `12 objects of kind Secret`, `Namespace `shop` and 11 other objects`.
pub(super) fn counted(losses: &[&Loss<'_>]) -> String {
    let objects = losses.iter().map(|loss| (&loss.key, loss.data.is_some()));
    counted_objects(&objects.collect::<Vec<_>>())
}

/// Counts or names objects like [`counted`]. Each has its key and whether data is deleted with it.
pub(super) fn counted_objects(objects: &[(&ObjectKey, bool)]) -> String {
    if objects.len() <= NAMED {
        let mut last = "";
        let names = objects.iter().map(|(key, _)| {
            let kind = key.kind();
            if std::mem::replace(&mut last, kind) == kind {
                format!("`{}`", key.name)
            } else {
                name(key)
            }
        });
        return joined(&names.collect::<Vec<_>>());
    }
    let first = objects[0].0.kind();
    let count = objects.len();
    if objects.iter().all(|(key, _)| key.kind() == first) {
        return format!("{count} objects of kind {first}");
    }
    let gravest = objects.iter().rev().max_by_key(|object| weight(object));
    match gravest.filter(|object| weight(object) > 0) {
        Some((key, _)) => format!("{} and {} other objects", name(key), count - 1),
        None => format!("{count} objects"),
    }
}

/// Names an object in a sentence: ``Secret `a` ``.
pub(super) fn name(key: &ObjectKey) -> String {
    format!("{} `{}`", key.kind(), key.name)
}

/// Ranks objects: data before containers of other objects; 0 for most kinds.
fn weight((key, has_data): &(&ObjectKey, bool)) -> u8 {
    match key.kind() {
        _ if *has_data => 4,
        "CustomResourceDefinition" => 3,
        "Namespace" => 2,
        "HelmRelease" => 1,
        _ => 0,
    }
}

/// Describes, in sentences, the objects that certainly or possibly get stuck, and a new source that may contain the
/// culprit; empty if there are neither.
pub(super) fn stuck(cascade: &Cascade<'_>) -> String {
    let (in_doubt, stuck): (Vec<&Loss<'_>>, Vec<_>) = cascade
        .losses
        .iter()
        .filter(|loss| loss.stuck)
        .partition(|loss| is_in_doubt(loss));
    let (raced, stuck): (Vec<&Loss<'_>>, Vec<_>) = stuck
        .into_iter()
        .partition(|loss| loss.certainty == EffectCertainty::Race);
    let certain = get_stuck(&stuck, ["", ""]);
    let raced = get_stuck(
        &raced,
        [
            ", unless its controller is quicker than the other deletions",
            ", unless their controllers are quicker than the other deletions",
        ],
    );
    let possible = get_stuck(
        &in_doubt,
        [
            ", unless a controller that base does not contain removes its finalizers",
            ", unless controllers that base does not contain remove their finalizers",
        ],
    );
    let instead = cascade.instead.as_ref().map_or_else(String::new, |source| {
        format!(
            " The change also adds `{}`: if that contains the {}, nothing is deleted.",
            plain::one_line(source),
            cascade.culprit.object.kind()
        )
    });
    certain + &raced + &possible + &instead
}

/// Says that objects get stuck, with a condition in the singular and in the plural; empty if there are none.
fn get_stuck(losses: &[&Loss<'_>], [of_one, of_several]: [&str; 2]) -> String {
    match losses {
        [] => String::new(),
        [_] => format!(" {} gets stuck in Terminating{of_one}.", counted(losses)),
        _ => format!(" {} get stuck in Terminating{of_several}.", counted(losses)),
    }
}

/// Whether the object gets stuck only if nothing outside of base releases it.
fn is_in_doubt(loss: &Loss<'_>) -> bool {
    loss.certainty == EffectCertainty::Possible
}

/// Creates a finding on the culprit of a cascade, with its severity. The cause in head, some of the lost objects and
/// their users are related places.
pub(super) fn on_culprit(merge: &Merge<'_>, cascade: &Cascade<'_>, message: String) -> Draft {
    let culprit = cascade.culprit;
    let draft = on_name(merge, culprit, message).severity(cascade.severity);
    let mut draft = left_in_head(draft, merge, culprit);
    let mut left = MAX_RELATED - 1;
    for loss in &cascade.losses {
        if left == 0 {
            break;
        }
        if loss.severity < Some(Severity::Warning)
            || loss.key == culprit.key && loss.users.is_empty()
        {
            continue;
        }
        let after = loss
            .member
            .and_then(|member| merge.part.still_applied(member));
        let ends = if !loss.stuck {
            "is deleted with it"
        } else if is_in_doubt(loss) {
            "may get stuck"
        } else {
            "gets stuck"
        };
        match (after, loss.member, loss.users.first()) {
            (Some(after), ..) => draft = related_in_head(draft, merge, after, ends),
            (None, _, Some(user)) => {
                let words = format!("uses {}", name(&loss.key));
                draft = related_in_head(draft, merge, user, words);
            }
            (None, Some(member), None) => draft = related_in_base(draft, merge, member, ends),
            (None, None, None) => continue,
        }
        left -= 1;
    }
    draft
}
