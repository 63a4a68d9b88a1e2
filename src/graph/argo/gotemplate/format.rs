//! Values as Go writes them: fmt's verbs, strconv's numbers and quotes, JSON and YAML.

use serde_json::Value;

use crate::graph::argo::template::TemplateError;
use crate::graph::kustomize::json_text;

/// Maximum padding of a verb, and maximum precision of `%f`.
const WIDEST: usize = 1_000;

/// The words that YAML 1.1 reads as other types than text.
const YAML_WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// Returns a value as `%v` prints it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.to_string(),
            None => float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(entries) => {
            let entries = sorted(entries).into_iter();
            let entries = entries.map(|(key, value)| format!("{key}:{}", shown(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
    }
}

/// Returns the entries of a mapping in the order of their keys, in which Go prints and visits them.
pub(super) fn sorted(entries: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
}

/// Returns the name of the Go type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// Returns a float as `%v` prints it: with the fewest digits, and in scientific notation if the exponent is below -4 or
/// at least 6.
fn float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Returns a text in double quotes, as strconv.Quote writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            ..' ' | '\x7f' if c != ' ' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c if c.is_ascii() => out.push(c),
            // `escape_debug` escapes combining characters only at the start of a text, hence the `a`.
            c if !format!("a{c}").escape_debug().any(|c| c == '\\') => out.push(c),
            c if c > '\u{ffff}' => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Joins values as fmt.Sprint does: with a space between two neighbours if neither is a text.
pub(super) fn printed(values: &[Value]) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        if at > 0 && !value.is_string() && !values[at - 1].is_string() {
            out.push(' ');
        }
        out.push_str(&shown(value));
    }
    out
}

/// Formats as fmt.Sprintf does, with the verbs `%s`, `%d`, `%v`, `%q`, `%t` and `%f`, widths and precisions. A format
/// for which Go writes a note such as `%!d(string=a)` is not evaluated.
pub(super) fn formatted(format: &str, arguments: &[Value]) -> Result<String, TemplateError> {
    let unread = || TemplateError::Unread(format!("the format `{format}` is not evaluated"));
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        let sized = after.trim_start_matches(['-', '0']);
        let is_left = after[..after.len() - sized.len()].contains('-');
        let has_zeros = after.starts_with('0') && !is_left;
        let (width, behind) = count(sized);
        let (precision, behind) = match behind.strip_prefix('.').map(count) {
            Some((precision, behind)) => (Some(precision.unwrap_or(0)), behind),
            None => (None, behind),
        };
        let c = behind.chars().next().ok_or_else(unread)?;
        rest = &behind[c.len_utf8()..];
        if c == '%' {
            out.push('%');
            continue;
        }
        let value = arguments.next().ok_or_else(unread)?;
        let text = match (c, value) {
            ('v', Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_))
                if width.is_none() && precision.is_none() =>
            {
                shown(value)
            }
            ('v' | 's', Value::String(text)) => {
                text.chars().take(precision.unwrap_or(usize::MAX)).collect()
            }
            ('q', Value::String(text)) if precision.is_none() => quoted(text),
            ('s' | 'q', Value::Array(items))
                if width.is_none() && items.iter().all(Value::is_string) && precision.is_none() =>
            {
                let items = items.iter().map(shown);
                let items = items.map(|item| if c == 'q' { quoted(&item) } else { item });
                format!("[{}]", items.collect::<Vec<_>>().join(" "))
            }
            ('t', Value::Bool(flag)) => flag.to_string(),
            ('d' | 'v', Value::Number(number)) if number.is_i64() && precision.is_none() => {
                number.to_string()
            }
            ('v', Value::Number(_)) if precision.is_none() => shown(value),
            ('f', Value::Number(number)) if number.is_f64() && precision <= Some(WIDEST) => {
                let number = number.as_f64().unwrap_or_default();
                format!("{number:.*}", precision.unwrap_or(6))
            }
            _ => return Err(unread()),
        };
        let missing = width.unwrap_or(0).saturating_sub(text.chars().count());
        if missing > WIDEST || has_zeros && !value.is_number() {
            return Err(unread());
        }
        let digits = text.strip_prefix('-').filter(|_| has_zeros);
        if is_left {
            out.extend([&text, &*" ".repeat(missing)]);
        } else if has_zeros {
            let sign = if digits.is_some() { "-" } else { "" };
            out.extend([sign, &"0".repeat(missing), digits.unwrap_or(&text)]);
        } else {
            out.extend([&" ".repeat(missing), &*text]);
        }
    }
    if arguments.next().is_some() {
        return Err(unread());
    }
    out.push_str(rest);
    Ok(out)
}

/// Splits a decimal count off the beginning of a text.
fn count(text: &str) -> (Option<usize>, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    let count = (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX));
    (count, rest)
}

/// Reads an integer as strconv.ParseInt does with base 0: `12`, `0x10`, `0b1`, `017`, `1_000`.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (is_negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, body) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if body.ends_with('_') || body.contains("__") || base == 10 && body.starts_with('_') {
        return None;
    }
    let body = body.replace('_', "");
    if body.starts_with(['-', '+']) {
        return None;
    }
    let number = i128::from_str_radix(&body, base).ok()?;
    i64::try_from(if is_negative { -number } else { number }).ok()
}

/// Returns a value as encoding/json writes it, with sorted keys; with `escapes`, `<`, `>` and `&` are escaped, too.
pub(super) fn json(value: &Value, escapes: bool) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| json(item, escapes)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(entries) => {
            let entries = sorted(entries).into_iter().map(|(key, value)| {
                format!("{}:{}", json_text(key, escapes), json(value, escapes))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if !number.is_i64() => json_float(float),
            _ => number.to_string(),
        },
        Value::String(text) => json_text(text, escapes),
        scalar => scalar.to_string(),
    }
}

/// Returns a float as encoding/json writes it: in scientific notation if its absolute value is at least 1e21, or below
/// 1e-6 and not 0.
fn json_float(number: f64) -> String {
    if number == 0.0 || (1e-6..1e21).contains(&number.abs()) {
        return number.to_string();
    }
    let scientific = format!("{number:e}");
    match scientific.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => scientific,
    }
}

/// Returns a value as YAML that means what sigs.k8s.io/yaml writes; only the style of scalars may differ.
pub(super) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    write_yaml(value, 0, &mut out);
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn write_yaml(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (at, (key, value)) in sorted(entries).into_iter().enumerate() {
                if at > 0 {
                    out.push_str(&indent);
                }
                out.push_str(&yaml_scalar(&Value::from(key.as_str())));
                match value {
                    Value::Object(entries) if !entries.is_empty() => {
                        out.push_str(&format!(":\n{indent}  "));
                        write_yaml(value, depth + 1, out);
                    }
                    Value::Array(items) if !items.is_empty() => {
                        out.push_str(&format!(":\n{indent}"));
                        write_yaml(value, depth, out);
                    }
                    value => out.push_str(&format!(": {}\n", yaml_scalar(value))),
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(&indent);
                }
                out.push_str("- ");
                write_yaml(item, depth + 1, out);
            }
        }
        value => out.push_str(&format!("{}\n", yaml_scalar(value))),
    }
}

/// Returns a scalar or an empty collection as YAML. A string is unquoted only if YAML reads it as that string.
fn yaml_scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return json(value, false);
    };
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || " _./-".contains(c))
        && !text.ends_with(' ')
        && !YAML_WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        text.clone()
    } else {
        json(value, false)
    }
}
