//! The charts that a person installs.

use globset::GlobSet;

use crate::kustomize::ancestors;
use crate::text::glob;

/// The namespaces into which a person installs the charts that no delivery installs.
#[derive(Debug, Default)]
pub struct ByHand {
    /// The namespace of all others; empty for that of the context of kubectl.
    namespace: String,
    bundles: Vec<(GlobSet, BundleCharts)>,
}

/// The charts in the paths of a bundle.
#[derive(Clone, Debug)]
pub enum BundleCharts {
    /// They are installed into this namespace, if the bundle has one.
    Into(Option<String>),
    /// The program of the bundle renders them.
    RenderedByProgram,
}

impl ByHand {
    /// Installs charts into `namespace`; empty for that of the context of kubectl.
    pub fn new(namespace: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            bundles: Vec::new(),
        }
    }

    /// Adds a bundle with `paths` from the root of the tree. A path that is no glob is ignored: it leads to no file.
    #[must_use]
    pub fn with_bundle<'p>(
        mut self,
        paths: impl IntoIterator<Item = &'p str>,
        charts: &BundleCharts,
    ) -> Self {
        let globs = paths
            .into_iter()
            .filter_map(|path| glob::glob(path.trim_end_matches('/')).ok());
        self.bundles
            .extend(globs.map(|globs| (globs, charts.clone())));
        self
    }

    /// Returns the namespace into which the chart in a folder is installed; `None` if a program renders it.
    pub fn namespace_of(&self, folder: &str) -> Option<&str> {
        let mut bundles = self.bundles.iter();
        let bundle = bundles.find(|(paths, _)| {
            ancestors(folder)
                .any(|above| paths.is_match(if above.is_empty() { "." } else { above }))
        });
        match bundle {
            Some((_, BundleCharts::RenderedByProgram)) => None,
            Some((_, BundleCharts::Into(Some(namespace)))) => Some(namespace),
            Some((_, BundleCharts::Into(None))) | None => Some(&self.namespace),
        }
    }
}
