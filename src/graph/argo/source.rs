//! Builds of an Application's source (argo-cd reposerver/repository/repository.go, util/app/discovery/discovery.go).

use super::application::Application;
use super::environment::Environment;
use super::helm::HelmSource;
use super::options::KustomizeOptions;
use super::pattern::FilePattern;
use super::sources::Sources;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{BuildError, Built, Resource, kustomization, merged, objects_of};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{folder_of, name_of, shown};

/// The result of building a source.
#[derive(Clone, Debug)]
pub(super) enum SourceResult {
    Built(Built),
    Unread(UnreadInput),
    Failed(BuildError),
    /// The folder does not exist. If the Application is only possible, it is left out.
    Missing(BuildError),
}

/// The type of a source, which determines how it is read.
enum SourceType {
    Helm,
    Kustomize,
    Directory,
    Plugin,
}

/// A source in this tree.
pub(super) struct Source<'s> {
    pub(super) sources: &'s Sources<'s>,
    pub(super) application: &'s Application,
    /// The folder, from the root of the tree.
    pub(super) folder: &'s str,
    /// Its settings as a chart.
    pub(super) chart: HelmSource<'s>,
}

impl Source<'_> {
    /// Builds the source with the settings in `node`.
    pub(super) fn build(&self, node: &Node) -> SourceResult {
        if self.sources.files.has_file(self.folder) || !self.sources.files.has_folder(self.folder) {
            let reason = format!("the path {} does not exist", shown(self.folder));
            return SourceResult::Missing(self.application.origin.failed(reason));
        }
        let node = match self.overridden(node) {
            Ok(node) => node,
            Err(error) => return SourceResult::Failed(error),
        };
        match self.type_of(&node) {
            Err(reason) => SourceResult::Failed(self.application.origin.failed(reason)),
            Ok(SourceType::Helm) => {
                let chart = HelmSource {
                    node: &node,
                    folder: Some(self.folder),
                    ..self.chart
                };
                SourceResult::Built(chart.build())
            }
            Ok(SourceType::Plugin) => {
                let name = node.text_at(&["plugin", "name"]).unwrap_or_default();
                if self.sources.plugins.contains(&name) {
                    return self.kustomized(&node);
                }
                let subject = format!("plugin {name}").trim_end().to_owned();
                let origin = &self.application.origin;
                SourceResult::Unread(origin.unread(What::Plugin, subject, "plugins are not run"))
            }
            Ok(SourceType::Kustomize) => self.kustomized(&node),
            Ok(SourceType::Directory) => self.directory(&node),
        }
    }

    /// Returns the source with the overrides in `.argocd-source*.yaml`, which cannot move it.
    fn overridden(&self, node: &Node) -> Result<Node, BuildError> {
        let mut node = node.clone();
        for path in self.sources.overrides(self.application, self.folder) {
            let parsed = self.sources.files.parsed(&path);
            if let Some((reason, line)) = &parsed.error {
                let reason = format!("{path} cannot be read: {reason}");
                return Err(BuildError::new(reason, path, *line));
            }
            if let Some(patch) = parsed.documents.first() {
                let mut patch = patch.clone();
                for fixed in ["path", "chart", "repoURL", "targetRevision"] {
                    patch.remove(fixed);
                }
                node = merged(node, &patch).unwrap_or(Node::Null);
            }
        }
        Ok(node)
    }

    fn type_of(&self, node: &Node) -> Result<SourceType, String> {
        let kinds = ["helm", "kustomize", "directory", "plugin"];
        let mut said = kinds
            .into_iter()
            .filter(|kind| node.get(kind).is_some_and(|one| one.is_map()));
        match (said.next(), said.next()) {
            (Some(one), Some(other)) => Err(format!("its source is both {one} and {other}")),
            (Some("helm"), None) => Ok(SourceType::Helm),
            (Some("kustomize"), None) => Ok(SourceType::Kustomize),
            (Some("plugin"), None) => Ok(SourceType::Plugin),
            (Some(_), None) => Ok(SourceType::Directory),
            (None, _) if self.sources.files.kustomization_of(self.folder).is_some() => {
                Ok(SourceType::Kustomize)
            }
            (None, _) => {
                let mut own = self.sources.files.below(self.folder);
                let is_chart = own.any(|path| {
                    folder_of(path) == self.folder && name_of(path).ends_with("Chart.yaml")
                });
                Ok(if is_chart {
                    SourceType::Helm
                } else {
                    SourceType::Directory
                })
            }
        }
    }

    /// Builds a kustomization with the options of `spec.source.kustomize`.
    fn kustomized(&self, node: &Node) -> SourceResult {
        let mut doc = match kustomization(self.sources.files, self.folder) {
            Ok(doc) => doc,
            Err(error) => return SourceResult::Failed(error),
        };
        if let Some(options) = node.get("kustomize") {
            let options = KustomizeOptions {
                node: &options,
                environment: Environment::new(self.application, node, self.chart.namespace),
            };
            if let Err(reason) = options.edit(&mut doc, self.sources.files) {
                return SourceResult::Failed(self.application.origin.failed(reason));
            }
        }
        self.sources
            .builder
            .build(&doc)
            .map_or_else(SourceResult::Failed, SourceResult::Built)
    }

    /// Builds all manifests of a folder.
    fn directory(&self, node: &Node) -> SourceResult {
        let options = node.get("directory").unwrap_or(Node::Null);
        let recurse = options.is_true_at(&["recurse"]);
        let [include, exclude] = ["include", "exclude"].map(|key| {
            let pattern = options.text_at(&[key]);
            pattern.map(|pattern| FilePattern::new(&pattern))
        });
        let mut built = Built::default();
        built.reached.insert(self.folder.to_owned());
        let mut resources = Vec::new();
        for path in self.sources.files.below(self.folder) {
            let below = path[self.folder.len()..].trim_start_matches('/');
            if !recurse && below.contains('/')
                || !is_read(path)
                || exclude.as_ref().is_some_and(|one| one.is_match(below))
                || include.as_ref().is_some_and(|one| !one.is_match(below))
            {
                continue;
            }
            if path.ends_with(".jsonnet") {
                let reason = "Jsonnet is not evaluated";
                let jsonnet = UnreadInput::new(What::Jsonnet, path, path, 1, reason);
                built.unread.push(jsonnet);
                continue;
            }
            match self.objects(path) {
                Ok(objects) => resources.extend(objects),
                Err(error) => return SourceResult::Failed(error),
            }
            built.reached.insert(path.to_owned());
        }
        let budget = self.sources.builder.budget();
        let origin = &self.application.origin;
        if let Err(error) = budget.take(resources.len(), &origin.file) {
            return SourceResult::Failed(origin.failed(error.reason));
        }
        *built.resources_mut() = resources;
        SourceResult::Built(built)
    }

    /// Returns the objects of a file. A file that cannot be read is ignored, unless it looks like a manifest.
    fn objects(&self, path: &str) -> Result<Vec<Resource>, BuildError> {
        let files = self.sources.files;
        if files.mentions(path, "+argocd:skip-file-rendering") {
            return Ok(Vec::new());
        }
        match objects_of(&files.parsed(path), path) {
            Err(_) if self.sources.builder.tolerates() || !self.looks_like_manifest(path) => {
                Ok(Vec::new())
            }
            found => found,
        }
    }

    fn looks_like_manifest(&self, path: &str) -> bool {
        ["apiVersion", "kind", "metadata"]
            .into_iter()
            .all(|word| self.sources.files.mentions(path, word))
    }
}

/// Whether a file overrides the sources of its folder.
pub fn overrides_source(path: &str) -> bool {
    name_of(path).starts_with(".argocd-source")
}

/// Whether Argo CD reads a file with this name: the extension is case-sensitive.
fn is_read(path: &str) -> bool {
    [".yaml", ".yml", ".json", ".jsonnet"]
        .iter()
        .any(|ending| path.ends_with(ending))
}

/// Finds, without a build, the places that a source leads to: a kustomized folder, or its files.
pub(super) fn leads_to(files: &TreeFiles<'_>, folder: &str, node: &Node) -> Vec<String> {
    let is_directory = node.get("directory").is_some_and(|one| one.is_map());
    if files.kustomization_of(folder).is_some() && !is_directory {
        return vec![folder.to_owned()];
    }
    let recurse = node.is_true_at(&["directory", "recurse"]);
    let own = files
        .below(folder)
        .filter(|path| recurse || folder_of(path) == folder);
    own.filter(|path| is_read(path))
        .map(str::to_owned)
        .collect()
}
