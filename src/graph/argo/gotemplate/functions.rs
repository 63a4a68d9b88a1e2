//! The functions of templates that ApplicationSets use most.

use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::collections::{of_list, of_mapping};
use super::format::{integer, type_of};
use super::texts::of_text;
use super::{MAX_WORK, failed, too_large, unread, unread_because};
use crate::graph::argo::template::{Outcome, TemplateError};

const ANY: usize = usize::MAX;

/// Maximum length of a list, or number of repetitions of a text, that an argument requests.
pub(super) const LONGEST: usize = 10_000;

/// The size with which the compilation of a regular expression is charged to the budget of a text.
pub(super) const REGEX_SIZE: usize = 4_096;

/// The functions that [`call`] evaluates, with the least and the greatest number of their arguments.
const ALL: [(&str, usize, usize); 88] = [
    ("add", 0, ANY),
    ("add1", 1, 1),
    ("all", 0, ANY),
    ("and", 1, ANY),
    ("any", 0, ANY),
    ("append", 2, 2),
    ("atoi", 1, 1),
    ("base", 1, 1),
    ("cat", 0, ANY),
    ("coalesce", 0, ANY),
    ("compact", 1, 1),
    ("concat", 0, ANY),
    ("contains", 2, 2),
    ("default", 1, ANY),
    ("dict", 0, ANY),
    ("dig", 3, ANY),
    ("dir", 1, 1),
    ("div", 2, 2),
    ("empty", 1, 1),
    ("eq", 1, ANY),
    ("fail", 1, 1),
    ("first", 1, 1),
    ("ge", 2, 2),
    ("get", 2, 2),
    ("gt", 2, 2),
    ("has", 2, 2),
    ("hasKey", 2, 2),
    ("hasPrefix", 2, 2),
    ("hasSuffix", 2, 2),
    ("indent", 2, 2),
    ("index", 1, ANY),
    ("initial", 1, 1),
    ("int", 1, 1),
    ("int64", 1, 1),
    ("join", 2, 2),
    ("kindIs", 2, 2),
    ("kindOf", 1, 1),
    ("last", 1, 1),
    ("le", 2, 2),
    ("len", 1, 1),
    ("list", 0, ANY),
    ("lower", 1, 1),
    ("lt", 2, 2),
    ("max", 1, ANY),
    ("min", 1, ANY),
    ("mod", 2, 2),
    ("mul", 1, ANY),
    ("ne", 2, 2),
    ("nindent", 2, 2),
    ("normalize", 1, 1),
    ("nospace", 1, 1),
    ("not", 1, 1),
    ("omit", 1, ANY),
    ("or", 1, ANY),
    ("pick", 1, ANY),
    ("prepend", 2, 2),
    ("print", 0, ANY),
    ("printf", 1, ANY),
    ("quote", 0, ANY),
    ("regexFind", 2, 2),
    ("regexMatch", 2, 2),
    ("regexReplaceAll", 3, 3),
    ("regexReplaceAllLiteral", 3, 3),
    ("repeat", 2, 2),
    ("replace", 3, 3),
    ("rest", 1, 1),
    ("reverse", 1, 1),
    ("sortAlpha", 1, 1),
    ("split", 2, 2),
    ("splitList", 2, 2),
    ("squote", 0, ANY),
    ("sub", 2, 2),
    ("substr", 3, 3),
    ("ternary", 3, 3),
    ("toJson", 1, 1),
    ("toRawJson", 1, 1),
    ("toString", 1, 1),
    ("toYaml", 1, 1),
    ("trim", 1, 1),
    ("trimAll", 2, 2),
    ("trimPrefix", 2, 2),
    ("trimSuffix", 2, 2),
    ("trunc", 2, 2),
    ("tuple", 0, ANY),
    ("uniq", 1, 1),
    ("until", 1, 1),
    ("upper", 1, 1),
    ("without", 1, ANY),
];

/// Whether a function is evaluated.
pub(super) fn is_known(name: &str) -> bool {
    ALL.binary_search_by_key(&name, |(known, ..)| *known)
        .is_ok()
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

/// The arguments of a call: at least as many as the function requires.
pub(super) struct Arguments<'a> {
    pub(super) function: &'a str,
    pub(super) all: &'a [Value],
}

