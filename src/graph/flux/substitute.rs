//! Variables in the objects of Flux: `${A}`, with the functions of bash that Flux knows (fluxcd/pkg envsubst,
//! kustomize/kustomize_varsub.go).

use std::collections::{BTreeMap, BTreeSet};

use super::bash;
use super::envsubst::{Expression, Part, parse};
use crate::graph::kustomize::Budget;
use crate::graph::node::Node;

/// The variables of a Kustomization.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    pub(super) known: BTreeMap<String, String>,
    /// Whether there are others of unknown names.
    pub(super) are_partly_unknown: bool,
    /// The known variables that may have another value in the cluster.
    pub(super) doubtful: BTreeSet<String>,
}

/// A text after its variables were replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Substituted {
    /// The text, in which variables that only the cluster knows stay as they are written.
    pub(super) text: String,
    /// The variables that only the cluster knows.
    pub(super) unknown: Vec<String>,
}

impl Substituted {
    fn known(text: String) -> Self {
        Self {
            text,
            unknown: Vec::new(),
        }
    }

    fn add(&mut self, other: Self) {
        self.text.push_str(&other.text);
        self.unknown.extend(other.unknown);
    }
}

impl Variables {
    /// Whether there are no variables, so that Flux replaces nothing.
    pub(super) fn are_none(&self) -> bool {
        self.known.is_empty() && !self.are_partly_unknown
    }

    /// Whether a text contains a variable that may have another value in the cluster.
    pub(super) fn is_doubtful(&self, text: &str) -> bool {
        names_in(text).any(|name| self.doubtful.contains(name))
    }

    /// Replaces the variables of a text. Fails for an undefined variable without a default, for an invalid expression,
    /// and for values that exceed the budget.
    fn substitute(&self, text: &str, budget: &Budget) -> Result<Substituted, String> {
        let mut all = Substituted::default();
        for part in parse(text)? {
            all.add(self.part(&part, budget)?);
        }
        Ok(all)
    }

    /// Returns the text of a part. A variable that only the cluster knows stays as it is written.
    fn part(&self, part: &Part, budget: &Budget) -> Result<Substituted, String> {
        let expression = match part {
            Part::Text(text) => return Ok(Substituted::known(text.clone())),
            Part::Variable(expression) => expression,
        };
        let value = self.value(expression, budget)?;
        Ok(value.unwrap_or_else(|| Substituted {
            text: expression.written.clone(),
            unknown: vec![expression.name.clone()],
        }))
    }

    /// Returns the value of a variable; `None` if only the cluster knows it, or the version of Flux decides. As in Flux,
    /// defaults are evaluated even where they are not needed (fluxcd/pkg envsubst/template.go, `evalFunc`).
    fn value(
        &self,
        expression: &Expression,
        budget: &Budget,
    ) -> Result<Option<Substituted>, String> {
        let Expression { name, function, .. } = expression;
        let arguments = expression.arguments.iter();
        let arguments: Vec<Substituted> = arguments
            .map(|argument| self.part(argument, budget))
            .collect::<Result<_, _>>()?;
        let known = self.known.get(name);
        let has_default = [":=", ":-", "=", ":+", ":?"].contains(&function.as_str());
        if known.is_none() && self.are_partly_unknown {
            return Ok(None);
        }
        if known.is_none() && !has_default {
            return Err(format!(
                "nothing defines the variable `{name}`, which Flux 2.9 and later need (earlier versions leave it empty)"
            ));
        }
        let value = known.map_or("", String::as_str);
        budget.take_text(value.len())?;
        if has_default && value.is_empty() {
            let mut default = Substituted::default();
            for argument in arguments {
                default.add(argument);
            }
            return Ok(Some(default));
        }
        if has_default {
            return Ok(Some(Substituted::known(value.to_owned())));
        }
        if arguments
            .iter()
            .any(|argument| !argument.unknown.is_empty())
        {
            return Ok(None);
        }
        let texts: Vec<&str> = arguments.iter().map(|one| one.text.as_str()).collect();
        budget.take_text(bash::cost(value, function, &texts))?;
        Ok(bash::apply(value, function, &texts).map(Substituted::known))
    }
}

/// Returns the names of the variables in a text, nested ones too.
pub fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).map(name_in)
}

/// Returns the name at the beginning of the expression in `${…}`, or after the `#` of its length.
fn name_in(inner: &str) -> &str {
    let inner = inner.strip_prefix('#').unwrap_or(inner);
    let end = inner
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(inner.len());
    &inner[..end]
}

