//! Counts findings by rule.

use std::collections::BTreeMap;

use super::standing::Standings;
use crate::finding::Severity;
use crate::report::{Reported, RuleStatistics, SuppressedFinding};

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
