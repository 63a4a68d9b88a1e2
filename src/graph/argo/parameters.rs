//! Parameters of Applications as mappings: flattening, comparison and selection.

use serde_json::{Map, Value};

use super::generators::{CLUSTER_NAMES, failed};
use super::gotemplate::normalized;
use super::template::{Language, Parameters, TemplateError};
use crate::graph::node::Node;
use crate::kustomize::{folder_of, name_of};

type Outcome<T> = Result<T, TemplateError>;

/// Returns the values of `keys`; `None` if one is missing or no text.
pub(super) fn key_of(parameters: &Parameters, keys: &[String]) -> Option<Vec<String>> {
    keys.iter()
        .map(|key| Some(parameters.known.get(key)?.as_str()?.to_owned()))
        .collect()
}

/// Overrides a value with another one; mappings are merged.
pub(super) fn put_over(there: &mut Value, value: Value) {
    match (there, value) {
        (Value::Object(there), Value::Object(value)) => {
            for (key, value) in value {
                match there.get_mut(&key) {
                    Some(there) => put_over(there, value),
                    None => {
                        there.insert(key, value);
                    }
                }
            }
        }
        (there, value) => *there = value,
    }
}

/// Returns the parameters of an element in plain templates (argo-cd applicationset/generators/list.go).
pub(super) fn flat_element(element: Map<String, Value>) -> Outcome<Map<String, Value>> {
    let mut flat = Map::new();
    for (key, value) in element {
        match value {
            Value::String(_) => {
                flat.insert(key, value);
            }
            Value::Object(values) if key == "values" => {
                for (name, value) in values {
                    let Value::String(_) = value else {
                        return failed(format!("`values.{name}` of an element is no text"));
                    };
                    flat.insert(format!("values.{name}"), value);
                }
            }
            _ => return failed(format!("`{key}` of an element is no text")),
        }
    }
    Ok(flat)
}

/// Adds the scalars of a value to `flat`, by paths such as `a.b.0`.
pub(super) fn flatten(path: &str, value: &Value, flat: &mut Map<String, Value>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                flatten(&below(key), value, flat);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                flatten(&below(&at.to_string()), value, flat);
            }
        }
        Value::String(_) => {
            flat.insert(path.to_owned(), value.clone());
        }
        Value::Null => {
            flat.insert(path.to_owned(), "".into());
        }
        Value::Bool(_) | Value::Number(_) => {
            flat.insert(path.to_owned(), value.to_string().into());
        }
    }
}

/// Returns the patterns of a git generator that include, and those that exclude.
pub(super) fn patterns(items: &[Node]) -> (Vec<String>, Vec<String>) {
    let is_exclude =
        |item: &&Node| item.get("exclude").and_then(|flag| flag.as_bool()) == Some(true);
    let (exclude, include): (Vec<&Node>, Vec<&Node>) = items.iter().partition(is_exclude);
    let texts = |items: Vec<&Node>| {
        items
            .iter()
            .filter_map(|item| item.text_at(&["path"]))
            .collect()
    };
    (texts(include), texts(exclude))
}

/// Returns the parameters that a git generator gives for a folder or a file.
pub(super) fn path_parameters(path: &str, is_file: bool, language: Language) -> Map<String, Value> {
    let folder = if is_file { folder_of(path) } else { path };
    let basename = match name_of(folder) {
        "" => ".",
        name => name,
    };
    let segments: Vec<&str> = folder.split('/').collect();
    let mut named: Vec<(&str, String)> = vec![
        ("basename", basename.to_owned()),
        ("basenameNormalized", normalized(basename)),
    ];
    if is_file {
        let file = name_of(path);
        named.push(("filename", file.to_owned()));
        named.push(("filenameNormalized", normalized(file)));
    }
    let mut parameters = Map::new();
    match language {
        Language::Plain => {
            parameters.insert("path".to_owned(), folder.into());
            let named = named
                .into_iter()
                .map(|(key, value)| (format!("path.{key}"), value.into()));
            parameters.extend(named);
            let numbered = segments
                .iter()
                .enumerate()
                .filter(|(_, segment)| !segment.is_empty());
            parameters
                .extend(numbered.map(|(at, segment)| (format!("path[{at}]"), (*segment).into())));
        }
        Language::Go { .. } => {
            let mut place = Map::new();
            place.insert("path".to_owned(), folder.into());
            place.extend(
                named
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value.into())),
            );
            place.insert("segments".to_owned(), segments.into());
            parameters.insert("path".to_owned(), Value::Object(place));
        }
    }
    parameters
}

/// Returns the keys that a selector compares, with the values.
pub(super) fn compared(selector: &Node) -> Vec<(String, Vec<String>)> {
    let labels = selector.get("matchLabels").map(|labels| labels.entries());
    let labels = labels.unwrap_or_default().into_iter();
    let mut all: Vec<(String, Vec<String>)> = labels
        .map(|(key, value)| (key.to_string(), value.scalar().into_iter().collect()))
        .collect();
    for expression in selector.items_at("matchExpressions") {
        let key = expression.text_at(&["key"]).unwrap_or_default();
        all.push((key, expression.texts_at("values")));
    }
    all
}

/// Whether a label selector matches parameters; unknown ones may match. `are_named`: the clusters that it names have
/// parameters of their own, so an unknown name is none of them.
pub(super) fn selects(selector: &Node, parameters: &Parameters, are_named: bool) -> bool {
    let mut flat = Map::new();
    for (key, value) in &parameters.known {
        flatten(key, value, &mut flat);
    }
    let value = |key: &str| flat.get(key).and_then(Value::as_str);
    let is_open = |key: &str| {
        let is_another = are_named && CLUSTER_NAMES.contains(&key);
        parameters.are_partly_unknown && value(key).is_none() && !is_another
    };
    let labels = selector.get("matchLabels").map(|labels| labels.entries());
    let mut labels = labels.unwrap_or_default().into_iter();
    let fits =
        labels.all(|(key, wanted)| is_open(&key) || value(&key) == wanted.scalar().as_deref());
    fits && selector
        .items_at("matchExpressions")
        .iter()
        .all(|expression| {
            let key = expression.text_at(&["key"]).unwrap_or_default();
            let values = expression.texts_at("values");
            let is_in = |value: &str| values.iter().any(|one| one == value);
            let found = value(&key);
            is_open(&key)
                || match expression.text_at(&["operator"]).as_deref() {
                    Some("In") => found.is_some_and(is_in),
                    Some("NotIn") => !found.is_some_and(is_in),
                    Some("Exists") => found.is_some(),
                    Some("DoesNotExist") => found.is_none(),
                    _ => true,
                }
        })
}
