//! Limits on builds, and the error for exceeding one.

use std::fmt;

use super::path::resolve;
use crate::text::Limits;

/// A limit on builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The copies of objects.
    Instances,
    /// The clusters into which objects deliver others. Each is as much work as a bundle, so `limits.bundles` applies.
    Clusters,
    /// The objects that deliver others.
    Deliveries,
}

/// A place at which builds go beyond a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondLimit {
    /// Which one.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// Where it is exceeded: a kustomization, a folder, the file of an object that delivers, or a cluster.
    pub path: String,
}

impl BeyondLimit {
    /// The `limit` among `limits` that is exceeded at `path`.
    pub fn of(limit: Limit, limits: &Limits, path: impl Into<String>) -> Self {
        let most = match limit {
            Limit::Instances => limits.instances,
            Limit::Clusters => limits.bundles,
            Limit::Deliveries => limits.deliveries,
        };
        Self {
            limit,
            most,
            path: path.into(),
        }
    }

    /// Moves the path below `top`. The tree there was evaluated with what was left of `limits`; the message names the whole.
    #[must_use]
    pub fn within(self, top: &str, limits: &Limits) -> Self {
        Self::of(self.limit, limits, resolve(top, &self.path))
    }

    /// The key of the limit in a configuration.
    pub fn key(&self) -> &'static str {
        match self.limit {
            Limit::Instances => "instances",
            Limit::Clusters => "bundles",
            Limit::Deliveries => "deliveries",
        }
    }
}

impl fmt::Display for BeyondLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.limit {
            Limit::Instances => write!(f, "builds make more than {most} copies of objects"),
            Limit::Clusters => {
                write!(f, "objects deliver into more than {most} clusters")
            }
            Limit::Deliveries => {
                write!(f, "more than {most} objects deliver others")
            }
        }
    }
}
