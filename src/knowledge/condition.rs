//! A condition on the fields of an object: `{field: spec.deletionPolicy, is: [Orphan]}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::{FieldPath, FieldValue};
use crate::yaml::Value;

/// A condition on a field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "ConditionForm", into = "ConditionForm")]
pub struct Condition {
    /// The field.
    pub field: FieldPath,
    /// The comparison.
    pub test: Test,
    /// The value that applies if the field is left out.
    pub default: Option<String>,
}

/// A comparison with the value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// It is one of these.
    Is(Vec<String>),
    /// It is set, and none of these.
    IsNot(Vec<String>),
    /// It is set, or it is not.
    Set(bool),
}

/// The result of a condition for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it holds.
    pub holds: bool,
    /// The value that decides, if one is written.
    pub written: Option<FieldValue>,
}

impl Condition {
    /// Creates the condition that a field has one of some values.
    pub fn is(field: FieldPath, values: Vec<String>) -> Self {
        Self {
            field,
            test: Test::Is(values),
            default: None,
        }
    }

    /// Checks an object. `None` if the field is left out and has no default; never for [`Test::Set`].
    pub fn of(&self, object: Value<'_>) -> Option<Answer> {
        let mut written = self.field.values(object).into_iter().peekable();
        let (values, wanted) = match &self.test {
            Test::Is(values) => (values, true),
            Test::IsNot(values) => (values, false),
            Test::Set(wanted) => {
                let nodes = self.field.nodes(object);
                let is_set = nodes.iter().any(|value| !value.is_null());
                return Some(Answer {
                    holds: is_set == *wanted,
                    written: written.next(),
                });
            }
        };
        let Some(first) = written.peek().cloned() else {
            let default = self.default.as_ref()?;
            return Some(Answer {
                holds: values.contains(default) == wanted,
                written: None,
            });
        };
        let listed = written.find(|value| values.contains(&value.text));
        Some(Answer {
            holds: listed.is_some() == wanted,
            written: listed.or(Some(first)),
        })
    }

    /// Whether it certainly holds for an object.
    pub fn holds(&self, object: Value<'_>) -> bool {
        self.of(object).is_some_and(|answer| answer.holds)
    }

    /// Returns the values that it names.
    pub fn values(&self) -> &[String] {
        match &self.test {
            Test::Is(values) | Test::IsNot(values) => values,
            Test::Set(_) => &[],
        }
    }

    /// Describes it as the end of a sentence: `` `spec.deletionPolicy` is Orphan ``.
    pub fn in_words(&self) -> String {
        let field = &self.field;
        let default = self
            .default
            .as_ref()
            .map_or(String::new(), |default| format!(" (left out: {default})"));
        match &self.test {
            Test::Is(values) => format!("`{field}` is {}{default}", values.join(" or ")),
            Test::IsNot(values) => {
                format!(
                    "`{field}` is set, and not to {}{default}",
                    values.join(" or ")
                )
            }
            Test::Set(true) => format!("`{field}` is set"),
            Test::Set(false) => format!("`{field}` is not set"),
        }
    }
}

/// A condition as it is written.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "condition")]
#[schemars(extend("oneOf" = [{ "required": ["is"] }, { "required": ["is-not"] }, { "required": ["set"] }]))]
pub(super) struct ConditionForm {
    /// A field of the object, such as spec.deletionPolicy or metadata.annotations["a.b/c"].
    field: FieldPath,
    /// The field has one of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is: Option<Vec<Word>>,
    /// The field has a value, and none of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_not: Option<Vec<Word>>,
    /// true: the field is set. false: it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<bool>,
    /// The value that applies if the field is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<Word>,
}

/// A string, a number or a boolean.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Word {
    Flag(bool),
    Number(i64),
    Text(String),
}

impl Word {
    fn into_text(self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

fn texts(words: Vec<Word>) -> Vec<String> {
    words.into_iter().map(Word::into_text).collect()
}

impl TryFrom<ConditionForm> for Condition {
    type Error = &'static str;

    fn try_from(form: ConditionForm) -> Result<Self, Self::Error> {
        let test = match (form.is, form.is_not, form.set) {
            (Some(words), None, None) => Test::Is(texts(words)),
            (None, Some(words), None) => Test::IsNot(texts(words)),
            (None, None, Some(set)) => Test::Set(set),
            _ => return Err("expects one of `is`, `is-not` and `set`"),
        };
        Ok(Self {
            field: form.field,
            test,
            default: form.default.map(Word::into_text),
        })
    }
}

impl From<Condition> for ConditionForm {
    fn from(condition: Condition) -> Self {
        let (mut is, mut is_not, mut set) = (None, None, None);
        match condition.test {
            Test::Is(values) => is = Some(values.into_iter().map(Word::Text).collect()),
            Test::IsNot(values) => is_not = Some(values.into_iter().map(Word::Text).collect()),
            Test::Set(wanted) => set = Some(wanted),
        }
        Self {
            field: condition.field,
            is,
            is_not,
            set,
            default: condition.default.map(Word::Text),
        }
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        ConditionForm::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        ConditionForm::json_schema(generator)
    }
}
