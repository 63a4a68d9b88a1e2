//! The content of a delivery object, as a value.

use crate::inventory::ObjectId;
use crate::text::Span;

/// An object that makes a tool deliver other objects; for an ApplicationSet, one for each Application that it is known to
/// generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryObject {
    /// The object of the input.
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
    /// The fate of all its objects when it is deleted itself.
    pub on_deletion: OnDeletion,
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
    /// A folder, from the root of the repository; empty for the root itself.
    Folder(String),
    /// A chart of a chart repository.
    Chart(String),
}

/// The destination of objects. A field that is `None` is that of the delivery object itself, or of each object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveryDestination {
    /// The cluster, as the tool knows it: a URL, a name, a kubeconfig; `None`: the one in which the tool runs.
    pub cluster: Option<String>,
    /// The namespace of objects without one; Flux moves all objects there.
    pub namespace: Option<String>,
}

/// The effect of deleting a delivery object on its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnDeletion {
    /// Everything is deleted, in the foreground where the tool knows that.
    Deletes {
        /// Whether the tool deletes with Background propagation.
        background: bool,
    },
    /// Everything stays, and is no longer managed.
    Orphans,
}

impl DeliveryObject {
    /// Whether its deletion deletes what it delivered.
    pub fn deletes(&self) -> bool {
        matches!(self.on_deletion, OnDeletion::Deletes { .. })
            && !(self.suspended && self.is_flux())
    }

    fn is_flux(&self) -> bool {
        matches!(
            self.kind,
            DeliveryKind::Kustomization | DeliveryKind::HelmRelease
        )
    }
}
