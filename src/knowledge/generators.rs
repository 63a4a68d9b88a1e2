//! Kinds whose controller creates objects that no manifest contains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::field::FieldPath;
use super::name::NamePattern;
use super::operator::{is_yes, yes};
use super::pattern::KindPattern;
use super::row::{RowName, Table};
use super::source::Sources;
use crate::kube::GroupKind;
use crate::yaml::Value;

/// The objects that a controller creates for each object of some kinds.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "generatedObject")]
pub struct Generator {
    /// The kinds: ExternalSecret.external-secrets.io.
    #[serde(rename = "kind")]
    pub kinds: KindPattern,
    /// The created object.
    pub product: Product,
    /// Conditions on the object under which the product is created: all of them hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// Whether the product is owned by the object, and so deleted with it.
    #[serde(default, skip_serializing_if = "Owned::is_always")]
    pub owned: Owned,
    /// Whether the source proves it; findings that depend on an unproven fact are never more than info.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// A further fact: one sentence, without a full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where the facts come from.
    pub source: Sources,
}

/// An object that a controller creates.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "generatedProduct")]
pub struct Product {
    /// Its kind.
    #[serde(with = "product_kind")]
    #[schemars(with = "KindPattern")]
    pub kind: GroupKind,
    /// Its names.
    pub names: Vec<NamePattern>,
    /// The field with its namespaces. Without it: the namespace of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<FieldPath>,
}

/// When a controller makes the object the owner of the objects that it creates.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "owned")]
pub enum Owned {
    /// true: always. false: never, and what it creates outlives it.
    Always(bool),
    /// A field of the object decides.
    When(Condition),
}

impl Default for Owned {
    fn default() -> Self {
        Self::Always(true)
    }
}

impl Generator {
    /// Returns the name of the fact.
    pub fn name(&self) -> RowName {
        RowName {
            table: Table::Generators,
            row: self.kinds.to_string().into(),
        }
    }
}

impl Owned {
    fn is_always(&self) -> bool {
        matches!(self, Self::Always(true))
    }

    /// Whether `object` certainly owns its product.
    pub fn holds(&self, object: Value<'_>) -> bool {
        match self {
            Self::Always(owns) => *owns,
            Self::When(condition) => condition.holds(object),
        }
    }
}

/// Reads and writes a kind as text: `Kind.group`.
mod product_kind {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{GroupKind, KindPattern};

    pub(super) fn serialize<S: Serializer>(
        kind: &GroupKind,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(kind)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<GroupKind, D::Error> {
        match KindPattern::deserialize(deserializer)? {
            KindPattern::Exact { kind, group } => Ok(GroupKind::new(&group, &kind).to_owned()),
            pattern => Err(D::Error::custom(format!(
                "names `{pattern}`: a product has one kind"
            ))),
        }
    }
}
