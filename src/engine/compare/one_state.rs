//! Divides one state into parts, with the objects that are applied to each cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::definitions::Definitions;
use super::parsed::Parsed;
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
    pub(in crate::engine) file: ParsedFile,
}

/// Divides a state that is not compared with another one into parts: one for each cluster that is certainly distinct,
/// and a last one for the objects that nothing applies. `files` have their paths from the root of the state; the files
/// `beside` are in each cluster.
///
/// If tools deliver from the tree, files that only a person may apply are drafts. Otherwise a person is assumed to
/// apply everything, including the files that kustomizations leave out.
///
/// # Errors
/// A limit is exceeded.
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
