//! An ignore in the configuration: a rule, the objects, the reason, and an expiry date.

use globset::GlobSet;

use super::Date;
use crate::kube::ObjectKey;
use crate::text::{Span, glob};

/// A glob for object keys: `*` matches within kind, namespace or name, `**` across them.
#[derive(Clone, Debug)]
pub struct ObjectPattern {
    written: String,
    matcher: GlobSet,
}

impl ObjectPattern {
    /// Compiles a pattern such as `Deployment.apps/shop/*`.
    ///
    /// # Errors
    /// The pattern is malformed.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Ok(Self {
            written: pattern.to_owned(),
            matcher: glob::glob(pattern)?,
        })
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether the key of an object matches.
    pub fn matches(&self, key: &ObjectKey) -> bool {
        self.matcher.is_match(key.to_string())
    }
}

/// An ignore of the configuration.
#[derive(Clone, Debug)]
pub struct Ignore {
    /// The rule.
    pub rule: &'static str,
    /// The objects.
    pub object: ObjectPattern,
    /// The reason.
    pub reason: String,
    /// The last day on which the ignore applies.
    pub expires: Option<Date>,
    /// Its span in the configuration.
    pub place: Span,
}

impl Ignore {
    /// Whether its last day is over.
    pub fn is_expired(&self, today: Option<Date>) -> bool {
        matches!((self.expires, today), (Some(last), Some(today)) if today > last)
    }
}

/// Index of ignores, to look up those that match the key of an object.
#[derive(Debug)]
pub(super) struct IgnoreIndex {
    /// All patterns in one set; `None` if they are too large for one.
    together: Option<GlobSet>,
    /// The index of each among all ignores, ascending.
    places: Vec<usize>,
}

impl IgnoreIndex {
    /// Builds the index of the ignores at `places`.
    pub(super) fn new(ignores: &[Ignore], places: Vec<usize>) -> Self {
        let together = glob::globs(places.iter().map(|at| ignores[*at].object.as_str())).ok();
        Self { together, places }
    }

    /// Returns the places of the ignores that match a key, ascending.
    pub(super) fn matching(&self, ignores: &[Ignore], key: &ObjectKey) -> Vec<usize> {
        if let Some(together) = &self.together {
            let matching = together.matches(key.to_string()).into_iter();
            matching.map(|at| self.places[at]).collect()
        } else {
            let places = self.places.iter().copied();
            places
                .filter(|at| ignores[*at].object.matches(key))
                .collect()
        }
    }
}
