//! One Kubernetes object as it is written: identity, owner references, finalizers, and every field with its place.
//!
//! [`objects_of`] finds the objects of a document (the items of a `List` come as themselves). An [`Object`] keeps the tree
//! it was read from, so that later rooms can look at any other field with its span. Nothing here depends on other objects:
//! scopes and keys are settled in the inventory.

mod api_version;
mod crd;
mod decode;
mod documents;
mod label_key;
mod metadata;
mod object;
mod spanned;
mod template;

pub use api_version::ApiVersion;
pub use crd::{CrdScope, CrdVersion, CustomResourceDefinition};
pub use decode::{DecodeError, Expected};
pub use documents::{Found, NotAnObject, objects_of};
pub use label_key::label_key_errors;
pub use metadata::{
    Metadata, OBJECT_META_FIELDS, OWNER_REFERENCE_FIELDS, OwnerReference, OwnerReferences, ServerField, UnknownField,
};
pub use object::Object;
pub use spanned::Spanned;
pub use template::{Template, TemplateKind, templates_of};
