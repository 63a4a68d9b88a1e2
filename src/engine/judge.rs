//! Runs the rules on one bundle, or on a change.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use super::notes::{note_on_reach, notes_on_sources};
use crate::cluster::Verdicts;
use crate::finding::{Finding, Fixes, Severity};
use crate::merge::Merge;
use crate::report::Note;
use crate::rules::{Context, MOST_FINDINGS, RULES, Rule, World};
use crate::suppression::Directives;

/// What the rules say of a bundle or a change.
#[derive(Debug)]
pub(super) struct Judgement {
    /// Their findings, in no particular order.
    pub(super) findings: Vec<Finding>,
    /// What is to be said besides.
    pub(super) notes: Vec<Note>,
}

/// Runs `rules` on a bundle.
pub(super) fn judge<'a>(
    verdicts: &'a Verdicts<'a>,
    directives: &'a Directives,
    world: World,
    rules: &[&'static Rule],
    fixes: Fixes,
) -> Judgement {
    let analysis = verdicts.analysis();
    let inventory = analysis.inventory();
    let mut notes = notes_on_sources(inventory);
    // A single rule may ask for nothing.
    if rules.len() > 1 {
        analysis.prepare();
        notes.extend(note_on_reach(analysis.reach()));
    }
    let ownership = analysis.ownership();
    let context = Context { inventory, ownership, analysis, verdicts, world, directives, rules: RULES };
    let mut judgement = all(rules, |rule| rule.run(&context, fixes));
    notes.append(&mut judgement.notes);
    Judgement { notes, ..judgement }
}

/// Runs `rules` on what merging a change does to one part of a tree.
pub(super) fn judge_merge(merge: &Merge<'_>, rules: &[&'static Rule]) -> Judgement {
    all(rules, |rule| rule.run_on_merge(merge))
}

/// What all rules say. A rule that fails takes nothing else with it.
fn all(rules: &[&'static Rule], run: impl Fn(&'static Rule) -> (Vec<Finding>, usize) + Sync) -> Judgement {
    let run = |rule: &&'static Rule| (*rule, catch_unwind(AssertUnwindSafe(|| run(rule))));
    // One at a time: a thread that is done takes the next, however long the other one is at its own.
    let runs: Vec<_> = rules.par_iter().with_max_len(1).map(run).collect();
    let mut judgement = Judgement { findings: Vec::new(), notes: Vec::new() };
    for (rule, run) in runs {
        match run {
            Ok((found, omitted)) => {
                judgement.findings.extend(found);
                judgement.notes.extend((omitted > 0).then(|| too_many(rule, omitted)));
            }
            Err(_) => judgement.notes.push(internal_failure(rule)),
        }
    }
    judgement
}

fn too_many(rule: &Rule, omitted: usize) -> Note {
    Note {
        severity: Severity::Warning,
        message: format!("rule `{}` found {omitted} more: of one rule, {MOST_FINDINGS} findings are reported", rule.id),
        path: None,
        line: None,
    }
}

fn internal_failure(rule: &Rule) -> Note {
    Note {
        severity: Severity::Error,
        message: format!("rule `{}` failed on this input and found nothing: please report it with the input", rule.id),
        path: None,
        line: None,
    }
}
