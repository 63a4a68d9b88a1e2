//! The evaluation of an Application's sources: the objects that it applies, each in its namespace.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::application::Application;
use super::helm::HelmSource;
use super::is_argo;
use super::repository::Repositories;
use super::source::{Source, SourceResult};
use super::template::is_partly_unknown;
use crate::charts::{CallId, numbers_in};
use crate::graph::chart::place;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{BuildError, Builder, Built, Origin, Resource};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::resolve;

/// The objects that an Application applies, and the inputs that they are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    pub(super) resources: Arc<Vec<Resource>>,
    /// The Applications and ApplicationSets among them.
    pub(super) children: Vec<Resource>,
    pub(super) reached: Arc<BTreeSet<String>>,
    pub(super) unread: Vec<UnreadInput>,
    pub(super) charts: BTreeSet<CallId>,
    pub(super) error: Option<BuildError>,
    /// Whether the error is that a folder does not exist.
    pub(super) is_missing: bool,
    /// The commit or tag of this tree that it delivers, if no source delivers a branch.
    pub(super) revision: Option<String>,
}

impl Applied {
    /// Sets the place of every problem without a file to `origin`, that of the Application.
    fn at(self: Arc<Self>, origin: &Origin) -> Arc<Self> {
        let has_error = self.error.as_ref().is_some_and(|one| one.file.is_empty());
        if !has_error && self.unread.iter().all(|one| !one.file.is_empty()) {
            return self;
        }
        let mut applied = Self::clone(&self);
        if let Some(error) = applied.error.as_mut().filter(|_| has_error) {
            *error = origin.failed(std::mem::take(&mut error.reason));
        }
        let own = applied.unread.iter_mut();
        for unread in own.filter(|one| one.file.is_empty()) {
            unread.file = origin.file.to_string();
            unread.line = origin.line;
        }
        Arc::new(applied)
    }
}

/// Evaluator of sources. Equal sources of several Applications are built once.
pub(super) struct Sources<'s> {
    pub(super) files: &'s TreeFiles<'s>,
    pub(super) repositories: Repositories,
    /// The plugins that only run kustomize.
    pub(super) plugins: BTreeSet<String>,
    /// Whether a file of the tree overrides sources.
    pub(super) are_overridden: bool,
    pub(super) builder: Builder<'s>,
    /// Cache of results, by the text of the sources. Problems in shared results have no file: their
    /// place is that of each Application.
    pub(super) made: RefCell<HashMap<String, Arc<Applied>>>,
}

