//! Deletion by delivery tools: the tool that delivers an object, and the protections that it respects.
//!
//! Every tool has its own rules for which objects it deletes and which it spares. An annotation protects an object only
//! from the tool that reads it, and only in the actions in which that tool reads it.
//!
//! Knows nothing of the garbage collector: the simulation finds the objects that a request deletes indirectly. Every
//! function that turns removed objects into requests is pure; the orders of kinds are data
//! (`rules/tables/delivery-orders.csv`).
//!
//! * `regime` the tool that delivers an object; `rendering` the output of Helm; `protection` what a
//!   removal spares; `marks` labels and annotations that show the tool or protect; `ineffective`
//!   protections without effect; `tracking` the labels by which Argo CD recognises its objects;
//!   `together` objects that are deleted together
//! * `hook` the objects that a tool runs at an event
//! * `request` the requests of a tool, and its waits between them; `order` the orders of kinds
//! * `helm`, `kubectl`, `argocd`, `flux` one tool each; `namespace` the deletion of Namespaces; `flux_operator` the
//!   uninstallation of Flux

pub mod argocd;
pub mod flux;
pub mod flux_operator;
pub mod helm;
mod hook;
mod ineffective;
pub mod kubectl;
pub mod marks;
pub mod namespace;
mod order;
mod protection;
mod regime;
mod rendering;
mod request;
mod together;
mod tracking;

pub use hook::{Hook, HookEvent, HookTool, Operation, Phase};
pub use ineffective::{Flaw, IneffectiveProtection, ineffective_protections};
pub use order::{KindOrder, OrderTableError, Sequence, kind_order};
pub use protection::{Exempted, Exemption, Removal, kept_by_upgrade, spared};
pub use regime::{
    BundleTools, Delivered, Deliverers, Deliveries, DeliveryTool, FluxObject, Regime, RegimeSource,
};
pub use rendering::release_folder;
pub use request::{Leaving, Op, ToolRequest, Withdrawal};
pub use together::{DeliveredSet, DeliveredTogether};
pub use tracking::TrackingLabels;
