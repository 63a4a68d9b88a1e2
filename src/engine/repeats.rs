//! Combines repeated findings into one with all of their places.
//!
//! This is the last stage: findings that are suppressed or in the baseline have been removed one by one before.

use foldhash::HashMap;

use crate::finding::{Finding, Fix, Label, Severity};
use crate::report::Reported;
use crate::rules::{self, Repeats};
use crate::text::FileId;

/// The grouping key of findings that are shown as one.
#[derive(PartialEq, Eq, Hash)]
struct GroupKey {
    rule: &'static str,
    severity: Severity,
    files: Vec<FileId>,
    message: Option<String>,
}

impl GroupKey {
    /// Returns the key of a finding; `None` for rules whose findings are all shown.
    fn of(finding: &Finding) -> Option<Self> {
        let (files, message) = match rules::find(finding.rule)?.repeats {
            Repeats::Shown => return None,
            Repeats::OncePerFiles => {
                let mut files: Vec<FileId> = finding.labels().map(|label| label.file).collect();
                files.sort_unstable();
                files.dedup();
                (files, None)
            }
            Repeats::OncePerMessage => (vec![finding.primary.file], Some(finding.message.clone())),
        };
        Some(Self {
            rule: finding.rule,
            severity: finding.severity,
            files,
            message,
        })
    }
}

/// Combines findings as their rules say. The first finding of a group is kept, and gets the places of the others.
pub(super) fn once(findings: Vec<Reported>) -> Vec<Reported> {
    // Each with the number of others that are combined with it.
    let mut kept: Vec<(Reported, usize)> = Vec::with_capacity(findings.len());
    let mut first: HashMap<GroupKey, usize> = HashMap::default();
    for mut reported in findings {
        if let Some(key) = GroupKey::of(&reported.finding) {
            let at = *first.entry(key).or_insert(kept.len());
            if let Some((combined, more)) = kept.get_mut(at) {
                add_fix(&mut combined.finding, reported.finding.fix.take());
                combined.finding.related.extend(places(reported.finding));
                *more += 1;
                continue;
            }
        }
        kept.push((reported, 0));
    }
    let combined = kept.into_iter().map(|(mut reported, more)| {
        if more > 0 {
            let message = &mut reported.finding.message;
            message.push_str(&format!(" (and {more} more)"));
        }
        reported
    });
    combined.collect()
}

/// Adds the fix of another finding to that of the combined one, which then fixes all places.
fn add_fix(kept: &mut Finding, more: Option<Fix>) {
    match (&mut kept.fix, more) {
        (Some(fix), Some(more)) => {
            fix.applicability = fix.applicability.max(more.applicability);
            fix.edits.extend(more.edits);
        }
        (fix @ None, more) => *fix = more,
        (Some(_), None) => {}
    }
}

/// Returns every place of a finding. The primary one is labelled with the object or, without one, with the message.
fn places(finding: Finding) -> impl Iterator<Item = Label> {
    let message = finding
        .object
        .map_or(finding.message, |object| object.to_string());
    let primary = Label {
        message,
        ..finding.primary
    };
    std::iter::once(primary).chain(finding.related)
}
