//! Where the objects of a file are applied.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::kustomize::Deliverer;
use crate::manifest::ListClient;

/// Objects that are applied together. Objects of two destinations may have one key: they are in two clusters, or one of them is
/// not applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// A bundle of the configuration.
    Bundle(Arc<str>),
    /// The output of one root.
    Root {
        /// Its folder.
        folder: Arc<str>,
        /// The object that delivers it, if one points at it.
        by: Option<Arc<Deliverer>>,
    },
    /// The files of a folder that no kustomization governs.
    Folder(Arc<str>),
    /// The files of a folder that a kustomization governs and no root reaches: they are not applied.
    Unapplied(Arc<str>),
    /// Files that base has outside of all kustomizations and head below one that no root reaches: whether they are
    /// still applied is unknown.
    Disowned(Arc<str>),
    /// Other objects of the cluster; they are part of no change.
    Beside,
}

/// Who applies objects, as reports name it.
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
    /// The key of the object that applies the one of `key`: the ApplicationSet of an Application, the parent of a Kustomization.
    pub parent: Option<String>,
    /// Why it is not certain that there is such a delivery: `clusters: which clusters there are is not in the tree`.
    pub doubt: Option<String>,
    /// The chart that was rendered for it: `chart web 1.0.0 → 2.0.0`.
    pub chart: Option<String>,
}

impl Destination {
    /// Returns whether its objects are applied.
    pub fn is_applied(&self) -> bool {
        !matches!(self, Self::Unapplied(_) | Self::Disowned(_))
    }

    /// Whether what is there may still be needed in the cluster: it is applied, or was and may be.
    pub fn may_be_applied(&self) -> bool {
        !matches!(self, Self::Unapplied(_))
    }

    /// The object that delivers what is there, if the tree contains one that says so.
    pub fn deliverer(&self) -> Option<&Deliverer> {
        match self {
            Self::Root { by, .. } => by.as_deref(),
            _ => None,
        }
    }

    /// The clients that apply what is there: kubectl or Helm, unless an object of Flux or Argo CD delivers it.
    pub fn client(&self) -> ListClient {
        if self.deliverer().is_some() {
            ListClient::GitOps
        } else {
            ListClient::Kubectl
        }
    }

    /// Returns whether an object is no longer delivered once it has moved from here to `other`: it is not applied
    /// there, or not known to be.
    pub fn is_left_for(&self, other: &Self) -> bool {
        let applied =
            |destination: &Self| (destination.is_applied(), destination.deliverer().is_some());
        applied(self) > applied(other)
    }

    /// The folder in which its files are, or in which its build starts; `.` for the topmost one.
    pub fn folder(&self) -> Option<&str> {
        let folder = match self {
            Self::Root { folder, .. }
            | Self::Folder(folder)
            | Self::Unapplied(folder)
            | Self::Disowned(folder) => folder,
            Self::Bundle(_) | Self::Beside => return None,
        };
        Some(if folder.is_empty() { "." } else { folder })
    }

    /// Its name in reports: that of the bundle, or the folder of the root.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Bundle(name) => Some(name),
            Self::Root { .. } => self.folder(),
            Self::Folder(_) | Self::Unapplied(_) | Self::Disowned(_) | Self::Beside => None,
        }
    }
}
