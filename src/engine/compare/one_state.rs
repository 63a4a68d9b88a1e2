//! The parts of one state: of each cluster what is applied to it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::arrange::Parsed;
use super::definitions::Definitions;
use crate::changes::TreePart;
use crate::engine::SessionError;
use crate::graph::argo::Terms;
use crate::inventory::Settings;
use crate::kustomize::Deliverer;
use crate::manifest::ParsedFile;

/// A chart of the state, rendered.
#[derive(Clone, Debug)]
pub(in crate::engine) struct RenderedChart {
    /// The object that delivers it; `None` if a person installs it.
    pub(in crate::engine) by: Option<Deliverer>,
    /// Its rendering.
    pub(in crate::engine) file: ParsedFile,
}

/// The parts of a state that is not compared with another one: the last one is what nothing applies, of the others there
/// is one for each cluster that is certainly another one. `files` have their paths from the root of the state; the files
/// `beside` are those of each cluster.
///
/// In a tree from which tools deliver, what only a person may apply is a draft; elsewhere a person applies everything, also
/// the files that kustomizations leave out.
///
/// # Errors
/// There is more than the limits allow.
pub(in crate::engine) fn parts_of(
    files: Vec<(Arc<str>, ParsedFile)>,
    charts: Vec<RenderedChart>,
    beside: &[ParsedFile],
    (terms, settings): (Terms<'_>, &Settings),
) -> Result<Vec<TreePart>, SessionError> {
    let mut parsed = Parsed::alone(files, terms)?;
    let others = charts.iter().map(|chart| &chart.file).chain(beside);
    let definitions = parsed.definitions().or(&Definitions::of(others));
    parsed.add_charts(charts);
    let free = if parsed.has_deliveries() {
        parsed.leave_out_what_people_build();
        BTreeSet::new()
    } else {
        parsed.places()
    };
    parsed.arrange((&[], settings), beside, &definitions, &free)
}
