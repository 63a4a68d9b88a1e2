//! ownerlint reads rendered Kubernetes manifests and answers: what owns what, what is deleted with what, and what gets stuck
//! in Terminating?
//!
//! A [`Session`] reads what a [`Request`] names, once. Then ask it any number of questions:
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
//! The effects of a deletion, and the other contents of the input:
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
//! // With it go the ReplicaSet and the Pods that controllers make of it.
//! assert_eq!(plan.deleted.len(), 4);
//! assert!(plan.stuck.is_empty());
//! println!("{}", plan.render(PlanFormat::Human));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here prints, ends the process or panics on any input. Reading the input uses rayon's global thread pool.
//!
//! # Features
//!
//! * `cli` (default): the `ownerlint` command. A library needs none of it: `default-features = false`.
//! * `lsp` (default): the language server, and with `cli` the command `ownerlint lsp`.

// The public interface of the crate.
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
    //! Why something cannot be read, checked or planned. [`SessionError`] and [`PlanError`], and what they contain about files
    //! and words, implement [`miette::Diagnostic`]: what is wrong, where, and what to do about it.

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

// Below all rooms stands `kube-gc`, the model of deletion. The rooms, in the one direction in which they may import each other:
//
// | room | holds |
// |---|---|
// | `text` | source files with their side, byte spans, lines and columns |
// | `git` | the states of a repository: commits, the index, the work tree; runs nothing that the repository configures |
// | `render` | the programs that turn sources into manifests, with clean surroundings and a time limit |
// | `kube` | Kubernetes' words from `kube-gc`, and the `kubectl` commands that say them |
// | `finding` | one finding: rule, severity, consequence, labels, fingerprint |
// | `yaml` | documents as Kubernetes splits and reads them |
// | `manifest` | one object as it is written: identity, owner references, finalizers, templates, CRD facts; a parsed file as a value |
// | `knowledge` | what is known of operators: finalizers, what they create, whose deletion loses data |
// | `kustomize` | what a kustomization reaches, and what it makes of the names of objects |
// | `inventory` | one bundle: files found and read, kinds and scopes, lookup by identity and uid |
// | `changes` | what a change does to the objects of a tree: added, removed, changed, moved, renamed |
// | `ownership` | the edges between objects, each with its evidence; who removes which finalizer |
// | `delivery` | who deletes objects, and how: the tool that delivers each, its requests, and what it spares |
// | `cluster` | from an inventory and its ties to the cluster that the model deletes from; the one analysis of a bundle |
// | `merge` | what merging a change does: what leaves, what the tools request, what comes of it, and what of it is a surprise |
// | `suppression` | what is silenced on purpose: comments, annotations, ignores; and what of it is idle |
// | `baseline` | the findings that are known, by identity |
// | `rules` | a folder per subject, one function per rule beside its description |
// | `story` | a plan in order: causes, holds, remedies, words |
// | `config` | `ownerlint.yaml`: found, read, every mistake with its place |
// | `starter` | the configuration that `init` proposes; what of a tree is never applied |
// | `report` | one file per output format, each a pure function of a finished report |
// | `engine` | one way in for every command: request → read → analyse → judge → report |
// | `lsp` | the language server: editors' questions, asked of a session |
// | `cli` | arguments, exit status, printing |
//
// They are public for the tests and benches of this package and for its binary, which are crates of their own, and hidden
// because nothing in them is promised: any of it may change in any release. The same goes for hidden fields and methods of
// what is promised.
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
pub mod yaml;

// The example of the guide is compiled and run like the ones above.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/library.md")]
struct Guide;
