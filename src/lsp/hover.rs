//! The text of a hover.

use crate::engine::{
    DeliveredObjects, Inquiry, ObjectDeletion, ObjectPlace, ObjectSpot, OwnerLookup, Spot,
    StuckObject,
};
use crate::kube::ObjectKey;
use crate::report::RowInfo;
use crate::text::plain;

/// The maximum number of objects in each list of a hover.
const LISTED: usize = 8;

/// Describes a place in Markdown; `None` if nothing is known about it.
pub(super) fn text(inquiry: &Inquiry<'_>, found: &ObjectSpot) -> Option<String> {
    let object = &found.object;
    match &found.spot {
        Spot::Identity => Some(identity(inquiry, object)),
        Spot::Owner { places, lookup, .. } => {
            // The collector never finds an owner in another namespace.
            let is_elsewhere = matches!(lookup, OwnerLookup::InNamespace(_));
            let owner = places.first().filter(|_| !is_elsewhere);
            let deletion = owner.and_then(|owner| deletion_of(inquiry, owner));
            let others = other_builds(places);
            Some(paragraphs([
                owner_text(&object.key, &found.spot),
                deletion,
                others,
            ]))
        }
        Spot::Use { places, makers, .. } => {
            let described = places.first().or(makers.first());
            let deletion = described.and_then(|one| deletion_of(inquiry, one));
            Some(paragraphs([
                use_text(inquiry, found),
                deletion,
                other_builds(places),
            ]))
        }
        Spot::Finalizer { finalizer, rows } => Some(finalizer_text(finalizer, rows)),
        Spot::Namespace { .. } => {
            let deletion = inquiry.deletion_of_namespace(object)?;
            Some(deletion_text(&deletion))
        }
        Spot::Other => None,
    }
}

/// Lists the users of an object, or names the object for which a controller creates it.
fn use_text(inquiry: &Inquiry<'_>, found: &ObjectSpot) -> Option<String> {
    let Spot::Use {
        named,
        places,
        makers,
        is_created,
    } = &found.spot
    else {
        return None;
    };
    let (name, object) = (code(named), &found.object.key);
    if *is_created {
        return Some(format!("{name} is created for {}.", code(object)));
    }
    let mut text = match places.first() {
        Some(used) if used.key != *named => {
            format!("{name} may be {} in the input. It", code(&used.key))
        }
        _ => name,
    };
    let others = inquiry.users_of_named(found);
    let others = others.iter().filter(|user| *user != object);
    text.push_str(&users_text(std::iter::once(object).chain(others)));
    if places.is_empty() {
        text.push_str(&match &makers[..] {
            [] => "\n\nIt is not in the input.".to_owned(),
            makers => {
                let makers: Vec<_> = makers.iter().map(|maker| code(&maker.key)).collect();
                format!("\n\nIt is created by {}.", few(&makers))
            }
        });
    }
    Some(text)
}

/// Lists users: ` is used by X.`, or ` is used by 3 objects:` and a list.
fn users_text<'k>(users: impl Iterator<Item = &'k ObjectKey>) -> String {
    let users: Vec<_> = users.map(code).collect();
    if let [only] = &users[..] {
        return format!(" is used by {only}.");
    }
    let all = plain::count(users.len(), "object");
    format!(" is used by {all}:{}", list(users.into_iter()))
}

/// Lists the objects that builds other than the first make of the text.
fn other_builds(places: &[ObjectPlace]) -> Option<String> {
    let (_, others) = places.split_first()?;
    let others: Vec<_> = others.iter().map(|place| code(&place.key)).collect();
    (!others.is_empty()).then(|| format!("In other builds: {}.", few(&others)))
}

/// Describes an owner reference as the garbage collector sees it.
fn owner_text(object: &ObjectKey, spot: &Spot) -> Option<String> {
    let Spot::Owner {
        named,
        lookup,
        blocks,
        has_others,
        is_undecided,
        ..
    } = spot
    else {
        return None;
    };
    let mut text = lookup_text(
        lookup,
        [&code(named), &code(object)],
        *has_others,
        *is_undecided,
    );
    if *is_undecided {
        text.push_str(
            " The garbage collector never deletes the object, because it cannot look up another of its owners.",
        );
    }
    match lookup {
        OwnerLookup::Found { .. } if *blocks => {
            text.push_str(" A Foreground deletion of the owner waits for the object.");
        }
        OwnerLookup::OutOfReach | OwnerLookup::NotServed if *blocks => {
            text.push_str(" The reference blocks: a Foreground deletion of the owner waits for the object forever.");
        }
        _ => {}
    }
    Some(text)
}

