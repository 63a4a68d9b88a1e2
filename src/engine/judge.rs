//! Runs the rules on one bundle, or on a change.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use super::input::Bundle;
use super::notes::{note_on_reach, notes_on_sources};
use crate::cluster::PlanCache;
use crate::finding::{Finding, Fixes, Severity};
use crate::report::Note;
use crate::rules::{Context, MAX_FINDINGS, Omitted, Rule, Shown};
use crate::suppression::Directives;
use crate::text::plain;

/// The findings of the rules about a bundle or a change.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// The findings, in the order of the rules.
    pub(super) findings: Vec<Finding>,
    pub(super) notes: Vec<Note>,
    /// Ids of the rules that exceeded a limit, so that some of their findings are missing.
    pub(super) cut_short: Vec<&'static str>,
}

/// Runs `rules` on a bundle with the simulations `plans`. `shown` returns whether a report shows a finding; findings that are not shown have a limit
/// of their own.
pub(super) fn judge<'a>(
    bundle: &Bundle,
    plans: &'a PlanCache<'a>,
    directives: &'a Directives,
    rules: &[&'static Rule],
    fixes: Fixes,
    renders: bool,
    shown: Shown<'_>,
) -> Judgement {
    let analysis = plans.analysis();
    let inventory = analysis.inventory();
    // A single rule may not need all of the analysis.
    let asks_for_all = rules.len() > 1;
    let (_, mut notes) = rayon::join(
        || asks_for_all.then(|| analysis.prepare()),
        || notes_on_sources(bundle, renders),
    );
    if asks_for_all {
        notes.extend(note_on_reach(analysis.reach()));
    }
    let context = Context {
        inventory,
        ownership: analysis.ownership(),
        analysis,
        plans,
        world: bundle.world,
        directives,
    };
    let mut judgement = run_all(rules, |rule| rule.run(&context, fixes, shown));
    notes.append(&mut judgement.notes);
    judgement.notes = notes;
    judgement
}

/// Runs `rules` in parallel, the slowest first. A rule that panics does not affect the others.
pub(super) fn run_all(
    rules: &[&'static Rule],
    run: impl Fn(&'static Rule) -> (Vec<Finding>, Omitted) + Sync,
) -> Judgement {
    let mut queue: Vec<(usize, &'static Rule)> = rules.iter().copied().enumerate().collect();
    queue.sort_by_key(|(at, rule)| (!rule.is_slow, *at));
    // A job is a single rule, so that a thread that is done takes the next rule.
    let jobs = queue.into_par_iter().with_max_len(1);
    let mut runs: Vec<_> = jobs
        .map(|(at, rule)| (at, rule, catch_unwind(AssertUnwindSafe(|| run(rule)))))
        .collect();
    runs.sort_by_key(|(at, ..)| *at);
    let mut judgement = Judgement::default();
    for (_, rule, run) in runs {
        match run {
            Ok((found, omitted)) => {
                judgement.findings.extend(found);
                if omitted != Omitted::default() {
                    judgement.notes.push(too_many(rule, omitted));
                    judgement.cut_short.push(rule.id);
                }
            }
            Err(_) => judgement.notes.push(internal_failure(rule)),
        }
    }
    judgement
}

fn too_many(rule: &Rule, omitted: Omitted) -> Note {
    let Omitted {
        shown,
        hidden,
        untried,
    } = omitted;
    let kept = format!("at most {MAX_FINDINGS} findings are reported per rule");
    let parts = [
        (shown, format!("found {shown} more: {kept}")),
        (
            hidden,
            format!("found {hidden} more that are suppressed, known or out of scope: {kept}"),
        ),
        (
            untried,
            format!(
                "did not check {}, because each takes too long",
                plain::count(untried, "case")
            ),
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, part)| part)
        .collect();
    Note {
        severity: Severity::Warning,
        message: format!("rule `{}` {}", rule.id, parts.join("; it ")),
        path: None,
        line: None,
    }
}

fn internal_failure(rule: &Rule) -> Note {
    Note {
        severity: Severity::Error,
        message: format!(
            "rule `{}` failed on this input and found nothing: please report it with the input",
            rule.id
        ),
        path: None,
        line: None,
    }
}
