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

/// The arguments of a call.
struct Arguments<'a> {
    function: &'a str,
    all: &'a [Value],
}

impl<'a> Arguments<'a> {
    fn too_few(&self) -> TemplateError {
        failed(format!("`{}` has too few arguments", self.function))
    }

    fn at(&self, at: usize) -> Result<&'a Value, TemplateError> {
        self.all.get(at).ok_or_else(|| self.too_few())
    }

    fn text(&self, at: usize) -> Result<String, TemplateError> {
        Ok(match self.at(at)? {
            Value::Null => String::new(),
            value => shown(value),
        })
    }

    /// Returns an integer; 0 for anything else.
    fn number(&self, at: usize) -> Result<i64, TemplateError> {
        let value = self.at(at)?;
        let number = value.as_i64().or_else(|| shown(value).parse().ok());
        Ok(number.unwrap_or(0))
    }

    fn list(&self, at: usize) -> Result<Vec<Value>, TemplateError> {
        match self.at(at)? {
            Value::Array(items) => Ok(items.clone()),
            _ => Err(failed(format!("`{}` wants a list", self.function))),
        }
    }
}

/// Calls a function.
pub(super) fn call(name: &str, arguments: &[Value]) -> Result<Value, TemplateError> {
    if !is_known(name) {
        return Err(unread(name));
    }
    let given = Arguments {
        function: name,
        all: arguments,
    };
    Ok(match name {
        "index" => {
            let mut value = given.at(0)?;
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
        "printf" => Value::String(formatted(&given.text(0)?, &arguments[1..])?),
        "print" => Value::String(arguments.iter().map(shown).collect()),
        "len" => match given.at(0)? {
            Value::String(text) => text.len().into(),
            Value::Array(items) => items.len().into(),
            Value::Object(entries) => entries.len().into(),
            _ => return Err(failed("the length of a value without length is asked for")),
        },
        "eq" => {
            let first = given.at(0)?;
            given.at(1)?;
            Value::Bool(arguments[1..].contains(first))
        }
        "ne" => Value::Bool(given.at(0)? != given.at(1)?),
        "lt" | "le" | "gt" | "ge" => {
            let order = match (given.at(0)?, given.at(1)?) {
                (Value::String(one), Value::String(other)) => one.cmp(other),
                _ => given.number(0)?.cmp(&given.number(1)?),
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
            found.ok_or_else(|| given.too_few())?.clone()
        }
        "not" | "empty" => Value::Bool(!is_true(given.at(0)?)),
        "default" => {
            let value = given.at(1)?;
            (if is_true(value) { value } else { given.at(0)? }).clone()
        }
        "coalesce" => arguments
            .iter()
            .find(|value| is_true(value))
            .cloned()
            .unwrap_or(Value::Null),
        "ternary" => {
            let condition = is_true(given.at(2)?);
            given.at(if condition { 0 } else { 1 })?.clone()
        }
        "lower" => given.text(0)?.to_lowercase().into(),
        "upper" => given.text(0)?.to_uppercase().into(),
        "trim" => given.text(0)?.trim().into(),
        "nospace" => given.text(0)?.split_whitespace().collect::<String>().into(),
        "trimPrefix" => {
            let whole = given.text(1)?;
            whole
                .strip_prefix(&*given.text(0)?)
                .unwrap_or(&whole)
                .into()
        }
        "trimSuffix" => {
            let whole = given.text(1)?;
            whole
                .strip_suffix(&*given.text(0)?)
                .unwrap_or(&whole)
                .into()
        }
        "trimAll" => {
            let cut = given.text(0)?;
            given.text(1)?.trim_matches(|c| cut.contains(c)).into()
        }
        "replace" => given
            .text(2)?
            .replace(&*given.text(0)?, &given.text(1)?)
            .into(),
        "contains" => given.text(1)?.contains(&*given.text(0)?).into(),
        "hasPrefix" => given.text(1)?.starts_with(&*given.text(0)?).into(),
        "hasSuffix" => given.text(1)?.ends_with(&*given.text(0)?).into(),
        "quote" => format!("{:?}", given.text(0)?).into(),
        "squote" => format!("'{}'", given.text(0)?).into(),
        "toString" => given.text(0)?.into(),
        "join" => {
            let items: Vec<String> = given.list(1)?.iter().map(shown).collect();
            items.join(&given.text(0)?).into()
        }
        "splitList" => {
            let (by, whole) = (given.text(0)?, given.text(1)?);
            let parts = whole.split(&*by).map(Value::from);
            Value::Array(parts.collect())
        }
        "first" => given.list(0)?.first().cloned().unwrap_or(Value::Null),
        "last" => given.list(0)?.last().cloned().unwrap_or(Value::Null),
        "rest" => Value::Array(given.list(0)?.into_iter().skip(1).collect()),
        "initial" => {
            let mut items = given.list(0)?;
            items.pop();
            Value::Array(items)
        }
        "reverse" => Value::Array(given.list(0)?.into_iter().rev().collect()),
        "uniq" => {
            let mut seen = std::collections::BTreeSet::new();
            let items = given
                .list(0)?
                .into_iter()
                .filter(|item| seen.insert(item.to_string()));
            Value::Array(items.collect())
        }
        "has" => given.list(1)?.contains(given.at(0)?).into(),
        "list" => Value::Array(arguments.to_vec()),
        "append" => {
            let mut items = given.list(0)?;
            items.push(given.at(1)?.clone());
            Value::Array(items)
        }
        "trunc" => {
            let (length, whole) = (given.number(0)?, given.text(1)?);
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
        "normalize" => normalized(&given.text(0)?).into(),
        "hasKey" => given.at(0)?.get(&*given.text(1)?).is_some().into(),
        "get" => given
            .at(0)?
            .get(&*given.text(1)?)
            .cloned()
            .unwrap_or_else(|| "".into()),
        "dig" => {
            let last = arguments.len().saturating_sub(1);
            let keys = last.checked_sub(1).ok_or_else(|| given.too_few())?;
            let mut value = given.at(last)?;
            for key in &arguments[..keys] {
                match value.get(shown(key)) {
                    Some(next) => value = next,
                    None => return Ok(given.at(keys)?.clone()),
                }
            }
            value.clone()
        }
        "int" => given.number(0)?.into(),
        "add" => {
            let numbers: Result<Vec<i64>, _> =
                (0..arguments.len()).map(|at| given.number(at)).collect();
            numbers?.into_iter().fold(0_i64, i64::wrapping_add).into()
        }
        "sub" => given.number(0)?.wrapping_sub(given.number(1)?).into(),
        "regexMatch" => pattern(&given.text(0)?)?.is_match(&given.text(1)?).into(),
        "regexReplaceAll" => {
            let whole = given.text(1)?;
            pattern(&given.text(0)?)?
                .replace_all(&whole, &*given.text(2)?)
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
