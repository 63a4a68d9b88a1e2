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

/// Fields of an object that are read once.
#[derive(Clone, Debug)]
pub(super) struct ObjectFields {
    pub(super) type_meta: Arc<TypeMeta>,
    metadata: MetadataFields,
    of_kind: Option<Box<KindFacts>>,
}

/// Facts about objects of certain kinds.
#[derive(Clone, Debug)]
enum KindFacts {
    Templates(SmallVec<[FoundTemplate; 1]>),
    Definition(CustomResourceDefinition),
}

/// How clients read an object with a top-level key `items`. kubectl and Helm read any document with that key as a list,
/// whatever its kind (apimachinery, pkg/apis/meta/v1/unstructured/helpers.go), also within lists (cli-runtime,
/// pkg/resource/visitor.go); Flux (fluxcd/pkg, ssa/utils/object.go) and Argo CD (reposerver/repository/repository.go)
/// only if `items` is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListReading {
    /// Every client applies the items and not the object.
    List,
    /// It is a list item with a list under `items`: kubectl and Helm apply the items, Flux and Argo CD the object.
    ListInList,
    /// `items` is null: kubectl and Helm read it as an empty list.
    Null,
    /// `items` is neither a list nor null: kubectl and Helm reject the document.
    Rejected,
}

/// A group of clients that read lists in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListClient {
    /// kubectl and Helm.
    Kubectl,
    /// Flux and Argo CD.
    GitOps,
}

impl ListReading {
    /// Whether `client` reads it as an object and not only as its items; a rejected object counts, too.
    pub fn is_applied_by(self, client: ListClient) -> bool {
        match self {
            Self::List => false,
            Self::ListInList | Self::Null => client == ListClient::GitOps,
            Self::Rejected => true,
        }
    }
}

impl ObjectFields {
    /// Reads a mapping; `None` if it is not a manifest, because `apiVersion` or `kind` is missing, null or empty. If
    /// either is not a string, that is a decode error. `default` is the type of items without a kind in a typed list
    /// (`ConfigMapList`).
    pub(super) fn read(value: Value<'_>, default: Option<&TypeMeta>) -> Option<Self> {
        let mut decoder = Decoder::default();
        let type_meta = match (written(value, "kind"), default) {
            // The reader sets both fields of an item that has no kind (unstructured decodeToList).
            (None, Some(default)) => TypeMeta::shared(&default.api_version, &default.kind),
            (kind, _) => {
                let (api_version, kind) = (written(value, "apiVersion")?, kind?);
                let api_version = decoder.text("apiVersion", api_version.value);
                let kind = decoder.text("kind", kind.value);
                let [api_version, kind] =
                    [api_version, kind].map(|text| limited(text.unwrap_or_default()));
                TypeMeta::shared(&api_version, &kind)
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
    /// Returns its document.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Returns the object in `tree`, a copy of its document with other scalars, if it is one there.
    pub fn in_tree(&self, tree: &Arc<Tree>) -> Option<Self> {
        let fields = ObjectFields::read(tree.value(self.node), Some(self.type_meta()))?;
        Some(Self::new(Arc::clone(tree), self.node, fields))
    }

    /// Creates the object at `node`, from which `fields` were read.
    pub(super) fn new(tree: Arc<Tree>, node: NodeId, fields: ObjectFields) -> Self {
        Self { tree, node, fields }
    }

    /// Returns `apiVersion` and `kind`.
    pub fn type_meta(&self) -> &Arc<TypeMeta> {
        &self.fields.type_meta
    }

    /// Returns `kind`.
    pub fn kind(&self) -> &str {
        &self.fields.type_meta.kind
    }

    /// Returns `apiVersion` as written.
    pub fn api_version(&self) -> &str {
        &self.fields.type_meta.api_version
    }

    /// Returns the parsed `apiVersion`.
    pub fn group_version(&self) -> &ApiVersion<SmolStr> {
        &self.fields.type_meta.group_version
    }

    /// Returns the place of `kind`, or the start of a list item that has the kind from its list.
    pub fn kind_span(&self) -> Span {
        self.span_of("kind")
    }

    /// Returns the place of `apiVersion`, or the start of a list item that has the kind from its list.
    pub fn api_version_span(&self) -> Span {
        self.span_of("apiVersion")
    }

    fn span_of(&self, name: &str) -> Span {
        let said_here = written(self.value(), "kind").and_then(|_| written(self.value(), name));
        said_here.map_or(Span::empty(self.value().span().start), |entry| {
            entry.value.span()
        })
    }

    /// Returns `metadata`, empty if it is not written.
    pub fn metadata(&self) -> Metadata<'_> {
        self.fields.metadata.of(&self.tree, self.value())
    }

    /// Returns the fields of `TypeMeta` and `ObjectMeta` that do not decode. Every client rejects such an object.
    pub fn decode_errors(&self) -> &[DecodeError] {
        self.fields.metadata.decode_errors()
    }

    /// Returns the value that `error`, one of its decode errors, is about.
    pub(super) fn rejected(&self, error: &DecodeError) -> Value<'_> {
        self.tree.value(error.node)
    }

    /// Returns the place of the first key, where the object begins.
    pub fn start(&self) -> Span {
        let value = self.value();
        let first = value.entries().next();
        first.map_or(Span::empty(value.span().start), |entry| entry.key_span)
    }

    /// Returns its templates whose metadata takes effect.
    pub fn templates(&self) -> impl Iterator<Item = Template<'_>> + Clone {
        let found: &[_] = match self.fields.of_kind.as_deref() {
            Some(KindFacts::Templates(templates)) => templates,
            _ => &[],
        };
        found.iter().map(|template| template.of(&self.tree))
    }

