//! The model against its specification and against recordings of a real control plane.

mod clients;
mod conformance;
mod model;
mod permissions;
mod plans;
mod properties;
mod races;
mod reconcilers;
mod special_kinds;
mod support;
mod webhooks;
