//! Runs the rules on one bundle.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use super::notes::notes_on_sources;
use crate::cluster::Verdicts;
use crate::finding::{Finding, Severity};
use crate::report::Note;
use crate::rules::{Context, RULES, Rule, World};
use crate::suppression::Directives;

/// What the rules say of a bundle.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Their findings, in no particular order.
    pub(super) findings: Vec<Finding>,
    /// What is to be said of the bundle besides.
    pub(super) notes: Vec<Note>,
}

/// Runs `rules` on a bundle.
pub(super) fn judge<'a>(
    verdicts: &'a Verdicts<'a>,
    directives: &'a Directives,
    world: World,
    rules: &[&'static Rule],
) -> Judgement {
    let analysis = verdicts.analysis();
    let (inventory, ownership) = (analysis.inventory(), analysis.ownership());
    let context = Context { inventory, ownership, analysis, verdicts, world, directives, rules: RULES };
    let runs: Vec<_> = rules.par_iter().map(|rule| (*rule, run(rule, &context))).collect();
    let mut notes = notes_on_sources(inventory);
    let mut findings = Vec::new();
    for (rule, run) in runs {
        match run {
            Ok(found) => findings.extend(found),
            Err(()) => notes.push(internal_failure(rule)),
        }
    }
    Judgement { findings, notes }
}

/// A rule that fails takes nothing else with it.
fn run(rule: &'static Rule, context: &Context<'_>) -> Result<Vec<Finding>, ()> {
    catch_unwind(AssertUnwindSafe(|| rule.run(context))).map_err(|_| ())
}

fn internal_failure(rule: &Rule) -> Note {
    Note {
        severity: Severity::Error,
        message: format!("rule `{}` failed on this input and found nothing: please report it with the input", rule.id),
        path: None,
        line: None,
    }
}
