//! Counts what a check read and found.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::PathBuf;

use super::check::Check;
use super::input::Bundle;
use super::merge::Merged;
use super::scope::FilesInScope;
use super::standing::Standings;
use crate::finding::Severity;
use crate::inventory::locate;
use crate::report::{Reported, RuleStatistics, Summary, SuppressedFinding};

/// The configuration and the baseline. They are neither counted nor listed as skipped, even in a checked folder.
pub(super) struct OwnFiles(Vec<PathBuf>);

impl OwnFiles {
    pub(super) fn new(check: &Check) -> Self {
        let baseline = check.baseline.as_ref().map(|(file, _)| file.path());
        Self(
            check
                .configuration
                .as_deref()
                .into_iter()
                .chain(baseline)
                .map(locate)
                .collect(),
        )
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().map(OsStr::new);
        self.0
            .iter()
            .any(|own| own.file_name() == name && *own == locate(path))
    }
}

/// Counts the findings of each rule that has any, sorted by rule id.
pub(super) fn statistics(
    findings: &[Reported],
    suppressed: &[SuppressedFinding],
    standings: &mut Standings<'_>,
) -> Vec<RuleStatistics> {
    let mut counts: BTreeMap<&'static str, RuleStatistics> = BTreeMap::new();
    for Reported { finding, .. } in findings {
        let rule = counts
            .entry(finding.rule)
            .or_insert_with(|| RuleStatistics::none(finding.rule));
        match finding.severity {
            Severity::Error => rule.error += 1,
            Severity::Warning => rule.warning += 1,
            Severity::Info => rule.info += 1,
        }
        rule.undelivered += usize::from(!standings.is_applied(finding.primary.file));
    }
    for one in suppressed {
        let rule = one.reported.finding.rule;
        let rule = counts
            .entry(rule)
            .or_insert_with(|| RuleStatistics::none(rule));
        rule.suppressed += 1;
    }
    counts.into_values().collect()
}

pub(super) fn summarise(
    bundles: &[Bundle],
    merged: &Merged,
    scope: &FilesInScope,
    own: &OwnFiles,
    findings: &[Reported],
) -> Summary {
    let read = bundles.iter().flat_map(Bundle::files).map(|(_, file)| file);
    let checked = read.filter(|file| !own.contains(file.source().path()));
    Summary {
        files: merged
            .in_sets()
            .filter(|(id, file)| scope.contain(*id) && !own.contains(file.path()))
            .count(),
        documents: checked.map(|file| file.document_count()).sum(),
        objects: bundles
            .iter()
            .map(|bundle| bundle.asked_for().count())
            .sum(),
        ..Summary::of(findings)
    }
}
