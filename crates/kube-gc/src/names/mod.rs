//! Kubernetes' vocabulary: names of kinds, versions and objects, and names that its controllers treat specially.

mod api_version;
pub mod finalizers;
mod group_kind;
mod interner;
mod key;
mod kind_map;
pub mod kinds;
mod plural;
mod request;
mod scope;
mod type_meta;

pub use api_version::{ApiVersion, sort_versions};
pub use group_kind::GroupKind;
pub use key::{Namespace, NotAKey, ObjectKey};
pub use kind_map::KindMap;
pub use plural::{guessed_plurals, likeliest_plural};
pub use request::{Policy, Wait};
pub use scope::Scope;
pub use type_meta::TypeMeta;
