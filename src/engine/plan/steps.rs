//! `--steps FILE`: a list of `{op, target, policy?, finalizer?}` in YAML or JSON.

use miette::Diagnostic;
use serde::Deserialize;
use thiserror::Error;

use crate::gc::{Policy, Step};
use crate::kube::{NotAKey, ObjectKey};
use crate::text::near;

const OPS: [&str; 5] = ["settle", "delete", "remove-finalizer", "remove-all-finalizers", "force-delete"];

/// Why a list of steps cannot be read.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
pub enum StepsError {
    /// No YAML, or no list of mappings.
    #[error("the steps cannot be read: {reason}")]
    #[diagnostic(help("steps are a list: `- {{op: delete, target: Deployment.apps/shop/web, policy: Foreground}}`"))]
    Unreadable {
        /// The parser's words.
        reason: String,
    },
    /// A word that is no operation.
    #[error("step {number}: there is no operation `{op}`")]
    Operation {
        /// Counted from 1.
        number: usize,
        /// The word.
        op: String,
        /// What may have been meant.
        #[help]
        help: String,
    },
    /// A word that is no policy.
    #[error("step {number}: there is no policy `{policy}`")]
    #[diagnostic(help("write `Background`, `Foreground` or `Orphan`, or leave it out to send none"))]
    Policy {
        /// Counted from 1.
        number: usize,
        /// The word.
        policy: String,
    },
    /// A field that the operation needs.
    #[error("step {number}: `{op}` needs `{field}`")]
    Missing {
        /// Counted from 1.
        number: usize,
        /// The operation.
        op: String,
        /// The field.
        field: &'static str,
    },
    /// A target that is no key.
    #[error("step {number}: {source}")]
    #[diagnostic(help("for example `Deployment.apps/shop/web`, `Service/shop/web`, `Namespace//shop`"))]
    Target {
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        source: NotAKey,
    },
}

/// One entry; other keys are ignored.
#[derive(Deserialize)]
struct Entry {
    op: Option<String>,
    target: Option<String>,
    policy: Option<String>,
    finalizer: Option<String>,
}

/// Reads a list of steps.
///
/// # Errors
/// What is not such a list; the first wrong step is named.
pub fn read_steps(text: &str) -> Result<Vec<Step>, StepsError> {
    // YAML reads JSON too, slower and with poorer messages.
    let entries: Vec<Entry> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(text).or_else(|_| from_yaml(text))?,
        false => from_yaml(text)?,
    };
    (1..).zip(entries).map(|(number, entry)| entry.step(number)).collect()
}

fn from_yaml(text: &str) -> Result<Vec<Entry>, StepsError> {
    serde_yaml::from_str(text).map_err(|error| StepsError::Unreadable { reason: error.to_string() })
}

impl Entry {
    fn step(self, number: usize) -> Result<Step, StepsError> {
        let Self { op, target, policy, finalizer } = self;
        let op = op.ok_or_else(|| missing(number, "a step", "op"))?;
        let target = || match &target {
            Some(text) => text.parse::<ObjectKey>().map_err(|source| StepsError::Target { number, source }),
            None => Err(missing(number, &op, "target")),
        };
        Ok(match op.as_str() {
            "settle" => Step::Settle,
            "delete" => Step::Delete { targets: vec![target()?], policy: read_policy(number, policy)? },
            "remove-finalizer" => {
                let target = target()?;
                Step::RemoveFinalizer { target, finalizer: finalizer.ok_or_else(|| missing(number, &op, "finalizer"))? }
            }
            "remove-all-finalizers" => Step::RemoveAllFinalizers { target: target()? },
            "force-delete" => Step::ForceDelete { target: target()? },
            _ => return Err(unknown_operation(number, op)),
        })
    }
}

fn missing(number: usize, op: &str, field: &'static str) -> StepsError {
    StepsError::Missing { number, op: op.to_owned(), field }
}

fn read_policy(number: usize, policy: Option<String>) -> Result<Option<Policy>, StepsError> {
    let Some(policy) = policy else { return Ok(None) };
    match policy.to_ascii_lowercase().as_str() {
        "background" => Ok(Some(Policy::Background)),
        "foreground" => Ok(Some(Policy::Foreground)),
        "orphan" => Ok(Some(Policy::Orphan)),
        _ => Err(StepsError::Policy { number, policy }),
    }
}

fn unknown_operation(number: usize, op: String) -> StepsError {
    let help = near::did_you_mean(&op, OPS, || format!("operations are: {}", OPS.join(", ")));
    StepsError::Operation { number, op, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_steps_is_read_from_yaml_and_json() {
        let yaml = "- op: settle\n- {op: delete, target: ConfigMap/a/b, policy: null, expect: {x: 1}}\n";
        let json = r#"[{"op":"settle"},{"op":"delete","target":"ConfigMap/a/b","policy":null,"expect":{"x":1}}]"#;
        let key: ObjectKey = "ConfigMap/a/b".parse().expect("a key");
        let steps = vec![Step::Settle, Step::Delete { targets: vec![key], policy: None }];
        assert_eq!(read_steps(yaml), Ok(steps.clone()));
        assert_eq!(read_steps(json), Ok(steps));
        assert_eq!(read_steps("[]"), Ok(Vec::new()));
    }

    #[test]
    fn a_wrong_step_is_named_by_its_number() {
        let error = |text: &str| read_steps(text).expect_err(text).to_string();
        assert_eq!(error("- op: settle\n- op: delte"), "step 2: there is no operation `delte`");
        assert_eq!(error("- op: delete"), "step 1: `delete` needs `target`");
        assert_eq!(
            error("- {op: delete, target: web}"),
            "step 1: `web` is not a key of the form Kind[.group]/namespace/name"
        );
        assert_eq!(error("- {op: delete, target: A/b/c, policy: Gentle}"), "step 1: there is no policy `Gentle`");
        assert_eq!(error("- {op: remove-finalizer, target: A/b/c}"), "step 1: `remove-finalizer` needs `finalizer`");
        assert!(error("op: delete").starts_with("the steps cannot be read: "));
    }
}
