//! `list --deliveries`: the deliveries of one state of a tree, and the files that no delivery reaches.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashMap;

use super::delivered::separate_clusters;
use super::parsed::StateFiles;
use super::request::StateChoice;
use super::state::StateReader;
use crate::charts::{Charts, RenderingTerms};
use crate::engine::plan::Targets;
use crate::engine::rendering::charts_of_one_state;
use crate::engine::resolve::configuration;
use crate::engine::{ConfigChoice, Request, SessionError, TargetError};
use crate::graph::argo::{Memory, Terms};
use crate::graph::delivery::{Delivery, Settings};
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{Builds, ResId, Resource, resources_of};
use crate::graph::scopes::ClusterScopes;
use crate::graph::unread::What;
use crate::graph::{self, unreached};
use crate::kube::GroupKind;
use crate::kustomize::{
    BeyondLimit, SourceTool, UNEVALUATED, UNEVALUATED_DELIVERIES, ancestors, folder_of,
};
use crate::report::{
    DeliveryListing, ListedDelivery, ListedInstance, ListedLocation, ListedSettings, ListedUnread,
    UnreachedFile,
};

/// The deliveries of a state.
pub struct Deliveries {
    /// The deliveries, as they are listed.
    pub listing: DeliveryListing,
    /// The kinds of the CRDs that the deliveries apply, each with the names that its CRD gives to it.
    names: Vec<(GroupKind, Vec<String>)>,
    /// The clusters that are certainly different. All other deliveries are assumed to deliver into one cluster.
    pub separate_clusters: BTreeSet<String>,
}

impl Deliveries {
    /// Returns the deliveries of the object that `target` names, and those that apply these.
    /// `target` is a key or arguments of `kubectl delete`; `namespace` is for targets without one.
    ///
    /// # Errors
    /// The target matches no object that a delivery applies, or several.
    pub fn of(self, target: &str, namespace: Option<&str>) -> Result<DeliveryListing, TargetError> {
        let objects = self.targets().resolve_possible(target, namespace)?;
        Ok(self.listing.of(&objects))
    }

    /// Returns the objects that the deliveries apply, with the names that kubectl and CRDs give to their kinds.
    fn targets(&self) -> Targets {
        let deliveries = self.listing.deliveries.iter();
        let instances = deliveries.flat_map(|delivery| &delivery.instances);
        let keys = instances.filter_map(|instance| instance.key.parse().ok());
        let mut targets = Targets::from_keys(keys.collect(), "the deliveries apply");
        for (kind, names) in &self.names {
            targets.add_names(kind.as_ref(), names.iter().map(String::as_str));
        }
        targets
    }
}

/// Lists the deliveries of a state, which is read only below `paths` if there are any. With `files`, which are paths
/// from its root, lists only the deliveries that read one of these files, and the deliveries above them. The
/// configuration has the limits and the clusters of Argo CD. With `rendering`, charts are rendered: those that
/// deliveries use, and those of the tree that nothing uses.
///
/// # Errors
/// The configuration has a mistake, a path or a commit does not exist, git cannot read the repository, or a limit is
/// exceeded.
pub fn list_deliveries(
    choice: &StateChoice,
    paths: &[String],
    files: &BTreeSet<String>,
    config: &ConfigChoice,
    rendering: Option<&RenderingTerms>,
) -> Result<Deliveries, SessionError> {
    let anchors = match choice {
        StateChoice::Path(path) => vec![path.clone()],
        _ => Vec::new(),
    };
    let config = configuration(&Request {
        paths: anchors,
        config: config.clone(),
        ..Request::default()
    })?;
    let config = config.as_ref();
    let limits = config.map(|config| config.limits).unwrap_or_default();
    let terms = Terms {
        limits: &limits,
        clusters: config.and_then(|config| config.clusters.as_deref()),
    };
    let charts = rendering.map_or_else(Charts::unrendered, |terms| {
        charts_of_one_state(terms, config, None)
    });
    evaluate(
        choice,
        paths,
        terms,
        (&charts, &|_| true),
        |tree, all, memory| {
            let mut written = WrittenKeys {
                tree,
                files: HashMap::default(),
            };
            let mut deliveries: Vec<ListedDelivery> = all
                .iter()
                .map(|one| listed_delivery(one, tree.scopes(), &mut written))
                .collect();
            deliveries.sort_by(|one, other| one.id.cmp(&other.id));
            let left = unreached::files(tree, all, &charts).into_iter();
            let listing = DeliveryListing {
                deliveries,
                unreached: left
                    .map(|(file, objects)| UnreachedFile { file, objects })
                    .collect(),
            };
            let listing = if files.is_empty() {
                listing
            } else {
                listing.in_files(files, &readers(all, files))
            };
            let delivered = all.iter().filter(|one| !one.key.is_empty());
            let separate = separate_clusters(delivered, memory);
            Deliveries {
                separate_clusters: separate.iter().map(|name| name.to_string()).collect(),
                names: all.iter().flat_map(names_of_kinds).collect(),
                listing,
            }
        },
    )
}

