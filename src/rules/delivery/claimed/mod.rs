//! One object that two releases, Applications or Kustomizations deliver: the first of them that is deleted deletes the
//! object although the other still needs it.

mod delivered;
mod marked;
mod words;

use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};

pub(in crate::rules) static OBJECT_CLAIMED_TWICE: Rule = rule!(
    Delivery,
    "object-claimed-twice",
    Warning,
    Collected,
    "Two releases, Applications or Kustomizations deliver the same object",
    object_claimed_twice
)
.once_per_files();

fn object_claimed_twice(context: &Context<'_>, sink: &mut Sink) {
    let drafts: Vec<Draft> = marked::twice(context)
        .into_iter()
        .chain(delivered::twice(context))
        .collect();
    sink.extend(drafts);
}
