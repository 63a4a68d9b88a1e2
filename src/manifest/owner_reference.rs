//! `metadata.ownerReferences` with the place of every field.

use std::fmt;

use foldhash::HashMap;

use super::decode::{Decoder, Expected};
use super::{Spanned, UnknownField};
use crate::kube::ApiVersion;
use crate::text::Span;
use crate::yaml::Value;

/// The JSON names of `metav1.OwnerReference`.
pub const OWNER_REFERENCE_FIELDS: [&str; 6] = [
    "apiVersion",
    "blockOwnerDeletion",
    "controller",
    "kind",
    "name",
    "uid",
];

/// One entry of `metadata.ownerReferences`. Missing and null fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerReference {
    /// The index in the list.
    pub index: usize,
    /// The place of the whole entry.
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
    /// Returns the parsed `apiVersion`; empty if it is missing.
    pub fn group_version(&self) -> ApiVersion<&str> {
        ApiVersion::split(text(&self.api_version))
    }

    /// Returns `apiVersion` as written; empty if it is missing.
    pub fn api_version(&self) -> &str {
        text(&self.api_version)
    }

    /// Returns `kind`; empty if it is missing.
    pub fn kind(&self) -> &str {
        text(&self.kind)
    }

    /// Returns `name`; empty if it is missing.
    pub fn name(&self) -> &str {
        text(&self.name)
    }

    /// Returns `uid`; empty if it is missing.
    pub fn uid(&self) -> &str {
        text(&self.uid)
    }

    /// Whether the reference is marked as the managing controller.
    pub fn is_controller(&self) -> bool {
        flag(&self.controller) == Some(true)
    }

    /// Whether the reference blocks a Foreground deletion of the owner; absent is false ([VAL-13]).
    pub fn is_blocking(&self) -> bool {
        flag(&self.block_owner_deletion) == Some(true)
    }

    /// Returns the fields by which the API server finds duplicates. A missing flag is not `false` ([VAL-14]).
    fn compared(&self) -> ([&str; 4], [Option<bool>; 2]) {
        let texts = [self.api_version(), self.kind(), self.name(), self.uid()];
        let flags = [&self.controller, &self.block_owner_deletion];
        (texts, flags.map(flag))
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
    /// The place of the key `ownerReferences`, if it is written.
    pub key_span: Option<Span>,
    /// The entries that are mappings or null, in written order.
    pub entries: Vec<OwnerReference>,
}

impl OwnerReferences {
    /// Returns, for each entry, the index of the first one that the API server treats as equal ([VAL-14]), if any.
    pub fn repetitions(&self) -> Vec<Option<usize>> {
        if self.entries.len() < 2 {
            return vec![None; self.entries.len()];
        }
        let mut first = HashMap::default();
        let entries = self.entries.iter().enumerate();
        entries
            .map(|(at, entry)| {
                Some(*first.entry(entry.compared()).or_insert(at)).filter(|first| *first != at)
            })
            .collect()
    }
}

pub(super) fn read_owner_references(
    decoder: &mut Decoder,
    field: impl fmt::Display,
    key_span: Span,
    value: Value<'_>,
) -> OwnerReferences {
    let mut entries = Vec::new();
    for (index, item) in decoder.items(&field, value).enumerate() {
        let path = format_args!("{field}[{index}]");
        let errors = decoder.errors.len();
        if !item.is_map() && !item.is_null() {
            decoder.reject(path, Expected::Object, item);
            continue;
        }
        let mut reference = OwnerReference {
            index,
            span: item.span(),
            ..OwnerReference::default()
        };
        for entry in item.entries() {
            let path = format_args!("{path}.{}", entry.key);
            match entry.key {
                "apiVersion" => reference.api_version = decoder.string(path, entry),
                "kind" => reference.kind = decoder.string(path, entry),
                "name" => reference.name = decoder.string(path, entry),
                "uid" => reference.uid = decoder.string(path, entry),
                "controller" => reference.controller = decoder.bool(path, entry),
                "blockOwnerDeletion" => reference.block_owner_deletion = decoder.bool(path, entry),
                _ => reference.unknown.push(UnknownField::new(entry)),
            }
        }
        reference.decodes = decoder.errors.len() == errors;
        entries.push(reference);
    }
    // Saves memory: most objects have one reference, and a `Vec` first grows to four.
    entries.shrink_to_fit();
    OwnerReferences {
        key_span: Some(key_span),
        entries,
    }
}