impl Arguments<'_> {
    pub(super) fn wants<T>(&self, wanted: &str, value: &Value) -> Outcome<T> {
        let (function, given) = (self.function, type_of(value));
        Err(failed(format!("`{function}` wants {wanted}, not {given}")))
    }

    pub(super) fn unread<T>(&self) -> Outcome<T> {
        let function = self.function;
        let reason = format!("this use of the function `{function}` is not evaluated");
        Err(unread_because(reason))
    }

    pub(super) fn text(&self, at: usize) -> Outcome<&str> {
        match &self.all[at] {
            Value::String(text) => Ok(text),
            other => self.wants("a text", other),
        }
    }

    /// Returns an argument of Go's type `int`.
    pub(super) fn int(&self, at: usize) -> Outcome<i64> {
        match &self.all[at] {
            Value::Number(number) => match number.as_i64() {
                Some(number) => Ok(number),
                // Go accepts only floats that are constants such as `2.0`: this is not known.
                None => self.unread(),
            },
            other => self.wants("an integer", other),
        }
    }

    /// Returns an argument that counts texts or spaces. A count above [`LONGEST`] is not evaluated.
    pub(super) fn count(&self, at: usize) -> Outcome<usize> {
        let number = self.int(at)?;
        let function = self.function;
        match usize::try_from(number) {
            Err(_) => Err(failed(format!("`{function}` wants no negative number"))),
            Ok(number) if number > LONGEST => self.unread(),
            Ok(number) => Ok(number),
        }
    }

    pub(super) fn list(&self, at: usize) -> Outcome<&[Value]> {
        match &self.all[at] {
            Value::Array(items) => Ok(items),
            other => self.wants("a list", other),
        }
    }

    pub(super) fn map(&self, at: usize) -> Outcome<&Map<String, Value>> {
        match &self.all[at] {
            Value::Object(entries) => Ok(entries),
            // In Go, a missing mapping is empty, but `null` is an error; here, both are null.
            Value::Null => self.unread(),
            other => self.wants("a mapping", other),
        }
    }

    pub(super) fn keys(&self) -> Outcome<Vec<&str>> {
        (1..self.all.len()).map(|at| self.text(at)).collect()
    }

    /// Compiles the first argument, a regular expression. It is not evaluated if an argument is not
    /// ASCII, or if Go may read it differently.
    pub(super) fn pattern(&self) -> Outcome<Regex> {
        let pattern = self.text(0)?;
        let differs = ["&&", "--", "~~", "(?x", "\\u", "\\U", "\\<", "\\>", "\\b{"];
        let nests = pattern.replace("[[:", "").contains("[[");
        if nests || differs.iter().any(|syntax| pattern.contains(syntax)) {
            return self.unread();
        }
        for at in 0..self.all.len() {
            if !self.text(at)?.is_ascii() {
                return self.unread();
            }
        }
        let compiled = RegexBuilder::new(pattern)
            .unicode(false)
            .size_limit(1 << 18)
            .build();
        compiled.or_else(|_| self.unread())
    }
}

/// Converts a value to an integer, or to 0 if that is impossible (spf13/cast, ToInt64).
fn cast(value: &Value) -> i64 {
    match value {
        Value::Bool(flag) => i64::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number,
            None => number.as_f64().unwrap_or_default() as i64,
        },
        Value::String(text) => {
            let whole = match text.split_once('.') {
                Some((whole, fraction)) if fraction.chars().all(|c| c == '0') => whole,
                _ => text,
            };
            integer(whole).unwrap_or(0)
        }
        _ => 0,
    }
}

/// Fails if `count` repetitions of a text are longer than a value may be.
pub(super) fn check_repetitions(count: usize, text: &str) -> Outcome<()> {
    if count.saturating_mul(text.len()) > MAX_WORK {
        return Err(too_large());
    }
    Ok(())
}

pub(super) fn call(name: &str, arguments: &[Value]) -> Outcome<Value> {
    let Ok(at) = ALL.binary_search_by_key(&name, |(known, ..)| *known) else {
        return Err(unread(name, &[]));
    };
    let (_, least, most) = ALL[at];
    if arguments.len() < least || arguments.len() > most {
        let reason = format!("`{name}` has too few or too many arguments");
        return Err(failed(reason));
    }
    let given = Arguments {
        function: name,
        all: arguments,
    };
    for called in [compared, of_text, of_list, of_mapping, of_number] {
        if let Some(value) = called(&given)? {
            return Ok(value);
        }
    }
    Err(unread(name, &[]))
}

