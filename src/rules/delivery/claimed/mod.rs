//! One object that two releases, Applications or Kustomizations deliver: deleting one of them
//! deletes the object although the other still needs it.

mod delivered;
mod marked;

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

const HELP: &str = "deliver it once: in one of the two, or in a third that both depend on";

/// The reason for tools that prune: Argo CD and Flux.
const PRUNED: &str = "Each overwrites the version of the other. When one of them is deleted, or \
                      drops the object, the tool prunes it while the other still needs it. The \
                      object comes back at the other's next sync; a Namespace or \
                      CustomResourceDefinition comes back without its contents.";

fn object_claimed_twice(context: &Context<'_>, sink: &mut Sink) {
    sink.extend(marked::twice(context));
    sink.extend(delivered::twice(context));
}