/// Replaces the variables in every text of a value. Returns the variables that only the cluster knows. Fails as
/// [`Variables::substitute`] does, and if the budget is spent.
pub(super) fn substitute_in(
    node: &mut Node,
    variables: &Variables,
    budget: &Budget,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    let changed = node.with_texts(&mut |text: &str| -> Result<_, String> {
        if !text.contains('$') {
            return Ok(None);
        }
        let substituted = variables.substitute(text, budget)?;
        unknown.extend(substituted.unknown);
        if substituted.text == text {
            return Ok(None);
        }
        budget.take_text(text.len())?;
        Ok(Some(substituted.text))
    })?;
    if let Some(changed) = changed {
        *node = changed;
    }
    unknown.sort();
    unknown.dedup();
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Limits;

    /// Expressions and their values with github.com/fluxcd/pkg/envsubst 1.4.0 and 1.9.0, which agree on them.
    const RECORDED: [(&str, &str); 92] = [
        ("${APP}-x", "atuin-x"),
        ("$${APP}", "${APP}"),
        ("$$${APP}", "$atuin"),
        ("$$$${APP}", "$${APP}"),
        ("$APP", "$APP"),
        ("$", "$"),
        ("a$", "a$"),
        ("$$", "$"),
        ("${NONE:=x}", "x"),
        ("${NONE=x}", "x"),
        ("${NONE:-${APP}}", "atuin"),
        ("${NONE:-a${APP}b${APP:1:2}c}", "aatuinbtuc"),
        ("${NONE:?gone}", "gone"),
        ("${NONE:+x}", "x"),
        ("${EMPTY:-y}", "y"),
        ("${EMPTY=y}", "y"),
        ("${EMPTY:+y}", "y"),
        ("${APP:=y}", "atuin"),
        ("${APP:+y}", "atuin"),
        ("${APP:-${NONE:-z}}", "atuin"),
        ("${NONE:-}", ""),
        ("${NONE:=}", ""),
        ("${NONE:-$}", "$"),
        ("${NONE:-$x}", "$x"),
        ("${NONE:-a/b}", "a/b"),
        ("${NONE:-a\\/b}", "a\\/b"),
        ("${NONE:-{a}}", "{a}"),
        ("${APP^^}", "ATUIN"),
        ("${APP^}", "Atuin"),
        ("${APP,}", "atuin"),
        ("${APP,,}", "atuin"),
        ("${APP,^}", "atuin"),
        ("${UP,,}", "àb"),
        ("${UP,}", "àB"),
        ("${U^^}", "É-Ñ"),
        ("${U^}", "É-ñ"),
        ("${APP:1:3}", "tui"),
        ("${APP:1}", "tuin"),
        ("${APP:0}", "atuin"),
        ("${APP:9}", ""),
        ("${APP:5}", ""),
        ("${APP:-2}", "atuin"),
        ("${APP: -2}", "atuin"),
        ("${APP:1:9}", "tuin"),
        ("${APP:1:0}", ""),
        ("${APP:x}", "atuin"),
        ("${APP:1:x}", "atuin"),
        ("${APP:+1}", "atuin"),
        ("${APP:1:+2}", "tu"),
        ("${APP:1::2}", "tu"),
        ("${APP:1:2:3}", "atuin"),
        ("${APP:${N}:1}", ""),
        ("${U:0:2}", "é"),
        ("${U:2}", "-ñ"),
        ("${APP/t/d}", "aduin"),
        ("${APP/t/}", "auin"),
        ("${APP//t/}", "auin"),
        ("${APP/x/y}", "atuin"),
        ("${PATHS//\\//-}", "a-b-c"),
        ("${PATHS/\\//-}", "a-b/c"),
        ("${PATHS//\\//}", "abc"),
        ("${PATHS//b/x\\/y}", "a/x/y/c"),
        ("${PATHS/#a/x}", "x/b/c"),
        ("${PATHS/#b/x}", "a/b/c"),
        ("${PATHS/#a/}", "a/b/c"),
        ("${PATHS/%c/x}", "a/b/x"),
        ("${PATHS/%c/}", "a/b/c"),
        ("${PATHS/%a/x}", "a/b/c"),
        ("${PATHS//a/b/c}", "b/c/b/c"),
        ("${PATHS/b//x}", "a/x/c"),
        ("${BS//\\\\/-}", "a-b"),
        ("${APP/t/${N}}", "a12uin"),
        ("${APP/${NONE:-t}/d}", "aduin"),
        ("${APP/a/$$}", "$tuin"),
        ("${APP//u/{}", "at{in"),
        ("${PATHS#*/}", "b/c"),
        ("${PATHS##*/}", "c"),
        ("${PATHS%/*}", "a/b"),
        ("${PATHS%%/*}", "a"),
        ("${PATHS###}", "a/b/c"),
        ("${PATHS%%%}", "a/b/c"),
        ("${PATHS#a/}", "b/c"),
        ("${PATHS#${NONE:-a/}}", "b/c"),
        ("${#APP}", "5"),
        ("${#U}", "5"),
        ("${#EMPTY}", "0"),
        ("x${APP}y${N}z", "xatuiny12z"),
        ("{${APP}}", "{atuin}"),
        ("${APP}}", "atuin}"),
        ("\\${APP}", "\\atuin"),
        ("a\\/b", "a\\/b"),
        ("${APP:=a}b}", "atuinb}"),
    ];

    /// Expressions that envsubst 1.9.0 rejects if undefined variables are errors.
    const REJECTED: [&str; 31] = [
        "${APP:-${NONE}}",
        "${APP-}",
        "${APP-x}",
        "${APP+x}",
        "${APP?x}",
        "${NONE:-$${x}}",
        "${APP^^^}",
        "${APP^x}",
        "${APP:}",
        "${APP:1:}",
        "${APP/t}",
        "${APP//}",
        "${APP///}",
        "${PATHS#}",
        "${PATHS##}",
        "${PATHS%}",
        "${#NONE}",
        "${#}",
        "${#APP#}",
        "${##APP}",
        "${NONE}",
        "${NONE^^}",
        "${}",
        "${ APP}",
        "${APP }",
        "${A.B}",
        "${APP",
        "${APP:-x",
        "${APP:1",
        "${1}",
        "${é}",
    ];

    /// Expressions whose value is not valid UTF-8, or at which envsubst 1.4.0 panics.
    const UNKNOWN: [&str; 5] = [
        "${APP:1:-1}",
        "${APP:4:-3}",
        "${APP:1:-9}",
        "${U:0:1}",
        "${U:1}",
    ];

    fn variables() -> Variables {
        let known = [
            ("APP", "atuin"),
            ("EMPTY", ""),
            ("PATHS", "a/b/c"),
            ("U", "é-ñ"),
            ("N", "12"),
            ("BS", "a\\b"),
            ("UP", "ÀB"),
        ];
        Variables {
            known: known
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            ..Variables::default()
        }
    }

    fn substituted(variables: &Variables, text: &str) -> Result<Substituted, String> {
        variables.substitute(text, &Budget::new(&Limits::default()))
    }

    #[test]
    fn expressions_have_the_values_of_envsubst() {
        for (written, expected) in RECORDED {
            let found = substituted(&variables(), written);
            let expected = Substituted::known(expected.to_owned());
            assert_eq!(found, Ok(expected), "{written}");
        }
        for written in REJECTED {
            assert!(substituted(&variables(), written).is_err(), "{written}");
        }
        for written in UNKNOWN {
            let found = substituted(&variables(), written).expect("no error");
            assert_eq!(found.text, written);
            assert_eq!(found.unknown.len(), 1, "{written}");
        }
    }

    #[test]
    fn characters_with_several_capitals_are_unknown() {
        let known = [("S".to_owned(), "straße".to_owned())];
        let variables = Variables {
            known: known.into(),
            ..Variables::default()
        };
        let found = substituted(&variables, "${S^^}").expect("no error");
        assert_eq!(found.text, "${S^^}");
    }

    #[test]
    fn names_are_found_in_all_expressions() {
        let names: Vec<&str> = names_in("a-${A}${#B}-${C:-${D}}$E").collect();
        assert_eq!(names, ["A", "B", "C", "D"]);
    }

    #[test]
    fn doubtful_variables_are_found_in_all_expressions() {
        let variables = Variables {
            doubtful: ["APP".to_owned()].into(),
            ..variables()
        };
        for text in ["${APP}", "${#APP}", "x${APP:1}", "${NONE:-${APP}}"] {
            assert!(variables.is_doubtful(text), "{text}");
        }
        assert!(!variables.is_doubtful("$APP ${N} ${APPS}"));
    }

    #[test]
    fn undefined_variable_is_error_unless_variables_are_partly_unknown() {
        assert!(substituted(&variables(), "${NONE}").is_err());
        let unknown = Variables {
            are_partly_unknown: true,
            ..variables()
        };
        let found = substituted(&unknown, "${NONE}.${APP}").expect("it may be known");
        assert_eq!(found.text, "${NONE}.atuin");
        assert_eq!(found.unknown, ["NONE"]);
    }
}
