//! The edges between objects, each with its evidence: owners, other ties, deliveries, and removers of finalizers.
//!
//! Does not decide what is deleted: that is up to the simulation.

pub mod access;
mod data;
mod defines;
mod delivers;
mod finalizer_holder;
mod generates;
mod implied;

mod pod_specs;
mod references;
mod removers;
mod serves;

mod tie;
mod ties;
mod uses;
mod workloads;
mod written;

pub use data::{DataLoss, data_loss, deletes_with_its_claim, fate_of_templates, reclaim_policy};
pub use defines::instances_of;
pub use delivers::{
    DeliveryDestination, DeliveryKind, DeliveryObject, DeliverySource, Reach, delivery_object,
    delivery_objects, tops,
};
pub use finalizer_holder::FinalizerHolder;
pub use implied::{Implied, ImpliedObject, ImpliedReference, Products, implied};
pub use pod_specs::{container_images, may_run_pods, pod_template_spec};
pub use removers::{Evidence, Remover, Removers};
pub use serves::{
    Absence, AdmissionOperation, Backend, Interception, KnownLabels, Purpose, RequestBudget,
    RequestedKind, RequestedObject, Selected, SelectionId, Serves, ServiceCaller,
};

pub use tie::{Tie, TieEnd, TieEvidence, TieKind};
pub use ties::Ties;
pub use workloads::command_words;
pub use written::{Owner, OwnerEdge, Ownership, owner_edges, owner_edges_of};
