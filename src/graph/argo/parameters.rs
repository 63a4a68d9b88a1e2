//! Parameters of Applications as mappings: flattening, comparison and selection.

use serde_json::{Map, Value};

use super::generators::{CLUSTER_NAMES, failed};
use super::gotemplate::{normalized, printed};
use super::template::{Language, Outcome, Parameters};
use crate::graph::node::Node;
use crate::kustomize::{folder_of, name_of};

/// Returns the values of `keys`; `None` if one is missing or is not text.
pub(super) fn key_of(parameters: &Parameters, keys: &[String]) -> Option<Vec<String>> {
    keys.iter()
        .map(|key| Some(parameters.known.get(key)?.as_str()?.to_owned()))
        .collect()
}

/// Returns the values of the keys of a merge as JSON, `null` for a missing one; `None` if one is unknown (argo-cd
/// applicationset/generators/merge.go, getParamSetsByMergeKey).
pub(super) fn merge_key_of(parameters: &Parameters, keys: &[String]) -> Option<Vec<String>> {
    keys.iter()
        .map(|key| match parameters.known.get(key) {
            Some(value) => Some(value.to_string()),
            None => (!parameters.are_partly_unknown).then(|| Value::Null.to_string()),
        })
        .collect()
}

/// Overrides the values of `there` with those of `over`; mappings are merged.
pub(super) fn put_all(there: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (there.get_mut(key), value) {
            (Some(Value::Object(there)), Value::Object(over)) => put_all(there, over),
            _ => {
                there.insert(key.clone(), value.clone());
            }
        }
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
                        return failed(format!("`values.{name}` of an element is not text"));
                    };
                    flat.insert(format!("values.{name}"), value);
                }
            }
            _ => return failed(format!("`{key}` of an element is not text")),
        }
    }
    Ok(flat)
}

/// Adds the scalars of a value to `flat`, by paths such as `a.b.0`.
pub(super) fn flatten(path: &str, value: &Value, flat: &mut Map<String, Value>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                flatten(&below(path, key), value, flat);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                flatten(&below(path, &at.to_string()), value, flat);
            }
        }
        scalar => {
            flat.insert(path.to_owned(), printed(scalar).into());
        }
    }
}

fn below(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// Returns the parameters that a git generator gives for a folder or a file.
pub(super) fn path_parameters(path: &str, is_file: bool, language: Language) -> Map<String, Value> {
    let folder = if is_file { folder_of(path) } else { path };
    let basename = match name_of(folder) {
        "" => ".",
        name => name,
    };
    let segments: Vec<&str> = folder.split('/').collect();
    let mut named = Map::from_iter([
        ("basename".to_owned(), basename.into()),
        ("basenameNormalized".to_owned(), normalized(basename).into()),
    ]);
    if is_file {
        let file = name_of(path);
        named.insert("filename".to_owned(), file.into());
        named.insert("filenameNormalized".to_owned(), normalized(file).into());
    }
    let mut parameters = Map::new();
    match language {
        Language::Plain => {
            parameters.insert("path".to_owned(), folder.into());
            language.put(&mut parameters, "path", named);
            for (at, segment) in segments.into_iter().enumerate() {
                if !segment.is_empty() {
                    parameters.insert(format!("path[{at}]"), segment.into());
                }
            }
        }
        Language::Go { .. } => {
            let mut place = Map::from_iter([("path".to_owned(), folder.into())]);
            place.extend(named);
            place.insert("segments".to_owned(), segments.into());
            language.put(&mut parameters, "path", place);
        }
    }
    parameters
}

/// Returns the keys that a selector compares, with the values.
pub(super) fn compared(selector: &Node) -> Vec<(String, Vec<String>)> {
    let labels = selector.entries_at(&["matchLabels"]).into_iter();
    let mut all: Vec<(String, Vec<String>)> = labels
        .map(|(key, value)| (key.to_string(), value.scalar().into_iter().collect()))
        .collect();
    for expression in selector.items_at("matchExpressions") {
        let key = expression.text_at(&["key"]).unwrap_or_default();
        all.push((key, expression.texts_at("values")));
    }
    all
}

/// Whether a label selector matches parameters. An unknown parameter counts as a match. If `are_named` is set,
/// an unknown name of a cluster does not, because the clusters that the selector names have elements of their own.
pub(super) fn selects(selector: &Node, parameters: &Parameters, are_named: bool) -> bool {
    let mut flat = Map::new();
    for (key, value) in &parameters.known {
        flatten(key, value, &mut flat);
    }
    let labels = selector.entries_at(&["matchLabels"]);
    let fits = labels.iter().all(|(key, wanted)| {
        let found = flat.get(&**key).and_then(Value::as_str);
        found.is_none() && may_have(parameters, key, are_named)
            || found == wanted.scalar().as_deref()
    });
    fits && selector
        .items_at("matchExpressions")
        .iter()
        .all(|expression| {
            let key = expression.str_at(&["key"]).unwrap_or_default();
            let found = flat.get(key).and_then(Value::as_str);
            if found.is_none() && may_have(parameters, key, are_named) {
                return true;
            }
            let values = expression.texts_at("values");
            let is_in = found.is_some_and(|found| values.iter().any(|one| one == found));
            match expression.str_at(&["operator"]) {
                Some("In") => is_in,
                Some("NotIn") => !is_in,
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => true,
            }
        })
}

/// Whether a parameter that is not known may exist.
fn may_have(parameters: &Parameters, key: &str, are_named: bool) -> bool {
    parameters.are_partly_unknown && !(are_named && CLUSTER_NAMES.contains(&key))
}
