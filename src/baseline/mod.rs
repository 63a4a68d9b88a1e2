//! The findings that a team has decided to live with for now, by identity and count; no lines, so that reformatting, moving
//! files and reordering documents change nothing.
//!
//! Knows nothing of rules.

mod document;

use std::collections::BTreeMap;

use crate::finding::{Finding, Identity};
use crate::text::{FileId, Span};

pub use document::{Baseline, BaselineError, KnownFinding};

/// The name under which a baseline is looked for.
pub const FILE_NAME: &str = "ownerlint-baseline.json";

/// Findings, parted.
#[derive(Clone, Debug)]
pub struct Parted<F> {
    /// Those that the baseline does not know.
    pub new: Vec<F>,
    /// Those that it does.
    pub known: Vec<F>,
    /// What it knows and the run did not find.
    pub stale: Vec<Stale>,
}

/// An entry of a baseline that the run found less often, or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The file of the baseline.
    pub file: FileId,
    /// Where the entry names its rule.
    pub span: Span,
    /// What it knows.
    pub identity: Identity,
    /// How many findings it knows.
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
        let entry = |(identity, count)| KnownFinding { identity, count, span: Span::default() };
        Self { entries: counts.into_iter().map(entry).collect() }
    }

    /// Parts findings into new and known ones. Of findings of one identity the first ones, in the given order, are known.
    /// `judged` says whether a rule ran: what another one knows is never stale. `file` is the baseline's own.
    pub fn part<F>(
        &self,
        findings: Vec<F>,
        of: impl Fn(&F) -> &Finding,
        judged: impl Fn(&str) -> bool,
        file: FileId,
    ) -> Parted<F> {
        let mut found: BTreeMap<Identity, usize> = BTreeMap::new();
        let mut room: BTreeMap<&Identity, usize> =
            self.entries.iter().map(|entry| (&entry.identity, entry.count)).collect();
        let mut new = Vec::new();
        let mut known = Vec::new();
        for finding in findings {
            let identity = Identity::of(of(&finding));
            match room.get_mut(&identity).filter(|left| **left > 0) {
                Some(left) => {
                    *left -= 1;
                    known.push(finding);
                    *found.entry(identity).or_default() += 1;
                }
                None => new.push(finding),
            }
        }
        let stale = self.entries.iter().filter(|entry| judged(&entry.identity.rule)).filter_map(|entry| {
            let (identity, known) = (entry.identity.clone(), entry.count);
            let found = found.get(&identity).copied().unwrap_or_default();
            (found < known).then_some(Stale { file, span: entry.span, identity, known, found })
        });
        Parted { new, known, stale: stale.collect() }
    }

    /// What is left of the baseline in `findings`: no count is over what is found, and nothing is added.
    pub fn at_most<'a>(&self, findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let found = Self::of(findings);
        let counts: BTreeMap<&Identity, usize> =
            found.entries.iter().map(|entry| (&entry.identity, entry.count)).collect();
        let left = self.entries.iter().filter_map(|entry| {
            let count = entry.count.min(counts.get(&entry.identity).copied().unwrap_or_default());
            (count > 0).then(|| KnownFinding { count, ..entry.clone() })
        });
        Self { entries: left.collect() }
    }
}
