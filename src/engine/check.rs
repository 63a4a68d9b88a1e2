//! The options of a check.

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

/// The options of a check, with those of the configuration.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// The rules to run.
    pub selection: Selection,
    /// Whether the input is treated as the whole cluster. Bundles have their own setting.
    pub world: World,
    /// The operator tables for input that no session read; bundles of a session have their own.
    /// `None` means the built-in tables.
    pub tables: Option<Arc<Tables>>,
    /// Severities that the configuration gives to rules; all findings of such a rule have it.
    pub severities: BTreeMap<&'static str, Severity>,
    /// The path of the configuration.
    pub configuration: Option<String>,
    /// Ignores of the configuration, and its text.
    pub ignores: Option<(SourceFile, Vec<Ignore>)>,
    /// The extent to which the files of the configuration and the baseline are read.
    pub extent: ReadExtent,
    /// Known findings, and the text of their file.
    pub baseline: Option<(SourceFile, Baseline)>,
    /// The files to which the report is limited; `None` means all.
    pub only: Option<ReportScope>,
    /// Findings before a change: counted, not reported.
    pub before: Option<Baseline>,
    /// Notes on a change, for the report.
    pub notes: Vec<Note>,
    /// Whether repeated findings are all reported, as baselines count them, instead of combined.
    pub every: bool,
    /// Whether every file is treated as applied.
    pub as_applied: bool,
    /// Whether charts are rendered.
    pub renders: bool,
    /// Whether findings come with their fixes.
    pub fixes: Fixes,
    /// Whether the report gets the simulated deletions behind its findings.
    pub graphs: Graphs,
    /// Whether findings are counted by rule.
    pub statistics: bool,
    /// The current date, for ignores that expire; if it is `None`, none expires.
    pub today: Option<Date>,
}
