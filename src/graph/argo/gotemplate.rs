//! Go templates, as far as ApplicationSets use them: fields, pipelines, conditions, and common functions (Go
//! text/template; Masterminds/sprig; argo-cd applicationset/utils/template_functions.go).
//!
//! An action with a parameter that only the cluster knows stays as it is written. A text is not
//! evaluated if it calls a function that is not implemented, or branches on an unknown value.

mod collections;
mod defined;
mod format;
mod functions;
mod parse;
mod texts;

use serde_json::Value;

use self::parse::{Part, Pipeline, Term, parse};
pub(super) use self::texts::normalized;
use super::template::{MAX_BYTES, Outcome, Parameters, TemplateError};

/// Maximum number of iterations of all `range` actions of a text.
const MAX_ROUNDS: usize = 10_000;

/// Maximum size of all values that the evaluation of a text makes: the bytes of texts and keys, plus one per value.
const MAX_WORK: usize = 1_000_000;

/// Maximum nesting of a value.
const DEEPEST_VALUE: usize = 60;

/// Evaluates a template. `missing_is_error` is the option `missingkey=error`.
pub(super) fn replace(
    text: &str,
    parameters: &Parameters,
    missing_is_error: bool,
) -> Outcome<String> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let parts = parse(text)?;
    let known = parameters.known.iter();
    let root: Value = known
        .map(|(key, value)| (key.as_str(), as_read(value)))
        .collect();
    let mut run = Run {
        root: &root,
        is_partly_unknown: parameters.are_partly_unknown,
        missing_is_error,
        variables: Vec::new(),
        rounds: 0,
        work: 0,
        out: String::new(),
    };
    run.parts(&parts, &root)?;
    Ok(run.out)
}

/// Returns a parameter as `%v` of Go's fmt prints it.
pub(super) fn printed(value: &Value) -> String {
    format::shown(&as_read(value))
}

/// Returns a parameter as Argo CD reads it: all its numbers are floats.
fn as_read(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Value::from),
        Value::Array(items) => items.iter().map(as_read).collect(),
        Value::Object(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, value)| (key.as_str(), as_read(value)))
                .collect()
        }
        scalar => scalar.clone(),
    }
}

/// A value of a template.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    Known(Value),
    /// The mapping does not have the key.
    Missing,
    /// Only the cluster knows it.
    Unknown,
}

impl Found {
    /// Returns the value, null for a missing one; fails with `reason` if only the cluster knows it.
    fn known(self, reason: &str) -> Outcome<Value> {
        match self {
            Self::Known(value) => Ok(value),
            Self::Missing => Ok(Value::Null),
            Self::Unknown => Err(unread_because(reason)),
        }
    }
}

struct Run<'r> {
    root: &'r Value,
    is_partly_unknown: bool,
    missing_is_error: bool,
    variables: Vec<(String, Found)>,
    rounds: usize,
    work: usize,
    out: String,
}

