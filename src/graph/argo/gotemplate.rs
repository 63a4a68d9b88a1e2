//! Go templates, as far as ApplicationSets use them: fields, pipelines, conditions, and common functions (Go
//! text/template; Masterminds/sprig; argo-cd applicationset/utils/template_functions.go).
//!
//! An action that needs a parameter which only the cluster knows stays as it is written. An unknown function is an
//! unread input, and so is a condition on an unknown value.

mod functions;
mod parse;

use serde_json::Value;

pub(super) use self::functions::normalized;
use self::parse::{Part, Pipeline, Term, parse};
use super::template::{Parameters, TemplateError};

/// Maximum number of iterations of all `range` actions of a text.
const MOST_ROUNDS: usize = 10_000;

/// Evaluates a template.
pub(super) fn replace(
    text: &str,
    parameters: &Parameters,
    missing_is_error: bool,
) -> Result<String, TemplateError> {
    if !text.contains("{{") {
        return Ok(text.to_owned());
    }
    let parts = parse(text)?;
    let mut run = Run {
        root: Value::Object(parameters.known.clone()),
        is_partly_unknown: parameters.are_partly_unknown,
        missing_is_error,
        variables: Vec::new(),
        rounds: 0,
        out: String::new(),
    };
    let root = run.root.clone();
    run.parts(&parts, &root)?;
    Ok(run.out)
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

struct Run {
    root: Value,
    is_partly_unknown: bool,
    missing_is_error: bool,
    variables: Vec<(String, Found)>,
    rounds: usize,
    out: String,
}

type Outcome<T> = Result<T, TemplateError>;

impl Run {
    fn parts(&mut self, parts: &[Part], dot: &Value) -> Outcome<()> {
        for part in parts {
            match part {
                Part::Text(text) => self.out.push_str(text),
                Part::Action { written, pipeline } => match self.pipeline(pipeline, dot)? {
                    _ if pipeline.assigns.is_some() => {}
                    Found::Known(value) => self.out.push_str(&functions::shown(&value)),
                    Found::Missing => self.out.push_str("<no value>"),
                    Found::Unknown => self.out.push_str(written),
                },
                Part::If {
                    condition,
                    then,
                    otherwise,
                    is_with,
                } => {
                    let scope = self.variables.len();
                    let value = match self.pipeline(condition, dot)? {
                        Found::Known(value) => value,
                        Found::Missing => Value::Null,
                        Found::Unknown => {
                            let reason = "a condition depends on what only the cluster knows";
                            return Err(TemplateError::Unread(reason.to_owned()));
                        }
                    };
                    match (functions::is_true(&value), is_with) {
                        (true, true) => self.parts(then, &value)?,
                        (true, false) => self.parts(then, dot)?,
                        (false, _) => self.parts(otherwise, dot)?,
                    }
                    self.variables.truncate(scope);
                }
                Part::Range { over, body } => self.range(over, body, dot)?,
            }
        }
        Ok(())
    }

    fn range(&mut self, over: &Pipeline, body: &[Part], dot: &Value) -> Outcome<()> {
        let Found::Known(list) = self.pipeline(over, dot)? else {
            let reason = "a list is gone through that only the cluster knows";
            return Err(TemplateError::Unread(reason.to_owned()));
        };
        let items: Vec<Value> = match list {
            Value::Array(items) => items,
            Value::Object(entries) => entries.into_iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        for item in items {
            self.rounds += 1;
            if self.rounds > MOST_ROUNDS {
                let reason = "a template goes through more lists than are followed";
                return Err(TemplateError::Unread(reason.to_owned()));
            }
            let scope = self.variables.len();
            if let Some(name) = &over.assigns {
                self.variables
                    .push((name.clone(), Found::Known(item.clone())));
            }
            self.parts(body, &item)?;
            self.variables.truncate(scope);
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, dot: &Value) -> Outcome<Found> {
        let mut last: Option<Found> = None;
        for command in &pipeline.commands {
            last = Some(self.command(command, last.take(), dot)?);
        }
        let found = last.unwrap_or(Found::Missing);
        if let Some(name) = &pipeline.assigns {
            self.variables.push((name.clone(), found.clone()));
        }
        Ok(found)
    }

    /// Evaluates a command: a value, or a function with its arguments, of which `piped` is the last.
    fn command(&mut self, terms: &[Term], piped: Option<Found>, dot: &Value) -> Outcome<Found> {
        let (Some(Term::Function(name)), arguments) = (terms.first(), terms.get(1..)) else {
            let [term] = terms else {
                let reason = "a value stands where a function is expected".to_owned();
                return Err(TemplateError::Failed(reason));
            };
            return self.term(term, dot);
        };
        let mut values = Vec::new();
        for term in arguments.unwrap_or_default() {
            values.push(self.term(term, dot)?);
        }
        values.extend(piped);
        if values.contains(&Found::Unknown) {
            return if functions::is_known(name) {
                Ok(Found::Unknown)
            } else {
                Err(unread(name))
            };
        }
        let values = values.into_iter().map(|value| match value {
            Found::Known(value) => value,
            Found::Missing | Found::Unknown => Value::Null,
        });
        let values: Vec<Value> = values.collect();
        Ok(Found::Known(functions::call(name, &values)?))
    }

    fn term(&mut self, term: &Term, dot: &Value) -> Outcome<Found> {
        match term {
            Term::Literal(value) => Ok(Found::Known(value.clone())),
            Term::Field(path) => self.field(Some(dot), path),
            Term::Root(path) => self.field(None, path),
            Term::Variable(name, path) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                match found.map(|(_, value)| value.clone()) {
                    Some(Found::Known(value)) => self.field(Some(&value), path),
                    Some(other) => Ok(other),
                    None => Err(TemplateError::Failed(format!("nothing defines ${name}"))),
                }
            }
            Term::Function(name) => self.command(&[Term::Function(name.clone())], None, dot),
            Term::Nested(pipeline, path) => match self.pipeline(pipeline, dot)? {
                Found::Known(value) => self.field(Some(&value), path),
                other => Ok(other),
            },
        }
    }

    /// Returns the value at `path` below `from`, or below the parameters if that is `None`.
    fn field(&self, from: Option<&Value>, path: &[String]) -> Outcome<Found> {
        let is_root = from.is_none_or(|from| *from == self.root);
        let mut value = from.unwrap_or(&self.root);
        for (at, key) in path.iter().enumerate() {
            match value.get(key) {
                Some(next) => value = next,
                // Known mappings are complete, except the parameters themselves.
                None if is_root && self.is_partly_unknown && at == 0 && key != "values" => {
                    return Ok(Found::Unknown);
                }
                None if value.is_null() || !value.is_object() => {
                    let reason = format!("`.{}` is not there", path.join("."));
                    return Err(TemplateError::Failed(reason));
                }
                None if self.missing_is_error => {
                    let reason = format!("`.{}` is not there", path.join("."));
                    return Err(TemplateError::Failed(reason));
                }
                None => return Ok(Found::Missing),
            }
        }
        Ok(Found::Known(value.clone()))
    }
}

fn unread(function: &str) -> TemplateError {
    TemplateError::Unread(format!("the function `{function}` is not evaluated"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, is_partly_unknown: bool) -> Result<String, TemplateError> {
        let known = serde_json::json!({
            "path": {"path": "apps/web", "basename": "web", "segments": ["apps", "web"]},
            "env": "prod", "list": ["a", "b"], "empty": "", "labels": {"a-b": "c"},
        });
        let Value::Object(known) = known else {
            unreachable!("it is written as an object")
        };
        let parameters = Parameters {
            known,
            are_partly_unknown: is_partly_unknown,
            cluster: None,
        };
        replace(text, &parameters, true)
    }

    #[test]
    fn supported_template_syntax_is_evaluated() {
        for (text, expected) in [
            ("{{.path.basename}}-{{ .env }}", "web-prod"),
            ("{{index .path.segments 0}}", "apps"),
            ("{{ index .labels \"a-b\" }}", "c"),
            ("{{ .path.basename | upper | replace \"W\" \"V\" }}", "VEB"),
            ("{{ default \"x\" .empty }}", "x"),
            ("{{ .empty | default \"y\" }}", "y"),
            ("{{if eq .env \"prod\"}}p{{else}}d{{end}}", "p"),
            (
                "{{if and .env (ne .env \"prod\")}}p{{else if .env}}e{{end}}",
                "e",
            ),
            ("a {{- if .empty -}} b {{- end }}c", "ac"),
            ("{{range .list}}<{{.}}>{{end}}", "<a><b>"),
            ("{{ $e := .env }}{{ $e }}{{ $.path.path }}", "prodapps/web"),
            ("{{ printf \"%s-%s\" .env .path.basename }}", "prod-web"),
            ("{{/* nothing */}}{{ `x` }}{{ 1 }}", "x1"),
            ("{{ trimPrefix \"w\" .path.basename }}", "eb"),
            ("{{with .path}}{{.basename}}{{end}}", "web"),
            ("{{ (index .list 1) }}{{ join \",\" .list }}", "ba,b"),
            ("{{ .path.path | splitList \"/\" | last }}", "web"),
            ("{{ ternary \"a\" \"b\" (hasPrefix \"p\" .env) }}", "a"),
            ("{{ dig \"path\" \"x\" \"none\" . }}", "none"),
        ] {
            assert_eq!(with(text, false), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn unknown_values_stay_as_written_or_make_template_unread() {
        let written = "{{ .name | lower }}-{{.env}}";
        assert_eq!(with(written, true), Ok("{{ .name | lower }}-prod".into()));
        for text in [
            "{{if .name}}a{{end}}",
            "{{ genCA .env }}",
            "{{ genCA .name }}",
        ] {
            let found = with(text, true);
            assert!(matches!(found, Err(TemplateError::Unread(_))), "{text}");
        }
    }

    #[test]
    fn missing_fields_and_malformed_templates_fail() {
        for text in [
            "{{ .none }}",
            "{{ .env.none }}",
            "{{ if }}",
            "{{ .env",
            "{{end}}",
            "{{ $x }}",
        ] {
            let found = with(text, false);
            assert!(
                matches!(found, Err(TemplateError::Failed(_))),
                "{text}: {found:?}"
            );
        }
    }
}
