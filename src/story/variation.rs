//! "May vary": how the other outcomes of a step differ from its verdict, gravest first.

use std::collections::BTreeMap;

use super::telling::Story;
use super::words;
use crate::gc::{Difference, Fate, Outcome, Present};
use crate::kube::ObjectKey;
use crate::text::plain;

/// Outcomes of each kind that are described.
const OUTCOMES: usize = 4;
/// Objects that are described per outcome.
const OBJECTS: usize = 4;

/// Objects that are described where there are more outcomes than that.
const VARYING: usize = 12;

/// The outcomes that differ from the verdict in one respect.
#[derive(Debug)]
pub(crate) struct Variation {
    /// The difference, as a headline.
    pub(crate) title: String,
    /// At most [`OUTCOMES`]; or of more, at most [`VARYING`] objects, each with all that may become of it.
    pub(crate) outcomes: Vec<Alternative>,
    /// The differences that are not described, counted.
    pub(crate) more: Option<String>,
}

/// An outcome other than the verdict, in one line.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) text: String,
    /// Why it is possible, where a rule of its own says so.
    pub(crate) citations: &'static [&'static str],
}

/// All variations of a step.
pub(crate) fn variations(story: &Story<'_>) -> Vec<Variation> {
    let outcomes = &story.view.plan.steps[story.step].outcomes;
    let kinds = [
        (Difference::Existence, "what exists"),
        (
            Difference::Terminating,
            "only the Terminating objects, and their holds",
        ),
        (Difference::References, "only which owner references remain"),
    ];
    let each = kinds.into_iter().filter_map(|(kind, title)| {
        let differing: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.differs == Some(kind))
            .collect();
        if differing.len() > OUTCOMES {
            return Some(by_object(story, title, &differing));
        }
        let outcomes = differing
            .into_iter()
            .map(|outcome| describe(story, outcome))
            .collect::<Vec<_>>();
        (!outcomes.is_empty()).then(|| Variation {
            title: title.to_owned(),
            outcomes,
            more: None,
        })
    });
    each.collect()
}

/// Many outcomes, by the objects that differ: the possible fates of each.
fn by_object(story: &Story<'_>, title: &str, differing: &[&Outcome]) -> Variation {
    let mut fates: BTreeMap<ObjectKey, Vec<String>> = BTreeMap::new();
    for outcome in differing {
        for (key, here, verdict) in story.view.plan.differences(outcome) {
            let ending = contrast(&here, &verdict);
            let known = fates.entry(key).or_default();
            if !known.contains(&ending) {
                known.push(ending);
            }
        }
    }
    let count = fates.len();
    let described = fates.into_iter().take(VARYING);
    let outcomes = described.map(|(key, endings)| Alternative {
        text: format!("{} {}", words::key(&key), endings.join(", or ")),
        citations: &[],
    });
    Variation {
        title: format!("{title}, in {} outcomes, object by object", differing.len()),
        outcomes: outcomes.collect(),
        more: (count > VARYING).then(|| plain::count(count - VARYING, "more object")),
    }
}

/// The sentence on a search that did not end, if it did not.
pub(crate) fn incomplete(story: &Story<'_>) -> Option<&'static str> {
    (!story.view.plan.steps[story.step].complete)
        .then_some("not every order of events was tried: there may be more outcomes")
}

fn describe(story: &Story<'_>, outcome: &Outcome) -> Alternative {
    let differences = story.view.plan.differences(outcome);
    let described: Vec<String> = differences
        .iter()
        .take(OBJECTS)
        .map(|(key, here, verdict)| format!("{} {}", words::key(key), contrast(here, verdict)))
        .collect();
    let rest = differences.len() - described.len();
    let more = if rest > 0 {
        format!("; and {}", plain::count(rest, "more object"))
    } else {
        String::new()
    };
    let (late, citations): (_, &[_]) = if outcome.late {
        (
            " (until the collector's next retry, which may be late)",
            &["GC-16"],
        )
    } else {
        ("", &[])
    };
    Alternative {
        text: format!("{}{more}{late}", described.join("; ")),
        citations,
    }
}

fn contrast(here: &Fate, verdict: &Fate) -> String {
    match (here, verdict) {
        (Fate::Gone, _) => "is deleted".to_owned(),
        (Fate::Present(here), Fate::Gone) if here.terminating => format!("is stuck{}", held(here)),
        (Fate::Present(_), Fate::Gone) => "is kept".to_owned(),
        (Fate::Present(here), Fate::Present(verdict))
            if here.terminating != verdict.terminating =>
        {
            if here.terminating {
                format!("is stuck{}", held(here))
            } else {
                "is not Terminating".to_owned()
            }
        }
        (Fate::Present(here), Fate::Present(verdict)) if here.finalizers != verdict.finalizers => {
            format!("is stuck{}", held(here))
        }
        (Fate::Present(here), Fate::Present(verdict))
            if here.owner_references != verdict.owner_references =>
        {
            format!("has {}", owners(here))
        }
        _ => "has other conditions".to_owned(),
    }
}

fn held(present: &Present) -> String {
    match present.finalizers.as_slice() {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| plain::one_line(name)).collect();
            format!(", held by {}", names.join(", "))
        }
    }
}

fn owners(present: &Present) -> String {
    let owners = present.owner_references.iter().map(|owner| {
        let blocking = if owner.block_owner_deletion == Some(true) {
            " (blocking)"
        } else {
            ""
        };
        format!(
            "{} {}{blocking}",
            plain::one_line(&owner.kind),
            plain::one_line(&owner.name)
        )
    });
    let owners: Vec<String> = owners.collect();
    if owners.is_empty() {
        "no owner".to_owned()
    } else {
        format!("owner {}", owners.join(", "))
    }
}
