//! One object that two releases, Applications or Kustomizations deliver: whoever is deleted first takes it away from the other.

mod delivered;
mod marked;
mod words;

use super::draft::Draft;
use super::rule::{Context, Rule, Sink, rule};

pub(super) static OBJECT_CLAIMED_TWICE: Rule = rule!(
    "object-claimed-twice",
    Warning,
    Collected,
    "Two releases, Applications or Kustomizations deliver the same object",
    object_claimed_twice,
    OncePerFiles
);

fn object_claimed_twice(context: &Context<'_>, sink: &mut Sink) {
    let drafts: Vec<Draft> = marked::twice(context)
        .into_iter()
        .chain(delivered::twice(context))
        .collect();
    sink.extend(drafts);
}
