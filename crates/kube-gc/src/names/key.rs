//! The identity of an object within a cluster.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{GroupKind, kinds};

/// The namespace of an object, as far as the input determines it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// The kind is cluster-scoped.
    #[default]
    None,
    /// Not in the manifest: the tool that applies the object chooses it. All such objects share one namespace ([L-41]),
    /// which may or may not be one of the named ones. Displayed as `?`, which is not a valid name.
    Unwritten,
    /// Written in the manifest, or given for the whole input.
    Named(SmolStr),
}

impl Namespace {
    /// Returns the name, if it is known.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::None | Self::Unwritten => None,
        }
    }

    /// Whether both are known and different.
    #[doc(hidden)]
    pub fn certainly_differs(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Named(a), Self::Named(b)) if a != b)
    }
}

/// Parses the output of [`Display`](fmt::Display).
impl From<&str> for Namespace {
    fn from(text: &str) -> Self {
        match text {
            "" => Self::None,
            "?" => Self::Unwritten,
            name => Self::Named(name.into()),
        }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Unwritten => "?",
            Self::Named(name) => name,
        })
    }
}

/// Identity of an object: `Kind[.group]/namespace/name`, with an empty namespace for cluster-scoped kinds.
///
/// Ordered by group, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    kind: Arc<GroupKind<SmolStr>>,
    /// The namespace.
    pub namespace: Namespace,
    /// The name; `x-*` for `generateName: x-`; empty when neither is written.
    pub name: SmolStr,
}

impl Default for ObjectKey {
    fn default() -> Self {
        Self::new(GroupKind::default(), Namespace::None, "")
    }
}

impl ObjectKey {
    /// Creates the key of an object.
    #[doc(hidden)]
    pub fn new(kind: GroupKind<&str>, namespace: Namespace, name: impl Into<SmolStr>) -> Self {
        Self {
            kind: kind.shared(),
            namespace,
            name: name.into(),
        }
    }

    /// Creates the key of a Namespace object.
    #[doc(hidden)]
    pub fn of_namespace(name: impl Into<SmolStr>) -> Self {
        Self::new(kinds::NAMESPACE, Namespace::None, name)
    }

    /// Returns the key with another name.
    #[doc(hidden)]
    pub fn named(&self, name: impl Into<SmolStr>) -> Self {
        Self {
            name: name.into(),
            ..self.clone()
        }
    }

    /// Returns the kind.
    pub fn kind(&self) -> &str {
        &self.kind.kind
    }

    /// Returns the API group; empty for the core group.
    pub fn group(&self) -> &str {
        &self.kind.group
    }

    /// Returns the kind with its group.
    #[doc(hidden)]
    pub fn group_kind(&self) -> GroupKind<&str> {
        GroupKind::new(self.group(), self.kind())
    }

    /// Whether the object is of that kind.
    #[doc(hidden)]
    pub fn is(&self, kind: GroupKind<&str>) -> bool {
        self.group_kind() == kind
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.group_kind(), self.namespace, self.name)
    }
}

/// Serializes as a string.
impl serde::Serialize for ObjectKey {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Described as a string.
#[cfg(feature = "schemars")]
impl schemars::JsonSchema for ObjectKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "key".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An object: `Kind[.group]/namespace/name`. The namespace is empty for cluster-scoped kinds and `?` when the manifest leaves it out; `generateName: x-` gives the name `x-*`.",
            "type": "string",
            "minLength": 1
        })
    }
}

/// The error for a string that is not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a key of the form Kind[.group]/namespace/name")]
pub struct NotAKey(pub String);

impl FromStr for ObjectKey {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut parts = text.splitn(3, '/');
        let kind = GroupKind::parse(parts.next().unwrap_or_default());
        match (parts.next(), parts.next()) {
            (Some(namespace), Some(name)) if !kind.kind.is_empty() && !name.is_empty() => {
                Ok(Self::new(kind, namespace.into(), name))
            }
            _ => Err(NotAKey(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_malformed_keys_are_rejected() {
        for text in [
            "Pod/shop/web",
            "Namespace//shop",
            "Deployment.apps/?/web",
            "Widget.example.com/a/x-*",
        ] {
            let key: ObjectKey = text.parse().expect(text);
            assert_eq!(key.to_string(), text);
        }
        assert_eq!(
            "Pod/?/web".parse::<ObjectKey>().expect("a key").namespace,
            Namespace::Unwritten
        );
        for text in ["", "Pod", "Pod/web", "/shop/web", "Pod/shop/"] {
            assert_eq!(text.parse::<ObjectKey>(), Err(NotAKey(text.to_owned())));
        }
    }

    #[test]
    fn keys_are_ordered_by_group_kind_namespace_and_name() {
        let sorted = [
            "Namespace//z",
            "Namespace/?/a",
            "Namespace/a/a",
            "Namespace/a/b",
            "Service/b/a",
            "Event.apps/a/a",
        ];
        let keys: Vec<ObjectKey> = sorted.iter().filter_map(|text| text.parse().ok()).collect();
        assert_eq!(keys.len(), sorted.len());
        assert!(keys.is_sorted_by(|one, next| one < next));
    }
}
