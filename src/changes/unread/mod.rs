//! Inputs that decide which objects are applied and that are not evaluated: charts, remote sources, variables,
//! generators and everything else that the manifests of the tree do not show. Inputs that a change touches are
//! reported, so that a missing finding is not mistaken for safety.
//!
//! * `input`: one input of one state, and its comparison; `report`: the inputs that differ
//! * `state`: the files of one state; `holder`: the objects in them
//! * `data`: the ConfigMaps and Secrets that charts read; `canonical`: values as comparable text
//! * `charts`, `texts`, `kustomizations`, `patches`, `flux`, `helm`, `argocd`: inputs by kind of file

mod argocd;
mod canonical;
mod charts;
mod data;
mod flux;
mod helm;
mod holder;
mod input;
mod kustomizations;
mod patches;
mod report;
mod state;
mod texts;

pub use data::{Home, WrittenAs};
pub use helm::written_release;
pub use report::{GoneInputs, Unread, UnreadChanges, UnreadSide, UnreadWhat};
pub use state::{Builds, OtherFile, SourceState, written_key};
pub use texts::{is_helmfile, is_jinja};

use std::collections::BTreeSet;

use input::{Finder, StateInputs};

/// Compares the unevaluated inputs of two states.
pub fn unread(base: &SourceState<'_>, head: &SourceState<'_>) -> UnreadChanges {
    // A variable that only one state uses in a name is an input of both.
    let mut variables = texts::variables(base);
    variables.extend(texts::variables(head));
    input::compare(inputs(base, &variables), inputs(head, &variables))
}

/// Finds the unevaluated inputs of one state.
fn inputs(state: &SourceState<'_>, variables: &BTreeSet<String>) -> StateInputs {
    let mut finder = Finder::new(state);
    charts::find(&mut finder);
    texts::find(&mut finder);
    kustomizations::find(&mut finder);
    flux::find(&mut finder, variables);
    helm::find(&mut finder);
    argocd::find(&mut finder);
    finder.inputs
}