/// Calls a function that compares, chooses or converts values of any type.
fn compared(given: &Arguments<'_>) -> Outcome<Option<Value>> {
    let all = given.all;
    Ok(Some(match given.function {
        "eq" | "ne" => {
            let Some((first, others)) = all.split_first().filter(|(_, others)| !others.is_empty())
            else {
                return Err(failed("`eq` has nothing to compare with"));
            };
            let mut is_equal = false;
            for other in others {
                is_equal = equal(first, other)?;
                if is_equal {
                    break;
                }
            }
            (is_equal == (given.function == "eq")).into()
        }
        "lt" | "le" | "gt" | "ge" => {
            let order = match (&all[0], &all[1]) {
                (Value::String(one), Value::String(other)) => one.cmp(other),
                (Value::Number(one), Value::Number(other)) if one.is_i64() && other.is_i64() => {
                    one.as_i64().cmp(&other.as_i64())
                }
                (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
                    let [one, other] = [one, other].map(|one| one.as_f64().unwrap_or_default());
                    one.total_cmp(&other)
                }
                (one, other) => return Err(incomparable(one, other)),
            };
            match given.function {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            }
            .into()
        }
        "and" | "or" => {
            let found = all
                .iter()
                .find(|value| is_true(value) == (given.function == "or"));
            found.or(all.last()).cloned().unwrap_or(Value::Null)
        }
        "not" | "empty" => Value::Bool(!is_true(&all[0])),
        "all" => all.iter().all(is_true).into(),
        "any" => all.iter().any(is_true).into(),
        "default" => {
            let value = all.get(1).filter(|value| is_true(value));
            value.unwrap_or(&all[0]).clone()
        }
        "coalesce" => {
            let found = all.iter().find(|value| is_true(value));
            found.cloned().unwrap_or_default()
        }
        "ternary" => match &all[2] {
            Value::Bool(condition) => all[usize::from(!condition)].clone(),
            other => return given.wants("a condition", other),
        },
        "fail" => return Err(failed(given.text(0)?)),
        // The type of an integer, `int` or `int64`, is not known.
        "kindOf" | "kindIs" if all.last().is_some_and(Value::is_i64) => return given.unread(),
        "kindOf" => kind_of(&all[0]).into(),
        "kindIs" => (given.text(0)? == kind_of(&all[1])).into(),
        _ => return Ok(None),
    }))
}

/// Whether `eq` holds: values of two types cannot be compared, and neither can lists and mappings.
fn equal(one: &Value, other: &Value) -> Outcome<bool> {
    match (one, other) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Array(_) | Value::Object(_), _) => Err(incomparable(one, other)),
        _ if type_of(one) == type_of(other) => Ok(one == other),
        _ => Err(incomparable(one, other)),
    }
}

fn incomparable(one: &Value, other: &Value) -> TemplateError {
    let (one, other) = (type_of(one), type_of(other));
    failed(format!("{one} and {other} cannot be compared"))
}

/// Returns the name of Go's kind of a value (sprig, kindOf).
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        scalar => type_of(scalar),
    }
}

fn of_number(given: &Arguments<'_>) -> Outcome<Option<Value>> {
    let name = given.function;
    let numbers = given.all.iter().map(cast);
    Ok(Some(match name {
        "int" | "int64" => cast(&given.all[0]).into(),
        "atoi" => given.text(0)?.parse::<i64>().unwrap_or(0).into(),
        "add" => numbers.fold(0, i64::wrapping_add).into(),
        "add1" => cast(&given.all[0]).wrapping_add(1).into(),
        "mul" => numbers.fold(1, i64::wrapping_mul).into(),
        "max" => numbers.max().into(),
        "min" => numbers.min().into(),
        "sub" | "div" | "mod" => {
            let (one, other) = (cast(&given.all[0]), cast(&given.all[1]));
            match name {
                "sub" => one.wrapping_sub(other).into(),
                _ if other == 0 => return Err(failed("a number is divided by zero")),
                "div" => one.wrapping_div(other).into(),
                _ => one.wrapping_rem(other).into(),
            }
        }
        _ => return Ok(None),
    }))
}