impl Sources<'_> {
    /// Returns the builds of an Application's sources. `folder` replaces each partly unknown path.
    pub(super) fn applied(
        &self,
        application: &Application,
        sources: &[Node],
        folder: Option<&str>,
    ) -> Arc<Applied> {
        let namespace = application.target_namespace().unwrap_or_default();
        let written: Vec<String> = sources
            .iter()
            .map(|source| serde_json::to_string(&source.to_json(30)).unwrap_or_default())
            .collect();
        // Overrides, variables, releases and the name of a hydrated source may depend on the name
        // and project of the Application, and the objects of a release have its place.
        let (written, folder_name) = (written.join("\n"), folder.unwrap_or_default());
        let hydrated = application.is_hydrated();
        let is_own = hydrated
            || written.contains('$')
            || self.builder.charts().are_rendered()
            || sources.iter().any(|source| {
                let folder = folder.map(str::to_owned);
                let folder = folder.or_else(|| Some(folder_of_source(&source.text_at(&["path"])?)));
                folder.is_some_and(|folder| !self.overrides(application, &folder).is_empty())
            });
        let origin = &application.origin;
        let own = is_own.then(|| {
            let project = application.node.text_at(&["spec", "project"]);
            (&application.name, project, &origin.file, origin.line)
        });
        let key = format!("{written}\n{folder_name}\n{namespace}\n{own:?}\n{hydrated}");
        if let Some(known) = self.made.borrow().get(&key) {
            return Arc::clone(known).at(origin);
        }
        let made = if is_own {
            self.make(application, sources, folder, &namespace)
        } else {
            let shared = application.without_place();
            self.make(&shared, sources, folder, &namespace)
        };
        let made = Arc::new(made);
        self.made.borrow_mut().insert(key, Arc::clone(&made));
        made.at(origin)
    }

    /// Returns the files in a folder that override the source of an Application there, in the order in which they apply.
    pub(super) fn overrides(&self, application: &Application, folder: &str) -> Vec<String> {
        if !self.are_overridden {
            return Vec::new();
        }
        let own = format!(".argocd-source-{}.yaml", application.name);
        let files = [".argocd-source.yaml", &own].map(|name| resolve(folder, name));
        files
            .into_iter()
            .filter(|path| self.files.has_file(path))
            .collect()
    }

    fn make(
        &self,
        application: &Application,
        sources: &[Node],
        folder: Option<&str>,
        namespace: &str,
    ) -> Applied {
        let mut applied = Applied::default();
        let mut all = Built::default();
        let mut parts = Vec::new();
        if application.is_hydrated() {
            let subject = format!("hydrated source of {}", application.name);
            let reason = "the contents of another branch are not read";
            let unread = application
                .origin
                .unread(What::OtherRepository, subject, reason);
            all.unread.push(unread);
        } else if sources.is_empty() {
            applied.error = Some(application.origin.failed("it has no source"));
            return applied;
        }
        for node in sources {
            match self.source(application, node, (folder, namespace)) {
                SourceResult::Built(built) => {
                    parts.push(built.resources);
                    all.reached.extend(built.reached);
                    all.unread.extend(built.unread);
                    all.charts.extend(built.charts);
                }
                SourceResult::Unread(unread) => all.unread.push(unread),
                SourceResult::Failed(error) => {
                    applied.error = Some(error);
                    return applied;
                }
                SourceResult::Missing(error) => {
                    applied.error = Some(error);
                    applied.is_missing = true;
                    return applied;
                }
            }
        }
        let builds = self.builder.builds();
        let resources = builds.placed(parts, namespace, |parts| self.placed(parts, namespace));
        let children = resources.iter().filter(|one| is_argo(one));
        let own = sources.iter().filter(|source| self.is_own(source));
        let revisions: BTreeSet<Option<String>> = own.map(fixed_revision).collect();
        let revision = revisions.into_iter().next().flatten();
        Applied {
            children: children.cloned().collect(),
            resources,
            reached: Arc::new(all.reached),
            unread: all.unread,
            charts: all.charts,
            revision,
            ..Applied::default()
        }
    }

    /// Returns the objects of `parts`, each in its namespace (argo-cd controller/state.go, NormalizeTargetObjects). Of
    /// several objects of one key, the last one counts.
    fn placed(&self, parts: &[Arc<Vec<Resource>>], namespace: &str) -> Vec<Resource> {
        let mut resources: Vec<Resource> =
            parts.iter().flat_map(|part| part.iter().cloned()).collect();
        let scopes = self.files.scopes();
        place(&mut resources, namespace, scopes);
        let keys = resources.iter().map(|resource| scopes.key(&resource.id()));
        let last: HashMap<String, usize> = keys.zip(0..).collect();
        let mut last: Vec<usize> = last.into_values().collect();
        last.sort_unstable();
        if last.len() < resources.len() {
            resources = last.into_iter().map(|at| resources[at].clone()).collect();
        }
        resources
    }

    fn source(
        &self,
        application: &Application,
        node: &Node,
        (folder, namespace): (Option<&str>, &str),
    ) -> SourceResult {
        let repository = node.text_at(&["repoURL"]).unwrap_or_default();
        let chart = HelmSource {
            sources: self,
            application,
            node,
            namespace,
            folder: None,
        };
        if node.text_at(&["chart"]).is_some() {
            return SourceResult::Built(chart.build());
        }
        let path = node.text_at(&["path"]).unwrap_or_default();
        if !self.repositories.are_own(&repository) {
            let reason = "it is another repository, which is not read";
            let unread = application
                .origin
                .unread(What::OtherRepository, repository, reason);
            return SourceResult::Unread(unread);
        }
        if is_partly_unknown(&path) && folder.is_none() {
            let reason = "no folder of the tree fits it";
            return SourceResult::Unread(application.origin.unread(What::Template, path, reason));
        }
        let own = match folder {
            Some(folder) if is_partly_unknown(&path) => folder.to_owned(),
            _ => folder_of_source(&path),
        };
        let source = Source {
            sources: self,
            application,
            folder: &own,
            chart,
        };
        match (source.build(node), fixed_revision(node)) {
            // The source's revision may have the folder.
            (SourceResult::Missing(_), Some(revision)) => {
                let reason = "another revision is not read";
                let unread = application
                    .origin
                    .unread(What::OtherRepository, revision, reason);
                SourceResult::Unread(unread)
            }
            (made, _) => made,
        }
    }

    /// Whether a source is a folder of this tree.
    fn is_own(&self, source: &Node) -> bool {
        let repository = source.text_at(&["repoURL"]).unwrap_or_default();
        source.get("chart").is_none()
            && source.get("path").is_some()
            && self.repositories.are_own(&repository)
    }
}

/// Returns the revision of a source if it never changes.
fn fixed_revision(source: &Node) -> Option<String> {
    let revision = source.text_at(&["targetRevision"])?;
    is_fixed(&revision).then_some(revision)
}

/// Whether a revision never changes: a commit, or the tag of a version.
pub(super) fn is_fixed(revision: &str) -> bool {
    let is_commit = revision.len() == 40 && revision.chars().all(|c| c.is_ascii_hexdigit());
    let is_version = numbers_in(revision) == Some(3);
    is_commit || is_version || revision.starts_with("refs/tags/")
}

/// Returns the folder of the path of a source, from the root of the tree.
pub(super) fn folder_of_source(path: &str) -> String {
    resolve("", path.trim_start_matches('/'))
}
