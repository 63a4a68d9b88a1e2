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
    /// What is wrong with a malformed pattern.
    pub fn new(pattern: &str) -> Result<Self, String> {
        Ok(Self { written: pattern.to_owned(), matcher: glob::glob(pattern)? })
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
        self.expires.zip(today).is_some_and(|(last, today)| today > last)
    }
}
