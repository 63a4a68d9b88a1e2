//! Divides one state into parts, with the objects that are applied to each cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Parsed, StateFiles, within_limits};
use crate::changes::TreePart;
use crate::engine::SessionError;
use crate::engine::compare::built::BuildRoot;
use crate::engine::compare::definitions::Definitions;
use crate::engine::compare::delivered::Delivered;
use crate::engine::compare::unlisted::UnlistedFiles;
use crate::graph::argo::Terms;
use crate::inventory::Settings;
use crate::kustomize::{BeyondLimit, Deliverer, folder_of};
use crate::manifest::ParsedFile;

/// A chart of the state, rendered.
#[derive(Clone, Debug)]
pub(in crate::engine) struct RenderedChart {
    /// The object that delivers it; `None` if a person installs it.
    pub(in crate::engine) by: Option<Deliverer>,
    pub(in crate::engine) file: ParsedFile,
}

/// Divides a state that is not compared with another one into parts: one for each cluster that is certainly distinct,
/// and a last one for the objects that nothing applies. `files` and `others`, which builds may read, have their paths
/// from the root of the state; the files `beside` are in each cluster.
///
/// If tools deliver from the tree, files that only a person may apply are drafts. Otherwise a person is assumed to
/// apply everything, including the files that kustomizations leave out.
///
/// # Errors
/// A limit is exceeded.
pub(in crate::engine) fn parts_of(
    (files, others): (Vec<(Arc<str>, ParsedFile)>, UnlistedFiles),
    charts: Vec<RenderedChart>,
    beside: &[ParsedFile],
    (terms, settings): (Terms<'_>, &Settings),
) -> Result<Vec<TreePart>, SessionError> {
    let mut parsed = Parsed::alone(files, others, terms)?;
    let others = charts.iter().map(|chart| &chart.file).chain(beside);
    let definitions = parsed.definitions().or(&Definitions::of(others));
    parsed.add_charts(charts);
    let free = if parsed.roots.iter().any(|root| root.by.is_some()) {
        // No tool builds these kustomizations, so their files count as not applied.
        parsed
            .roots
            .retain(|root| root.by.is_some() || root.is_chart);
        BTreeSet::new()
    } else {
        parsed.places.iter().cloned().collect()
    };
    Ok(parsed.arrange((&[], settings, true), beside, &definitions, &free))
}

impl Parsed {
    /// Creates a state from parsed files and the `others` that builds may read, without another state to compare it with.
    ///
    /// # Errors
    /// A limit is exceeded.
    fn alone(
        files: Vec<(Arc<str>, ParsedFile)>,
        others: UnlistedFiles,
        terms: Terms<'_>,
    ) -> Result<Self, BeyondLimit> {
        let (places, files) = files.into_iter().unzip();
        let parsed = Self {
            places,
            files,
            ..Self::default()
        };
        let places = parsed.places.iter().map(|place| &**place);
        let tree = parsed.tree(StateFiles::on_disk(places, others));
        let delivered = Delivered::alone(&tree, terms)?;
        drop(tree);
        let clusters = delivered.clusters();
        within_limits(&clusters, terms.limits)?;
        Ok(Self {
            clusters,
            ..parsed.delivered(delivered)
        })
    }

    fn add_charts(&mut self, charts: Vec<RenderedChart>) {
        let known = self.delivered.by_key();
        self.roots
            .extend(charts.into_iter().map(|RenderedChart { by, file }| {
                let by = by.map(|by| match known.get(&(by.tool, by.key())) {
                    Some(Some(known)) => (*known).clone(),
                    _ => by,
                });
                BuildRoot {
                    folder: folder_of(file.source().path()).to_owned(),
                    is_chart: by.is_none(),
                    by: by.map(Arc::new),
                    generated: vec![(Arc::from(file.source().path()), file)],
                    ..BuildRoot::default()
                }
            }));
    }
}
