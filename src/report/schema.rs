//! The published JSON Schemas (draft 2020-12), derived from the types of the documents.

use std::collections::BTreeSet;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::deliveries::DeliveriesDocument;
use super::diff::DiffDocument;
use super::json::ReportDocument;
use super::list::{ListDocument, ListedObject};
use super::plan::PlanDocument;
use crate::baseline::BaselineDocument;
use crate::config::{ConfigDocument, StepsDocument};
use crate::knowledge::Operator;

/// The names of all schemas, sorted.
pub const SCHEMAS: [&str; 9] = [
    "baseline",
    "config",
    "deliveries",
    "diff",
    "list",
    "operator",
    "plan",
    "report",
    "steps",
];

/// Returns the JSON Schema of the document `ownerlint.<name>/1`, indented and ending in a line break; `None` if there
/// is no such document.
pub fn schema(name: &str) -> Option<String> {
    let schema = match name {
        "baseline" => written::<BaselineDocument>(name),
        "config" => read::<ConfigDocument>(name),
        "deliveries" => written::<DeliveriesDocument<'_>>(name),
        "diff" => written::<DiffDocument<'_>>(name),
        "list" => written::<ListDocument<'_, std::iter::Empty<ListedObject>>>(name),
        "operator" => read::<Operator>(name),
        "plan" => written::<PlanDocument<'_>>(name),
        "report" => written::<ReportDocument<'_>>(name),
        // A null member equals a missing one, except for a policy, where it means that none is sent.
        "steps" => published(name, for_reading::<StepsDocument>(), |_| false),
        _ => return None,
    };
    Some(super::line::line(serde_json::to_string_pretty(&schema)))
}

/// Returns the schema of a document that ownerlint writes: members that may be missing are never null.
fn written<T: JsonSchema>(name: &str) -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    published(name, schema, |_| true)
}

/// Returns the schema of a document that users write: only mappings and lists may be null, which means empty.
fn read<T: JsonSchema>(name: &str) -> Schema {
    let schema = for_reading::<T>();
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mappings: BTreeSet<String> = definitions
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get("properties").is_some())
        .map(|(name, _)| format!("#/$defs/{name}"))
        .collect();
    published(name, schema, |property| !is_collection(property, &mappings))
}

/// Whether a property is a list or a mapping, or refers to one of `mappings`.
fn is_collection(property: &Value, mappings: &BTreeSet<String>) -> bool {
    let types = property.get("type").and_then(Value::as_array);
    let mut types = types.into_iter().flatten().filter_map(Value::as_str);
    let choices = property.get("anyOf").and_then(Value::as_array);
    let choices = choices.into_iter().flatten();
    let mut references = choices.filter_map(|choice| choice.get("$ref")?.as_str());
    types.any(|name| name == "array" || name == "object")
        || references.any(|reference| mappings.contains(reference))
}

fn for_reading<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<T>()
}

/// Names a schema and makes it as strict as the documents are. An optional property for which `never_null` returns
/// `true` does not accept null.
fn published(name: &str, mut schema: Schema, never_null: impl Fn(&Value) -> bool) -> Schema {
    RecursiveTransform(|schema: &mut Schema| {
        let Some(members) = schema.as_object_mut() else {
            return;
        };
        plain(members);
        let required = members.get("required").cloned().unwrap_or_default();
        if let Some(Value::Object(properties)) = members.get_mut("properties") {
            for (name, property) in properties {
                let mut required = required.as_array().into_iter().flatten();
                if !required.any(|required| required == name) && never_null(property) {
                    without_null(property);
                }
            }
        }
        // Conditions, such as `not`, have properties, but no type.
        if members.get("type").is_some_and(|name| name == "object")
            && members.contains_key("properties")
        {
            members
                .entry("additionalProperties")
                .or_insert(Value::Bool(false));
        }
    })
    .transform(&mut schema);
    let repository = env!("CARGO_PKG_REPOSITORY");
    let id = format!("{repository}/raw/main/rules/schema/{name}.schema.json");
    schema.insert("$id".to_owned(), id.into());
    schema.insert("title".to_owned(), format!("ownerlint.{name}/1").into());
    schema
}

/// Removes the formats of integers, which no validator knows, and joins the lines of a description.
fn plain(members: &mut Map<String, Value>) {
    let format = members.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| format.contains("int")) {
        members.remove("format");
    }
    if let Some(Value::String(description)) = members.get_mut("description") {
        *description = description.replace('\n', " ");
    }
}

fn without_null(property: &mut Value) {
    let Some(members) = property.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = members.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            members.remove("anyOf");
            members.extend(only);
        }
    }
}
