//! Kubernetes' own words: how kinds, versions and objects are named, and the names that mean something to its controllers.
//!
//! Every identity of the program is an [`ObjectKey`]; text becomes one where it comes from outside
//! (arguments, lists of steps) and is made of one where it goes out (reports, fingerprints, baselines), never in between.

mod api_version;
pub mod finalizers;
mod group_kind;
mod key;
mod key_order;
mod kind_map;
pub mod kinds;
pub mod kubectl;
mod plural;
mod remembered;
mod request;
mod scope;
pub mod shell;
mod type_meta;

pub use api_version::{ApiVersion, sort_versions};
pub use group_kind::GroupKind;
pub use key::{Namespace, NotAKey, ObjectKey};
pub use key_order::sort_by_object_key;
pub use kind_map::KindMap;
pub use plural::{guessed_plurals, likeliest_plural};
pub use request::{Policy, Wait};
pub use scope::Scope;
pub use type_meta::{TypeMeta, WrittenKind};
