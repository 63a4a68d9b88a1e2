//! Which bundle a plan is about: a plan takes its input as one whole cluster.

use super::question::{PlanError, Question};
use super::targets::Targets;
use crate::engine::input::Bundle;
use crate::ownership::{Ownership, implied};

/// The bundle that was read, or the one of several that holds what the question is about.
pub(in crate::engine) fn choose<'b>(bundles: &'b [Bundle], question: &Question) -> Result<&'b Bundle, PlanError> {
    if let [bundle] = bundles {
        return Ok(bundle);
    }
    let holding: Vec<&Bundle> = bundles.iter().filter(|bundle| holds(bundle, question)).collect();
    match holding[..] {
        [bundle] => Ok(bundle),
        [] => Err(several(format!("none of these {} holds what is asked for", bundles.len()), bundles.iter())),
        _ => Err(several(format!("what is asked for is in {}", holding.len()), holding.iter().copied())),
    }
}

fn several<'b>(found: String, bundles: impl Iterator<Item = &'b Bundle>) -> PlanError {
    let name =
        |bundle: &Bundle| bundle.name.as_ref().map_or("files of no bundle".to_owned(), |name| format!("`{name}`"));
    let names: Vec<String> = bundles.map(name).collect();
    PlanError::Bundles { found, help: format!("choose with `--bundle NAME`: {}", names.join(", ")) }
}

/// Of a deletion all targets count, of steps any: what one step deletes a later one may ask for in vain.
fn holds(bundle: &Bundle, question: &Question) -> bool {
    let inventory = &bundle.inventory;
    let ownership = Ownership::of(inventory);
    let targets = Targets::new(inventory, &implied(inventory, &ownership));
    match question {
        Question::Delete { targets: words, namespace, .. } => targets.resolve(words, namespace.as_deref()).is_ok(),
        Question::Steps { steps, namespace } => steps.any_in(&targets, namespace.as_deref()),
    }
}
