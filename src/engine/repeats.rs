//! Combines repeated findings into one with all of their places.
//!
//! This is the last stage: findings that are suppressed or in the baseline have been removed one by one before.

use std::collections::hash_map::Entry;

use foldhash::HashMap;

use crate::finding::{Finding, Fix, Label, Severity};
use crate::report::Reported;
use crate::rules::{self, Repeats};
use crate::text::FileId;

/// The grouping key of findings that are shown as one.
#[derive(PartialEq, Eq, Hash)]
struct Likeness {
    rule: &'static str,
    severity: Severity,
    files: Vec<FileId>,
    message: Option<String>,
}

impl Likeness {
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
    let mut kept: Vec<Reported> = Vec::with_capacity(findings.len());
    let mut more: Vec<usize> = Vec::with_capacity(findings.len());
    let mut first = HashMap::default();
    for reported in findings {
        match Likeness::of(&reported.finding).map(|likeness| first.entry(likeness)) {
            Some(Entry::Occupied(at)) => {
                let at: usize = *at.get();
                let mut finding = reported.finding;
                add_fix(&mut kept[at].finding, finding.fix.take());
                kept[at].finding.related.extend(places(finding));
                more[at] += 1;
            }
            new => {
                if let Some(Entry::Vacant(place)) = new {
                    place.insert(kept.len());
                }
                kept.push(reported);
                more.push(0);
            }
        }
    }
    for (reported, more) in kept.iter_mut().zip(more).filter(|(_, more)| *more > 0) {
        reported
            .finding
            .message
            .push_str(&format!(" (and {more} more)"));
    }
    kept
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
    let Finding {
        primary,
        object,
        message,
        related,
        ..
    } = finding;
    let words = object.map_or(message, |object| object.to_string());
    std::iter::once(Label {
        message: words,
        ..primary
    })
    .chain(related)
}
