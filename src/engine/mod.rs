//! One run over one or several bundles: read, bind, run the rules, silence what is silenced, and finish the report.
//!
//! The way of a finding: rule → severity of the configuration → suppressions → baseline → report scope → order. Knows
//! nothing of the terminal: no arguments, no environment, no clock, no printing.

mod cascade;
mod input;
mod judge;
mod list;
mod merge;
mod plan;
mod run;
mod scope;
mod selection;

use std::collections::BTreeMap;

use crate::baseline::Baseline;
use crate::finding::Severity;
use crate::inventory::Inventory;
use crate::report::{Report, RuleInfo, Tool};
use crate::rules::{Page, Rule, World};
use crate::suppression::{Date, Ignore};
use crate::text::SourceFile;

pub use input::{Bundle, BundleError, BundleInput, Input, read_bundles, read_paths};
pub use list::{list, list_bundles};
pub use plan::{PlanError, Question, Rehearsal, StepsError, TargetError, read_steps};
pub use run::check_bundles;
pub use scope::ReportScope;
pub use selection::{Selection, UnknownRule};

/// How to judge what was read.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Which rules run.
    pub selection: Selection,
    /// Whether absence proves anything; a [`Bundle`] says so for itself.
    pub world: World,
    /// Severities that the configuration gives to rules; all findings of such a rule have it.
    pub severities: BTreeMap<&'static str, Severity>,
    /// Ignores of the configuration, and its text.
    pub ignores: Option<(SourceFile, Vec<Ignore>)>,
    /// Whether all that the configuration names is read, so that an ignore without effect has none at all.
    pub complete: bool,
    /// Known findings, and the text of their file.
    pub baseline: Option<(SourceFile, Baseline)>,
    /// What is reported; `None` is all.
    pub only: Option<ReportScope>,
    /// The day of the run, for ignores that expire; without one none does.
    pub today: Option<Date>,
}

/// The program as reports name it.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: env!("CARGO_PKG_REPOSITORY").to_owned(),
    }
}

/// Runs the selected rules over one bundle.
pub fn check(inventory: Inventory, check: &Check) -> Report {
    check_bundles(vec![Bundle { inventory, world: check.world }], check)
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
