//! Delivery objects: the sources and the destination of an Application, a Kustomization or a HelmRelease.

use crate::inventory::ObjectId;
use crate::text::Span;

/// An object that makes a tool deliver other objects. An ApplicationSet is one delivery object for all Applications
/// that it generates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryObject {
    /// The object in the input.
    pub id: ObjectId,
    /// Its kind.
    pub kind: DeliveryKind,
    /// The sources of the manifests. For an ApplicationSet these are followed by the folders that its generators name.
    pub sources: Vec<DeliverySource>,
    /// The destination of the delivered objects.
    pub destination: DeliveryDestination,
    /// Whether objects that leave the sources are deleted automatically.
    pub prunes: bool,
    /// Whether its objects are deleted with it, unless it is suspended in Flux.
    pub cascades: bool,
    /// Whether it is inactive at the moment: it does not prune and, in Flux, deletes nothing when it is deleted.
    pub suspended: bool,
}

/// The kinds of delivery objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryKind {
    /// An Application of Argo CD.
    Application,
    /// An ApplicationSet of Argo CD.
    ApplicationSet,
    /// A Kustomization of Flux.
    Kustomization,
    /// A HelmRelease of Flux.
    HelmRelease,
}

/// A source of manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySource {
    /// The repository, as far as the object names it: a URL, or `Kind/namespace/name` of a Flux source.
    pub repository: Option<String>,
    /// The folder, from the root of the repository, up to the first parameter or pattern; empty or `.` for the root,
    /// `None` for a chart of a chart repository.
    pub folder: Option<String>,
    /// The place where the path or the chart is written.
    pub span: Span,
}

/// The destination of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryDestination {
    /// The cluster, as the tool names it: a URL, a name, a kubeconfig; `None` for the one in which the tool runs.
    pub cluster: Option<String>,
    /// The namespace of objects without one, and of all objects of a Kustomization. `None`: each object keeps its own.
    pub namespace: Option<String>,
}

impl DeliveryObject {
    /// Whether deleting it deletes the objects that it delivered.
    pub fn deletes(&self) -> bool {
        let is_flux = matches!(
            self.kind,
            DeliveryKind::Kustomization | DeliveryKind::HelmRelease
        );
        self.cascades && !(self.suspended && is_flux)
    }
}
