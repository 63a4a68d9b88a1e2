//! Baselines: known findings that are not reported, by identity and count. They contain no line numbers, so
//! reformatting, moving files and reordering documents do not change them.
//!
//! Does not depend on the rules.

mod document;
mod matching;

use std::collections::BTreeMap;

use crate::finding::{Finding, Identity};
use crate::text::{FileId, Span};

pub(crate) use document::BaselineDocument;
pub use document::{Baseline, BaselineError, KnownFinding};
pub use matching::any_namespace;

/// The default file name of a baseline.
pub const FILE_NAME: &str = "ownerlint-baseline.json";

/// Findings, divided by a baseline.
#[derive(Clone, Debug)]
pub struct Parted<F> {
    /// Findings that the baseline does not list.
    pub new: Vec<F>,
    /// Findings that the baseline lists.
    pub known: Vec<F>,
    /// Entries of the baseline that the run found less often than their count.
    pub stale: Vec<Stale>,
}

/// An entry of a baseline that the run found less often, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The file of the baseline.
    pub file: FileId,
    /// The span of the entry's rule.
    pub span: Span,
    /// The known finding.
    pub identity: Identity,
    /// The entry's count: the number of findings that it covers.
    pub known: usize,
    /// The number of findings that the run found.
    pub found: usize,
}

impl Baseline {
    /// Builds a baseline of `findings`.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut counts: BTreeMap<Identity, usize> = BTreeMap::new();
        for finding in findings {
            *counts.entry(Identity::of(finding)).or_default() += 1;
        }
        Self::of_counts(counts)
    }

    fn of_counts(counts: impl IntoIterator<Item = (Identity, usize)>) -> Self {
        let entries = counts.into_iter().map(|(identity, count)| KnownFinding {
            identity,
            count,
            span: Span::default(),
        });
        Self {
            entries: entries.collect(),
        }
    }

    /// Divides findings into new and known ones, without looking for stale entries.
    pub fn divide<F>(&self, findings: Vec<F>, of: impl Fn(&F) -> &Finding) -> Parted<F> {
        self.part(findings, of, |_, _| false, FileId(0))
    }

    /// Divides findings into new and known ones; of equal findings, the first are known. An entry
    /// of the baseline `file` is stale if it has fewer findings than its count and the run could
    /// have found the others: `could_find`, given the entry and its number of findings, returns `true`.
    pub fn part<F>(
        &self,
        findings: Vec<F>,
        of: impl Fn(&F) -> &Finding,
        could_find: impl Fn(&KnownFinding, usize) -> bool,
        file: FileId,
    ) -> Parted<F> {
        let identities = findings.iter().map(|finding| Identity::of(of(finding)));
        let matches = self.matches(&identities.collect::<Vec<_>>());
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for (finding, entry) in findings.into_iter().zip(&matches.entries) {
            if entry.is_some() {
                known.push(finding);
            } else {
                new.push(finding);
            }
        }
        let entries = self.entries.iter().zip(matches.found);
        let stale =
            entries.filter(|(entry, found)| *found < entry.count && could_find(entry, *found));
        let stale = stale.map(|(entry, found)| Stale {
            file,
            span: entry.span,
            identity: entry.identity.clone(),
            known: entry.count,
            found,
        });
        Parted {
            new,
            known,
            stale: stale.collect(),
        }
    }

    /// Returns the baseline after a run that found `findings`, with new ones if `learn` is set.
    /// Missing findings stay if `could_find` returns `false`: the run could not have found them.
    pub fn after<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Finding>,
        could_find: impl Fn(&KnownFinding, usize) -> bool,
        learn: bool,
    ) -> Renewal {
        let identities: Vec<_> = findings.into_iter().map(Identity::of).collect();
        let matches = self.matches(&identities);
        let mut change = Renewal::default();
        let mut counts: BTreeMap<&Identity, usize> = BTreeMap::new();
        for (entry, found) in self.entries.iter().zip(&matches.found) {
            let missing = entry.count - found;
            let kept = if could_find(entry, *found) {
                0
            } else {
                missing
            };
            change.unread += kept;
            change.gone += missing - kept;
            // With `learn`, the findings are counted below, by their own identities.
            *counts.entry(&entry.identity).or_default() += if learn { kept } else { kept + found };
        }
        for (identity, entry) in identities.iter().zip(&matches.entries).filter(|_| learn) {
            change.new += usize::from(entry.is_none());
            *counts.entry(identity).or_default() += 1;
        }
        let counts = counts.into_iter().filter(|&(_, count)| count > 0);
        let counts = counts.map(|(identity, count)| (identity.clone(), count));
        change.baseline = Self::of_counts(counts);
        change
    }
}

/// The result of renewing a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// The renewed baseline.
    pub baseline: Baseline,
    /// The number of findings that were added.
    pub new: usize,
    /// The number of findings that were removed.
    pub gone: usize,
    /// The number of findings that are kept because the run could not have found them.
    pub unread: usize,
}
