//! Compares two reports on a change: whether one leaves out effects or findings of the other.

use std::collections::BTreeMap;

use crate::finding::Severity;
use crate::kube::GroupKind;
use crate::merge::{EffectCertainty, EffectKind};
use crate::report::Reported;
use crate::report::diff::DiffReport;
use crate::text::Span;

/// An effect without the namespace of its object, which only a configuration may know.
type EffectIdentity<'r> = (EffectKind, EffectCertainty, GroupKind<&'r str>, &'r str);

/// Whether `report` lacks an effect or a finding of `other`, has a finding with a lower severity, or has fewer unread
/// inputs, failed builds or objects whose tool is unknown.
pub(super) fn hides_results(report: &DiffReport, other: &DiffReport) -> bool {
    let is_silent =
        report.unread.len() < other.unread.len() || report.failed.len() < other.failed.len();
    if is_silent || report.summary.unknown < other.summary.unknown {
        return true;
    }
    let (counted, wanted) = (effects(report), effects(other));
    let lacks = wanted
        .into_iter()
        .any(|(effect, count)| counted.get(&effect).copied().unwrap_or_default() < count);
    let (found, wanted) = (found(report), found(other));
    lacks
        || wanted
            .into_iter()
            .any(|(place, severity)| found.get(&place).is_none_or(|found| *found < severity))
}

fn effects(report: &DiffReport) -> BTreeMap<EffectIdentity<'_>, usize> {
    let mut effects = BTreeMap::new();
    for effect in &report.effects {
        let key = &effect.key;
        *effects
            .entry((
                effect.effect,
                effect.certainty,
                key.group_kind(),
                &*key.name,
            ))
            .or_default() += 1;
    }
    effects
}

/// Returns the severities of the findings, by rule and place.
fn found(report: &DiffReport) -> BTreeMap<(&str, &str, Span), Severity> {
    let mut found = BTreeMap::new();
    for Reported { finding, .. } in &report.findings.findings {
        let path = report.findings.sources.file(finding.primary.file).path();
        let severity = found
            .entry((finding.rule, path, finding.primary.span))
            .or_insert(finding.severity);
        *severity = finding.severity.max(*severity);
    }
    found
}
