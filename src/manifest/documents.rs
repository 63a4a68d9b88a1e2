//! Finds the objects of a document.

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::object::{ObjectFields, written};
use crate::kube::TypeMeta;
use crate::yaml::{Kind, NodeId, Tree, Value};

/// The form of a value that is not an object. Its [`Display`](fmt::Display) is the detail that `list` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WithoutIdentity {
    /// A mapping without `apiVersion`.
    NoApiVersion,
    /// A mapping without `kind`.
    NoKind,
    /// A sequence.
    List,
    /// Null.
    Nothing,
    /// Text.
    Text,
    /// A number.
    Number,
    /// A boolean.
    Bool,
}

impl fmt::Display for WithoutIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoApiVersion => "no apiVersion",
            Self::NoKind => "no kind",
            Self::List => "a list",
            Self::Nothing => "nothing",
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Bool => "a bool",
        })
    }
}

/// The content of a document.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The objects, each with its node. A list is replaced by its items, unless it may also be an object of its own.
    pub objects: SmallVec<[(NodeId, ObjectFields); 1]>,
    /// Documents and list items that lack `apiVersion` or `kind`: they are not manifests.
    pub others: Vec<NodeId>,
}

/// Finds the objects of a document. A list object is replaced by the objects in its `items`, also within lists.
pub(super) fn objects_of(tree: &Tree) -> Found {
    let mut found = Found::default();
    let root = tree.root();
    // The lists around the current item, the innermost last, each with the type of untyped items.
    let mut lists = Vec::from_iter(found.add(root, None));
    while let Some((items, default)) = lists.last_mut() {
        let Some(item) = items.next() else {
            lists.pop();
            continue;
        };
        let list = found.add(item, default.as_deref());
        lists.extend(list);
    }
    found
}

impl Found {
    /// Adds a value as an object or as another value. Returns the items of a list, with the type of untyped ones.
    fn add<'t>(
        &mut self,
        value: Value<'t>,
        default: Option<&TypeMeta>,
    ) -> Option<(
        impl Iterator<Item = Value<'t>> + use<'t>,
        Option<Arc<TypeMeta>>,
    )> {
        let Some(object) = ObjectFields::read(value, default) else {
            self.others.push(value.id());
            // Clients recognise a list by its kind, even without a version.
            let has_kind = value.text_at(&["kind"]).is_some();
            let items = value.get("items").filter(|items| items.is_seq())?;
            return has_kind.then(|| (items.items(), None));
        };
        let Some(items) = value.get("items") else {
            self.objects.push((value.id(), object));
            return None;
        };
        let is_sequence = items.is_seq() || items.is_null();
        let list = is_sequence.then(|| (items.items(), item_type(&object.type_meta)));
        if !is_sequence || !is_only_a_list(value, &object) {
            self.objects.push((value.id(), object));
        }
        list
    }
}

/// Whether a mapping with `items` is only a list: its kind is `List`, or its kind ends with `List`
/// and it has no name or only the fields of a list. A custom `AllowList` has others.
fn is_only_a_list(value: Value<'_>, object: &ObjectFields) -> bool {
    let kind = &object.type_meta.kind;
    kind == "List"
        || kind.ends_with("List")
            && (value.at(&["metadata", "name"]).is_none_or(Value::is_null)
                || value
                    .entries()
                    .all(|entry| matches!(entry.key, "apiVersion" | "kind" | "metadata" | "items")))
}

/// Returns the type of items without a kind (decodeToList of apimachinery's unstructured package). `ConfigMapList`
/// gives `ConfigMap`, `List` gives none, and any other kind with `items` gives itself.
fn item_type(list: &TypeMeta) -> Option<Arc<TypeMeta>> {
    let kind = list.kind.strip_suffix("List").unwrap_or(&list.kind);
    (!kind.is_empty()).then(|| TypeMeta::shared(&list.api_version, kind))
}

impl WithoutIdentity {
    /// Returns the form of a value that is not an object.
    pub(super) fn of(value: Value<'_>) -> Self {
        match value.kind() {
            Kind::Map
                if written(value, "apiVersion").is_some() && written(value, "kind").is_none() =>
            {
                Self::NoKind
            }
            Kind::Map => Self::NoApiVersion,
            Kind::Seq => Self::List,
            Kind::Null => Self::Nothing,
            Kind::String(_) => Self::Text,
            Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => Self::Number,
            Kind::Bool(_) => Self::Bool,
        }
    }
}
