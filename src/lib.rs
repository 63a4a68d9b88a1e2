//! ownerlint reads rendered Kubernetes manifests and finds out which objects own which, what is deleted together, and
//! what gets stuck in Terminating.
//!
//! A [`Session`] reads the input of a [`Request`] once, and then answers any number of questions:
//!
//! ```
//! use ownerlint::{CheckOptions, ColumnUnit, Format, Request, Session, Severity};
//!
//! let session = Session::open(&Request::new(["fixtures/bundles/rook"]))?;
//! let report = session.check(CheckOptions::default())?;
//! for reported in &report.findings {
//!     let place = report.locate(&reported.finding.primary, ColumnUnit::Chars);
//!     println!("{}:{}: {}", place.path, place.start.line, reported.finding.message);
//! }
//! assert!(report.findings.iter().any(|reported| reported.finding.severity == Severity::Error));
//! std::fs::write(std::env::temp_dir().join("ownerlint.sarif"), report.render(Format::Sarif))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A session also predicts the effects of a deletion, and lists the contents of the input:
//!
//! ```
//! use ownerlint::{DeletionRequest, PlanFormat, Request, Session};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(
//!     folder.path().join("rendered.yaml"),
//!     "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}",
//! )?;
//! let session = Session::open(&Request::new([folder.path().display().to_string()]))?;
//! assert_eq!(session.list().objects[0].key, "Deployment.apps/shop/web");
//!
//! let plan = session.plan_deletion(&DeletionRequest::new(["deployment/web"]))?;
//! // The Deployment is deleted with the ReplicaSet and the Pods that controllers create for it.
//! assert_eq!(plan.deleted.len(), 4);
//! assert!(plan.stuck.is_empty());
//! println!("{}", plan.render(PlanFormat::Human));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No function prints, ends the process or panics on any input. Reading the input uses rayon's global thread pool.
//!
//! # Features
//!
//! * `cli` (default): the `ownerlint` command. A library does not need it: `default-features = false`.
//! * `lsp` (default): the language server and, together with `cli`, the command `ownerlint lsp`.

// The public interface of the crate.
/// The version of ownerlint.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use changes::{Unread, UnreadSide, UnreadWhat};
pub use engine::{
    BaselineChoice, CheckOptions, CompareRequest, Comparison, ConfigChoice, DeletionPlan,
    DeletionRequest, ReportScope, Request, Session, StateChoice,
};
pub use finding::{
    Applicability, Certainty, Chain, Consequence, Edit, Finding, Fingerprint, Fix, Fixes, Label,
    Relation, Severity,
};
pub use inventory::{Overlay, Release};
pub use kube::{Namespace, ObjectKey, Policy};
pub use merge::{DiffEffect, EffectCertainty, EffectKind};
pub use report::diff::{
    ChangedPlace, DiffReport, DiffSummary, DiffVerdict, FailedBuild, ReportedChange, StateName,
};
pub use report::plan::PlanFormat;
pub use report::{
    Format, Graphs, ListedObject, ListedPlace, ListedReference, ListedSkip, Listing, Note, Region,
    Report, Reported, Summary,
};
pub use rules::World;
pub use suppression::Date;
pub use text::{ColumnUnit, Limits, Position, Span};

pub mod error {
    //! Errors of reading, checking and planning. All but [`ClusterError`], [`NotADate`], [`NotAKey`], [`UnknownFormat`]
    //! and [`UnreadableRelease`] implement [`miette::Diagnostic`]: they say what is wrong, where, and how to fix it.

    pub use crate::baseline::BaselineError;
    pub use crate::config::Mistake;
    pub use crate::engine::{BundleError, PlanError, SessionError, TargetError, UnknownRule};
    pub use crate::gc::ClusterError;
    pub use crate::git::GitError;
    pub use crate::inventory::{InputError, UnreadableRelease};
    pub use crate::kube::NotAKey;
    pub use crate::render::RenderError;
    pub use crate::report::UnknownFormat;
    pub use crate::suppression::NotADate;
}

// The rooms. The table in CONTRIBUTING.md says what each contains, and in which order they may import each other;
// `tests/it/project/rooms.rs` checks the order. Below all of them are `kube-gc`, the model of deletion, and `kube-yaml`, the reader.
//
// They are public because the tests, the benchmarks and the binary of this package are crates of their own. They are
// hidden because nothing in them is promised: any of it may change in any release, and so may hidden fields and methods
// of promised types.
#[doc(hidden)]
pub mod baseline;
#[doc(hidden)]
pub mod changes;
#[doc(hidden)]
pub mod charts;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod cluster;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod delivery;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod finding;
#[doc(hidden)]
pub use kube_gc as gc;
#[doc(hidden)]
pub mod git;
#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod inventory;
#[doc(hidden)]
pub mod knowledge;
#[doc(hidden)]
pub mod kube;
#[doc(hidden)]
pub mod kustomize;
#[cfg(feature = "lsp")]
#[doc(hidden)]
pub mod lsp;
#[doc(hidden)]
pub mod manifest;
#[doc(hidden)]
pub mod merge;
#[doc(hidden)]
pub mod ownership;
#[doc(hidden)]
pub mod render;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod starter;
#[doc(hidden)]
pub mod story;
#[doc(hidden)]
pub mod suppression;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub use kube_yaml as yaml;

// Compiles and runs the example of the guide like the examples above.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/library.md")]
struct Guide;
