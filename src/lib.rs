//! ownerlint reads rendered Kubernetes manifests and answers: what owns what, what dies with what, and what will never
//! finish dying?
//!
//! The rooms, in the one direction in which they may import each other:
//!
//! | room | holds |
//! |---|---|
//! | [`text`] | source files with their side, byte spans, lines and columns |
//! | [`kube`] | Kubernetes' words: kinds, versions, object keys, scopes, well-known finalizers |
//! | [`finding`] | one finding: rule, severity, consequence, labels, fingerprint |
//! | [`yaml`] | documents as Kubernetes splits and reads them |
//! | [`manifest`] | one object as it is written: identity, owner references, finalizers, templates, CRD facts; a parsed file as a value |
//! | [`inventory`] | one bundle: files found and read, kinds and scopes, lookup by identity and uid |
//! | [`ownership`] | the edges between objects, each with its evidence; who removes which finalizer |
//! | [`gc`] | a pure model of deletion: API server, garbage collector, namespaces, CRDs |
//! | [`cluster`] | from an inventory and its ties to the cluster that the model deletes from; the one analysis of a bundle |
//! | [`suppression`] | what is silenced on purpose: comments, annotations, ignores; and what of it is idle |
//! | [`baseline`] | the findings that are known, by identity |
//! | [`rules`] | one file per family, one function per rule |
//! | [`story`] | a plan told in order: causes, holds, remedies, words |
//! | [`config`] | `ownerlint.yaml`: found, read, every mistake with its place |
//! | [`starter`] | the configuration that `init` proposes; what of a tree is never applied |
//! | [`report`] | one file per output format, each a pure function of a finished report |
//! | [`engine`] | one way in for every command: request → read → analyse → judge → report |
//! | [`cli`] | arguments, exit status, printing |

pub mod baseline;
pub mod cli;
pub mod cluster;
pub mod config;
pub mod engine;
pub mod finding;
pub mod gc;
pub mod inventory;
pub mod kube;
pub mod manifest;
pub mod ownership;
pub mod report;
pub mod rules;
pub mod starter;
pub mod story;
pub mod suppression;
pub mod text;
pub mod yaml;