impl Run<'_> {
    fn parts(&mut self, parts: &[Part], dot: &Value) -> Outcome<()> {
        for part in parts {
            if self.out.len() > MAX_BYTES {
                return Err(TemplateError::too_long());
            }
            match part {
                Part::Text(text) => self.out.push_str(text),
                Part::Action { written, pipeline } => match self.pipeline(pipeline, dot)? {
                    // An action that sets a variable prints nothing.
                    _ if !pipeline.variables.is_empty() => {}
                    Found::Missing | Found::Known(Value::Null) => self.out.push_str("<no value>"),
                    Found::Known(value) => self.out.push_str(&format::shown(&value)),
                    Found::Unknown => self.out.push_str(written),
                },
                Part::If {
                    condition,
                    then,
                    otherwise,
                    is_with,
                } => {
                    let scope = self.variables.len();
                    let value = self.pipeline(condition, dot)?;
                    let value =
                        value.known("a condition depends on what only the cluster knows")?;
                    match (functions::is_true(&value), is_with) {
                        (true, true) => self.parts(then, &value)?,
                        (true, false) => self.parts(then, dot)?,
                        (false, _) => self.parts(otherwise, dot)?,
                    }
                    self.variables.truncate(scope);
                }
                Part::Range {
                    over,
                    body,
                    otherwise,
                } => self.range(over, body, otherwise, dot)?,
            }
        }
        Ok(())
    }

    fn range(
        &mut self,
        over: &Pipeline,
        body: &[Part],
        otherwise: &[Part],
        dot: &Value,
    ) -> Outcome<()> {
        let scope = self.variables.len();
        let list = self.value_of(over, dot)?;
        let list = list.known("a loop runs over a list that only the cluster knows")?;
        let items: Vec<(Value, Value)> = match &list {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(at, item)| (at.into(), item.clone())).collect()
            }
            Value::Object(entries) => {
                let entries = format::sorted(entries).into_iter();
                entries
                    .map(|(key, value)| (key.as_str().into(), value.clone()))
                    .collect()
            }
            Value::Number(end) if end.is_i64() && over.variables.len() < 2 => {
                let end = end.as_i64().unwrap_or_default().min(MAX_ROUNDS as i64 + 1);
                (0..end).map(|at| (at.into(), at.into())).collect()
            }
            Value::Null => Vec::new(),
            other => {
                let found = format::type_of(other);
                return Err(failed(format!("`range` cannot iterate over a {found}")));
            }
        };
        if items.is_empty() {
            self.parts(otherwise, dot)?;
        }
        for (key, item) in items {
            self.rounds += 1;
            if self.rounds > MAX_ROUNDS {
                let reason = "the loops of a template have too many iterations";
                return Err(unread_because(reason));
            }
            match over.variables.as_slice() {
                [value] => self.set(value, Found::Known(item.clone()), over.declares)?,
                [index, value] => {
                    self.set(index, Found::Known(key), over.declares)?;
                    self.set(value, Found::Known(item.clone()), over.declares)?;
                }
                _ => {}
            }
            self.parts(body, &item)?;
            self.variables.truncate(scope);
        }
        Ok(())
    }

    /// Evaluates a pipeline, and sets its variables.
    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Outcome<Found> {
        let found = self.value_of(pipeline, dot)?;
        match pipeline.variables.as_slice() {
            [] => {}
            [name] => self.set(name, found.clone(), pipeline.declares)?,
            _ => return Err(failed("only `range` can set two variables")),
        }
        Ok(found)
    }

    /// Declares a variable, or assigns to one, which must exist.
    fn set(&mut self, name: &str, value: Found, declares: bool) -> Outcome<()> {
        if declares {
            self.variables.push((name.to_owned(), value));
            return Ok(());
        }
        let known = self.variables.iter_mut().rev();
        match known.into_iter().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => return Err(failed(format!("nothing defines ${name}"))),
        }
        Ok(())
    }

    fn value_of(&mut self, pipeline: &Pipeline, dot: &Value) -> Outcome<Found> {
        let mut last: Option<Found> = None;
        for command in &pipeline.commands {
            last = Some(self.command(command, last.take(), dot)?);
        }
        Ok(last.unwrap_or(Found::Missing))
    }

    /// Charges a new value to the budget of the text.
    fn charge(&mut self, value: &Value) -> Outcome<()> {
        self.work = self.work.saturating_add(weight(value, 0));
        if self.work > MAX_WORK {
            return Err(too_large());
        }
        Ok(())
    }

    /// Evaluates a command: a value, or a function with its arguments, of which `piped` is the last.
    fn command(&mut self, terms: &[Term], piped: Option<Found>, dot: &Value) -> Outcome<Found> {
        let Some((Term::Function(name), arguments)) = terms.split_first() else {
            return match terms {
                [Term::Literal(Value::Null)] => Err(failed("`nil` is not a command")),
                [term, ..] => self.term(term, dot),
                [] => Ok(Found::Missing),
            };
        };
        let mut values = Vec::new();
        for term in arguments {
            let value = self.term(term, dot)?;
            // `and` and `or` do not evaluate the arguments after the one that decides.
            let decides = match (name.as_str(), &value) {
                ("or", Found::Known(value)) => functions::is_true(value),
                ("and", Found::Known(value)) => !functions::is_true(value),
                ("and", Found::Missing) => true,
                _ => false,
            };
            if decides && !values.contains(&Found::Unknown) {
                return Ok(value);
            }
            values.push(value);
        }
        values.extend(piped);
        if values.contains(&Found::Unknown) {
            return if functions::is_known(name) {
                Ok(Found::Unknown)
            } else {
                Err(unread(name, &[]))
            };
        }
        let values = values.into_iter().map(|value| match value {
            Found::Known(value) => value,
            Found::Missing | Found::Unknown => Value::Null,
        });
        let values: Vec<Value> = values.collect();
        if name.starts_with("regex") {
            self.work += functions::REGEX_SIZE;
        }
        let value = functions::call(name, &values)?;
        self.charge(&value)?;
        Ok(Found::Known(value))
    }

    fn term(&mut self, term: &Term, dot: &Value) -> Outcome<Found> {
        match term {
            Term::Literal(value) => {
                self.charge(value)?;
                Ok(Found::Known(value.clone()))
            }
            Term::Field(path) => self.field(dot, path),
            Term::Root(path) => self.field(self.root, path),
            Term::Variable(name, path) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                match found.map(|(_, value)| value.clone()) {
                    Some(Found::Known(value)) => self.field(&value, path),
                    Some(other) => Ok(other),
                    None => Err(failed(format!("nothing defines ${name}"))),
                }
            }
            Term::Function(name) => self.command(&[Term::Function(name.clone())], None, dot),
            Term::Nested(pipeline, path) => match self.pipeline(pipeline, dot)? {
                Found::Known(value) => self.field(&value, path),
                other => Ok(other),
            },
        }
    }

    /// Returns the value at `path` below `from`.
    fn field(&mut self, from: &Value, path: &[String]) -> Outcome<Found> {
        let mut value = from;
        for (at, key) in path.iter().enumerate() {
            match value.get(key) {
                Some(next) => value = next,
                // Only the parameters themselves may be incomplete, except for `values`, which the set lists.
                None if self.is_partly_unknown
                    && at == 0
                    && key != "values"
                    && value == self.root =>
                {
                    return Ok(Found::Unknown);
                }
                None if value.is_null() => {
                    return Err(failed(format!(
                        "`.{}` is below a null value",
                        path.join(".")
                    )));
                }
                None if self.missing_is_error || !value.is_object() => {
                    let reason = format!("`.{}` does not exist", path.join("."));
                    return Err(TemplateError::Missing(reason));
                }
                None => return Ok(Found::Missing),
            }
        }
        self.charge(value)?;
        Ok(Found::Known(value.clone()))
    }
}

