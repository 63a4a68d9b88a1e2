//! Distinguishes manifests to apply from text that only looks like one, by the content of one file: templates that were
//! not rendered, parts of objects, the files of tools, text. The inventory evaluates what files say about each other.
//!
//! The name of a folder is never evidence. An object is skipped only for content that no object can have: a name
//! `${NAME}`, a key `(containers[?name == 'app'])`. Text that cannot be read is a template if the line of the error is
//! part of one; otherwise it matters only in a file about manifests. Objects with server fields are skipped only for
//! their kind. Nothing is dropped silently: each verdict is a [`SkipReason`] that is counted and shown.

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
pub use placeholder::may_be_same;
pub use reason::{ManifestTool, Skip, SkipReason, TemplateLanguage};
pub(super) use unreadable::{Unreadable, is_about_manifests};
