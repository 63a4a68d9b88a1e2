//! The findings that a team has decided to live with for now, by identity and count; no lines, so reformatting, moving
//! files and reordering documents change nothing.
//!
//! Knows nothing of rules.

mod document;
mod matching;

use std::collections::BTreeMap;

use crate::finding::{Finding, Identity};
use crate::text::{FileId, Span};

pub(crate) use document::BaselineDocument;
pub use document::{Baseline, BaselineError, KnownFinding};
pub use matching::any_namespace;

/// The name under which a baseline is looked for.
pub const FILE_NAME: &str = "ownerlint-baseline.json";

/// Findings, divided.
#[derive(Clone, Debug)]
pub struct Parted<F> {
    /// Those that the baseline does not list.
    pub new: Vec<F>,
    /// Those that it does.
    pub known: Vec<F>,
    /// Known findings that the run did not find.
    pub stale: Vec<Stale>,
}

/// An entry of a baseline that the run found less often, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The file of the baseline.
    pub file: FileId,
    /// Where the entry names its rule.
    pub span: Span,
    /// The known finding.
    pub identity: Identity,
    /// How many findings it allows.
    pub known: usize,
    /// How many the run found.
    pub found: usize,
}

impl Baseline {
    /// The baseline of findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut counts: BTreeMap<Identity, usize> = BTreeMap::new();
        for finding in findings {
            *counts.entry(Identity::of(finding)).or_default() += 1;
        }
        Self {
            entries: counts
                .into_iter()
                .map(|(identity, count)| KnownFinding {
                    identity,
                    count,
                    span: Span::default(),
                })
                .collect(),
        }
    }

    /// Divides findings into new and known ones, and asks nothing about what is stale.
    pub fn divide<F>(&self, findings: Vec<F>, of: impl Fn(&F) -> &Finding) -> Parted<F> {
        self.part(findings, of, |_, _| false, FileId(0))
    }

    /// Divides findings into new and known ones. Of findings of one identity the first ones, in the given order, are
    /// known. `judged` says of an entry, and of how many of its findings there are, whether the run could have found
    /// the others: what it could not is never stale. `file` is the baseline's own.
    pub fn part<F>(
        &self,
        findings: Vec<F>,
        of: impl Fn(&F) -> &Finding,
        judged: impl Fn(&KnownFinding, usize) -> bool,
        file: FileId,
    ) -> Parted<F> {
        let identities: Vec<_> = findings
            .iter()
            .map(|finding| Identity::of(of(finding)))
            .collect();
        let matches = self.matches(&identities);
        let (mut new, mut known) = (Vec::new(), Vec::new());
        for (finding, entry) in findings.into_iter().zip(&matches.entries) {
            if entry.is_some() {
                known.push(finding);
            } else {
                new.push(finding);
            }
        }
        let stale = self
            .entries
            .iter()
            .zip(matches.found)
            .filter_map(|(entry, found)| {
                let (identity, known) = (entry.identity.clone(), entry.count);
                (found < known && judged(entry, found)).then_some(Stale {
                    file,
                    span: entry.span,
                    identity,
                    known,
                    found,
                })
            });
        Parted {
            new,
            known,
            stale: stale.collect(),
        }
    }

    /// Returns the baseline after a run that found `findings`: an entry that the run could not have found stays,
    /// as `judged` says. New findings are added if `learn` is set.
    pub fn after<'a>(
        &self,
        findings: impl IntoIterator<Item = &'a Finding>,
        judged: impl Fn(&KnownFinding, usize) -> bool,
        learn: bool,
    ) -> Renewal {
        let identities: Vec<_> = findings.into_iter().map(Identity::of).collect();
        let matches = self.matches(&identities);
        let mut change = Renewal::default();
        let mut counts: BTreeMap<&Identity, usize> = BTreeMap::new();
        for (entry, found) in self.entries.iter().zip(&matches.found) {
            let missing = entry.count - found;
            let kept = if judged(entry, *found) { 0 } else { missing };
            change.unread += kept;
            change.gone += missing - kept;
            // A finding counts under the name by which it was found.
            *counts.entry(&entry.identity).or_default() += if learn { kept } else { kept + found };
        }
        for (identity, entry) in identities.iter().zip(&matches.entries).filter(|_| learn) {
            change.new += usize::from(entry.is_none());
            *counts.entry(identity).or_default() += 1;
        }
        let counts = counts.into_iter().filter(|&(_, count)| count > 0);
        change.baseline.entries = counts
            .map(|(identity, count)| KnownFinding {
                identity: identity.clone(),
                count,
                span: Span::default(),
            })
            .collect();
        change
    }
}

/// The result of renewing a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// It, afterwards.
    pub baseline: Baseline,
    /// How many findings it learned.
    pub new: usize,
    /// How many findings it forgot.
    pub gone: usize,
    /// How many findings it keeps because their files were not read.
    pub unread: usize,
}
