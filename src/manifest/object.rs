//! One object as it is written.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::decode::{Decoder, limited};
use super::metadata::MetadataFields;
use super::template::{FoundTemplate, templates_of};
use super::{CustomResourceDefinition, DecodeError, Metadata, ServiceClient, Spanned, Template};
use crate::kube::{ApiVersion, GroupKind, TypeMeta, kinds};
use crate::text::Span;
use crate::yaml::{Entry, NodeId, Tree, Value};

/// A mapping with `apiVersion` and `kind`.
#[derive(Clone, Debug)]
pub struct Object {
    tree: Arc<Tree>,
    node: NodeId,
    fields: ObjectFields,
}

/// The fields of an object that are read once.
#[derive(Clone, Debug)]
pub(super) struct ObjectFields {
    pub(super) type_meta: Arc<TypeMeta>,
    metadata: MetadataFields,
    of_kind: Option<Box<KindFacts>>,
}

/// Facts about objects of few kinds.
#[derive(Clone, Debug)]
enum KindFacts {
    Templates(SmallVec<[FoundTemplate; 1]>),
    Definition(CustomResourceDefinition),
}

/// How clients read an object with `items` at its top. kubectl and Helm take any document with that key for a list, whatever its
/// kind (apimachinery, pkg/apis/meta/v1/unstructured/helpers.go), and lists in lists too (cli-runtime, pkg/resource/visitor.go);
/// Flux (fluxcd/pkg, ssa/utils/object.go) and Argo CD (reposerver/repository/repository.go) one whose `items` are a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListReading {
    /// Every client applies the items and not the object.
    List,
    /// It is an item of a list and has a list under `items`: kubectl and Helm apply the items, Flux and Argo CD the object.
    ListInList,
    /// `items` is null: for kubectl and Helm an empty list.
    Null,
    /// `items` is neither: kubectl and Helm reject the document.
    Rejected,
}

/// Clients that read lists alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListClient {
    /// kubectl and Helm.
    Kubectl,
    /// Flux and Argo CD.
    GitOps,
}

impl ListReading {
    /// Whether `client` applies the object, and not only its items.
    pub fn is_applied_by(self, client: ListClient) -> bool {
        match self {
            Self::List => false,
            Self::ListInList | Self::Null => client == ListClient::GitOps,
            Self::Rejected => true,
        }
    }
}

impl ObjectFields {
    /// Reads a mapping. `None` when it has no `apiVersion` or no `kind` (missing, null or empty): not a
    /// manifest. An `apiVersion` or `kind` of another type than string is a decode error. `default` is what a typed list
    /// (`ConfigMapList`) says of items without a kind.
    pub(super) fn read<'t>(value: Value<'t>, default: Option<&TypeMeta>) -> Option<Self> {
        let mut decoder = Decoder::default();
        let type_meta = match (
            default.filter(|_| written(value, "kind").is_none()),
            written(value, "kind"),
        ) {
            // The reader sets both fields of an item that has no kind (unstructured decodeToList).
            (Some(default), _) => TypeMeta::shared(&default.api_version, &default.kind),
            (None, kind) => {
                let api_version = written(value, "apiVersion")?;
                let kind = kind?;
                let mut text = |name, entry: Entry<'t>| {
                    limited(decoder.text(name, entry.value).unwrap_or_default())
                };
                TypeMeta::shared(&text("apiVersion", api_version), &text("kind", kind))
            }
        };
        let metadata = MetadataFields::read(decoder, "metadata", value);
        let of_kind = KindFacts::read(&type_meta, value).map(Box::new);
        Some(Self {
            type_meta,
            metadata,
            of_kind,
        })
    }
}

impl KindFacts {
    fn read(type_meta: &TypeMeta, value: Value<'_>) -> Option<Self> {
        let ApiVersion { group, version } = &type_meta.group_version;
        if GroupKind::new(group, &type_meta.kind) == kinds::CUSTOM_RESOURCE_DEFINITION {
            return CustomResourceDefinition::read(version, value).map(Self::Definition);
        }
        let templates = templates_of(group, &type_meta.kind, value);
        (!templates.is_empty()).then_some(Self::Templates(templates))
    }
}

impl Object {
    /// The object at `node`, of which `fields` were read.
    pub(super) fn new(tree: Arc<Tree>, node: NodeId, fields: ObjectFields) -> Self {
        Self { tree, node, fields }
    }

    /// `apiVersion` and `kind`.
    pub fn type_meta(&self) -> &Arc<TypeMeta> {
        &self.fields.type_meta
    }

    /// `kind`.
    pub fn kind(&self) -> &str {
        &self.fields.type_meta.kind
    }

    /// `apiVersion` as written.
    pub fn api_version(&self) -> &str {
        &self.fields.type_meta.api_version
    }