    /// Returns the kind that it defines, if it is a CRD that names a group, a kind and a version.
    pub fn definition(&self) -> Option<&CustomResourceDefinition> {
        match self.fields.of_kind.as_deref()? {
            KindFacts::Definition(definition) => Some(definition),
            KindFacts::Templates(_) => None,
        }
    }

    /// Returns the Services that it needs, if it is a webhook configuration, an APIService or a CRD with a conversion
    /// webhook. The result is not cached.
    pub fn service_client(&self) -> Option<ServiceClient> {
        ServiceClient::read(
            self.group_kind(),
            &self.group_version().version,
            self.value(),
        )
    }

    /// Returns the whole object, for access to any field.
    pub fn value(&self) -> Value<'_> {
        self.tree.value(self.node)
    }

    /// Returns how clients read the object; `None` if it has no top-level key `items`.
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

    /// Returns the value at a path of keys: `["spec", "names", "kind"]`.
    pub fn at(&self, path: &[&str]) -> Option<Value<'_>> {
        self.value().at(path)
    }

    /// Returns the group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group_version().group
    }

    /// Returns the kind, independent of the version.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(self.group(), self.kind())
    }

    /// Whether the object is of that kind, in any version.
    pub fn is(&self, kind: GroupKind<&str>) -> bool {
        self.group_kind() == kind
    }

    /// Returns the name, or `x-*` for `generateName: x-`; `None` if neither is written.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        let metadata = self.metadata();
        let name = filled(metadata.name()).map(Cow::Borrowed);
        name.or_else(|| Some(format!("{}*", filled(metadata.generate_name())?).into()))
    }

    /// Returns the namespace as written; `None` if it is empty.
    pub fn namespace(&self) -> Option<&str> {
        filled(self.metadata().namespace())
    }

    /// Returns the uid as written; `None` if it is empty.
    pub fn uid(&self) -> Option<&str> {
        filled(self.metadata().uid())
    }

    /// Returns the place that stands for the object in messages: its name, else its kind.
    pub fn name_span(&self) -> Span {
        let metadata = self.metadata();
        metadata
            .name()
            .or_else(|| metadata.generate_name())
            .map_or_else(|| self.kind_span(), |name| name.span)
    }
}

/// Returns the text, or `None` if it is empty.
fn filled(text: Option<Spanned<&str>>) -> Option<&str> {
    text.map(|text| text.value).filter(|text| !text.is_empty())
}

/// Returns a field, unless Go would leave it at its zero value.
pub(super) fn written<'a>(object: Value<'a>, name: &str) -> Option<Entry<'a>> {
    let entry = object.entry(name)?;
    let is_zero = entry.value.is_null() || entry.value.as_str() == Some("");
    (!is_zero).then_some(entry)
}
