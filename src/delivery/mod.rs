//! Who deletes objects, and what they spare: the tool that delivers an object, and the protections that this tool heeds.
//!
//! Every tool has its own idea of what leaves and of what must stay. An annotation protects from the tool that reads it, in
//! the action in which it is read, and from nothing else.
//!
//! Knows nothing of the collector: what a request then takes along is for the simulation to say.

pub mod marks;
mod protection;
mod regime;

pub use protection::{Removal, Spared, Sparing, spared};
pub use regime::{Delivered, Deliveries, DeliveryTool, FluxObject, Regime, RegimeSource};