    /// The parsed `apiVersion`.
    pub fn group_version(&self) -> &ApiVersion<SmolStr> {
        &self.fields.type_meta.group_version
    }

    /// Where `kind` is written, or the start of an item of a list that says it for all.
    pub fn kind_span(&self) -> Span {
        self.span_of("kind")
    }

    /// Where `apiVersion` is written, or the start of an item of a list that says it for all.
    pub fn api_version_span(&self) -> Span {
        self.span_of("apiVersion")
    }

    fn span_of(&self, name: &str) -> Span {
        let said_here = written(self.value(), "kind").and_then(|_| written(self.value(), name));
        said_here.map_or(Span::empty(self.value().span().start), |entry| {
            entry.value.span()
        })
    }

    /// `metadata`; empty when it is left out.
    pub fn metadata(&self) -> Metadata<'_> {
        self.fields.metadata.of(&self.tree, self.value())
    }

    /// Fields of `TypeMeta` and `ObjectMeta` whose type does not decode. Every client rejects such an object.
    pub fn decode_errors(&self) -> &[DecodeError] {
        self.fields.metadata.decode_errors()
    }

    /// The first key of the object: where it begins.
    pub fn start(&self) -> Span {
        let value = self.value();
        value
            .entries()
            .next()
            .map_or(Span::empty(value.span().start), |entry| entry.key_span)
    }

    /// Its templates whose metadata takes effect.
    pub fn templates(&self) -> impl Iterator<Item = Template<'_>> + Clone {
        let found: &[_] = match self.fields.of_kind.as_deref() {
            Some(KindFacts::Templates(templates)) => templates,
            _ => &[],
        };
        found.iter().map(|template| template.of(&self.tree))
    }

    /// Returns the kind that it defines, when it is a CRD that names a group and a kind.
    pub fn definition(&self) -> Option<&CustomResourceDefinition> {
        match self.fields.of_kind.as_deref()? {
            KindFacts::Definition(definition) => Some(definition),
            KindFacts::Templates(_) => None,
        }
    }

    /// Returns the Services that it needs, when it is a webhook configuration, an APIService or a CRD with a conversion
    /// webhook. Read anew by every call.
    pub fn service_client(&self) -> Option<ServiceClient> {
        ServiceClient::read(
            self.group_kind(),
            &self.group_version().version,
            self.value(),
        )
    }

    /// The whole object, to look at any field.
    pub fn value(&self) -> Value<'_> {
        self.tree.value(self.node)
    }

    /// How clients read the object if it has `items` at its top.
    pub fn list_reading(&self) -> Option<ListReading> {
        let items = self.value().get("items")?;
        let is_document = self.node == self.tree.root().id();
        Some(match items {
            value if value.is_seq() && is_document => ListReading::List,
            value if value.is_seq() => ListReading::ListInList,
            value if value.is_null() => ListReading::Null,
            _ => ListReading::Rejected,
        })
    }

    /// The value at a path of keys: `["spec", "names", "kind"]`.
    pub fn at(&self, path: &[&str]) -> Option<Value<'_>> {
        self.value().at(path)
    }

    /// The group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group_version().group
    }

    /// The kind, whatever the version.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(self.group(), self.kind())
    }

    /// Whether the object is of that kind, in whatever version.
    pub fn is(&self, kind: GroupKind<&str>) -> bool {
        self.group_kind() == kind
    }

    /// The name; `x-*` for `generateName: x-`; `None` when neither is written.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        let metadata = self.metadata();
        let name = filled(metadata.name()).map(Cow::Borrowed);
        name.or_else(|| Some(format!("{}*", filled(metadata.generate_name())?).into()))
    }

    /// The namespace as written; an empty one is none.
    pub fn namespace(&self) -> Option<&str> {
        filled(self.metadata().namespace())
    }

    /// The uid as written; an empty one is none.
    pub fn uid(&self) -> Option<&str> {
        filled(self.metadata().uid())
    }

    /// Where to point when the object itself is meant: its name, else its kind.
    pub fn name_span(&self) -> Span {
        let metadata = self.metadata();
        metadata
            .name()
            .or_else(|| metadata.generate_name())
            .map_or_else(|| self.kind_span(), |name| name.span)
    }
}

/// An empty text is none.
fn filled(text: Option<Spanned<&str>>) -> Option<&str> {
    text.map(|text| text.value).filter(|text| !text.is_empty())
}

/// A field that Go would not leave at its zero value.
fn written<'a>(object: Value<'a>, name: &str) -> Option<Entry<'a>> {
    object.entry(name).filter(|entry| !is_empty(entry.value))
}

/// Whether Go would leave a string field at its zero value.
fn is_empty(value: Value<'_>) -> bool {
    value.is_null() || value.as_str() == Some("")
}
