//! The model against its specification and against recordings of a real control plane.

mod conformance;
mod model;
mod properties;
mod reconcilers;
mod support;
mod webhooks;
