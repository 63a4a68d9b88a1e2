//! Limits on builds, and the error for exceeding one.

use std::fmt;

use super::path::resolve;
use crate::text::Limits;

/// A limit on builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The number of copies of objects.
    Instances,
    /// The number of clusters that are delivered into. Each is as much work as a bundle: `limits.bundles` applies.
    Clusters,
    /// The number of delivery objects.
    Deliveries,
    /// The bytes of text that builds produce.
    Text,
}

/// A place at which builds go beyond a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondLimit {
    /// The limit.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// The place: a kustomization, a folder, the file of a delivery object, or a cluster.
    pub path: String,
}

impl BeyondLimit {
    /// Creates the error for `limit`, which is exceeded at `path`.
    pub fn new(limit: Limit, limits: &Limits, path: impl Into<String>) -> Self {
        let most = match limit {
            Limit::Instances => limits.instances,
            Limit::Clusters => limits.bundles,
            Limit::Deliveries => limits.deliveries,
            Limit::Text => limits.text,
        };
        Self {
            limit,
            most,
            path: path.into(),
        }
    }

    /// Puts `top` before the path, and restores the full limit, of which `top` had only the rest.
    #[must_use]
    pub fn within(self, top: &str, limits: &Limits) -> Self {
        Self::new(self.limit, limits, resolve(top, &self.path))
    }

    /// Returns the key of the limit in a configuration.
    pub fn key(&self) -> &'static str {
        match self.limit {
            Limit::Instances => "instances",
            Limit::Clusters => "bundles",
            Limit::Deliveries => "deliveries",
            Limit::Text => "text",
        }
    }
}

impl fmt::Display for BeyondLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.limit {
            Limit::Instances => write!(f, "builds make more than {most} copies of objects"),
            Limit::Clusters => write!(f, "objects deliver into more than {most} clusters"),
            Limit::Deliveries => write!(f, "more than {most} objects deliver others"),
            Limit::Text => write!(
                f,
                "variables, templates and patches make more than {most} bytes of text"
            ),
        }
    }
}
