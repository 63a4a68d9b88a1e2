//! The limits of builds, and where builds go beyond them.

use std::fmt;

use super::path::resolve;
use crate::text::Limits;

/// A limit on builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The copies of objects.
    Instances,
    /// The clusters into which objects deliver others, each with its own part of the work as a bundle has it.
    Clusters,
    /// The objects that deliver others.
    Deliveries,
}

/// A place at which builds go beyond a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondLimit {
    /// The limit.
    pub limit: Limit,
    /// The number that it allows.
    pub most: usize,
    /// The kustomization, the folder or the file of the object that delivers.
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

    /// This in a tree below `top`, whose limits are a part of `limits`.
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
    /// Says which limit the path exceeds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.most;
        match self.limit {
            Limit::Instances => write!(
                f,
                "with this one, builds make more than {most} copies of objects"
            ),
            Limit::Clusters => {
                write!(
                    f,
                    "with this one, objects deliver into more than {most} clusters"
                )
            }
            Limit::Deliveries => {
                write!(f, "with this one, more than {most} objects deliver others")
            }
        }
    }
}
