//! Destinations: where the objects of a file are applied.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::kustomize::Deliverer;
use crate::manifest::ListClient;

/// A place where objects are applied together. If several destinations have one object key, they
/// are in different clusters, or not all of them are applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// A bundle of the configuration.
    Bundle(Arc<str>),
    /// The output of one root, a build that starts in a folder.
    Root {
        /// The folder.
        folder: Arc<str>,
        /// The object that delivers it, if one points at the folder.
        by: Option<Arc<Deliverer>>,
    },
    /// The files of a folder that no kustomization governs.
    Folder(Arc<str>),
    /// The files of a folder that a kustomization governs and no root reaches: they are not applied.
    Unapplied(Arc<str>),
    /// Files that are outside of all kustomizations in base, and below a kustomization that no root reaches in head:
    /// whether they are still applied is unknown.
    NewlyGoverned(Arc<str>),
    /// Other objects of the cluster; they are not compared.
    Context,
}

/// The deliverer of objects, as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "delivery")]
#[non_exhaustive]
pub struct DeliveryName {
    /// Equal in two states for the same delivery: the cluster, `|`, and the key; without a key the path.
    pub id: String,
    /// The tool.
    #[schemars(extend("enum" = ["argocd", "flux", "kustomize"]))]
    pub tool: &'static str,
    /// The key of the object that delivers: `Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps`.
    pub key: Option<String>,
    /// The folder that it builds, from the root of the tree; empty for the root itself.
    pub path: String,
    /// The key of the object that applies the object `key`: the ApplicationSet of an Application, the parent of a Kustomization.
    pub parent: Option<String>,
    /// Why it is not certain that there is such a delivery: `clusters: the list of clusters is not in the tree`.
    pub doubt: Option<String>,
    /// The chart that was rendered for it: `chart web 1.0.0 → 2.0.0`.
    pub chart: Option<String>,
}

impl Destination {
    /// Returns whether its objects are known to be applied.
    pub fn is_applied(&self) -> bool {
        !matches!(self, Self::Unapplied(_) | Self::NewlyGoverned(_))
    }

    /// Whether its objects are or may be applied: only those of `Unapplied` are certainly not.
    pub fn may_be_applied(&self) -> bool {
        !matches!(self, Self::Unapplied(_))
    }

    /// Returns the deliverer of its objects, if a delivery object points at its folder.
    pub fn deliverer(&self) -> Option<&Deliverer> {
        match self {
            Self::Root { by, .. } => by.as_deref(),
            _ => None,
        }
    }

    /// Returns the client of its objects: kubectl or Helm, unless a delivery object delivers them.
    pub fn client(&self) -> ListClient {
        if self.deliverer().is_some() {
            ListClient::GitOps
        } else {
            ListClient::Kubectl
        }
    }

    /// Returns whether an object that moves to `other` is no longer applied, or no longer by a
    /// known deliverer.
    pub fn loses_delivery_in(&self, other: &Self) -> bool {
        (self.is_applied(), self.deliverer().is_some())
            > (other.is_applied(), other.deliverer().is_some())
    }

    /// Returns the folder of its files or of its build; `.` for the root of the tree.
    pub fn folder(&self) -> Option<&str> {
        let folder = match self {
            Self::Root { folder, .. }
            | Self::Folder(folder)
            | Self::Unapplied(folder)
            | Self::NewlyGoverned(folder) => folder,
            Self::Bundle(_) | Self::Context => return None,
        };
        Some(if folder.is_empty() { "." } else { folder })
    }

    /// Returns its name in reports: that of the bundle, or the folder of the root.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Bundle(name) => Some(name),
            Self::Root { .. } => self.folder(),
            Self::Folder(_) | Self::Unapplied(_) | Self::NewlyGoverned(_) | Self::Context => None,
        }
    }
}