/// Returns the ids of the deliveries whose delivery object is in one of `files`. A file without
/// applied objects, such as a patch, counts for the deliveries that build the nearest folder above.
fn readers(all: &[Delivery], files: &BTreeSet<String>) -> BTreeSet<String> {
    let resources = all.iter().flat_map(|one| one.resources.iter());
    let applied = resources.map(|resource| &*resource.origin.file);
    let delivering = all.iter().map(|one| &*one.file);
    let named: BTreeSet<&str> = applied.chain(delivering).collect();
    let built: BTreeSet<&str> = all
        .iter()
        .flat_map(|one| &*one.reached)
        .map(|path| &**path)
        .collect();
    let others = files.iter().filter(|file| !named.contains(file.as_str()));
    let folders =
        others.filter_map(|file| ancestors(folder_of(file)).find(|folder| built.contains(folder)));
    let folders: BTreeSet<&str> = folders.collect();
    let readers = all.iter().filter(|one| {
        files.contains(&*one.file) || folders.iter().any(|folder| one.reached.contains(*folder))
    });
    readers.map(|one| one.id.clone()).collect()
}

/// Returns the kinds of the CRDs that a delivery applies, each with the names that its CRD gives to it.
fn names_of_kinds(delivery: &Delivery) -> impl Iterator<Item = (GroupKind, Vec<String>)> {
    delivery.resources.iter().filter_map(|resource| {
        if resource.kind() != "CustomResourceDefinition" {
            return None;
        }
        let spec = resource.node.get("spec")?;
        let names = spec.get("names")?;
        let group = spec.str_at(&["group"]).unwrap_or_default();
        let kind = names.str_at(&["kind"]).unwrap_or_default();
        let mut all = names.texts_at("shortNames");
        let long = ["plural", "singular"].map(|field| names.text_at(&[field]));
        all.extend(long.into_iter().flatten());
        Some((GroupKind::new(group, kind).to_owned(), all))
    })
}

/// Evaluates the deliveries of a state, with the kustomizations that no tool of the tree builds, and passes them to
/// `answer`, with the facts about Argo CD. `counts` returns whether the charts that a file names are rendered. Charts
/// of the tree that no such file names are rendered with their default values.
///
/// # Errors
/// See [`list_deliveries`].
pub(in crate::engine) fn evaluate<T>(
    choice: &StateChoice,
    paths: &[String],
    terms: Terms<'_>,
    (charts, counts): (&Charts, &dyn Fn(&str) -> bool),
    answer: impl FnOnce(&TreeFiles<'_>, &[Delivery], &Memory) -> T,
) -> Result<T, SessionError> {
    let state = StateReader::default().read(choice, paths)?;
    if let Some(path) = state.missing.first() {
        return Err(SessionError::NotInTree { path: path.clone() });
    }
    let tree = StateFiles::of(&state).tree();
    // Rendered charts may name more charts, so this is repeated until nothing new is rendered.
    let (all, memory) = loop {
        let (all, memory) = delivered(&tree, terms, (charts, counts))?;
        let rendered = all.iter().filter(|one| counts(&one.file));
        let calls = rendered.flat_map(|one| one.charts.iter().cloned());
        if !charts.render(&calls.collect())? {
            break (all, memory);
        }
    };
    Ok(answer(&tree, &all, &memory))
}

/// Returns the deliveries of a tree, its kustomizations that nothing builds and, if charts are rendered, its charts
/// that nothing uses. Also returns the facts about Argo CD.
fn delivered(
    tree: &TreeFiles<'_>,
    terms: Terms<'_>,
    (charts, counts): (&Charts, &dyn Fn(&str) -> bool),
) -> Result<(Vec<Delivery>, Memory), BeyondLimit> {
    let builds = Builds::new(tree, charts);
    let (mut all, memory) = graph::deliveries(&builds, terms, (&[], &Memory::default()))?;
    let roots = unreached::roots(&builds, &all, terms.limits)?;
    all.extend(roots);
    if charts.are_rendered() {
        let unreached = unreached::charts(&builds, &all, counts);
        all.extend(unreached);
    }
    Ok((all, memory))
}

/// Cache of the identity that each object has in its file, before any build changes it, by file and by the byte at
/// which the object begins.
struct WrittenKeys<'t> {
    tree: &'t TreeFiles<'t>,
    files: HashMap<Arc<str>, HashMap<u32, ResId>>,
}

