//! `ObjectMeta` with the place of every field.

use std::collections::HashMap;
use std::fmt;

use super::Spanned;
use super::decode::{Decoder, Expected};
use crate::kube::ApiVersion;
use crate::text::Span;
use crate::yaml::{Kind, Value};

/// The JSON names of `metav1.ObjectMeta` (Kubernetes 1.36). `clusterName` was removed in 1.24 and is unknown since.
pub const OBJECT_META_FIELDS: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The JSON names of `metav1.OwnerReference`.
pub const OWNER_REFERENCE_FIELDS: [&str; 6] = ["apiVersion", "blockOwnerDeletion", "controller", "kind", "name", "uid"];

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A key that the type does not have: strict clients reject it, others silently drop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The key.
    pub name: String,
    /// Where the key is.
    pub span: Span,
}

/// A field that the API server writes and a rendering should not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerField {
    /// The JSON name: `resourceVersion`.
    pub name: &'static str,
    /// Where the key is.
    pub key_span: Span,
    /// Where the value is.
    pub span: Span,
}

/// One entry of `metadata.ownerReferences`. Missing and null fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerReference {
    /// The place in the list.
    pub index: usize,
    /// The whole entry.
    pub span: Span,
    /// `apiVersion` as written.
    pub api_version: Option<Spanned<String>>,
    /// `kind`.
    pub kind: Option<Spanned<String>>,
    /// `name`.
    pub name: Option<Spanned<String>>,
    /// `uid`.
    pub uid: Option<Spanned<String>>,
    /// `controller`.
    pub controller: Option<Spanned<bool>>,
    /// `blockOwnerDeletion`.
    pub block_owner_deletion: Option<Spanned<bool>>,
    /// Keys that owner references do not have.
    pub unknown: Vec<UnknownField>,
    /// Whether every field has a type that decodes.
    pub decodes: bool,
}

impl OwnerReference {
    /// The parsed `apiVersion`; empty when it is missing.
    pub fn group_version(&self) -> ApiVersion {
        ApiVersion::parse(text(&self.api_version))
    }

    /// `apiVersion` as written; empty when it is missing.
    pub fn api_version(&self) -> &str {
        text(&self.api_version)
    }

    /// `kind`; empty when it is missing.
    pub fn kind(&self) -> &str {
        text(&self.kind)
    }

    /// `name`; empty when it is missing.
    pub fn name(&self) -> &str {
        text(&self.name)
    }

    /// `uid`; empty when it is missing.
    pub fn uid(&self) -> &str {
        text(&self.uid)
    }

    /// Whether the reference is marked as the managing controller.
    pub fn is_controller(&self) -> bool {
        self.controller.as_ref().is_some_and(|flag| flag.value)
    }

    /// Whether the reference blocks a Foreground deletion of the owner; absent is false ([VAL-13]).
    pub fn is_blocking(&self) -> bool {
        self.block_owner_deletion.as_ref().is_some_and(|flag| flag.value)
    }

    /// What the API server compares to find repetitions: all fields, where an absent flag differs from `false` ([VAL-14]).
    fn compared(&self) -> ([&str; 4], [Option<bool>; 2]) {
        let texts = [self.api_version(), self.kind(), self.name(), self.uid()];
        (texts, [flag(&self.controller), flag(&self.block_owner_deletion)])
    }
}

fn text(field: &Option<Spanned<String>>) -> &str {
    field.as_ref().map_or("", Spanned::as_str)
}

fn flag(field: &Option<Spanned<bool>>) -> Option<bool> {
    field.as_ref().map(|flag| flag.value)
}

/// The list of owner references.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerReferences {
    /// The key `ownerReferences`, when it is written.
    pub key_span: Option<Span>,
    /// The entries that are mappings or null, in written order.
    pub entries: Vec<OwnerReference>,
}

impl OwnerReferences {
    /// For each entry, the place of the first one that the API server treats it as a repetition of ([VAL-14]), if there is one.
    pub fn repetitions(&self) -> Vec<Option<usize>> {
        if self.entries.len() < 2 {
            return vec![None; self.entries.len()];
        }
        let mut first = HashMap::new();
        let entries = self.entries.iter().enumerate();
        entries
            .map(|(at, entry)| Some(*first.entry(entry.compared()).or_insert(at)).filter(|first| *first != at))
            .collect()
    }
}

/// `metadata` of an object or a template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The key `metadata`, when it is written.
    pub key_span: Option<Span>,
    /// `name`.
    pub name: Option<Spanned<String>>,
    /// `generateName`.
    pub generate_name: Option<Spanned<String>>,
    /// `namespace` as written.
    pub namespace: Option<Spanned<String>>,
    /// `uid`.
    pub uid: Option<Spanned<String>>,
    /// `ownerReferences`.
    pub owner_references: OwnerReferences,
    /// The key `finalizers`, when it is written.
    pub finalizers_key: Option<Span>,
    /// `finalizers`; a null entry is empty.
    pub finalizers: Vec<Spanned<String>>,
    /// `labels`.
    pub labels: Vec<(String, Spanned<String>)>,
    /// `annotations`.
    pub annotations: Vec<(String, Spanned<String>)>,
    /// Fields that the server writes, unless they have their zero value.
    pub server_fields: Vec<ServerField>,
    /// Keys that object metadata does not have.
    pub unknown: Vec<UnknownField>,
}

