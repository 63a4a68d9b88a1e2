//! "May vary": what the other outcomes of a step have different from its verdict, gravest first.

use super::telling::Story;
use super::words;
use crate::gc::{Difference, Fate, Outcome, Present};
use crate::kube::ObjectKey;
use crate::text::plain;

/// Outcomes of each kind that are described.
const OUTCOMES: usize = 4;
/// Objects that are described per outcome.
const OBJECTS: usize = 4;

/// The outcomes that differ from the verdict in one respect.
#[derive(Debug)]
pub(crate) struct Variation {
    /// What differs, as a headline.
    pub(crate) title: String,
    /// One line per outcome, at most [`OUTCOMES`].
    pub(crate) outcomes: Vec<String>,
    /// Outcomes that are not described.
    pub(crate) more: usize,
}

/// All variations of a step.
pub(crate) fn variations(story: &Story<'_>) -> Vec<Variation> {
    let outcomes = &story.view.plan.steps[story.step].outcomes;
    let kinds = [
        (Difference::Existence, "what exists"),
        (Difference::Terminating, "only what is Terminating, and by what it is held"),
        (Difference::References, "only owner references that remain"),
    ];
    let each = kinds.into_iter().filter_map(|(kind, title)| {
        let mut differing = outcomes.iter().filter(|outcome| outcome.differs == Some(kind));
        let described: Vec<String> =
            differing.by_ref().take(OUTCOMES).map(|outcome| describe(story, outcome)).collect();
        (!described.is_empty()).then(|| Variation {
            title: title.to_owned(),
            outcomes: described,
            more: differing.count(),
        })
    });
    each.collect()
}

/// What to say about a search that did not end, if it did not.
pub(crate) fn incomplete(story: &Story<'_>) -> Option<&'static str> {
    (!story.view.plan.steps[story.step].complete)
        .then_some("not every order of events was tried: there may be other outcomes than those shown")
}

fn describe(story: &Story<'_>, outcome: &Outcome) -> String {
    let differences = story.view.plan.differences(outcome);
    let described: Vec<String> =
        differences.iter().take(OBJECTS).map(|(key, here, verdict)| contrast(key, here, verdict)).collect();
    let rest = differences.len() - described.len();
    let more = if rest > 0 { format!("; and {}", plain::count(rest, "more object")) } else { String::new() };
    let late = if outcome.late { " (until the collector's next retry, which may be late [GC-16])" } else { "" };
    format!("{}{more}{late}", described.join("; "))
}

fn contrast(key: &ObjectKey, here: &Fate, verdict: &Fate) -> String {
    let key = words::key(key);
    match (here, verdict) {
        (Fate::Gone, _) => format!("{key} goes"),
        (Fate::Present(here), Fate::Gone) if here.terminating => format!("{key} hangs{}", held(here)),
        (Fate::Present(_), Fate::Gone) => format!("{key} stays"),
        (Fate::Present(here), Fate::Present(verdict)) if here.terminating != verdict.terminating => {
            if here.terminating { format!("{key} hangs{}", held(here)) } else { format!("{key} is not Terminating") }
        }
        (Fate::Present(here), Fate::Present(verdict)) if here.finalizers != verdict.finalizers => {
            format!("{key} hangs{}", held(here))
        }
        (Fate::Present(here), Fate::Present(verdict)) if here.owner_references != verdict.owner_references => {
            format!("{key} has {}", owners(here))
        }
        _ => format!("{key} has other conditions"),
    }
}

fn held(present: &Present) -> String {
    match present.finalizers.as_slice() {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| plain::one_line(name)).collect();
            format!(" with {}", names.join(", "))
        }
    }
}

fn owners(present: &Present) -> String {
    let owners = present.owner_references.iter().map(|owner| {
        let blocking = if owner.block_owner_deletion == Some(true) { " (blocking)" } else { "" };
        format!("{} {}{blocking}", plain::one_line(&owner.kind), plain::one_line(&owner.name))
    });
    let owners: Vec<String> = owners.collect();
    if owners.is_empty() { "no owner".to_owned() } else { format!("owner {}", owners.join(", ")) }
}
