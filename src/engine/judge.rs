//! Runs the rules on one bundle.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::cluster::Verdicts;
use crate::finding::{Finding, Severity};
use crate::inventory::Inventory;
use crate::manifest::SkipReason;
use crate::report::Note;
use crate::rules::{Context, RULES, Rule, World};
use crate::suppression::Directives;
use crate::text::Span;

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
    let mut notes = template_notes(inventory);
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

/// One note per chart whose templates were not rendered.
fn template_notes(inventory: &Inventory) -> Vec<Note> {
    let mut charts = std::collections::BTreeMap::new();
    for skip in inventory.skipped().filter(|skip| skip.what.reason == SkipReason::Template) {
        let path = inventory.sources.file(skip.file).path();
        charts.entry(chart_of(path).to_owned()).or_insert_with(Vec::new).push((path, skip.what.span));
    }
    let note = |(chart, skipped): (String, Vec<(&str, Span)>)| {
        let documents = match skipped.len() {
            1 => "1 document is an unrendered Helm template and was".to_owned(),
            n => format!("{n} documents are unrendered Helm templates and were"),
        };
        Note {
            severity: Severity::Warning,
            message: format!("{documents} skipped: run `helm template` and check its output"),
            path: Some(chart),
            line: None,
        }
    };
    charts.into_iter().map(note).collect()
}

/// The chart's folder: what stands before `/templates/`; else the folder of the file.
fn chart_of(path: &str) -> &str {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    path.split_once("/templates/").map_or(folder, |(chart, _)| chart)
}
