//! Delivery by any tool: which objects it deletes, and which it spares.

pub(in crate::rules) mod account;
pub(in crate::rules) mod claimed;
pub(in crate::rules) mod hooks;
pub(in crate::rules) mod lacking;
mod mistaken;
pub(in crate::rules) mod protection;
