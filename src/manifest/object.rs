//! One object as it is written.

use std::sync::{Arc, OnceLock};

use super::decode::Decoder;
use super::template::templates_of;
use super::{CustomResourceDefinition, DecodeError, Metadata, ServiceClient, Spanned, Template};
use crate::kube::{ApiVersion, GroupKind, kinds};
use crate::text::Span;
use crate::yaml::{NodeId, Tree, Value};

/// A mapping with `apiVersion` and `kind`.
#[derive(Clone, Debug)]
pub struct Object {
    tree: Arc<Tree>,
    node: NodeId,
    /// `apiVersion` as written.
    pub api_version: Spanned<String>,
    /// The parsed `apiVersion`.
    pub group_version: ApiVersion,
    /// `kind`.
    pub kind: Spanned<String>,
    /// `metadata`; empty when it is left out.
    pub metadata: Metadata,
    /// Fields of `TypeMeta` and `ObjectMeta` whose type does not decode. Every client rejects such an object.
    pub decode_errors: Vec<DecodeError>,
    /// The first key of the object: where it begins.
    pub start: Span,
    templates: OnceLock<Vec<Template>>,
    definition: OnceLock<Option<Box<CustomResourceDefinition>>>,
}

impl Object {
    /// Reads the mapping at `node`. `None` when it has no `apiVersion` or no `kind` (missing, null or empty): not a
    /// manifest. An `apiVersion` or `kind` of another type than string is a decode error. `default` is what a typed list
    /// (`ConfigMapList`) says of items without a kind.
    pub(super) fn read(tree: &Arc<Tree>, node: NodeId, default: Option<(&str, &str)>) -> Option<Self> {
        let value = tree.value(node);
        let mut decoder = Decoder::default();
        // The reader sets both fields of an item that has no kind (unstructured decodeToList).
        let default = default.filter(|_| value.get("kind").is_none_or(is_empty));
        let mut identity = |name: &str, default: Option<&str>| {
            let written = value.entry(name).filter(|entry| !is_empty(entry.value));
            match (written, default) {
                (Some(entry), None) => {
                    let place = Spanned { value: String::new(), key_span: entry.key_span, span: entry.value.span() };
                    Some(decoder.string(name, entry).unwrap_or(place))
                }
                (_, Some(default)) => {
                    let span = Span::empty(value.span().start);
                    Some(Spanned { value: default.to_owned(), key_span: span, span })
                }
                (None, None) => None,
            }
        };
        let api_version = identity("apiVersion", default.map(|(api_version, _)| api_version))?;
        let kind = identity("kind", default.map(|(_, kind)| kind))?;
        let metadata = value
            .entry("metadata")
            .map(|entry| Metadata::read(&mut decoder, "metadata", entry.key_span, entry.value))
            .unwrap_or_default();
        let start = value.entries().next().map_or(Span::empty(value.span().start), |entry| entry.key_span);
        Some(Self {
            tree: Arc::clone(tree),
            node,
            group_version: ApiVersion::parse(&api_version.value),
            api_version,
            kind,
            metadata,
            decode_errors: decoder.errors,
            start,
            templates: OnceLock::new(),
            definition: OnceLock::new(),
        })
    }

    /// Its templates whose metadata takes effect; found on first use.
    pub fn templates(&self) -> &[Template] {
        self.templates.get_or_init(|| templates_of(self.group(), &self.kind.value, self.value()))
    }

    /// What it says about a kind, when it is a CRD that names a group and a kind; read on first use.
    pub fn definition(&self) -> Option<&CustomResourceDefinition> {
        if !self.is(kinds::CUSTOM_RESOURCE_DEFINITION) {
            return None;
        }
        let read = || CustomResourceDefinition::read(&self.group_version.version, self.value()).map(Box::new);
        self.definition.get_or_init(read).as_deref()
    }

    /// What it needs Services for, when it is a webhook configuration, an APIService or a CRD with a conversion webhook. Read
    /// anew by every call.
    pub fn service_client(&self) -> Option<ServiceClient> {
        ServiceClient::read(self.group_kind(), &self.group_version.version, self.value())
    }

    /// The whole object, to look at any field.
    pub fn value(&self) -> Value<'_> {
        self.tree.value(self.node)
    }

    /// The value at a path of keys: `["spec", "names", "kind"]`.
    pub fn at(&self, path: &[&str]) -> Option<Value<'_>> {
        self.value().at(path)
    }

    /// The group of `apiVersion`; empty for the core group.
    pub fn group(&self) -> &str {
        &self.group_version.group
    }

    /// The kind, whatever the version.
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(self.group(), &self.kind.value)
    }

    /// Whether the object is of that kind, in whatever version.
    pub fn is(&self, kind: GroupKind<&str>) -> bool {
        self.group_kind() == kind
    }

    /// The name; `x-*` for `generateName: x-`; `None` when neither is written.
    pub fn name(&self) -> Option<String> {
        let written = |field: &Option<Spanned<String>>| {
            field.as_ref().map(|field| field.value.clone()).filter(|name| !name.is_empty())
        };
        written(&self.metadata.name).or_else(|| written(&self.metadata.generate_name).map(|base| format!("{base}*")))
    }

    /// The namespace as written; an empty one is none.
    pub fn namespace(&self) -> Option<&str> {
        self.metadata.namespace.as_ref().map(Spanned::as_str).filter(|namespace| !namespace.is_empty())
    }

    /// The uid as written; an empty one is none.
    pub fn uid(&self) -> Option<&str> {
        self.metadata.uid.as_ref().map(Spanned::as_str).filter(|uid| !uid.is_empty())
    }

    /// Where to point when the object itself is meant: its name, else its kind.
    pub fn name_span(&self) -> Span {
        let metadata = &self.metadata;
        metadata.name.as_ref().or(metadata.generate_name.as_ref()).map_or(self.kind.span, |name| name.span)
    }
}

/// Whether Go would leave a string field at its zero value.
fn is_empty(value: Value<'_>) -> bool {
    value.is_null() || value.as_str() == Some("")
}