impl Metadata {
    /// Reads `metadata` at `field` (`metadata`, `spec.template.metadata`, …).
    pub(super) fn read(decoder: &mut Decoder, field: impl fmt::Display, key_span: Span, value: Value<'_>) -> Self {
        let mut metadata = Self { key_span: Some(key_span), ..Self::default() };
        for entry in decoder.fields(&field, value) {
            let path = format_args!("{field}.{}", entry.key);
            let mut server = None;
            match entry.key {
                "name" => metadata.name = decoder.string(path, entry),
                "generateName" => metadata.generate_name = decoder.string(path, entry),
                "namespace" => metadata.namespace = decoder.string(path, entry),
                "uid" => {
                    metadata.uid = decoder.string(path, entry);
                    server = Some("uid");
                }
                "ownerReferences" => {
                    metadata.owner_references = read_owner_references(decoder, path, entry.key_span, entry.value);
                }
                "finalizers" => {
                    metadata.finalizers_key = Some(entry.key_span);
                    metadata.finalizers = decoder.strings(path, entry.value);
                }
                "labels" => metadata.labels = decoder.string_map(path, entry.value),
                "annotations" => metadata.annotations = decoder.string_map(path, entry.value),
                "resourceVersion" => {
                    decoder.string(path, entry);
                    server = Some("resourceVersion");
                }
                "selfLink" => {
                    decoder.string(path, entry);
                    server = Some("selfLink");
                }
                "generation" => {
                    decoder.integer(path, entry.value);
                    server = Some("generation");
                }
                "creationTimestamp" => {
                    decoder.time(path, entry.value);
                    server = Some("creationTimestamp");
                }
                "deletionTimestamp" => {
                    decoder.time(path, entry.value);
                    server = Some("deletionTimestamp");
                }
                "deletionGracePeriodSeconds" => {
                    decoder.integer(path, entry.value);
                    server = Some("deletionGracePeriodSeconds");
                }
                "managedFields" => {
                    decoder.array(path, entry.value);
                    server = Some("managedFields");
                }
                unknown => metadata.unknown.push(UnknownField { name: unknown.to_owned(), span: entry.key_span }),
            }
            if let Some(name) = server.filter(|name| is_set(name, entry.value)) {
                let (key_span, span) = (entry.key_span, entry.value.span());
                metadata.server_fields.push(ServerField { name, key_span, span });
            }
        }
        metadata
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&Spanned<String>> {
        self.annotations.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&Spanned<String>> {
        self.labels.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether the server has written a field of that name into this object.
    pub fn has_server_field(&self, name: &str) -> bool {
        self.server_fields.iter().any(|field| field.name == name)
    }
}

/// Whether Go would see a value other than the field's zero value. `deletionGracePeriodSeconds` is a pointer: its `0` is set.
fn is_set(field: &str, value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::String(text) => !text.is_empty(),
        Kind::Int(0) => field == "deletionGracePeriodSeconds",
        Kind::Seq { start, end } => start != end,
        _ => true,
    }
}

fn read_owner_references(
    decoder: &mut Decoder,
    field: impl fmt::Display,
    key_span: Span,
    value: Value<'_>,
) -> OwnerReferences {
    let mut entries = Vec::new();
    for (index, item) in decoder.items(&field, value).enumerate() {
        let path = format_args!("{field}[{index}]");
        let errors = decoder.errors.len();
        let mut reference = OwnerReference { index, span: item.span(), ..OwnerReference::default() };
        if !item.is_map() && !item.is_null() {
            decoder.reject(path, Expected::Object, item);
            continue;
        }
        for entry in item.entries() {
            let path = format_args!("{path}.{}", entry.key);
            match entry.key {
                "apiVersion" => reference.api_version = decoder.string(path, entry),
                "kind" => reference.kind = decoder.string(path, entry),
                "name" => reference.name = decoder.string(path, entry),
                "uid" => reference.uid = decoder.string(path, entry),
                "controller" => reference.controller = decoder.bool(path, entry),
                "blockOwnerDeletion" => reference.block_owner_deletion = decoder.bool(path, entry),
                unknown => reference.unknown.push(UnknownField { name: unknown.to_owned(), span: entry.key_span }),
            }
        }
        reference.decodes = decoder.errors.len() == errors;
        entries.push(reference);
    }
    OwnerReferences { key_span: Some(key_span), entries }
}
