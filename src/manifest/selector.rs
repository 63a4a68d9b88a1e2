//! Label selectors: `metav1.LabelSelector`, and the plain maps of Services.

use crate::yaml::Value;

/// Requirements on labels, all of which must hold. Without requirements, everything is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    /// In written order; those of `matchLabels` first.
    pub requirements: Vec<Requirement>,
}

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label.
    pub key: String,
    /// The comparison.
    pub operator: SelectorOperator,
}

/// `operator` and `values` of a requirement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectorOperator {
    /// The label has one of these values.
    In(Vec<String>),
    /// The label has none of these values, or does not exist.
    NotIn(Vec<String>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// An operator that Kubernetes does not have: the API server rejects the selector.
    Unknown,
}

impl LabelSelector {
    /// Reads `matchLabels` and `matchExpressions`; an absent selector selects everything.
    pub fn read(selector: Option<Value<'_>>) -> Self {
        let Some(selector) = selector else {
            return Self::default();
        };
        let mut read = Self::of_map(selector.get("matchLabels"));
        let expressions = selector.items_at("matchExpressions");
        read.requirements
            .extend(expressions.filter_map(requirement));
        read
    }

    /// Reads a map of labels and their required values.
    pub fn of_map(map: Option<Value<'_>>) -> Self {
        let entries = map.into_iter().flat_map(Value::entries);
        let requirements = entries.map(|entry| Requirement {
            key: entry.key.to_owned(),
            operator: match entry.value.as_str() {
                Some(value) => SelectorOperator::In(vec![value.to_owned()]),
                None => SelectorOperator::Unknown,
            },
        });
        Self {
            requirements: requirements.collect(),
        }
    }

    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether labels are selected. `label` returns the value of a label.
    pub fn selects<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(label(&requirement.key)))
    }
}

impl Requirement {
    /// Whether it holds for the value of its label, which is `None` if the label does not exist.
    pub fn holds(&self, value: Option<&str>) -> bool {
        match &self.operator {
            SelectorOperator::In(values) => {
                value.is_some_and(|value| values.iter().any(|one| one == value))
            }
            SelectorOperator::NotIn(values) => {
                value.is_none_or(|value| values.iter().all(|one| one != value))
            }
            SelectorOperator::Exists => value.is_some(),
            SelectorOperator::DoesNotExist => value.is_none(),
            SelectorOperator::Unknown => false,
        }
    }
}

fn requirement(expression: Value<'_>) -> Option<Requirement> {
    let operator = match expression.str_at(&["operator"]) {
        Some("In") => SelectorOperator::In(expression.texts_at("values")),
        Some("NotIn") => SelectorOperator::NotIn(expression.texts_at("values")),
        Some("Exists") => SelectorOperator::Exists,
        Some("DoesNotExist") => SelectorOperator::DoesNotExist,
        _ => SelectorOperator::Unknown,
    };
    Some(Requirement {
        key: expression.str_at(&["key"])?.to_owned(),
        operator,
    })
}
