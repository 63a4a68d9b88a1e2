//! The meaning of a scalar: go-yaml v2's `resolve`, followed by the conversion to JSON.
//!
//! Kubernetes converts YAML to JSON before it decodes anything. So `1.0` arrives as the integer `1`, `.inf` not at all, and
//! `yes` as `true`. Sources: sigs.k8s.io/yaml (goyaml.v2/resolve.go, yaml.go), Go's strconv and encoding/json.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use data_encoding::{BASE64_NOPAD, Encoding};

use super::event::Style;

pub(super) const CORE: &str = "tag:yaml.org,2002:";

/// The meaning of a tag in go-yaml.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagMeaning {
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Merge,
    /// `!` alone.
    Bare,
    /// Any other: the scalar is text.
    Text,
}

/// The tags with a special meaning.
const TAGS: [(&str, TagMeaning); 8] = [
    ("!", TagMeaning::Bare),
    ("tag:yaml.org,2002:bool", TagMeaning::Bool),
    ("tag:yaml.org,2002:int", TagMeaning::Int),
    ("tag:yaml.org,2002:float", TagMeaning::Float),
    ("tag:yaml.org,2002:null", TagMeaning::Null),
    ("tag:yaml.org,2002:timestamp", TagMeaning::Timestamp),
    ("tag:yaml.org,2002:binary", TagMeaning::Binary),
    ("tag:yaml.org,2002:merge", TagMeaning::Merge),
];

impl TagMeaning {
    /// Returns the meaning of a tag that is written in two parts. They are not joined, since a document may repeat a
    /// prefix of any length before each value.
    pub(super) fn of([prefix, suffix]: [&str; 2]) -> Self {
        TAGS.iter()
            .find(|(tag, _)| tag.strip_prefix(prefix) == Some(suffix))
            .map_or(Self::Text, |(_, meaning)| *meaning)
    }

    /// Returns the name of a value's type.
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Null => "null",
            _ => "str",
        }
    }
}

/// A scalar as go-yaml resolves it, before the conversion to JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// Over 64 bits: a number in JSON, but not allowed as a key.
    Big(f64),
    Float(f64),
    Text(Cow<'t, str>),
}

/// Resolves a YAML scalar. `plain` means that it is neither quoted nor a block scalar. The error is go-yaml's message.
pub(super) fn resolve(
    text: &str,
    plain: bool,
    tag: Option<TagMeaning>,
) -> Result<Scalar<'_>, String> {
    let as_written = Scalar::Text(Cow::Borrowed(text));
    let wanted = match tag {
        None if plain => return Ok(resolve_untagged(text)),
        None | Some(TagMeaning::Text | TagMeaning::Bare | TagMeaning::Merge) => {
            return Ok(as_written);
        }
        Some(TagMeaning::Timestamp) if is_timestamp(text) => return Ok(as_written),
        Some(TagMeaning::Timestamp) => {
            return Err(format!("cannot decode !!str `{text}` as a !!timestamp"));
        }
        Some(TagMeaning::Binary) => {
            return base64(text)
                .ok_or_else(|| "!!binary value contains invalid base64 data".to_owned())
                .map(|decoded| Scalar::Text(Cow::Owned(decoded)));
        }
        Some(
            wanted @ (TagMeaning::Bool | TagMeaning::Int | TagMeaning::Float | TagMeaning::Null),
        ) => wanted,
    };
    let resolved = resolve_untagged(text);
    let found = match resolved {
        Scalar::Null => TagMeaning::Null,
        Scalar::Bool(_) => TagMeaning::Bool,
        Scalar::Int(_) | Scalar::Uint(_) | Scalar::Big(_) => TagMeaning::Int,
        Scalar::Float(_) => TagMeaning::Float,
        Scalar::Text(_) => TagMeaning::Text,
    };
    match resolved {
        _ if found == wanted => Ok(resolved),
        Scalar::Int(value) if wanted == TagMeaning::Float => Ok(Scalar::Float(value as f64)),
        _ => Err(format!(
            "cannot decode !!{} `{text}` as a !!{}",
            found.name(),
            wanted.name()
        )),
    }
}

