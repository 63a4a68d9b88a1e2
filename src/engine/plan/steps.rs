//! `--steps FILE`: a list of `{op, target, policy?, finalizer?}` in YAML or JSON.

use miette::Diagnostic;

use super::targets::Targets;
use crate::config::{Mistake, Values, tree_of};
use crate::gc::Step;
use crate::kube::{ObjectKey, Policy, Wait};
use crate::text::{SourceFile, Span};
use crate::yaml::{Entry, Value};

const EXAMPLE: &str =
    "steps are a list: `- {op: delete, target: deployment/web -n shop, policy: Foreground}`";

const OPERATIONS: [(&str, Operation); 5] = [
    ("settle", Operation::Settle),
    ("delete", Operation::Delete),
    ("remove-finalizer", Operation::RemoveFinalizer),
    ("remove-all-finalizers", Operation::RemoveAllFinalizers),
    ("force-delete", Operation::ForceDelete),
];

/// The policies that a request may send; `none` sends no policy, as raw API clients do.
pub const POLICIES: [(&str, Option<Policy>); 4] = [
    ("background", Some(Policy::Background)),
    ("foreground", Some(Policy::Foreground)),
    ("orphan", Some(Policy::Orphan)),
    ("none", None),
];

/// A list of steps as it is written. Its targets are resolved once there is an input.
#[derive(Clone, Debug)]
pub struct Steps {
    file: SourceFile,
    steps: Vec<WrittenStep>,
}

#[derive(Clone, Debug)]
struct WrittenStep {
    operation: Operation,
    target: Option<StepTarget>,
    policy: Option<Policy>,
    finalizer: Option<String>,
}

#[derive(Clone, Debug)]
struct StepTarget {
    text: String,
    span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Settle,
    Delete,
    RemoveFinalizer,
    RemoveAllFinalizers,
    ForceDelete,
}

impl Steps {
    /// Reads a list of steps.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn read(file: SourceFile) -> Result<Self, Mistake> {
        let values = Values { file: &file };
        let tree = tree_of(&file)?;
        let list = tree
            .as_ref()
            .map(|tree| tree.root())
            .filter(|root| root.is_seq());
        let list = list.ok_or_else(|| {
            values
                .mistake(Span::empty(0), "is not a list of steps")
                .help(EXAMPLE)
        })?;
        let steps = list
            .items()
            .map(|item| step(values, item))
            .collect::<Result<_, _>>()?;
        Ok(Self { file, steps })
    }

    /// Resolves the targets of the steps among `targets`. A full key need not be there: the API
    /// server then answers 404. `namespace` is for targets without one.
    pub(super) fn resolve(
        &self,
        targets: &Targets,
        namespace: Option<&str>,
    ) -> Result<Vec<Step>, Mistake> {
        self.steps
            .iter()
            .map(|written| {
                let target = written
                    .target
                    .as_ref()
                    .map(|target| self.key(target, targets, namespace))
                    .transpose()?;
                Ok(written.on(target))
            })
            .collect()
    }

    /// Whether any target of the steps is among `targets`.
    pub(super) fn any_in(&self, targets: &Targets, namespace: Option<&str>) -> bool {
        let mut asked = self.steps.iter().filter_map(|step| step.target.as_ref());
        asked.any(|target| targets.resolve_line(&target.text, namespace).is_ok())
    }

    fn key(
        &self,
        target: &StepTarget,
        targets: &Targets,
        namespace: Option<&str>,
    ) -> Result<ObjectKey, Mistake> {
        let error = match targets.resolve_line(&target.text, namespace) {
            Ok(key) => return Ok(key),
            Err(error) => error,
        };
        // A key has a capitalised kind; `deploy/shop/wbe` is more likely a typing error.
        if let Ok(key) = target.text.parse::<ObjectKey>()
            && key.kind().starts_with(char::is_uppercase)
        {
            return Ok(key);
        }
        let mistake = Mistake::at(
            &self.file,
            target.span,
            format!("asks for an object that does not exist: {error}"),
        );
        let help = error.help().map(|help| help.to_string());
        Err(mistake
            .label("no such object")
            .help(help.unwrap_or_default()))
    }
}

impl WrittenStep {
    /// Returns the step on `target`, which every operation but `settle` has.
    fn on(&self, target: Option<ObjectKey>) -> Step {
        let Some(target) = target else {
            return Step::Settle;
        };
        match self.operation {
            Operation::Settle => Step::Settle,
            Operation::Delete => Step::delete(vec![target], self.policy),
            Operation::RemoveFinalizer => {
                let finalizer = self.finalizer.clone().unwrap_or_default();
                Step::RemoveFinalizer {
                    targets: vec![target],
                    finalizer,
                    wait: Wait::Settled,
                }
            }
            Operation::RemoveAllFinalizers => Step::RemoveAllFinalizers { target },
            Operation::ForceDelete => Step::ForceDelete { target },
        }
    }
}

/// Reads one step; unknown keys are ignored.
fn step(values: Values<'_>, value: Value<'_>) -> Result<WrittenStep, Mistake> {
    values
        .mapping(value, "a step")
        .map_err(|mistake| mistake.help(EXAMPLE))?;
    let operation = needed(values, value, "a step", "op")?;
    let name = values.written(operation.value);
    let operation = values.word(operation, &OPERATIONS)?;
    let target = if operation == Operation::Settle {
        None
    } else {
        let entry = needed(values, value, &format!("`{name}`"), "target")?;
        Some(StepTarget {
            text: values.string(entry)?.trim().to_owned(),
            span: entry.value.span(),
        })
    };
    let finalizer = match operation {
        Operation::RemoveFinalizer => Some(
            values
                .string(needed(values, value, &format!("`{name}`"), "finalizer")?)?
                .to_owned(),
        ),
        _ => None,
    };
    Ok(WrittenStep {
        operation,
        target,
        policy: policy(values, value)?,
        finalizer,
    })
}

/// Reads the policy of a step. If the key is absent, it is Background, as kubectl sends it; `null` and `none` send no
/// policy, as raw API clients do.
fn policy(values: Values<'_>, step: Value<'_>) -> Result<Option<Policy>, Mistake> {
    let Some(entry) = step.entry("policy") else {
        return Ok(Some(Policy::Background));
    };
    if entry.value.is_null() {
        return Ok(None);
    }
    let written = values.written(entry.value).to_ascii_lowercase();
    match POLICIES.iter().find(|(word, _)| *word == written) {
        Some((_, policy)) => Ok(*policy),
        // Fails, and suggests the nearest word.
        None => values.word(entry, &POLICIES),
    }
}

fn needed<'a>(
    values: Values<'a>,
    step: Value<'a>,
    what: &str,
    field: &str,
) -> Result<Entry<'a>, Mistake> {
    step.entry(field)
        .filter(|entry| !entry.value.is_null())
        .ok_or_else(|| {
            let start = step
                .entries()
                .next()
                .map_or(Span::empty(step.span().start), |entry| entry.key_span);
            values
                .mistake(start, format!("has {what} without `{field}`"))
                .label(format!("no `{field}`"))
                .help(EXAMPLE)
        })
}
