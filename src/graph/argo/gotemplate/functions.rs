//! The functions of templates that ApplicationSets use most.

use regex::Regex;
use serde_json::Value;

use super::unread;
use crate::graph::argo::template::TemplateError;

/// The functions that [`call`] evaluates.
const ALL: [&str; 52] = [
    "index",
    "printf",
    "print",
    "len",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "or",
    "not",
    "default",
    "empty",
    "coalesce",
    "ternary",
    "lower",
    "upper",
    "trim",
    "trimPrefix",
    "trimSuffix",
    "trimAll",
    "replace",
    "contains",
    "hasPrefix",
    "hasSuffix",
    "quote",
    "squote",
    "toString",
    "join",
    "splitList",
    "first",
    "last",
    "rest",
    "initial",
    "reverse",
    "uniq",
    "trunc",
    "nospace",
    "normalize",
    "hasKey",
    "get",
    "dig",
    "has",
    "list",
    "append",
    "int",
    "add",
    "sub",
    "regexMatch",
    "regexReplaceAll",
];

/// Whether a function is evaluated.
pub(super) fn is_known(name: &str) -> bool {
    ALL.contains(&name)
}

/// Returns a value as Go prints it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "<no value>".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(entries) => {
            let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries
                .into_iter()
                .map(|(key, value)| format!("{key}:{}", shown(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Whether a value counts as true: it is not empty, zero or false.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
    }
}

fn failed(reason: impl Into<String>) -> TemplateError {
    TemplateError::Failed(reason.into())
}

/// Calls a function.
pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, TemplateError> {
    if !is_known(name) {
        return Err(unread(name));
    }
    let few = || failed(format!("`{name}` has too few arguments"));
    let argument = |at: usize| arguments.get(at).ok_or_else(few);
    let text = |at: usize| {
        argument(at).map(|value| {
            if value.is_null() {
                String::new()
            } else {
                shown(value)
            }
        })
    };
    let number = |at: usize| {
        argument(at).map(|value| {
            value
                .as_i64()
                .or_else(|| shown(value).parse().ok())
                .unwrap_or(0)
        })
    };
    let list = |at: usize| match argument(at)? {
        Value::Array(items) => Ok(items.clone()),
        _ => Err(failed(format!("`{name}` wants a list"))),
    };
    let last = arguments.len().saturating_sub(1);
    let truth = |value: bool| Ok(Value::Bool(value));
    Ok(match name {
        "index" => {
            let mut value = argument(0)?;
            for key in &arguments[1..] {
                let found = match (value, key) {
                    (Value::Array(items), key) => {
                        let at = key.as_u64().and_then(|at| items.get(at as usize));
                        at.ok_or_else(|| failed("an index is out of range"))?
                    }
                    (Value::Object(entries), Value::String(key)) => {
                        entries.get(key).unwrap_or(&Value::Null)
                    }
                    _ => return Err(failed("a value without parts is indexed")),
                };
                value = found;
            }
            value.clone()
        }
        "printf" => Value::String(formatted(&text(0)?, &arguments[1..])?),
        "print" => Value::String(arguments.iter().map(shown).collect()),
        "len" => match argument(0)? {
            Value::String(text) => text.len().into(),
            Value::Array(items) => items.len().into(),
            Value::Object(entries) => entries.len().into(),
            _ => return Err(failed("the length of a value without length is asked for")),
        },
        "eq" => {
            let first = argument(0)?;
            argument(1)?;
            Value::Bool(arguments[1..].contains(first))
        }
        "ne" => Value::Bool(argument(0)? != argument(1)?),
        "lt" | "le" | "gt" | "ge" => {
            let order = match (argument(0)?, argument(1)?) {
                (Value::String(one), Value::String(other)) => one.cmp(other),
                _ => number(0)?.cmp(&number(1)?),
            };
            Value::Bool(match name {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            })
        }
        "and" | "or" => {
            let found = arguments
                .iter()
                .find(|value| is_true(value) == (name == "or"))
                .or(arguments.last());
            found.ok_or_else(few)?.clone()
        }
        "not" => Value::Bool(!is_true(argument(0)?)),
        "default" => {
            let given = argument(1)?;
            (if is_true(given) { given } else { argument(0)? }).clone()
        }
        "empty" => return truth(!is_true(argument(0)?)),
        "coalesce" => arguments
            .iter()
            .find(|value| is_true(value))
            .cloned()
            .unwrap_or(Value::Null),
        "ternary" => {
            let condition = is_true(argument(2)?);
            argument(if condition { 0 } else { 1 })?.clone()
        }
        "lower" => text(0)?.to_lowercase().into(),
        "upper" => text(0)?.to_uppercase().into(),
        "trim" => text(0)?.trim().into(),
        "nospace" => text(0)?.split_whitespace().collect::<String>().into(),
        "trimPrefix" => {
            let whole = text(1)?;
            whole.strip_prefix(&*text(0)?).unwrap_or(&whole).into()
        }
        "trimSuffix" => {
            let whole = text(1)?;
            whole.strip_suffix(&*text(0)?).unwrap_or(&whole).into()
        }
        "trimAll" => {
            let cut = text(0)?;
            text(1)?.trim_matches(|c| cut.contains(c)).into()
        }
        "replace" => text(2)?.replace(&*text(0)?, &text(1)?).into(),
        "contains" => return truth(text(1)?.contains(&*text(0)?)),
        "hasPrefix" => return truth(text(1)?.starts_with(&*text(0)?)),
        "hasSuffix" => return truth(text(1)?.ends_with(&*text(0)?)),
        "quote" => format!("{:?}", text(0)?).into(),
        "squote" => format!("'{}'", text(0)?).into(),
        "toString" => text(0)?.into(),
        "join" => {
            let items: Vec<String> = list(1)?.iter().map(shown).collect();
            items.join(&text(0)?).into()
        }
        "splitList" => {
            let (by, whole) = (text(0)?, text(1)?);
            let parts = whole.split(&*by).map(Value::from);
            Value::Array(parts.collect())
        }
        "first" => list(0)?.first().cloned().unwrap_or(Value::Null),
        "last" => list(0)?.last().cloned().unwrap_or(Value::Null),
        "rest" => Value::Array(list(0)?.split_off(usize::from(!list(0)?.is_empty()))),
        "initial" => {
            let mut items = list(0)?;
            items.pop();
            Value::Array(items)
        }
        "reverse" => Value::Array(list(0)?.into_iter().rev().collect()),
        "uniq" => {
            let mut seen = std::collections::BTreeSet::new();
            let items = list(0)?
                .into_iter()
                .filter(|item| seen.insert(item.to_string()));
            Value::Array(items.collect())
        }
        "has" => return truth(list(1)?.contains(argument(0)?)),
        "list" => Value::Array(arguments.to_vec()),
        "append" => {
            let mut items = list(0)?;
            items.push(argument(1)?.clone());
            Value::Array(items)
        }
        "trunc" => {
            let (length, whole) = (number(0)?, text(1)?);
            let count = length.unsigned_abs() as usize;
            let all = whole.chars().count();
            let (skipped, taken) = if length < 0 {
                (all.saturating_sub(count), count)
            } else {
                (0, count)
            };
            whole
                .chars()
                .skip(skipped)
                .take(taken)
                .collect::<String>()
                .into()
        }
        "normalize" => normalized(&text(0)?).into(),
        "hasKey" => return truth(argument(0)?.get(&*text(1)?).is_some()),
        "get" => argument(0)?
            .get(&*text(1)?)
            .cloned()
            .unwrap_or_else(|| "".into()),
        "dig" => {
            let keys = last.checked_sub(1).ok_or_else(few)?;
            let mut value = argument(last)?;
            for key in &arguments[..keys] {
                match value.get(shown(key)) {
                    Some(next) => value = next,
                    None => return Ok(argument(keys)?.clone()),
                }
            }
            value.clone()
        }
        "int" => number(0)?.into(),
        "add" => {
            let numbers: Result<Vec<i64>, _> = (0..arguments.len()).map(number).collect();
            numbers?.into_iter().fold(0_i64, i64::wrapping_add).into()
        }
        "sub" => number(0)?.wrapping_sub(number(1)?).into(),
        "regexMatch" => return truth(pattern(&text(0)?)?.is_match(&text(1)?)),
        "regexReplaceAll" => {
            let whole = text(1)?;
            pattern(&text(0)?)?
                .replace_all(&whole, &*text(2)?)
                .into_owned()
                .into()
        }
        _ => return Err(unread(name)),
    })
}

fn pattern(text: &str) -> Result<Regex, TemplateError> {
    Regex::new(text).map_err(|error| failed(error.to_string()))
}

/// Converts a text to a part of a name (argo-cd applicationset/utils/utils.go, SanitizeName).
pub(in crate::graph::argo) fn normalized(text: &str) -> String {
    let lower = text.to_lowercase();
    let whole: String = lower
        .chars()
        .map(|c| match c {
            'a'..='z' | '0'..='9' | '-' | '.' => c,
            _ => '-',
        })
        .take(253)
        .collect();
    whole.trim_matches(|c| c == '-' || c == '.').to_owned()
}

/// Formats `%s`, `%d`, `%v` and `%q`.
fn formatted(format: &str, arguments: &[Value]) -> Result<String, TemplateError> {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let verb = rest[at + 1..].chars().next();
        match verb {
            Some('%') => out.push('%'),
            Some('s' | 'd' | 'v') => {
                out.push_str(&arguments.next().map(shown).unwrap_or_default());
            }
            Some('q') => {
                let text = arguments.next().map(shown).unwrap_or_default();
                out.push_str(&format!("{text:?}"));
            }
            _ => {
                let reason = format!("the format `{format}` is not evaluated");
                return Err(TemplateError::Unread(reason));
            }
        }
        rest = &rest[at + 2..];
    }
    out.push_str(rest);
    Ok(out)
}