/// Resolves a bare JSON word; `None` if it is not a JSON value that Kubernetes can store.
pub(super) fn resolve_json(word: &str) -> Option<Scalar<'static>> {
    Some(match word {
        "null" => Scalar::Null,
        "true" => Scalar::Bool(true),
        "false" => Scalar::Bool(false),
        _ => match (word.parse::<i64>(), word.parse::<u64>()) {
            (Ok(value), _) => Scalar::Int(value),
            (_, Ok(value)) => Scalar::Uint(value),
            _ => Scalar::Float(word.parse::<f64>().ok().filter(|value| value.is_finite())?),
        },
    })
}

impl<'t> Scalar<'t> {
    /// Converts the value to JSON and back; the result is never [`Scalar::Big`]. A YAML float that JSON writes without
    /// a point becomes an integer. The error is the message of Go's JSON writer.
    pub(super) fn through_json(self, json: bool) -> Result<Self, String> {
        match self {
            Self::Float(value) if json => Ok(Self::Float(value)),
            Self::Float(value) | Self::Big(value) if value.is_finite() => {
                Ok(match value.to_string().parse::<i64>() {
                    Ok(integer) if value.abs() < 1e21 => Self::Int(integer),
                    _ => Self::Float(value),
                })
            }
            Self::Float(value) | Self::Big(value) => {
                Err(format!("json: unsupported value: {}", go_special(value)))
            }
            other => Ok(other),
        }
    }

    /// Returns the JSON key for this scalar. The error describes a scalar that Kubernetes rejects as a key.
    pub(super) fn into_key(self) -> Result<Cow<'t, str>, &'static str> {
        Ok(Cow::Owned(match self {
            Self::Text(value) => return Ok(value),
            Self::Null => return Err("null"),
            Self::Uint(_) | Self::Big(_) => return Err("a number over 64 bits"),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) if value.is_nan() => ".nan".to_owned(),
            Self::Float(value) if value.is_infinite() => {
                if value > 0.0 { ".inf" } else { "-.inf" }.to_owned()
            }
            Self::Float(value) => go_float_key(value as f32),
        }))
    }
}

fn go_special(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

/// Whether a scalar without a tag is a string.
#[inline]
pub(super) fn is_text_as(style: Style, text: &str) -> bool {
    match style {
        Style::Plain => is_text(text),
        Style::JsonWord => false,
        Style::Single | Style::Double | Style::Block => true,
    }
}

/// Whether an unquoted scalar without a tag is a string. For most, the first character decides.
#[inline]
pub(super) fn is_text(text: &str) -> bool {
    match text.as_bytes().first() {
        None => false,
        Some(b'~' | b'n' | b'N' | b'y' | b'Y' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            resolve_word(text).is_none()
        }
        Some(b'.' | b'+' | b'-' | b'0'..=b'9') => matches!(resolve_untagged(text), Scalar::Text(_)),
        Some(_) => true,
    }
}

/// Resolves a plain scalar without a tag.
pub(super) fn resolve_untagged(text: &str) -> Scalar<'_> {
    let resolved = match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'~' | b'n' | b'N' | b'y' | b'Y' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            resolve_word(text)
        }
        Some(b'.') => resolve_special_float(text).or_else(|| parse_float(text).map(Scalar::Float)),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            resolve_special_float(text).or_else(|| resolve_number(text))
        }
        Some(_) => None,
    };
    resolved.unwrap_or(Scalar::Text(Cow::Borrowed(text)))
}

/// Resolves YAML 1.1's words, in exactly the spellings that go-yaml knows.
fn resolve_word(text: &str) -> Option<Scalar<'static>> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        _ => return None,
    })
}

fn resolve_special_float(text: &str) -> Option<Scalar<'static>> {
    Some(Scalar::Float(match text {
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        _ => return None,
    }))
}

/// Resolves Go's integers (`0x`, `0o`, `0b`, leading 0: octal), else decimal floats; ignores `_`.
fn resolve_number(text: &str) -> Option<Scalar<'static>> {
    let plain = if text.contains('_') {
        Cow::Owned(text.replace('_', ""))
    } else {
        Cow::Borrowed(text)
    };
    let (negative, magnitude) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, &*plain),
    };
    let (radix, digits) = go_radix(magnitude);
    let valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    if valid {
        match u64::from_str_radix(digits, radix) {
            Ok(value) if negative && value <= i64::MIN.unsigned_abs() => {
                return Some(Scalar::Int(0_i64.wrapping_sub_unsigned(value)));
            }
            Ok(value) if !negative => {
                return Some(i64::try_from(value).map_or(Scalar::Uint(value), Scalar::Int));
            }
            _ => {}
        }
    }
    if let Some(value) = parse_float(&plain) {
        return Some(Scalar::Float(value));
    }
    let value = digits
        .chars()
        .filter_map(|digit| digit.to_digit(radix))
        .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit));
    valid.then_some(Scalar::Big(if negative { -value } else { value }))
}