/// Says whether the garbage collector finds the owner `named`, and what it then does with `object`.
fn lookup_text(
    lookup: &OwnerLookup,
    [named, object]: [&str; 2],
    has_others: bool,
    is_undecided: bool,
) -> String {
    let (when, unless) = if has_others {
        (
            "once it has no other owner",
            ", unless it has another owner",
        )
    } else {
        ("with it", "")
    };
    let dangling = match (is_undecided, has_others) {
        (true, _) => "",
        (false, true) => " The object is deleted unless it has another owner.",
        (false, false) => " The object is deleted.",
    };
    match lookup {
        OwnerLookup::Found { .. } if is_undecided => format!("{named} owns {object}."),
        OwnerLookup::Found { assumed } => {
            let condition = if *assumed {
                " if it has this uid in the cluster"
            } else {
                ""
            };
            format!(
                "{named} owns {object}{condition}: when the owner is deleted, the object is deleted {when}."
            )
        }
        OwnerLookup::Itself => {
            format!("{object} names itself as its owner. The reference deletes nothing.")
        }
        OwnerLookup::OutOfReach => format!(
            "{named} is namespaced and {object} is cluster-scoped: the garbage collector never finds the owner, and \
             never deletes the object with it."
        ),
        OwnerLookup::NotServed => format!(
            "The API server does not serve the kind of {named}: the garbage collector never decides about the owner, and \
             never deletes the object with it."
        ),
        OwnerLookup::InNamespace(namespace) => format!(
            "{named} is in namespace {}, and the garbage collector looks for it in the namespace of {object}: it treats \
             the owner as deleted.{dangling}",
            code(namespace)
        ),
        OwnerLookup::Mismatched => format!(
            "The garbage collector does not find {named} as the reference describes it: it treats the owner as \
             deleted.{dangling}"
        ),
        OwnerLookup::Unapplied => format!(
            "{named} is in the input, but nothing applies it. If the cluster has no such owner, {object} is \
             deleted{unless}."
        ),
        OwnerLookup::Absent { unknown_scope } => {
            let mut text = format!("{named} is not in the input.");
            if !is_undecided {
                text.push_str(&format!(
                    " If the cluster has no such owner either, the object is deleted{unless}."
                ));
                if *unknown_scope {
                    text.push_str(
                        " It is kept if the cluster does not serve the owner's kind, or if the owner is namespaced and the \
                         object is not.",
                    );
                }
            }
            text
        }
    }
}

/// Summarises a deletion: `deletes at least 5 objects, 1 of them with data; 1 gets stuck`.
pub(super) fn headline(deletion: &ObjectDeletion) -> String {
    let more = if deletion.is_incomplete {
        "at least "
    } else {
        ""
    };
    let count = plain::count(deletion.deleted.len(), "object");
    let mut text = format!("deletes {more}{count}");
    match (deletion.with_data, deletion.deleted.len()) {
        (0, _) => {}
        (1, 1) => text.push_str(" with data"),
        (with_data, _) => text.push_str(&format!(", {with_data} of them with data")),
    }
    if deletion.is_rejected {
        text.push_str(": the API server rejects the request");
    }
    let all = deletion.stuck.len();
    let may = deletion.stuck.values();
    let may = may.filter(|stuck| stuck.is_unattended).count();
    match all - may {
        0 => {}
        1 => text.push_str("; 1 gets stuck"),
        stuck => text.push_str(&format!("; {stuck} get stuck")),
    }
    if may > 0 {
        text.push_str(&format!("; {may} may get stuck"));
    }
    text
}

fn identity(inquiry: &Inquiry<'_>, object: &ObjectPlace) -> String {
    let owners = inquiry.owners(object);
    let owners: Vec<_> = owners.iter().map(code).collect();
    let owned = (!owners.is_empty()).then(|| format!("Owned by {}.", owners.join(", ")));
    let delivered = inquiry.delivered(object);
    let delivered = delivered.map(|delivered| delivered_text(&delivered));
    let users = inquiry.users(object);
    let used = (!users.is_empty()).then(|| format!("It{}", users_text(users.iter())));
    let deletion = deletion_of(inquiry, object).unwrap_or_else(|| {
        let why = inquiry.why_unknown(object);
        format!(
            "The effects of deleting {} are unknown: {why}.",
            code(&object.key)
        )
    });
    paragraphs([
        Some(deletion),
        others_text(inquiry, object),
        delivered,
        used,
        owned,
    ])
}

