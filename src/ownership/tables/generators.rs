//! Kinds whose controller creates an object that no manifest contains: `rules/tables/generators.csv`.

use std::sync::Arc;

use serde::Deserialize;

use super::field::{FieldPath, FieldValue};
use super::name::NamePattern;
use super::row::{Proven, RowName, Table, TableError, cells, rows};
use crate::kube::GroupKind;
use crate::ownership::known_finalizers::KindPattern;
use crate::yaml::Value;

pub(super) const ROWS: &str = include_str!("../../../rules/tables/generators.csv");
const TABLE: &str = "generators";

/// What a controller creates for each object of some kinds.
#[derive(Clone, Debug)]
pub struct Generator {
    /// The kinds as they are written: `ExternalSecret.external-secrets.io`.
    pub text: Arc<str>,
    /// The same, to be compared.
    pub kinds: KindPattern,
    /// What it creates.
    pub product: Product,
    /// When the product is owned by the object, and so deleted with it.
    pub owns: OwningPolicy,
    /// Whether the source proves it; what rests on an unverified row is never more than info.
    pub verified: bool,
    /// Further notes; may be empty.
    pub notes: String,
    /// Where the facts come from.
    pub source: String,
}

/// What a controller creates.
#[derive(Clone, Debug)]
pub struct Product {
    /// Its kind.
    pub kind: GroupKind,
    /// Its names.
    pub names: Vec<NamePattern>,
    /// Where its namespaces are; `None`: the namespace of the object.
    pub namespace: Option<FieldPath>,
}

/// When a controller makes the object the owner of what it creates.
#[derive(Clone, Debug)]
pub enum OwningPolicy {
    /// Always.
    Always,
    /// Never: what it creates outlives it.
    Never,
    /// A field of the object decides.
    Field {
        /// The field.
        field: FieldPath,
        /// Its values that make the object the owner.
        values: Vec<String>,
        /// What counts where it is left out.
        default: Option<String>,
    },
}

/// What an object's policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyAnswer {
    /// Whether the product is deleted with the object.
    pub owns: bool,
    /// The value that says so, where it is written.
    pub written: Option<FieldValue>,
}

#[derive(Deserialize)]
struct GeneratorRow {
    kinds: String,
    product_kind: String,
    product_name: String,
    product_namespace: String,
    policy: String,
    owns: String,
    default: String,
    verified: Proven,
    notes: String,
    source: String,
}

pub(super) fn parse(text: &str) -> Result<Vec<Generator>, TableError> {
    rows::<GeneratorRow>(TABLE, text)?
        .into_iter()
        .map(Generator::from_row)
        .collect()
}

impl Generator {
    /// The name of its row.
    pub fn name(&self) -> RowName {
        RowName {
            table: Table::Generators,
            row: Arc::clone(&self.text),
        }
    }

    fn from_row(row: GeneratorRow) -> Result<Self, TableError> {
        let wrong = |source| TableError::Field {
            table: TABLE,
            row: row.kinds.clone(),
            source,
        };
        let field = |text: &str| {
            Some(text)
                .filter(|text| !text.is_empty())
                .map(FieldPath::parse)
                .transpose()
        };
        let names = cells(&row.product_name)
            .map(NamePattern::parse)
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let owns = match (field(&row.policy).map_err(wrong)?, row.owns.as_str()) {
            (None, "always") => OwningPolicy::Always,
            (None, _) => OwningPolicy::Never,
            (Some(field), owns) => OwningPolicy::Field {
                field,
                values: cells(owns).map(str::to_owned).collect(),
                default: Some(row.default.clone()).filter(|default| !default.is_empty()),
            },
        };
        Ok(Self {
            kinds: KindPattern::parse(&row.kinds),
            product: Product {
                kind: GroupKind::parse(&row.product_kind).to_owned(),
                names,
                namespace: field(&row.product_namespace).map_err(wrong)?,
            },
            owns,
            verified: row.verified == Proven::Yes,
            text: row.kinds.as_str().into(),
            notes: row.notes,
            source: row.source,
        })
    }
}

impl OwningPolicy {
    /// What it says of an object.
    pub fn of(&self, object: Value<'_>) -> PolicyAnswer {
        match self {
            Self::Always => PolicyAnswer {
                owns: true,
                written: None,
            },
            Self::Never => PolicyAnswer {
                owns: false,
                written: None,
            },
            Self::Field {
                field,
                values,
                default,
            } => {
                let written = field.values(object).into_iter().next();
                let value = written
                    .as_ref()
                    .map(|value| &value.text)
                    .or(default.as_ref());
                PolicyAnswer {
                    owns: value.is_some_and(|value| values.contains(value)),
                    written,
                }
            }
        }
    }
}
