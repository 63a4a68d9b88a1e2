//! `ObjectMeta` with the place of every field.
//!
//! Names, labels and annotations are looked up in the tree. Rare fields are read once and stored.

use std::fmt;

use super::decode::{Decoder, MAX_NAME, limited};
use super::owner_reference::read_owner_references;
use super::{DecodeError, OwnerReferences, Spanned, UnknownField};
use crate::text::Span;
use crate::yaml::{Entry, Kind, NodeId, Tree, Value};

/// The JSON names of `metav1.ObjectMeta` (Kubernetes 1.36). `clusterName` was removed in 1.24.
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

/// The fields of `OBJECT_META_FIELDS` that the API server writes.
const SERVER_FIELDS: [&str; 8] = [
    "uid",
    "resourceVersion",
    "selfLink",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// The annotation in which `kubectl apply` stores a copy of the whole object.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

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

/// The fields of `metadata` that are read once.
#[derive(Clone, Debug, Default)]
pub(super) struct MetadataFields {
    /// The mapping, if it is written.
    node: Option<NodeId>,
    rare: Option<Box<RareFields>>,
}

/// Fields that few objects have.
#[derive(Clone, Debug, Default)]
struct RareFields {
    decode_errors: Vec<DecodeError>,
    owner_references: OwnerReferences,
    finalizers: Vec<Spanned<String>>,
    server_fields: Vec<ServerField>,
    unknown: Vec<UnknownField>,
    /// The truncated values of names that are too long to be repeated, by field.
    cut: Vec<(&'static str, String)>,
}

static NOTHING_RARE: RareFields = RareFields {
    decode_errors: Vec::new(),
    owner_references: OwnerReferences {
        key_span: None,
        entries: Vec::new(),
    },
    finalizers: Vec::new(),
    server_fields: Vec::new(),
    unknown: Vec::new(),
    cut: Vec::new(),
};

/// The fields that identify an object, which are looked up in the tree.
const IDENTIFYING_FIELDS: [&str; 4] = ["name", "generateName", "namespace", "uid"];

impl MetadataFields {
    /// Reads the `metadata` of `holder` at `field` (`metadata`, `spec.template.metadata`, …), if it has any. Earlier
    /// errors of `decoder` are kept with those of this call.
    pub(super) fn read(mut decoder: Decoder, field: impl fmt::Display, holder: Value<'_>) -> Self {
        let mut fields = match holder.get("metadata") {
            Some(metadata) => Self::of_value(&mut decoder, field, metadata),
            None => Self::default(),
        };
        if !decoder.errors.is_empty() {
            decoder.errors.shrink_to_fit();
            RareFields::of(&mut fields.rare).decode_errors = decoder.errors;
        }
        fields
    }

    fn of_value(decoder: &mut Decoder, field: impl fmt::Display, metadata: Value<'_>) -> Self {
        let mut rare = None;
        for entry in decoder.fields(&field, metadata) {
            let path = format_args!("{field}.{}", entry.key);
            match entry.key {
                "name" | "generateName" | "namespace" | "uid" => {
                    let text = decoder.text(path, entry.value).unwrap_or_default();
                    let field = IDENTIFYING_FIELDS
                        .into_iter()
                        .find(|name| *name == entry.key);
                    if let Some(field) = field.filter(|_| text.len() > MAX_NAME) {
                        let cut = (field, limited(text).into_owned());
                        RareFields::of(&mut rare).cut.push(cut);
                    }
                }
                "ownerReferences" => {
                    let read = read_owner_references(decoder, path, entry.key_span, entry.value);
                    RareFields::of(&mut rare).owner_references = read;
                }
                "finalizers" => {
                    RareFields::of(&mut rare).finalizers = decoder.strings(path, entry.value);
                }
                "labels" | "annotations" => decoder.string_map(path, entry.value),
                "resourceVersion" | "selfLink" => _ = decoder.text(path, entry.value),
                "generation" | "deletionGracePeriodSeconds" => decoder.integer(path, entry.value),
                "creationTimestamp" | "deletionTimestamp" => decoder.time(path, entry.value),
                "managedFields" => decoder.array(path, entry.value),
                _ => RareFields::of(&mut rare)
                    .unknown
                    .push(UnknownField::new(entry)),
            }
            let server = SERVER_FIELDS.into_iter().find(|name| *name == entry.key);
            if let Some(name) = server.filter(|name| is_set(name, entry.value)) {
                RareFields::of(&mut rare).server_fields.push(ServerField {
                    name,
                    key_span: entry.key_span,
                    span: entry.value.span(),
                });
            }
        }
        Self {
            node: Some(metadata.id()),
            rare,
        }
    }

    /// Returns the errors of fields that do not decode, including earlier errors of the decoder.
    pub(super) fn decode_errors(&self) -> &[DecodeError] {
        self.rare.as_deref().map_or(&[], |rare| &rare.decode_errors)
    }

    /// Returns the metadata of `holder`, from which these fields were read.
    pub(super) fn of<'a>(&'a self, tree: &'a Tree, holder: Value<'a>) -> Metadata<'a> {
        Metadata {
            place: self.node.map(|node| (holder, tree.value(node))),
            rare: self.rare.as_deref().unwrap_or(&NOTHING_RARE),
        }
    }
}

impl RareFields {
    fn of(rare: &mut Option<Box<Self>>) -> &mut Self {
        rare.get_or_insert_default()
    }
}

/// `metadata` of an object or a template.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a> {
    /// The mapping that contains it, and the metadata itself.
    place: Option<(Value<'a>, Value<'a>)>,
    rare: &'a RareFields,
}

