//! Owner references: their form, their owner, and what the collector does because of them.

pub(in crate::rules) mod graph;
pub(in crate::rules) mod identity;
pub(in crate::rules) mod kind;
pub(in crate::rules) mod scope;
pub(in crate::rules) mod shape;
pub(in crate::rules) mod simulation;
