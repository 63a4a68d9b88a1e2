//! One run over a bundle: read, bind, run the rules, and finish the report.
//!
//! Knows nothing of the terminal: no arguments, no environment, no printing.

mod list;
mod plan;
mod selection;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::finding::{Finding, Severity, fingerprint};
use crate::inventory::{self, InputError, Inventory, SkipReason};
use crate::ownership::Ownership;
use crate::report::{Note, Place, Report, Reported, RuleInfo, Summary, Tool};
use crate::rules::{Context, Page, Rule, World};
use crate::text::Span;

pub use list::list;
pub use plan::{PlanError, Question, Rehearsal, StepsError, TargetError, read_steps};
pub use selection::{Selection, UnknownRule};

/// What to read, and how.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Files, folders, globs and `-`.
    pub paths: Vec<String>,
    /// Globs of reported paths that are left out.
    pub exclude: Vec<String>,
    /// Release, namespace, extra kinds, unsaved text.
    pub settings: inventory::Settings,
}

impl Input {
    /// Finds and reads the input.
    ///
    /// # Errors
    /// An argument that cannot be read.
    pub fn read(self) -> Result<Inventory, InputError> {
        let walk = inventory::walk(&self.paths, &self.exclude)?;
        Ok(Inventory::read(walk, self.settings))
    }
}

/// How to judge what was read.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Which rules run.
    pub selection: Selection,
    /// Whether absence proves anything.
    pub world: World,
}

/// The program as reports name it.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: env!("CARGO_PKG_REPOSITORY").to_owned(),
    }
}

/// Runs the selected rules over an inventory.
pub fn check(inventory: Inventory, check: &Check) -> Report {
    let ownership = Ownership::of(&inventory);
    let context = Context { inventory: &inventory, ownership: &ownership, world: check.world };
    let rules = check.selection.rules();
    let runs: Vec<_> = rules.par_iter().map(|rule| (*rule, run(rule, &context))).collect();
    let mut notes = template_notes(&inventory);
    let mut findings = Vec::new();
    for (rule, run) in runs {
        match run {
            Ok(found) => findings.extend(found),
            Err(()) => notes.push(internal_failure(rule)),
        }
    }
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    let summary = summarise(&inventory, &findings);
    let reported = finish(&inventory, findings);
    let rules = rules.into_iter().map(describe).collect();
    Report { tool: tool(), sources: inventory.sources, findings: reported, rules, summary, notes }
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

/// Files are numbered in path order, so this is the order (path, offset, rule); the rest only makes it total.
fn order(finding: &Finding) -> impl Ord + '_ {
    let Finding { rule, primary, field, message, .. } = finding;
    (primary.file, primary.span, *rule, field, message)
}

fn summarise(inventory: &Inventory, findings: &[Finding]) -> Summary {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    Summary {
        files: inventory.sources.len(),
        documents: inventory.documents,
        objects: inventory.members.len(),
        error: count(Severity::Error),
        warning: count(Severity::Warning),
        info: count(Severity::Info),
        suppressed: 0,
        baseline: 0,
    }
}

fn finish(inventory: &Inventory, findings: Vec<Finding>) -> Vec<Reported> {
    let mut definitions = std::collections::HashMap::new();
    for member in &inventory.members {
        *definitions.entry(member.key.to_string()).or_insert(0usize) += 1;
    }
    let prints = fingerprint(
        &findings,
        |finding| inventory.sources.file(finding.primary.file).path(),
        |key| definitions.get(key).copied().unwrap_or_default(),
    );
    let places: std::collections::HashMap<String, Place> = inventory
        .members
        .iter()
        .rev()
        .map(|member| (member.key.to_string(), Place { file: member.file, span: member.object.name_span() }))
        .collect();
    let reported = findings.into_iter().zip(prints).map(|(finding, fingerprint)| Reported {
        url: crate::rules::find(finding.rule).map(Rule::url),
        chain_places: finding.chain.iter().map(|key| places.get(key).copied()).collect(),
        finding,
        fingerprint,
    });
    reported.collect()
}

/// A rule as reports describe it.
pub fn describe(rule: &Rule) -> RuleInfo {
    RuleInfo {
        id: rule.id,
        summary: rule.summary.to_owned(),
        severity: rule.severity,
        consequence: rule.consequence,
        page: Page::parse(rule.page).map_or(rule.page, |page| page.body).to_owned(),
        url: rule.url(),
    }
}

/// One note per chart whose templates were not rendered.
fn template_notes(inventory: &Inventory) -> Vec<Note> {
    let mut charts = std::collections::BTreeMap::new();
    for skip in inventory.skipped.iter().filter(|skip| skip.reason == SkipReason::Template) {
        let path = inventory.sources.file(skip.file).path();
        charts.entry(chart_of(path).to_owned()).or_insert_with(Vec::new).push((path, skip.span));
    }
    let note = |(chart, skipped): (String, Vec<(&str, Span)>)| {
        let documents = if skipped.len() == 1 { "document is" } else { "documents are" };
        Note {
            severity: Severity::Warning,
            message: format!(
                "{} {documents} unrendered Helm templates and were skipped: run `helm template` and check its output",
                skipped.len()
            ),
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
