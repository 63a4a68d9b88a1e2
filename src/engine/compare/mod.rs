//! `diff`: the effects of a change to a tree. Two states are read, each text is parsed once, and their objects are
//! compared.

mod arguments;
mod built;
mod charted;
mod cluster;
mod comparison;
mod configuration;
mod configured;
mod definitions;
mod delivered;
mod deliveries;
mod describe;
mod extras;
mod hiding;
mod judge;
mod limited;
mod parsed;
mod rendered;
mod request;
mod resumed;
mod start;
mod state;
mod unchanged;
mod unlisted;
mod variables;

pub use comparison::Comparison;
pub(super) use deliveries::evaluate;
pub use deliveries::{Deliveries, list_deliveries};
pub(super) use parsed::{RenderedChart, parts_of};
pub(super) use rendered::{PrintingBundle, printed};
pub use request::{CompareRequest, StateChoice};
pub use start::{UsualChange, is_commit, similar_reference, usual_change};
pub(super) use unlisted::UnlistedFiles;