fn go_radix(magnitude: &str) -> (u32, &str) {
    match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &magnitude[2..]),
        [b'0', b'o' | b'O', ..] => (8, &magnitude[2..]),
        [b'0', b'b' | b'B', ..] => (2, &magnitude[2..]),
        [b'0', _, ..] => (8, &magnitude[1..]),
        _ => (10, magnitude),
    }
}

/// Parses a decimal float that `f64` can hold: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_valid =
        are_digits(whole) && are_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_valid = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && are_digits(exponent)
    });
    if !(mantissa_valid && exponent_valid) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats like Go's `strconv.FormatFloat(value, 'g', -1, 32)`: exponents below 1e-04 and from 1e+06 on.
fn go_float_key(value: f32) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let Ok(power) = exponent.parse::<i32>() else {
        return scientific;
    };
    if (-4..6).contains(&power) {
        return value.to_string();
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

/// Base64 in which, as in Go, the bits after the last byte do not matter.
static UNPADDED: LazyLock<Option<Encoding>> = LazyLock::new(|| {
    let mut form = BASE64_NOPAD.specification();
    form.check_trailing_bits = false;
    form.encoding().ok()
});

/// Decodes Go's standard base64; line breaks are ignored, padding is required. Bytes that are not UTF-8 become U+FFFD,
/// as in Go's JSON. `None` if it is not base64.
pub fn base64(text: &str) -> Option<String> {
    let symbols: Vec<u8> = text
        .bytes()
        .filter(|byte| !matches!(byte, b'\r' | b'\n'))
        .collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let unpadded = symbols.strip_suffix(b"=").unwrap_or(&symbols);
    let unpadded = unpadded.strip_suffix(b"=").unwrap_or(unpadded);
    let bytes = UNPADDED.as_ref()?.decode(unpadded).ok()?;
    // Go's JSON replaces each byte that is not UTF-8 by its own U+FFFD.
    let parts = bytes.utf8_chunks();
    let texts =
        parts.map(|part| part.valid().to_owned() + &"\u{FFFD}".repeat(part.invalid().len()));
    Some(texts.collect())
}

/// Whether go-yaml reads the text as a timestamp: `2006-1-2`, alone or with `T15:4:5Z07:00`, `t…`, or ` 15:4:5`.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some((text.as_bytes()[at], &text[at + 1..]))),
        None => (text, None),
    };
    let date: Vec<&str> = date.split('-').collect();
    let date_valid = matches!(date[..], [year, month, day]
        if is_number(year, 4..=4, 9999) && is_number(month, 1..=2, 12) && is_number(day, 1..=2, 31));
    date_valid
        && match time {
            None => true,
            Some((b' ', clock)) => is_clock(clock),
            Some((_, time)) => is_zoned_clock(time),
        }
}

/// Whether a text is `15:4:5`, perhaps with a fraction, followed by `Z` or a zone such as `+07:00`.
fn is_zoned_clock(time: &str) -> bool {
    match time.strip_suffix('Z') {
        Some(clock) => is_clock(clock),
        None => time.rfind(['+', '-']).is_some_and(|at| {
            let zone = time[at + 1..].split_once(':');
            is_clock(&time[..at])
                && zone.is_some_and(|(h, m)| is_number(h, 2..=2, 24) && is_number(m, 2..=2, 60))
        }),
    }
}

fn is_clock(clock: &str) -> bool {
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    !fraction.is_empty()
        && are_digits(fraction)
        && matches!(parts[..], [hour, minute, second]
            if is_number(hour, 1..=2, 23) && is_number(minute, 1..=2, 59) && is_number(second, 1..=2, 59))
}

fn is_number(text: &str, widths: RangeInclusive<usize>, max: u32) -> bool {
    widths.contains(&text.len())
        && are_digits(text)
        && text.parse::<u32>().is_ok_and(|value| value <= max)
}
