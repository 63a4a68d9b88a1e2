//! Kinds that are data, or whose deletion deletes data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::field::{FieldPath, FieldValue};
use super::operator::{Text, is_yes, yes};
use super::pattern::KindPattern;
use super::row::{RowName, Table};
use super::source::Sources;
use crate::yaml::Value;

/// The effect of deleting an object of some kinds on data.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "dataKind")]
pub struct DataKind {
    /// The kinds: KafkaTopic.kafka.strimzi.io, *.*.services.k8s.aws.
    #[serde(rename = "kind")]
    pub kinds: KindPattern,
    /// The lost data, after "deletes": the topic and its messages.
    pub lost: Text,
    /// Conditions under which this is so: all of them hold. Of several facts about a kind, the first one whose
    /// conditions hold applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// Conditions that keep the data; each is enough. None: only the default applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<Condition>,
    /// The fate of the data where none of the fields is written.
    #[serde(default)]
    pub default: DataFate,
    /// Whether the data are volumes of Kubernetes, whose claims could outlive the object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub volumes: bool,
    /// Whether the source proves it; findings that depend on an unproven fact are never more than info.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// A further fact: one sentence, without a full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where the facts come from.
    pub source: Sources,
}

/// The fate of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "dataFate")]
pub enum DataFate {
    /// It is deleted.
    #[default]
    Lost,
    /// It is kept.
    Kept,
    /// The manifest does not say.
    Unknown,
}

impl DataKind {
    /// Returns the name of the fact.
    pub fn name(&self) -> RowName {
        RowName {
            table: Table::Data,
            row: self.kinds.to_string().into(),
        }
    }

    /// Returns the fate of the data when `object`, which is of one of the kinds, is deleted, with the field and the
    /// value that decide, if they are written.
    pub fn verdict(&self, object: Value<'_>) -> (DataFate, Option<(FieldPath, FieldValue)>) {
        let mut losing = None;
        for condition in &self.keep {
            let Some(answer) = condition.of(object) else {
                continue;
            };
            let written = answer.written.map(|value| (condition.field.clone(), value));
            if answer.holds {
                return (DataFate::Kept, written);
            }
            losing = losing.or(written);
        }
        // With an unknown default something else decides, so no value of the field proves a loss.
        if losing.is_some() && self.default != DataFate::Unknown {
            (DataFate::Lost, losing)
        } else {
            (self.default, None)
        }
    }
}
