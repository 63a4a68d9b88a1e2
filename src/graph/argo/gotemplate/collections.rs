//! The functions of templates that take lists and mappings.

use serde_json::Value;

use super::failed;
use super::format::shown;
use super::functions::{Arguments, LONGEST, is_true};
use super::texts::texts;
use crate::graph::argo::template::Outcome;

pub(super) fn of_list(given: &Arguments<'_>) -> Outcome<Option<Value>> {
    let all = given.all;
    Ok(Some(match given.function {
        "list" | "tuple" => all.into(),
        "first" => given.list(0)?.first().cloned().unwrap_or_default(),
        "last" => given.list(0)?.last().cloned().unwrap_or_default(),
        "rest" => given.list(0)?.iter().skip(1).cloned().collect(),
        "initial" => {
            let initial = given.list(0)?.split_last();
            initial.map_or(&[][..], |(_, items)| items).into()
        }
        "reverse" => given.list(0)?.iter().rev().cloned().collect(),
        "uniq" => {
            let mut seen = std::collections::BTreeSet::new();
            filtered(given, |item| seen.insert(item.to_string()))?
        }
        "compact" => filtered(given, is_true)?,
        "without" => filtered(given, |item| !all[1..].contains(item))?,
        "has" => (!all[1].is_null() && given.list(1)?.contains(&all[0])).into(),
        "append" => [given.list(0)?, &all[1..]].concat().into(),
        "prepend" => [&all[1..], given.list(0)?].concat().into(),
        "concat" => {
            let lists: Outcome<Vec<&[Value]>> = (0..all.len()).map(|at| given.list(at)).collect();
            lists?.concat().into()
        }
        "sortAlpha" => match &all[0] {
            Value::Array(_) => {
                let mut texts = texts(&all[0]);
                texts.sort();
                texts.into()
            }
            other => vec![shown(other)].into(),
        },
        "until" => {
            let end = given.int(0)?;
            if end.unsigned_abs() > LONGEST as u64 {
                return given.unread();
            }
            let numbers: Vec<i64> = if end < 0 {
                (end + 1..=0).rev().collect()
            } else {
                (0..end).collect()
            };
            numbers.into()
        }
        _ => return Ok(None),
    }))
}

/// Filters the first argument, a list, for the items for which `takes` returns `true`.
fn filtered(given: &Arguments<'_>, mut takes: impl FnMut(&Value) -> bool) -> Outcome<Value> {
    let items = given.list(0)?.iter();
    Ok(items.filter(|item| takes(item)).cloned().collect())
}

/// Calls a function that takes mappings, or both mappings and lists.
pub(super) fn of_mapping(given: &Arguments<'_>) -> Outcome<Option<Value>> {
    let all = given.all;
    Ok(Some(match given.function {
        "index" => {
            let mut value = &all[0];
            for key in &all[1..] {
                value = match (value, key) {
                    (Value::Array(items), Value::Number(at)) if at.is_i64() => {
                        let at = at
                            .as_u64()
                            .and_then(|at| items.get(usize::try_from(at).ok()?));
                        at.ok_or_else(|| failed("an index is out of range"))?
                    }
                    (Value::Object(entries), Value::String(key)) => {
                        entries.get(key).unwrap_or(&Value::Null)
                    }
                    (Value::String(_), _) => return given.unread(),
                    (value, _) => return given.wants("a list or a mapping, and a key", value),
                };
            }
            value.clone()
        }
        "len" => match &all[0] {
            Value::String(text) => text.len().into(),
            Value::Array(items) => items.len().into(),
            Value::Object(entries) => entries.len().into(),
            other => return given.wants("a value with a length", other),
        },
        "dict" => {
            let entries = all.chunks(2).map(|pair| {
                let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
                (shown(&pair[0]), value)
            });
            entries.collect()
        }
        "hasKey" => given.map(0)?.contains_key(given.text(1)?).into(),
        "get" => {
            let found = given.map(0)?.get(given.text(1)?);
            found.cloned().unwrap_or_else(|| "".into())
        }
        "pick" | "omit" => {
            let keys = given.keys()?;
            let entries = given.map(0)?.iter();
            let taken = entries
                .filter(|(key, _)| keys.contains(&key.as_str()) == (given.function == "pick"));
            taken
                .map(|(key, value)| (key.as_str(), value.clone()))
                .collect()
        }
        "dig" => {
            let last = all.len() - 1;
            let mut value = &all[last];
            for at in 0..last - 1 {
                let Value::Object(entries) = value else {
                    return given.wants("a mapping", value);
                };
                match entries.get(given.text(at)?) {
                    Some(next) => value = next,
                    None => return Ok(Some(all[last - 1].clone())),
                }
            }
            value.clone()
        }
        _ => return Ok(None),
    }))
}
