//! Sessions: reading the input, checking it, comparing two states of it, and planning deletions in it.
//!
//! Most commands open a [`Session`] with a plain [`Request`] and ask it for a report, a listing or a plan; `diff` opens
//! a [`Comparison`] with a [`CompareRequest`]. A finding of a check passes through these stages: rule → severity of the
//! configuration → standing of its file → suppressions → asked for, or context → baseline → order → report scope.
//! This module does not use the terminal: no arguments, no environment, no clock, no printing.

mod cascade;
mod check;
mod compare;
mod coverage;
mod describe;
mod edits;
mod error;
mod fix;
mod input;
mod inquiry;
mod judge;
mod learn;
mod list;
mod merge;
mod notes;
mod plan;
mod programs;
mod rendering;
mod repeats;
mod repository;
mod request;
mod resolve;
mod rows;
mod run;
mod scope;
mod selection;
mod session;
mod standing;
mod summary;

pub use check::Check;
pub use compare::{
    CompareRequest, Comparison, Deliveries, StateChoice, UsualChange, is_commit, list_deliveries,
    similar_reference, usual_change,
};
pub use coverage::ReadExtent;
pub use describe::{describe, tool};
pub use error::SessionError;
pub use fix::{Fixed, FixedFile};
pub use input::{Bundle, BundleError};
pub use inquiry::{
    DeliveredObjects, Inquiry, ObjectDeletion, ObjectPlace, ObjectSpot, OwnerLookup, PossibleOwner,
    Spot, StuckObject,
};
pub use learn::{DumpError, Learned};
pub use plan::{
    DeletionPlan, DeletionRequest, POLICIES, PlanError, Planner, Question, Steps, TargetError,
    Teardown, TeardownBy, TeardownRequest,
};
pub use rendering::{charts_before, with_charts};
pub use repository::repository_root;
pub use request::{BaselineChoice, ConfigChoice, Request};
pub use resolve::read_text;
pub use rows::{configured_tables, parse_finalizer, rows_about};
pub use run::check;
pub use scope::ReportScope;
pub use selection::{Selection, UnknownRule};
pub use session::{CheckOptions, Session, read_baseline};
