//! Who deletes objects, and what they spare: the tool that delivers an object, and the protections that this tool heeds.
//!
//! Every tool has its own rules for which objects leave and which must stay. An annotation protects from the tool that
//! reads it, in the action in which it is read, and from nothing else.
//!
//! Knows nothing of the collector: what a request then takes along is for the simulation to say. Every function that turns "these
//! objects leave" into requests is pure; the orders in which tools go through kinds are data
//! (`rules/tables/delivery-orders.csv`).
//!
//! * `regime` who delivers an object; `rendering` the output of Helm; `protection` what a removal spares; `marks` the
//!   labels and annotations behind both;
//!   `belief` protections that do not do what they say; `tracking` the labels by which Argo CD recognises its objects
//! * `hook` the objects that a tool runs at an event
//! * `request` what a tool sends, and what it waits for before it sends the next request; `order` the orders of kinds
//! * `helm`, `kubectl`, `argocd`, `flux`, `namespace` one tool each

pub mod argocd;
mod belief;
pub mod flux;
pub mod helm;
mod hook;
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

pub use belief::{Belief, Flaw, beliefs};
pub use hook::{Hook, HookEvent, HookTool, Operation, Phase};
pub use order::{KindOrder, OrderTableError, Sequence, kind_order};
pub use protection::{Removal, Spared, Sparing, spared};
pub use regime::{
    BundleTools, Delivered, Deliverers, Deliveries, DeliveryTool, FluxObject, Regime, RegimeSource,
};
pub use rendering::release_folder;
pub use request::{Leaving, Op, ToolRequest, Withdrawal};
pub use together::{DeliveredSet, DeliveredTogether};
pub use tracking::TrackingLabels;
