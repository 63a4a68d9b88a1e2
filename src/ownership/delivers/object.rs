//! Delivery objects: where an Application, a Kustomization or a HelmRelease takes manifests from, and where it delivers them.

use crate::inventory::ObjectId;
use crate::text::Span;

/// An object that makes a tool deliver other objects. An ApplicationSet has one for each Application that it is known to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryObject {
    /// The object in the input; for a generated Application that is its ApplicationSet.
    pub id: ObjectId,
    /// Its kind.
    pub kind: DeliveryKind,
    /// The name of the Application, Kustomization or HelmRelease; for an ApplicationSet that of the generated Application.
    pub name: String,
    /// Where the manifests are.
    pub sources: Vec<DeliverySource>,
    /// Where they go.
    pub destination: DeliveryDestination,
    /// Whether objects that leave the sources are deleted automatically.
    pub prunes: bool,
    /// Whether its objects are deleted with it, unless it is suspended.
    pub cascades: bool,
    /// Whether it does nothing at the moment: neither prunes, nor, in Flux, deletes anything when it is deleted.
    pub suspended: bool,
}

/// The kinds of delivery objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryKind {
    /// An Application of Argo CD.
    Application,
    /// An Application that an ApplicationSet generates.
    Generated,
    /// A Kustomization of Flux.
    Kustomization,
    /// A HelmRelease of Flux.
    HelmRelease,
}

/// Where manifests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySource {
    /// The repository, as far as the object names it: a URL, or `Kind/namespace/name` of Flux's source.
    pub repository: Option<String>,
    /// The expected content.
    pub content: SourceContent,
    /// The path or chart, where it is written.
    pub span: Span,
}

/// The expected content of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceContent {
    /// A folder as it is written, from the root of the repository; empty or `.` for the root.
    Folder(String),
    /// A chart of a chart repository.
    Chart(String),
}

/// The destination of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryDestination {
    /// The cluster, as the tool knows it: a URL, a name, a kubeconfig; `None`: the one in which the tool runs.
    pub cluster: Option<String>,
    /// The namespace of objects without one, and of all that a Kustomization delivers. `None`: each object keeps its own.
    pub namespace: Option<String>,
}

impl DeliveryObject {
    /// Whether its deletion deletes what it delivered.
    pub fn deletes(&self) -> bool {
        self.cascades && !(self.suspended && self.is_flux())
    }

    fn is_flux(&self) -> bool {
        matches!(
            self.kind,
            DeliveryKind::Kustomization | DeliveryKind::HelmRelease
        )
    }
}
