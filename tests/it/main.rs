//! The only test binary. Each file specifies one part.

// Tests print notes on skipped cases and on comparisons.
#![allow(clippy::print_stdout)]

#[cfg(unix)]
mod action;
mod charts;
mod diff;
mod formats;
mod fuzz;
#[path = "../../crates/kube-gc/tests/it/support.rs"]
#[expect(dead_code, reason = "shared with the tests of kube-gc")]
mod gc_support;
#[cfg(unix)]
mod growth;
mod hostile;
mod html;
mod limits;
mod properties;
mod security;

mod cli;
mod config;
mod conformance;
mod delivery;
mod knowledge;
mod lsp;
mod plan;
mod project;
mod reading;
mod rules;
mod support;
mod yaml;
