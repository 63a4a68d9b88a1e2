//! How findings are judged.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::coverage::ReadExtent;
use super::scope::ReportScope;
use super::selection::Selection;
use crate::baseline::Baseline;
use crate::finding::{Fixes, Severity};
use crate::knowledge::Tables;
use crate::report::{Graphs, Note};
use crate::rules::World;
use crate::suppression::{Date, Ignore};
use crate::text::SourceFile;

/// How to judge what was read.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// Which rules run.
    pub selection: Selection,
    /// Whether absence proves anything; a bundle says so for itself.
    pub world: World,
    /// The tables of operators, for input that no session read; a bundle has its own. `None`: the bundled tables.
    pub tables: Option<Arc<Tables>>,
    /// Severities that the configuration gives to rules; all findings of such a rule have it.
    pub severities: BTreeMap<&'static str, Severity>,
    /// The path of the configuration.
    pub configuration: Option<String>,
    /// Ignores of the configuration, and its text.
    pub ignores: Option<(SourceFile, Vec<Ignore>)>,
    /// How much of the scope of the configuration and the known findings is read.
    pub extent: ReadExtent,
    /// Known findings, and the text of their file.
    pub baseline: Option<(SourceFile, Baseline)>,
    /// The scope of the report; `None` is all.
    pub only: Option<ReportScope>,
    /// Findings before a change: counted, not reported.
    pub before: Option<Baseline>,
    /// Further notes on the change.
    pub notes: Vec<Note>,
    /// Whether every single finding is reported, as baselines count them, and not what says the same once.
    pub every: bool,
    /// Whether every file counts as applied.
    pub as_applied: bool,
    /// Whether findings come with their fixes.
    pub fixes: Fixes,
    /// Whether the deletions behind findings are drawn.
    pub graphs: Graphs,
    /// Whether findings are counted by rule.
    pub statistics: bool,
    /// The day of the run, for ignores that expire; without one none does.
    pub today: Option<Date>,
}
