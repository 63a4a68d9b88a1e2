//! The functions of templates that take texts, or convert any value to a text.

use serde_json::Value;

use super::format::{formatted, json, printed, quoted, shown, yaml};
use super::functions::{Arguments, check_repetitions};
use crate::graph::argo::template::Outcome;

pub(super) fn of_text(given: &Arguments<'_>) -> Outcome<Option<Value>> {
    let all = given.all;
    Ok(Some(match given.function {
        "printf" => formatted(given.text(0)?, &all[1..])?.into(),
        "print" => printed(all).into(),
        "lower" => given.text(0)?.to_lowercase().into(),
        "upper" => given.text(0)?.to_uppercase().into(),
        "trim" => given.text(0)?.trim().into(),
        "nospace" => given.text(0)?.split_whitespace().collect::<String>().into(),
        "trimPrefix" => {
            let whole = given.text(1)?;
            whole.strip_prefix(given.text(0)?).unwrap_or(whole).into()
        }
        "trimSuffix" => {
            let whole = given.text(1)?;
            whole.strip_suffix(given.text(0)?).unwrap_or(whole).into()
        }
        "trimAll" => {
            let cut = given.text(0)?;
            given.text(1)?.trim_matches(|c| cut.contains(c)).into()
        }
        "replace" => {
            let (old, new, whole) = (given.text(0)?, given.text(1)?, given.text(2)?);
            check_repetitions(whole.matches(old).count(), new)?;
            whole.replace(old, new).into()
        }
        "contains" => given.text(1)?.contains(given.text(0)?).into(),
        "hasPrefix" => given.text(1)?.starts_with(given.text(0)?).into(),
        "hasSuffix" => given.text(1)?.ends_with(given.text(0)?).into(),
        "quote" | "squote" | "cat" => {
            let all = all.iter().filter(|value| !value.is_null()).map(shown);
            let all = all.map(|text| match given.function {
                "quote" => quoted(&text),
                "squote" => format!("'{text}'"),
                _ => text,
            });
            all.collect::<Vec<_>>().join(" ").into()
        }
        "toString" => shown(&all[0]).into(),
        "join" => {
            let (between, items) = (given.text(0)?, texts(&all[1]));
            check_repetitions(items.len(), between)?;
            items.join(between).into()
        }
        "splitList" => parts(given)?.into(),
        "split" => {
            let parts = parts(given)?.into_iter().enumerate();
            parts.map(|(at, part)| (format!("_{at}"), part)).collect()
        }
        "indent" => indented(given)?.into(),
        "nindent" => format!("\n{}", indented(given)?).into(),
        "repeat" => {
            let (count, text) = (given.count(0)?, given.text(1)?);
            check_repetitions(count, text)?;
            text.repeat(count).into()
        }
        "trunc" => {
            let (length, whole) = (given.int(0)?, given.text(1)?);
            let count = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
            let cut = match whole.len().checked_sub(count) {
                Some(0) | None => Some(whole),
                Some(rest) if length < 0 => whole.get(rest..),
                Some(_) => whole.get(..count),
            };
            // A cut within a character gives bytes that are not UTF-8.
            cut.map_or_else(|| given.unread(), |cut| Ok(cut.into()))?
        }
        "substr" => {
            let (start, end, whole) = (given.int(0)?, given.int(1)?, given.text(2)?);
            let (start, end) = (usize::try_from(start), usize::try_from(end));
            let cut = match (start, end) {
                (Err(_), Ok(end)) => whole.get(..end),
                (Ok(start), Ok(end)) if end <= whole.len() => whole.get(start..end),
                (Ok(start), _) => whole.get(start..),
                (Err(_), Err(_)) => None,
            };
            cut.map_or_else(|| given.unread(), |cut| Ok(cut.into()))?
        }
        "normalize" => normalized(given.text(0)?).into(),
        "base" | "dir" => {
            let path = given.text(0)?;
            let is_clean = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            if !is_clean {
                return given.unread();
            }
            let (dir, base) = path.rsplit_once('/').unwrap_or((".", path));
            (if given.function == "base" { base } else { dir }).into()
        }
        "regexMatch" => given.pattern()?.is_match(given.text(1)?.as_bytes()).into(),
        "regexFind" => {
            let pattern = given.pattern()?;
            let text = given.text(1)?;
            // `pattern` takes only ASCII, so a match begins and ends between characters.
            let found = pattern.find(text.as_bytes());
            found.map_or("", |found| &text[found.range()]).into()
        }
        "regexReplaceAll" | "regexReplaceAllLiteral" => {
            let (text, new) = (given.text(1)?, given.text(2)?);
            // A match is inserted as often as `new` refers to it.
            check_repetitions(text.len() + 1, new)?;
            let (pattern, text) = (given.pattern()?, text.as_bytes());
            let replaced = if given.function == "regexReplaceAll" {
                pattern.replace_all(text, new.as_bytes())
            } else {
                pattern.replace_all(text, regex::bytes::NoExpand(new.as_bytes()))
            };
            String::from_utf8_lossy(&replaced).into()
        }
        "toYaml" => yaml(&all[0]).into(),
        "toJson" => json(&all[0], true).into(),
        "toRawJson" => json(&all[0], false).into(),
        _ => return Ok(None),
    }))
}

/// Indents each line of a text.
fn indented(given: &Arguments<'_>) -> Outcome<String> {
    let blanks = " ".repeat(given.count(0)?);
    let text = given.text(1)?;
    check_repetitions(text.matches('\n').count(), &blanks)?;
    let rest = text.replace('\n', &format!("\n{blanks}"));
    Ok(format!("{blanks}{rest}"))
}

/// Returns the parts of a text between separators; if the separator is empty, its characters.
fn parts<'a>(given: &'a Arguments<'_>) -> Outcome<Vec<&'a str>> {
    let (by, whole) = (given.text(0)?, given.text(1)?);
    let parts = whole.split(by);
    Ok(if by.is_empty() {
        parts.filter(|letter| !letter.is_empty()).collect()
    } else {
        parts.collect()
    })
}

/// Returns the texts of a list without `null`; a scalar is a list of one (sprig, strslice).
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items
            .iter()
            .filter(|item| !item.is_null())
            .map(shown)
            .collect(),
        Value::Null => Vec::new(),
        other => vec![shown(other)],
    }
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
