//! Kinds that are data, or whose deletion deletes data: `rules/tables/data.csv`.

use std::sync::Arc;

use serde::Deserialize;

use super::field::{FieldPath, FieldValue, NotAField};
use super::row::{Proven, RowName, Table, TableError, cells, rows};
use crate::ownership::known_finalizers::KindPattern;
use crate::yaml::Value;

pub(super) const ROWS: &str = include_str!("../../../rules/tables/data.csv");
const TABLE: &str = "data";

/// What the deletion of an object of some kinds does to data.
#[derive(Clone, Debug)]
pub struct DataKind {
    /// The kinds as they are written: `KafkaTopic.kafka.strimzi.io`, `*.*.services.k8s.aws`.
    pub text: Arc<str>,
    /// The same, to be compared.
    pub kinds: KindPattern,
    /// What is lost, after "deletes": `the topic and its messages`.
    pub lost: String,
    /// What keeps the data; each is enough. None: only `default` counts.
    pub keep: Vec<KeepCondition>,
    /// Whether the data are volumes of Kubernetes, whose claims could outlive the object.
    pub volumes: bool,
    /// What becomes of the data where none of the fields is written.
    pub default: DataFate,
    /// Whether the source proves it.
    pub verified: bool,
    /// Further notes; may be empty.
    pub notes: String,
    /// Where the facts come from.
    pub source: String,
}

/// Values of a field that keep data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepCondition {
    /// The field.
    pub field: FieldPath,
    /// The values: `=` one of them keeps the data, `!=` the data is kept where the field has none of them.
    pub values: Vec<String>,
    /// Whether these values are the ones that lose the data.
    pub negated: bool,
}

/// What becomes of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataFate {
    /// It is deleted.
    Lost,
    /// It is kept.
    Kept,
    /// The manifest does not say.
    Unknown,
}

/// What the deletion of one object does to data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataVerdict {
    /// What becomes of it.
    pub fate: DataFate,
    /// The field and value that decide, where they are written.
    pub written: Option<(FieldPath, FieldValue)>,
}

#[derive(Deserialize)]
struct DataRow {
    kinds: String,
    lost: String,
    keep: String,
    default: DataFate,
    volumes: Proven,
    verified: Proven,
    notes: String,
    source: String,
}

pub(super) fn parse(text: &str) -> Result<Vec<DataKind>, TableError> {
    rows::<DataRow>(TABLE, text)?
        .into_iter()
        .map(DataKind::from_row)
        .collect()
}

impl DataKind {
    /// The name of its row.
    pub fn name(&self) -> RowName {
        RowName {
            table: Table::Data,
            row: Arc::clone(&self.text),
        }
    }

    /// What becomes of the data of an object when the object is deleted.
    pub fn verdict(&self, object: Value<'_>) -> DataVerdict {
        let mut losing = None;
        for condition in &self.keep {
            match condition.judge(object) {
                Some((true, value)) => {
                    return DataVerdict {
                        fate: DataFate::Kept,
                        written: Some((condition.field.clone(), value)),
                    };
                }
                Some((false, value)) if losing.is_none() => {
                    losing = Some((condition.field.clone(), value))
                }
                _ => {}
            }
        }
        match losing {
            // Where something else decides, no value of the field proves a loss.
            Some(losing) if self.default != DataFate::Unknown => DataVerdict {
                fate: DataFate::Lost,
                written: Some(losing),
            },
            _ => DataVerdict {
                fate: self.default,
                written: None,
            },
        }
    }

    fn from_row(row: DataRow) -> Result<Self, TableError> {
        let keep = cells(&row.keep)
            .map(KeepCondition::parse)
            .collect::<Result<_, _>>();
        let keep = keep.map_err(|source| TableError::Field {
            table: TABLE,
            row: row.kinds.clone(),
            source,
        })?;
        Ok(Self {
            kinds: KindPattern::parse(&row.kinds),
            text: row.kinds.as_str().into(),
            lost: row.lost,
            keep,
            default: row.default,
            volumes: row.volumes == Proven::Yes,
            verified: row.verified == Proven::Yes,
            notes: row.notes,
            source: row.source,
        })
    }
}

impl KeepCondition {
    /// `spec.deletionPolicy=Orphan`, `spec.managementPolicies!=Delete,*`.
    fn parse(text: &str) -> Result<Self, NotAField> {
        let (field, values) = text
            .rsplit_once('=')
            .ok_or_else(|| NotAField(text.to_owned()))?;
        let (field, negated) = field
            .strip_suffix('!')
            .map_or((field, false), |field| (field, true));
        let values = values.split(',').map(str::to_owned).collect();
        Ok(Self {
            field: FieldPath::parse(field)?,
            values,
            negated,
        })
    }

    /// Whether an object keeps its data, and the value that says so; `None` where the field is not written.
    fn judge(&self, object: Value<'_>) -> Option<(bool, FieldValue)> {
        let written = self.field.values(object);
        let listed = written
            .iter()
            .find(|value| self.values.contains(&value.text));
        let decisive = listed.or(written.first())?.clone();
        Some((listed.is_some() != self.negated, decisive))
    }
}
