//! Distinguishes a manifest to apply from what only looks like one, as far as one file shows it: templates that were
//! not rendered, parts of objects, the files of tools, text. Statements of files about each other are settled in the
//! inventory.
//!
//! The name of a folder is never evidence. An object is set aside only for what no object has: a name `${NAME}`, a key
//! `(containers[?name == 'app'])`; text that cannot be read, for a template's line where it breaks, or because nothing in its
//! file is about manifests. An object that was read from a cluster is always an object. Nothing is dropped here: each
//! verdict is a [`SkipReason`] that is counted and shown.

mod facts;
mod mentions;
mod object;
mod placeholder;
mod reason;
mod unreadable;

pub use facts::{FileFacts, KUSTOMIZATIONS, is_kustomization};
pub use mentions::{Mention, Use};
pub use object::has_directive;
pub(super) use object::{DocumentTraits, skip_reason};
pub use reason::{ManifestTool, Skip, SkipReason, TemplateLanguage};
pub(super) use unreadable::{Unreadable, is_about_manifests};