impl WrittenKeys<'_> {
    /// Returns the identity of an object in its file; `None` for an object that no file contains.
    fn of(&mut self, resource: &Resource) -> Option<&ResId> {
        let (tree, origin) = (self.tree, &resource.origin);
        let file = self.files.entry(Arc::clone(&origin.file));
        let keys = file.or_insert_with_key(|file| {
            let found = resources_of(&tree.parsed(file), file).unwrap_or_default();
            found
                .iter()
                .map(|resource| (resource.origin.offset, resource.id()))
                .collect()
        });
        keys.get(&origin.offset).filter(|_| !origin.is_generated)
    }
}

fn listed_delivery(
    delivery: &Delivery,
    scopes: &ClusterScopes,
    written: &mut WrittenKeys<'_>,
) -> ListedDelivery {
    let instances = delivery.resources.iter().map(|resource| {
        let key = scopes.key(&resource.id());
        let is_unknown = resource.is_possible
            || resource.is_disputed
            || key.contains("${")
            || key.contains("{{");
        ListedInstance {
            key,
            written: written.of(resource).map(|id| scopes.key(id)),
            file: resource.origin.file.to_string(),
            line: resource.origin.line,
            certainty: if is_unknown { "possible" } else { "certain" },
        }
    });
    let unread = delivery.unread.iter().map(|input| ListedUnread {
        what: input.what.as_str().to_owned(),
        subject: input.subject.clone(),
        file: input.file.clone(),
        line: input.line,
        reason: input.reason.clone(),
    });
    let unread = unread.chain(delivery.resources.iter().filter_map(unevaluated));
    let tool = match &*delivery.key {
        "" if delivery.is_chart => "helm",
        "" => "kustomize",
        key if key.contains(".argoproj.io/") => "argocd",
        _ => "flux",
    };
    let certainty = match &*delivery.key {
        "" => "unknown",
        _ if delivery.is_possible => "possible",
        _ => "certain",
    };
    let builders = [SourceTool::Flux, SourceTool::ArgoCd];
    let by = delivery.by.as_ref();
    let builds = delivery.key.is_empty() || by.is_some_and(|by| builders.contains(&by.tool));
    ListedDelivery {
        id: delivery.id.clone(),
        tool,
        cluster: non_empty(&delivery.cluster),
        key: non_empty(&delivery.key),
        path: non_empty(&delivery.path).or_else(|| builds.then(String::new)),
        parent: delivery.parent.as_deref().map(str::to_owned),
        certainty,
        location: Some(ListedLocation {
            file: delivery.file.to_string(),
            line: delivery.line,
        }),
        settings: listed_settings(&delivery.settings),
        error: delivery.error.as_ref().map(|error| error.reason.clone()),
        instances: instances.collect(),
        unread: unread.collect(),
    }
}

/// Returns an unread input if a tool that is not evaluated makes objects from this object.
fn unevaluated(resource: &Resource) -> Option<ListedUnread> {
    let ResId {
        group,
        kind,
        namespace,
        name,
        ..
    } = resource.id();
    let is_other = UNEVALUATED_DELIVERIES.contains(&GroupKind::new(&group, &kind));
    is_other.then(|| ListedUnread {
        what: What::Generator.as_str().to_owned(),
        subject: if namespace.is_empty() {
            format!("{kind} {name}")
        } else {
            format!("{kind} {namespace}/{name}")
        },
        file: resource.origin.file.to_string(),
        line: resource.origin.line,
        reason: UNEVALUATED.to_owned(),
    })
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn listed_settings(settings: &Settings) -> ListedSettings {
    let depends_on = settings.depends_on.iter();
    ListedSettings {
        prune: settings.prune,
        suspend: settings.suspend,
        deletion_policy: settings.deletion_policy.clone(),
        depends_on: depends_on
            .map(|(namespace, name)| format!("{namespace}/{name}"))
            .collect(),
        automated: settings.automated,
        self_heal: settings.self_heal,
        allow_empty: settings.allow_empty,
        sync_options: settings.sync_options.clone(),
        finalizers: settings.finalizers.clone(),
        destination_namespace: settings.destination_namespace.clone(),
        preserve_resources_on_deletion: settings.preserve_resources,
        applications_sync: settings.applications_sync.clone(),
    }
}
