//! An ignore in the configuration: a rule, the objects, the reason, and an expiry date.

use globset::GlobSet;

use super::Date;
use crate::kube::ObjectKey;
use crate::text::{Span, glob};

/// Object keys by glob: `*` stays within kind, namespace or name, `**` crosses them.
#[derive(Clone, Debug)]
pub struct ObjectPattern {
    written: String,
    matcher: GlobSet,
}

impl ObjectPattern {
    /// The pattern of a text such as `Deployment.apps/shop/*`.
    ///
    /// # Errors
    /// The error of a malformed pattern.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Ok(Self {
            written: pattern.to_owned(),
            matcher: glob::glob(pattern)?,
        })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether the key of an object matches.
    pub fn matches(&self, key: &ObjectKey) -> bool {
        self.matcher.is_match(key.to_string())
    }
}

/// Findings that the configuration suppresses.
#[derive(Clone, Debug)]
pub struct Ignore {
    /// The rule.
    pub rule: &'static str,
    /// The objects.
    pub object: ObjectPattern,
    /// Why.
    pub reason: String,
    /// The last day on which the ignore applies.
    pub expires: Option<Date>,
    /// Where it is written in the configuration.
    pub place: Span,
}

impl Ignore {
    /// Whether its last day is over.
    pub fn is_expired(&self, today: Option<Date>) -> bool {
        self.expires
            .zip(today)
            .is_some_and(|(last, today)| today > last)
    }
}

/// Several ignores, found by the key of an object all at once: one by one, thousands of them would be compared with thousands of
/// objects.
#[derive(Debug)]
pub(super) struct IgnoreIndex {
    /// None if they are too large an expression together.
    together: Option<GlobSet>,
    /// Where each of them is among all ignores, ascending.
    places: Vec<usize>,
}

impl IgnoreIndex {
    /// Of the ignores at these places.
    pub(super) fn new(ignores: &[Ignore], places: Vec<usize>) -> Self {
        let together = glob::globs(places.iter().map(|at| ignores[*at].object.as_str())).ok();
        Self { together, places }
    }

    /// The places of those that match a key, ascending.
    pub(super) fn matching(&self, ignores: &[Ignore], key: &ObjectKey) -> Vec<usize> {
        match &self.together {
            Some(together) => together
                .matches(key.to_string())
                .into_iter()
                .map(|at| self.places[at])
                .collect(),
            None => self
                .places
                .iter()
                .copied()
                .filter(|at| ignores[*at].object.matches(key))
                .collect(),
        }
    }
}
