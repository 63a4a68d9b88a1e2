//! "May vary": how other outcomes of a step differ from its verdict, gravest first.

use std::collections::BTreeMap;

use super::telling::Story;
use super::words;
use crate::gc::{Difference, Fate, Outcome, Present};
use crate::kube::ObjectKey;
use crate::text::plain;

/// Maximum number of outcomes that are described for each kind of difference.
const OUTCOMES: usize = 4;
/// Maximum number of objects that are described for each outcome.
const OBJECTS: usize = 4;

/// Maximum number of objects that are described if there are more than [`OUTCOMES`] outcomes.
const VARYING: usize = 12;

/// The outcomes that differ from the verdict in one respect.
#[derive(Debug)]
pub(crate) struct Variation {
    /// The difference, as a headline.
    pub(crate) title: String,
    /// At most [`OUTCOMES`] outcomes; if there are more, at most [`VARYING`] objects, each with its possible fates.
    pub(crate) outcomes: Vec<Alternative>,
    /// The number of objects that are not described, as text.
    pub(crate) more: Option<String>,
}

/// An outcome other than the verdict, in one line.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) text: String,
    /// The rules that make this outcome possible, if particular ones do.
    pub(crate) citations: &'static [&'static str],
}

pub(crate) fn variations(story: &Story<'_>) -> Vec<Variation> {
    let outcomes = &story.view.plan.steps[story.step].outcomes;
    let kinds = [
        (Difference::Existence, "different objects remain"),
        (
            Difference::Terminating,
            "the same objects remain, but different ones are Terminating, or held by something else",
        ),
        (
            Difference::References,
            "the same objects remain, with different owner references",
        ),
    ];
    let each = kinds.into_iter().filter_map(|(kind, title)| {
        let differing = outcomes
            .iter()
            .filter(|outcome| outcome.differs == Some(kind));
        let differing: Vec<&Outcome> = differing.collect();
        if differing.len() > OUTCOMES {
            return Some(by_object(story, title, &differing));
        }
        let outcomes = differing.iter().map(|outcome| describe(story, outcome));
        (!differing.is_empty()).then(|| Variation {
            title: title.to_owned(),
            outcomes: outcomes.collect(),
            more: None,
        })
    });
    each.collect()
}

/// Groups many outcomes by the objects that differ, each with its possible fates.
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

/// Returns a note if the search for outcomes was incomplete.
pub(crate) fn incomplete(story: &Story<'_>) -> Option<&'static str> {
    (!story.view.plan.steps[story.step].complete)
        .then_some("not every order of events was tried: there may be more outcomes")
}

fn describe(story: &Story<'_>, outcome: &Outcome) -> Alternative {
    let differences = story.view.plan.differences(outcome);
    let described = differences.iter().take(OBJECTS);
    let described: Vec<String> = described
        .map(|(key, here, verdict)| format!("{} {}", words::key(key), contrast(here, verdict)))
        .collect();
    let rest = differences.len() - described.len();
    let more = if rest > 0 {
        format!("; and {}", plain::count(rest, "more object"))
    } else {
        String::new()
    };
    let late = if outcome.late {
        " (until the collector's next retry, which may be late)"
    } else {
        ""
    };
    Alternative {
        text: format!("{}{more}{late}", described.join("; ")),
        citations: if outcome.late { &["GC-16"] } else { &[] },
    }
}

fn contrast(here: &Fate, verdict: &Fate) -> String {
    match (here, verdict) {
        (Fate::Gone, _) => "is deleted".to_owned(),
        (Fate::Present(here), Fate::Gone) if here.terminating => format!("is stuck{}", holds(here)),
        (Fate::Present(_), Fate::Gone) => "is kept".to_owned(),
        (Fate::Present(here), Fate::Present(verdict)) => {
            if verdict.terminating && !here.terminating {
                "is not Terminating".to_owned()
            } else if here.terminating != verdict.terminating
                || here.finalizers != verdict.finalizers
            {
                format!("is stuck{}", holds(here))
            } else if here.owner_references != verdict.owner_references {
                format!("has {}", owners(here))
            } else {
                "has other conditions".to_owned()
            }
        }
    }
}

fn holds(present: &Present) -> String {
    let names = present.finalizers.iter().map(|name| plain::one_line(name));
    let names: Vec<String> = names.collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", held by {}", names.join(", "))
    }
}

fn owners(present: &Present) -> String {
    let owners = present.owner_references.iter().map(|owner| {
        let blocking = if owner.block_owner_deletion == Some(true) {
            " (blocking)"
        } else {
            ""
        };
        let kind = plain::one_line(&owner.kind);
        let name = plain::one_line(&owner.name);
        format!("{kind} {name}{blocking}")
    });
    let owners: Vec<String> = owners.collect();
    if owners.is_empty() {
        "no owner".to_owned()
    } else {
        format!("owner {}", owners.join(", "))
    }
}