/// Returns the size of a value; one that is nested too deeply exceeds every budget.
fn weight(value: &Value, depth: usize) -> usize {
    if depth > DEEPEST_VALUE {
        return MAX_WORK + 1;
    }
    let parts: usize = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| weight(item, depth + 1)).sum(),
        Value::Object(entries) => {
            let entries = entries.iter();
            entries
                .map(|(key, value)| key.len() + weight(value, depth + 1))
                .sum()
        }
        _ => 0,
    };
    parts.saturating_add(1)
}

fn too_large() -> TemplateError {
    unread_because("the values of a template are too large to evaluate")
}

fn unread_because(reason: impl Into<String>) -> TemplateError {
    TemplateError::Unread(reason.into())
}

/// Returns the error for a function that is not evaluated, or that Argo CD does not define either.
/// `path` is the path of keys in its result.
fn unread(function: &str, path: &[String]) -> TemplateError {
    if !defined::is_defined(function) {
        let keys: String = path.iter().map(|key| format!(".{key}")).collect();
        return failed(format!(
            "its template calls `{function}`, which is not a function (a parameter is written `{{{{ .{function}{keys} }}}}`)"
        ));
    }
    unread_because(format!("the function `{function}` is not evaluated"))
}

fn failed(reason: impl Into<String>) -> TemplateError {
    TemplateError::Failed(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, is_partly_unknown: bool) -> Result<String, TemplateError> {
        let known = serde_json::json!({
            "path": {"path": "apps/web", "basename": "web", "segments": ["apps", "web"]},
            "env": "prod", "list": ["a", "b"], "empty": "", "none": null, "on": true,
            "port": 8080, "big": 12345678, "ratio": 1.5, "mixed": ["a", 1, null, true],
            "labels": {"a-b": "c", "size": 2},
        });
        let Value::Object(known) = known else {
            unreachable!("it is written as an object")
        };
        let parameters = Parameters {
            known,
            are_partly_unknown: is_partly_unknown,
            ..Parameters::default()
        };
        replace(text, &parameters, true)
    }

    /// Compares with the results of text/template and the functions of Argo CD 3.5.1 (Go 1.26, sprig 3.3.0) for these
    /// parameters and `missingkey=error`: a template in one line, its result as JSON or `fails` in the next.
    #[test]
    fn templates_give_results_that_go_gives() {
        let lines: Vec<&str> = include_str!("gotemplate/recorded.txt").lines().collect();
        for case in lines.chunks(2) {
            let [text, recorded] = case else {
                panic!("a template has no result: {case:?}")
            };
            let found = match with(text, false) {
                Ok(text) => serde_json::to_string(&text).expect("a text is JSON"),
                Err(TemplateError::Failed(_) | TemplateError::Missing(_)) => "fails".to_owned(),
                Err(other) => format!("{other:?}"),
            };
            assert_eq!(found, *recorded, "{text}");
        }
    }

    #[test]
    fn unknown_values_stay_as_written_or_make_template_unread() {
        let written = "{{ .name | lower }}-{{.env}}";
        assert_eq!(with(written, true), Ok("{{ .name | lower }}-prod".into()));
        for text in [
            "{{if .name}}a{{end}}",
            "{{range .name}}a{{end}}",
            "{{ genCA .env }}",
            "{{ genCA .name }}",
        ] {
            let found = with(text, true);
            assert!(matches!(found, Err(TemplateError::Unread(_))), "{text}");
        }
    }

    #[test]
    fn unsupported_uses_are_unread_and_not_failures() {
        for text in [
            "{{ 'a' }}",
            "{{ 1i }}",
            "{{ printf \"%d\" .env }}",
            "{{ printf \"%x\" 1 }}",
            "{{ regexMatch \"[\" .env }}",
            "{{ regexMatch \"[a&&b]\" .env }}",
            "{{ trunc 1 \"é\" }}",
            "{{ \"\\xff\" }}",
            "{{range .list}}{{break}}{{end}}",
            "{{ semver .env }}",
        ] {
            let found = with(text, false);
            assert!(
                matches!(found, Err(TemplateError::Unread(_))),
                "{text}: {found:?}"
            );
        }
    }

    #[test]
    fn growing_values_are_bounded() {
        let doubled = format!("{{{{$x := list 1}}}}{}", "{{$x = list $x $x}}".repeat(40));
        let nested = format!("{{{{$x := list}}}}{}", "{{$x = list $x}}".repeat(100_000));
        let long = "{{ repeat 10000 (repeat 10000 \"a\") }}".to_owned();
        let rounds = "{{range until 9000}}{{range until 9000}}{{end}}{{end}}".to_owned();
        for text in [
            doubled,
            nested,
            long,
            rounds,
            "{{range 1000000000}}{{end}}".into(),
        ] {
            let found = with(&text, false);
            assert!(matches!(found, Err(TemplateError::Unread(_))), "{found:?}");
        }
    }
}