impl<'a> Metadata<'a> {
    /// Returns the place of the key `metadata`, if it is written.
    pub fn key_span(self) -> Option<Span> {
        self.place?.0.entry("metadata").map(|entry| entry.key_span)
    }

    /// Returns `name`.
    pub fn name(self) -> Option<Spanned<&'a str>> {
        self.text("name")
    }

    /// Returns `generateName`.
    pub fn generate_name(self) -> Option<Spanned<&'a str>> {
        self.text("generateName")
    }

    /// Returns `namespace` as written.
    pub fn namespace(self) -> Option<Spanned<&'a str>> {
        self.text("namespace")
    }

    /// Returns `uid`.
    pub fn uid(self) -> Option<Spanned<&'a str>> {
        self.text("uid")
    }

    fn text(self, field: &str) -> Option<Spanned<&'a str>> {
        let entry = self.entry(field)?;
        let written = Spanned::of_entry(entry, entry.value.as_str()?);
        if written.value.len() <= MAX_NAME {
            return Some(written);
        }
        let cut = self.rare.cut.iter().find(|(of, _)| *of == field);
        let value = cut.map_or(written.value, |(_, cut)| cut);
        Some(Spanned { value, ..written })
    }

    fn entry(self, field: &str) -> Option<Entry<'a>> {
        self.place?.1.entry(field)
    }

    /// Whether it has fields that few objects have: `ownerReferences`, `finalizers`, fields of the API server, unknown
    /// ones, ones that do not decode, or names that are too long to repeat.
    pub fn has_rare_fields(self) -> bool {
        !std::ptr::eq(self.rare, &NOTHING_RARE)
    }

    /// Returns `ownerReferences`.
    pub fn owner_references(self) -> &'a OwnerReferences {
        &self.rare.owner_references
    }

    /// Returns `finalizers`; a null entry is the empty string.
    pub fn finalizers(self) -> &'a [Spanned<String>] {
        &self.rare.finalizers
    }

    /// Returns the names in `finalizers`.
    pub fn finalizer_names(self) -> impl Iterator<Item = &'a str> {
        let names = self.finalizers().iter();
        names.map(|finalizer| finalizer.value.as_str())
    }

    /// Returns the finalizers with their indices in the list, which may also contain values that are not strings.
    pub fn numbered_finalizers(self) -> impl Iterator<Item = (usize, &'a Spanned<String>)> {
        let list = self.entry("finalizers").map(|entry| entry.value);
        let mut items = list.into_iter().flat_map(Value::items).enumerate();
        self.finalizers().iter().filter_map(move |finalizer| {
            let (index, _) = items.find(|(_, item)| item.span() == finalizer.span)?;
            Some((index, finalizer))
        })
    }

    /// Returns `labels`.
    pub fn labels(self) -> Labels<'a> {
        Labels(self.entry("labels").map(|entry| entry.value))
    }

    /// Returns `annotations`.
    pub fn annotations(self) -> Labels<'a> {
        Labels(self.entry("annotations").map(|entry| entry.value))
    }

    /// Whether it has labels or annotations.
    pub fn has_labels_or_annotations(self) -> bool {
        self.entry("labels").is_some() || self.entry("annotations").is_some()
    }

    /// Returns the value of an annotation.
    pub fn annotation(self, key: &str) -> Option<Spanned<&'a str>> {
        self.annotations().get(key)
    }

    /// Returns the value of a label.
    pub fn label(self, key: &str) -> Option<Spanned<&'a str>> {
        self.labels().get(key)
    }

    /// Returns the fields that the API server writes, except those with their zero value.
    pub fn server_fields(self) -> &'a [ServerField] {
        &self.rare.server_fields
    }

    /// Returns the fields that do not have Go's zero value, each with the place of its key. An empty list is not zero.
    pub fn set_fields(self) -> impl Iterator<Item = (Span, &'static str)> {
        OBJECT_META_FIELDS.into_iter().filter_map(move |field| {
            let entry = self.entry(field)?;
            (entry.value.is_seq() || is_set(field, entry.value)).then_some((entry.key_span, field))
        })
    }

    /// Whether the object contains this field of the API server.
    pub fn has_server_field(self, name: &str) -> bool {
        self.rare
            .server_fields
            .iter()
            .any(|field| field.name == name)
    }

    /// Returns the written keys that `ObjectMeta` does not define.
    pub fn unknown(self) -> &'a [UnknownField] {
        &self.rare.unknown
    }
}

/// Labels or annotations: a map of strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels<'a>(Option<Value<'a>>);

impl<'a> Labels<'a> {
    /// Returns the keys in written order, each with its value; values that are not strings are left out.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, Spanned<&'a str>)> {
        let entries = self.0.into_iter().flat_map(Value::entries);
        entries.filter_map(|entry| Some((entry.key, text_of(entry)?)))
    }

    /// Returns the value of a key.
    pub fn get(self, key: &str) -> Option<Spanned<&'a str>> {
        text_of(self.0?.entry(key)?)
    }
}

/// Returns the text of an entry; null is the empty string, as in Go.
fn text_of(entry: Entry<'_>) -> Option<Spanned<&str>> {
    let text = entry.value.as_str();
    let text = text.or(entry.value.is_null().then_some(""))?;
    Some(Spanned::of_entry(entry, text))
}

/// Whether the field has a value: neither null, nor an empty text, an empty list or `0`. `deletionGracePeriodSeconds`
/// is a pointer in Go: its `0` is a value.
fn is_set(field: &str, value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Null => false,
        Kind::String(text) => !text.is_empty(),
        Kind::Int(0) => field == "deletionGracePeriodSeconds",
        Kind::Seq => value.items().len() > 0,
        _ => true,
    }
}