/// Names the other objects that builds make of the same text.
fn others_text(inquiry: &Inquiry<'_>, object: &ObjectPlace) -> Option<String> {
    let others = inquiry.others(object).into_iter();
    let others = others.map(|(key, cluster)| match cluster {
        Some(cluster) => format!("{} in cluster {}", code(key), code(cluster)),
        None => code(key),
    });
    let others: Vec<_> = others.collect();
    (!others.is_empty()).then(|| format!("Also applied as {}.", few(&others)))
}

fn deletion_of(inquiry: &Inquiry<'_>, object: &ObjectPlace) -> Option<String> {
    let deletion = inquiry.deletion(object)?;
    Some(deletion_text(&deletion))
}

fn deletion_text(deletion: &ObjectDeletion) -> String {
    let object = &deletion.object;
    let cluster = deletion.cluster.as_ref();
    let place = cluster.map_or(String::new(), |name| format!(" in cluster {}", code(name)));
    let mut text = format!("Deleting {}{place} {}.", code(object), headline(deletion));
    if !deletion.is_applied {
        text.push_str(" Nothing in the folder applies it.");
    }
    // Stuck objects have a list of their own, which comes first.
    let stuck = deletion.stuck.iter();
    let stuck = stuck.map(|(key, stuck)| stuck_text(key, stuck));
    text.push_str(&list_and_more(stuck, " that may stay Terminating"));
    let others = deletion.deleted.iter().filter(|key| *key != object);
    text.push_str(&list(others.map(code)));
    if deletion.hidden > 0 {
        let documents = plain::count(deletion.hidden, "document");
        text.push_str(&format!(
            "\n\nNot read, because of errors or as templates: {documents}."
        ));
    }
    text
}

fn stuck_text(object: &ObjectKey, stuck: &StuckObject) -> String {
    let finalizers: Vec<_> = stuck.finalizers.iter().map(code).collect();
    let names = finalizers.join(" and ");
    let mut text = format!("{} **stays Terminating**", code(object));
    if !finalizers.is_empty() {
        let held = if stuck.is_unattended {
            format!(" until a controller removes {names}; the input contains none that does")
        } else {
            format!(": held by {names}")
        };
        text.push_str(&held);
    }
    if let [first, others @ ..] = &*stuck.waits_for {
        let others = match others.len() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        text.push_str(&format!(": waits for {}{others}", code(first)));
    }
    text
}

fn delivered_text(delivered: &DeliveredObjects) -> String {
    let objects = &delivered.objects;
    let fate = match (objects.is_empty(), delivered.deleted_with_it) {
        (true, true) => {
            return "Its objects are not in the input, and are deleted with it.".to_owned();
        }
        (true, false) => {
            return "Its objects are not in the input, and stay when it is deleted.".to_owned();
        }
        (false, true) => "deleted with it",
        (false, false) => "kept when it is deleted",
    };
    let many = plain::count(objects.len(), "object");
    format!(
        "It delivers {many} in the input, {fate}:{}",
        list(objects.iter().map(code))
    )
}

fn finalizer_text(finalizer: &str, rows: &[RowInfo]) -> String {
    let finalizer = code(finalizer);
    if rows.is_empty() {
        return format!(
            "{finalizer}: no known controller removes it. The object stays Terminating until it is removed by hand."
        );
    }
    let rows = rows.iter().map(|row| row.says.join(" "));
    format!("{finalizer}\n\n{}", rows.collect::<Vec<_>>().join("\n\n"))
}

fn list(items: impl Iterator<Item = String>) -> String {
    list_and_more(items, "")
}

/// Lists the first items, and counts the others: `and 3 more`, followed by `what`.
fn list_and_more(mut items: impl Iterator<Item = String>, what: &str) -> String {
    let mut text = String::new();
    for item in items.by_ref().take(LISTED) {
        text.push_str(&format!("\n- {item}"));
    }
    let left = items.count();
    if left > 0 {
        text.push_str(&format!("\n- and {left} more{what}"));
    }
    text
}

/// Joins the first items with commas, and counts the others.
fn few(items: &[String]) -> String {
    let mut text = items[..items.len().min(LISTED)].join(", ");
    if items.len() > LISTED {
        text.push_str(&format!(" and {} more", items.len() - LISTED));
    }
    text
}

fn paragraphs<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// Formats untrusted text as Markdown code; the text cannot end the code.
fn code(text: impl ToString) -> String {
    format!("`{}`", plain::one_line(&text.to_string()).replace('`', "'"))
}
