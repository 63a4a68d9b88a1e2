//! The limits that AppProjects set to their Applications (argo-cd
//! pkg/apis/application/v1alpha1/app_project_types.go, IsDestinationPermitted and IsGroupKindPermitted).
//!
//! An Application with a forbidden destination is not compared at all (util/argo/argo.go, ValidatePermissions), and a sync
//! with one forbidden object neither applies nor prunes anything (controller/sync.go, WithPermissionValidator;
//! gitops-engine pkg/sync/sync_context.go, getSyncTasks). A project that the tree does not deliver permits everything, as
//! far as ownerlint knows.

use std::collections::BTreeMap;
use std::sync::Arc;

use globset::GlobSet;

use super::Run;
use super::application::{Application, GROUP, OWN_SERVER};
use super::follow::Pending;
use super::template::is_partly_unknown;
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{ResId, Resource, is_namespaced};
use crate::graph::node::Node;
use crate::graph::scopes::ClusterScopes;
use crate::kustomize::SourceTool;
use crate::text::glob;

/// The setting of Argo CD that adds the limits of some projects to others.
const GLOBAL: &str = "globalProjects";

/// The maximum number of items in the lists of a project, because every item is compared with every
/// object. A project with more items is treated like one that the tree does not deliver.
const MAX_ITEMS: usize = 1000;

const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];

/// The cluster that contains a project, and its name.
type Key = (Arc<str>, String);

/// The AppProjects of a state. Several with one key are alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Projects(Arc<BTreeMap<Key, Vec<Project>>>);

impl Projects {
    /// Finds the AppProjects that deliveries apply; none if global projects may permit more.
    fn new<'d>(files: &TreeFiles<'_>, deliveries: impl Iterator<Item = &'d Delivery>) -> Self {
        let mut all: BTreeMap<Key, Vec<Project>> = BTreeMap::new();
        for delivery in deliveries {
            let resources = delivery.resources.iter();
            for resource in resources.filter(|one| one.is_of(GROUP, "AppProject")) {
                let key = (Arc::clone(&delivery.cluster), resource.id().name.into());
                let spec = resource.node.get("spec").unwrap_or(Node::Null);
                all.entry(key).or_default().push(Project::new(&spec));
            }
        }
        let are_doubtful =
            !all.is_empty() && files.manifests().any(|path| files.mentions(path, GLOBAL));
        if are_doubtful {
            return Self::default();
        }
        all.retain(|_, alike| alike.iter().map(Project::items).sum::<usize>() <= MAX_ITEMS);
        Self(Arc::new(all))
    }

    /// Returns why Argo CD does not sync an Application with these objects; `None` if its project permits them or is not
    /// known. `pending` is the object of the Application, and `delivery` what it delivers.
    fn refusal(
        &self,
        pending: &Pending,
        delivery: &Delivery,
        scopes: &ClusterScopes,
    ) -> Option<String> {
        let application = Application::from_resource(&pending.resource)?;
        let name = application.project();
        let projects = self.0.get(&(Arc::clone(&pending.here), name.clone()))?;
        let asked = Asked {
            application: &application,
            is_own_cluster: delivery.cluster == pending.here,
            resources: &delivery.resources,
            scopes,
        };
        let reasons: Option<Vec<String>> = projects.iter().map(|one| one.refusal(&asked)).collect();
        let reason = reasons?.into_iter().next()?;
        Some(format!("AppProject {name} does not permit {reason}"))
    }
}

/// An Application that is checked against a project.
struct Asked<'a> {
    application: &'a Application,
    /// Whether it delivers into the cluster of Argo CD. The Secret of any other cluster, which is
    /// seldom in the tree, may permit it by naming the project.
    is_own_cluster: bool,
    resources: &'a [Resource],
    scopes: &'a ClusterScopes,
}

/// The limits of an AppProject.
#[derive(Clone, Debug)]
struct Project {
    destinations: Vec<Destination>,
    namespaced: Kinds,
    cluster_scoped: Kinds,
}

impl Project {
    fn new(spec: &Node) -> Self {
        let listed = |field: &str| {
            let list = spec.get(field).filter(Node::is_seq);
            list.map(|list| list.items().iter().filter_map(Kind::new).collect())
        };
        Self {
            destinations: spec
                .items_at("destinations")
                .iter()
                .map(Destination::new)
                .collect(),
            namespaced: Kinds {
                permitted: listed("namespaceResourceWhitelist"),
                forbidden: listed("namespaceResourceBlacklist").unwrap_or_default(),
            },
            // Without a list, no cluster-scoped kind is permitted.
            cluster_scoped: Kinds {
                permitted: Some(listed("clusterResourceWhitelist").unwrap_or_default()),
                forbidden: listed("clusterResourceBlacklist").unwrap_or_default(),
            },
        }
    }

    /// Returns the number of items in its lists, plus one for itself.
    fn items(&self) -> usize {
        let kinds = [&self.namespaced, &self.cluster_scoped];
        let kinds =
            kinds.map(|kinds| kinds.permitted.as_ref().map_or(0, Vec::len) + kinds.forbidden.len());
        1 + self.destinations.len() + kinds.iter().sum::<usize>()
    }

