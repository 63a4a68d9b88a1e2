//! One Kubernetes object as it is written: identity, owner references, finalizers, and every field with its place.
//!
//! A [`ParsedFile`] is one text with all its objects, problems and comments: parsed once and then shared. `recognition`
//! separates manifests to apply from everything else. `documents` finds the objects of a document and replaces a `List`
//! by its items. An [`Object`] keeps the tree it was read from, so later rooms can access any other field with its
//! span. Nothing here depends on other objects: the inventory determines scopes and keys.

mod crd;
mod decode;
mod documents;
mod file;
mod label_key;
mod metadata;
mod object;
mod owner_reference;
mod parsed;
mod provenance;
mod recognition;
mod secret;
mod secret_words;
mod selector;
mod service_client;
mod spanned;
mod template;
mod time;

pub use crd::{CrdVersion, CustomResourceDefinition};
pub use decode::{DecodeError, Expected};
pub use documents::WithoutIdentity;
pub use file::ParsedFile;
pub use label_key::{is_namespace_name, label_key_errors};
pub use metadata::{Labels, Metadata, OBJECT_META_FIELDS, ServerField};
pub use object::{ListClient, ListReading, Object};
pub use owner_reference::{OWNER_REFERENCE_FIELDS, OwnerReference, OwnerReferences};
pub use parsed::ParsedDocument;
pub use provenance::is_rendered;
pub use recognition::{
    FileFacts, KUSTOMIZATIONS, ManifestTool, Mention, Skip, SkipReason, TemplateLanguage, Use,
    has_directive, is_kustomization, may_be_same,
};
pub use selector::{LabelSelector, Requirement, SelectorOperator};
pub use service_client::{ApiService, ServiceClient, ServiceReference, Webhook, WebhookRule};
pub use spanned::{Spanned, UnknownField};
pub use template::{Template, TemplateKind, WITH_TEMPLATES};