    /// Returns the first part of an Application that the project does not permit.
    fn refusal(&self, asked: &Asked<'_>) -> Option<String> {
        let name = asked.application.destination_name();
        let permits = |namespace: &str| {
            !asked.is_own_cluster
                || is_unknown(namespace)
                || self.permits(name.as_deref(), namespace)
        };
        let target = asked.application.target_namespace().unwrap_or_default();
        if !permits(&target) {
            return Some(format!("its destination, namespace `{target}`"));
        }
        let certain = asked.resources.iter().filter(|one| {
            // Some hooks are not part of a sync.
            let mut hooks = HOOKS.iter().map(|hook| one.meta("annotations", hook));
            !one.is_possible && hooks.all(|hook| hook.is_none())
        });
        certain.map(Resource::id).find_map(|id| {
            if asked.scopes.is_cluster(&id.group, &id.kind) {
                let is_permitted = self.cluster_scoped.permit(&id);
                return (!is_permitted).then(|| format!("the kind of {}", asked.scopes.key(&id)));
            }
            if !is_namespaced(&id.group, &id.kind) {
                return None;
            }
            if !self.namespaced.permit(&id) {
                return Some(format!("the kind of {}", id.key()));
            }
            (!permits(&id.namespace)).then(|| format!("the namespace of {}", id.key()))
        })
    }

    /// Whether it permits a namespace of Argo CD's own cluster. An unknown `name` may be any.
    fn permits(&self, name: Option<&str>, namespace: &str) -> bool {
        let mut is_permitted = false;
        for item in &self.destinations {
            let by_name = item.name.matches(name);
            let by_server = item.server.matches(Some(OWN_SERVER));
            let in_namespace = item.namespace.matches(Some(namespace));
            if (by_name || by_server) && in_namespace {
                is_permitted = true;
            } else if !by_name && item.name.denies
                || !by_server && item.server.denies
                || !in_namespace && item.namespace.denies
            {
                return false;
            }
        }
        is_permitted
    }
}

/// Whether a text has parts that only the cluster knows.
fn is_unknown(text: &str) -> bool {
    is_partly_unknown(text) || text.contains("${")
}

/// The patterns of a destination.
#[derive(Clone, Debug)]
struct Destination {
    server: Pattern,
    name: Pattern,
    namespace: Pattern,
}

impl Destination {
    fn new(item: &Node) -> Self {
        let [server, name, namespace] = ["server", "name", "namespace"]
            .map(|field| Pattern::new(&item.text_at(&[field]).unwrap_or_default()));
        Self {
            server,
            name,
            namespace,
        }
    }
}

/// A pattern of a destination.
#[derive(Clone, Debug)]
struct Pattern {
    is_empty: bool,
    /// Whether it begins with `!`, and matches everything else.
    denies: bool,
    /// `None` if the pattern is not understood, or has unknown parts.
    glob: Option<GlobSet>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let denied = text.strip_prefix('!');
        let glob = glob::compiled(denied.unwrap_or(text), false).ok();
        Self {
            is_empty: text.is_empty(),
            denies: denied.is_some(),
            glob: glob.filter(|_| !is_unknown(text)),
        }
    }

    /// Whether it matches a value, or may match one that is not known.
    fn matches(&self, value: Option<&str>) -> bool {
        match (value, &self.glob) {
            (Some(value), Some(glob)) => glob.is_match(value) != self.denies,
            _ => !self.is_empty,
        }
    }
}

/// The kinds that a project permits and forbids in a scope.
#[derive(Clone, Debug)]
struct Kinds {
    /// `None`: all of them.
    permitted: Option<Vec<Kind>>,
    forbidden: Vec<Kind>,
}

impl Kinds {
    fn permit(&self, id: &ResId) -> bool {
        let permitted = self.permitted.as_ref();
        permitted.is_none_or(|list| list.iter().any(|one| one.is_of(id)))
            && !self
                .forbidden
                .iter()
                .any(|one| one.is_of(id) && one.names(id))
    }
}

/// An item of a list of kinds.
#[derive(Clone, Debug)]
struct Kind {
    group: GlobSet,
    kind: GlobSet,
    /// The names to which Argo CD from 3.3 on limits it.
    name: Option<GlobSet>,
}

impl Kind {
    fn new(item: &Node) -> Option<Self> {
        let glob = |field: &str| glob::glob(&item.text_at(&[field]).unwrap_or_default()).ok();
        Some(Self {
            group: glob("group")?,
            kind: glob("kind")?,
            name: item.text_at(&["name"]).and_then(|_| glob("name")),
        })
    }

    fn is_of(&self, id: &ResId) -> bool {
        self.group.is_match(&*id.group) && self.kind.is_match(&*id.kind)
    }

    fn names(&self, id: &ResId) -> bool {
        self.name
            .as_ref()
            .is_none_or(|name| name.is_match(&*id.name))
    }
}

impl Run<'_> {
    /// Sets an error on Applications that their projects do not permit. Those that the projects of
    /// the previous state permitted may sync once before the new projects are applied. `flux`
    /// contains the deliveries of Flux, which may have AppProjects.
    pub(super) fn fail_on_forbidden_objects(&mut self, flux: &[Delivery]) {
        let files = self.sources.files;
        let projects = Projects::new(files, flux.iter().chain(&self.all));
        let scopes = files.scopes();
        let applications = self.all.iter_mut().filter(|one| {
            let by = one.by.as_ref();
            one.error.is_none() && by.is_some_and(|by| by.tool == SourceTool::ArgoCd)
        });
        for one in applications {
            let Some((_, pending)) = self.memory.followed.get(&one.id) else {
                continue;
            };
            let Some(reason) = projects.refusal(pending, one, scopes) else {
                continue;
            };
            let was = self.known.followed.get(&one.id).is_some_and(|(_, before)| {
                let projects = &self.known.projects;
                projects.refusal(before, one, scopes).is_none()
            });
            one.error = Some(pending.resource.origin.failed(reason));
            one.built_first = was.then(|| Arc::clone(&one.resources));
        }
        self.memory.projects = projects;
    }
}
