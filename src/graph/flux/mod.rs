//! The objects that Flux applies from a tree: from its entry points down to the last Kustomization, each read from the
//! build of its parent.

mod kustomization;
mod release;
mod scan;
mod set_value;
mod substitute;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use self::kustomization::{FluxKustomization, SourceName, destination};
use self::release::{Applied, HelmRelease, Surroundings, is_about_charts};
use self::scan::{SourceFiles, kustomization_of};
use super::delivery::Delivery;
use super::files::TreeFiles;
use super::kustomize::{
    Budget, BuildError, Builder, Builds, Built, KustomizationDoc, Resource, resources_of,
};
use super::node::Node;
use super::reached::{Reached, left_out};
use super::scopes::ClusterScopes;
use super::unread::{UnreadInput, What};
use crate::kustomize::{BeyondLimit, Limit, ancestors, folder_of, resolve, shown};
use crate::text::Limits;

/// The data of ConfigMaps, by namespace (empty where none is written) and name.
type ConfigData = BTreeMap<(String, String), BTreeMap<String, String>>;

/// Returns everything that Flux applies from a tree.
///
/// # Errors
/// Returns an error if there are more deliveries or copies of objects than the limits allow.
///
/// `before` contains the deliveries of the previous state of the tree. Objects of a Kustomization that can no longer be
/// built stay in the cluster, and the Kustomizations among them continue.
pub fn deliveries(
    builds: &Builds<'_>,
    scopes: &ClusterScopes,
    limits: &Limits,
    before: &[Delivery],
) -> Result<Vec<Delivery>, BeyondLimit> {
    let files = builds.files();
    let written = Written::of(files);
    let budget = Budget::of(limits);
    let mut all = Vec::new();
    let orphans = Orphans::of(before);
    let entries = written.entries(files).into_iter();
    for entry in entries.filter(|entry| !orphans.have(entry)) {
        let id = format!("{}|{}", entry.folder(), entry.key());
        // The folder may have left the tree.
        let was = before.binary_search_by(|one| one.id.as_str().cmp(&id));
        let was_read = was.is_ok_and(|at| before[at].settings.unread_build.is_none());
        let is_here = was_read || files.has_folder(&entry.folder());
        let cluster = Cluster {
            builds,
            written: &written,
            scopes,
            own: if is_here {
                entry.source()
            } else {
                SourceName::default()
            },
            budget: &budget,
            before,
        };
        cluster.follow(entry, limits, &mut all)?;
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    all.dedup_by(|one, other| one.id == other.id);
    Ok(all)
}

/// Kustomizations that others delivered before and delete when they are removed from the sources. One that nothing
/// delivers any more is not an entry point: nothing applies it. One that is not deleted continues (recorded:
/// flux-parent-removed-orphan-children).
struct Orphans<'d>(HashSet<(&'d str, &'d str)>);

impl<'d> Orphans<'d> {
    fn of(before: &'d [Delivery]) -> Self {
        let entries = before.iter().filter(|one| one.parent.is_none());
        let entries: HashSet<_> = entries.filter_map(file_and_name).collect();
        let deleting = before.iter().filter(|one| {
            let settings = &one.settings;
            settings.prune == Some(true)
                && settings.suspend != Some(true)
                && settings.deletion_policy.as_deref() != Some("Orphan")
        });
        let deleting: HashSet<&str> = deleting.map(|one| one.id.as_str()).collect();
        let deleted = before.iter().filter(|one| {
            let parent = one.parent.as_deref();
            parent.is_some_and(|parent| deleting.contains(parent))
        });
        let delivered = deleted.filter_map(file_and_name);
        Self(delivered.filter(|one| !entries.contains(one)).collect())
    }

    fn have(&self, entry: &FluxKustomization) -> bool {
        self.0.contains(&(&*entry.origin.file, entry.name.as_str()))
    }
}

/// Returns the file and the name of a delivery object, without its namespace: the build that delivers it may set that.
fn file_and_name(delivery: &Delivery) -> Option<(&str, &str)> {
    Some((&delivery.file, &delivery.by.as_ref()?.name))
}

/// Returns the releases of HelmReleases that no Kustomization of Flux delivers: other tools deliver them, or they are
/// applied by hand. `delivered` contains all other deliveries, `before` those of the previous state: a HelmRelease that
/// was delivered there is not applied by hand.
///
/// # Errors
/// Returns the errors of [`deliveries`].
pub fn releases(
    builds: &Builds<'_>,
    scopes: &ClusterScopes,
    limits: &Limits,
    delivered: &[Delivery],
    before: &[Delivery],
) -> Result<Vec<Delivery>, BeyondLimit> {
    let files = builds.files();
    let written = Written::of(files);
    let known: BTreeSet<&str> = delivered.iter().map(|one| one.id.as_str()).collect();
    let reached = delivered.iter().chain(before).flat_map(|one| {
        let read = one.reached.iter().map(String::as_str);
        let applied = one.resources.iter().map(|resource| &resource.origin);
        let applied = applied.filter(|origin| !origin.is_generated);
        read.chain(applied.map(|origin| &*origin.file))
    });
    let reached: BTreeSet<&str> = reached.collect();
    let mut found = Found::default();
    for one in delivered {
        found.take(one, &one.resources);
    }
    let left_out = left_out(files, written.releases.iter().map(|one| &*one.origin.file));
    let alone = written.releases.iter().filter(|release| {
        let file = &*release.origin.file;
        !reached.contains(file) && !left_out.contains(file)
    });
    for release in alone {
        found
            .releases
            .push_back((Arc::from(""), None, release.clone()));
    }
    let own = SourceName::default();
    let budget = Budget::of(limits);
    let mut all: Vec<Delivery> = Vec::new();
    while let Some((here, parent, release)) = found.releases.pop_front() {
        let around = Surroundings {
            files,
            charts: builds.charts(),
            scopes,
            written: &written,
            applied: found.applied.get(&here),
            own: &own,
            builder: Builder::within(builds, &budget),
        };
        let delivery = HelmRelease::of(&release)
            .map(|release| release.delivery(&around, ("", &here), parent))
            .filter(|delivery| !known.contains(delivery.id.as_str()));
        if let Some(delivery) = delivery {
            within(&budget, limits, &delivery, delivered.len() + all.len())?;
            found.take(&delivery, &delivery.resources);
            all.push(delivery);
        }
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    all.dedup_by(|one, other| one.id == other.id);
    Ok(all)
}

/// Takes the objects of a release from a budget.
fn within(
    budget: &Budget,
    limits: &Limits,
    delivery: &Delivery,
    deliveries: usize,
) -> Result<(), BeyondLimit> {
    let copies = budget.take(delivery.resources.len(), &delivery.file);
    let limit = match (copies, deliveries >= limits.deliveries) {
        (Err(_), _) => Limit::Instances,
        (Ok(()), true) => Limit::Deliveries,
        (Ok(()), false) => return Ok(()),
    };
    Err(BeyondLimit::of(limit, limits, &*delivery.file))
}

/// The objects in the files of a tree, applied or not.
struct Written {
    kustomizations: Vec<(String, FluxKustomization)>,
    /// The files of the sources that have patterns of ignored files.
    sources: BTreeMap<SourceName, SourceFiles>,
    /// The files of all other sources.
    source: SourceFiles,
    /// The roots of artifacts that contain a folder of the tree.
    roots: BTreeMap<SourceName, String>,
    /// The commits and tags of the sources that name one.
    fixed: BTreeMap<SourceName, String>,
    config: ConfigData,
    /// Sources of charts and values, applied or not.
    charts: Applied,
    releases: Vec<Resource>,
    /// Folders that a FluxInstance syncs.
    synced: Vec<FluxKustomization>,
    /// Sources that are taken to be this tree: most of their Kustomizations name folders in it.
    own: BTreeSet<SourceName>,
}

impl Written {
    fn of(files: &TreeFiles<'_>) -> Self {
        let mut written = Self {
            kustomizations: Vec::new(),
            sources: BTreeMap::new(),
            source: SourceFiles::of(files, None),
            roots: BTreeMap::new(),
            fixed: BTreeMap::new(),
            config: BTreeMap::new(),
            charts: Applied::default(),
            releases: Vec::new(),
            synced: Vec::new(),
            own: BTreeSet::new(),
        };
        if !files.manifests().any(|path| files.mentions(path, "fluxcd")) {
            return written;
        }
        for path in files.manifests() {
            if files.is_kustomization(path) {
                continue;
            }
            let parsed = files.parsed(path);
            for resource in resources_of(&parsed, path).unwrap_or_default() {
                written.take(files, path, &resource);
            }
        }
        written.find_roots(files);
        let mut named: BTreeMap<SourceName, (usize, usize)> = BTreeMap::new();
        for (_, one) in &written.kustomizations {
            let folder = one.folder();
            if !folder.is_empty() {
                let (here, elsewhere) = named.entry(one.source()).or_default();
                *(if files.has_folder(&folder) {
                    here
                } else {
                    elsewhere
                }) += 1;
            }
        }
        let own = named
            .into_iter()
            .filter(|(_, (here, elsewhere))| here > elsewhere);
        written.own = own.map(|(name, _)| name).collect();
        written
    }

    /// Finds the roots of artifacts: `flux push artifact --path` takes one folder. Most Kustomizations of the artifact
    /// are then in this folder and name folders in it.
    fn find_roots(&mut self, files: &TreeFiles<'_>) {
        let mut named: BTreeMap<SourceName, usize> = BTreeMap::new();
        let mut found: BTreeMap<SourceName, BTreeMap<&str, usize>> = BTreeMap::new();
        let artifacts = self.kustomizations.iter().filter(|(_, one)| {
            let (kind, ..) = one.source();
            kind == "OCIRepository" || kind == "Bucket"
        });
        for (path, one) in artifacts {
            let folder = one.folder();
            if folder.is_empty() {
                continue;
            }
            *named.entry(one.source()).or_default() += 1;
            let roots = found.entry(one.source()).or_default();
            let above = ancestors(folder_of(path));
            for root in above.filter(|root| files.has_folder(&resolve(root, &folder))) {
                *roots.entry(root).or_default() += 1;
            }
        }
        let mut roots = BTreeMap::new();
        for (source, found) in found {
            let most = found
                .into_iter()
                .max_by_key(|(root, count)| (*count, Reverse(root.len())));
            let most = most.filter(|(_, count)| 2 * count > named[&source]);
            roots.extend(most.map(|(root, _)| (source, root.to_owned())));
        }
        self.roots = roots;
        let kustomizations = std::mem::take(&mut self.kustomizations).into_iter();
        let kustomizations = kustomizations.map(|(path, one)| (path, one.rooted(&self.roots)));
        self.kustomizations = kustomizations.collect();
        let synced = std::mem::take(&mut self.synced).into_iter();
        self.synced = synced.map(|one| one.rooted(&self.roots)).collect();
    }

    fn take(&mut self, files: &TreeFiles<'_>, path: &str, resource: &Resource) {
        let id = resource.id();
        if is_about_charts(&id.group, &id.kind) {
            self.charts.add(resource);
        }
        match (id.group.as_str(), id.kind.as_str()) {
            (kustomization::GROUP, "Kustomization") => {
                let found = FluxKustomization::of(resource);
                self.kustomizations
                    .extend(found.map(|found| (path.to_owned(), found)));
            }
            ("source.toolkit.fluxcd.io", kind) => {
                let name: SourceName = (kind.to_owned(), id.namespace.into(), id.name.into());
                if let Some(patterns) = resource.node.text_at(&["spec", "ignore"]) {
                    self.sources
                        .insert(name.clone(), SourceFiles::of(files, Some(&patterns)));
                }
                // A tag of an artifact moves, one of a repository does not.
                let keys = ["commit", "tag"].into_iter();
                let mut fixed = keys.filter_map(|key| resource.node.text_at(&["spec", "ref", key]));
                if let Some(revision) = fixed.next().filter(|_| kind == "GitRepository") {
                    self.fixed.insert(name, revision);
                }
            }
            ("", "ConfigMap") => {
                let data = resource.node.entries_at(&["data"]).into_iter();
                let data = data.map(|(key, value)| {
                    (
                        key.to_string(),
                        value.scalar().unwrap_or_default().replace('\n', ""),
                    )
                });
                self.config
                    .entry((id.namespace.into(), id.name.into()))
                    .or_insert(data.collect());
            }
            ("fluxcd.controlplane.io", "FluxInstance") => {
                let sync = resource.node.at(&["spec", "sync"]);
                self.synced
                    .extend(sync.and_then(|sync| synced(&sync, resource)));
            }
            ("helm.toolkit.fluxcd.io", "HelmRelease") => {
                self.releases.push(resource.clone());
                let sync = resource.node.at(&["spec", "values", "instance", "sync"]);
                self.synced
                    .extend(sync.and_then(|sync| synced(&sync, resource)));
            }
            _ => {}
        }
    }

    /// Returns the entry points: folders that a FluxInstance syncs, and Kustomizations that no other one builds.
    fn entries(&self, files: &TreeFiles<'_>) -> Vec<FluxKustomization> {
        let left_out = left_out(
            files,
            self.kustomizations.iter().map(|(path, _)| path.as_str()),
        );
        let written = self.kustomizations.iter();
        let written: Vec<_> = written
            .filter(|(path, _)| !left_out.contains(path))
            .collect();
        let mut entries: Vec<FluxKustomization> = Vec::new();
        let synced = self.synced.iter();
        let synced = synced.filter(|one| files.has_folder(&one.folder()));
        entries.extend(synced.cloned());
        let mut reached = Reached::new(files);
        let all = written.iter().map(|(_, one)| one).chain(&entries);
        for (number, one) in all.enumerate() {
            let (folder, source) = (one.folder(), self.source(one));
            let begin = format!("{folder}\0{}", source.patterns());
            reached.set_entries(&begin, || {
                let doc = kustomization_of(files, source, &folder, "", false).ok();
                doc.as_ref()
                    .map(KustomizationDoc::includes)
                    .unwrap_or_default()
            });
            let components = one.spec.texts_at("components").into_iter();
            let components = components.map(|path| resolve(&folder, &path));
            reached.follow(number, components.chain([begin]).collect());
        }
        let first = written.iter().enumerate().filter(|(number, (path, one))| {
            // Every repository has a root: a Kustomization of the root needs a source that is this tree.
            let folder = one.folder();
            let is_here = !folder.is_empty() || self.own.contains(&one.source());
            one.is_bootstrap(path, &folder) || is_here && !reached.by_another(path, *number)
        });
        let first: Vec<FluxKustomization> = first.map(|(_, (_, one))| one.clone()).collect();
        entries.extend(first);
        entries
    }

    fn source(&self, one: &FluxKustomization) -> &SourceFiles {
        self.sources.get(&one.source()).unwrap_or(&self.source)
    }
}

/// Returns the Kustomization that the Flux operator creates for `sync`.
fn synced(sync: &Node, resource: &Resource) -> Option<FluxKustomization> {
    let path = sync.text_at(&["path"])?;
    let namespace = match resource.id().namespace {
        namespace if namespace.is_empty() => "flux-system".to_owned(),
        namespace => namespace.into(),
    };
    let name = sync.text_at(&["name"]).unwrap_or_else(|| namespace.clone());
    let mut spec = Node::empty_map();
    spec.set("path", Node::text(path));
    spec.set("prune", Node::Bool(true));
    let mut source = Node::empty_map();
    source.set(
        "kind",
        Node::text(sync.text_at(&["kind"]).unwrap_or_default()),
    );
    source.set("name", Node::text(name.as_str()));
    spec.set("sourceRef", source);
    Some(FluxKustomization {
        namespace,
        name,
        spec,
        origin: resource.origin.clone(),
        root: String::new(),
    })
}

/// Objects of deliveries that are evaluated later.
#[derive(Default)]
struct Found {
    /// HelmReleases, with their clusters and deliveries.
    releases: VecDeque<(Arc<str>, Option<Arc<str>>, Resource)>,
    /// Sources of charts and values, by cluster.
    applied: BTreeMap<Arc<str>, Applied>,
}

impl Found {
    /// Adds the objects that a delivery applies, and returns the Kustomizations among them.
    fn take(&mut self, delivery: &Delivery, resources: &[Resource]) -> Vec<Step> {
        let (cluster, id) = (&delivery.cluster, Arc::<str>::from(delivery.id.as_str()));
        let mut children = Vec::new();
        for resource in resources {
            let kind = resource.id();
            if is_about_charts(&kind.group, &kind.kind) {
                let applied = self.applied.entry(Arc::clone(cluster)).or_default();
                applied.add(resource);
            }
            if HelmRelease::of(resource).is_some() {
                let by = Some(Arc::clone(&id));
                self.releases
                    .push_back((Arc::clone(cluster), by, resource.clone()));
            }
            let child = FluxKustomization::of(resource);
            children.extend(child.map(|child| (Arc::clone(cluster), Some(Arc::clone(&id)), child)));
        }
        children
    }
}

/// A Kustomization in a cluster, and the delivery that applies it.
type Step = (Arc<str>, Option<Arc<str>>, FluxKustomization);

/// The context of the deliveries of one entry point.
struct Cluster<'c> {
    builds: &'c Builds<'c>,
    written: &'c Written,
    scopes: &'c ClusterScopes,
    /// The source of the entry point: this tree, under any name.
    own: SourceName,
    budget: &'c Budget,
    before: &'c [Delivery],
}

impl Cluster<'_> {
    fn follow(
        &self,
        entry: FluxKustomization,
        limits: &Limits,
        all: &mut Vec<Delivery>,
    ) -> Result<(), BeyondLimit> {
        let home = entry.home();
        let here = Arc::from(entry.folder());
        let mut pending = VecDeque::from([(here, None, entry)]);
        let mut seen = BTreeSet::new();
        let mut found = Found::default();
        loop {
            while let Some((here, parent, one)) = pending.pop_front() {
                let one = one.rooted(&self.written.roots);
                let cluster = destination(&one.spec, &home, &here);
                if !seen.insert((Arc::clone(&cluster), one.key())) {
                    continue;
                }
                let folder = one.folder();
                if all.len() >= limits.deliveries {
                    return Err(BeyondLimit::of(
                        Limit::Deliveries,
                        limits,
                        &*one.origin.file,
                    ));
                }
                let mut delivery = one.delivery(&cluster, parent);
                delivery.settings.revision = self.written.fixed.get(&one.source()).cloned();
                match self.build(&one, &self.builder()) {
                    Err(Foreign(unread)) => {
                        delivery.settings.unread_build = Some(one.deciding());
                        delivery.unread.push(unread);
                    }
                    Ok(Err(_)) if self.budget.is_spent() => {
                        return Err(BeyondLimit::of(Limit::Instances, limits, shown(&folder)));
                    }
                    Ok(Err(error)) => {
                        delivery.error = Some(error);
                        let attempt = self.build(&one, &self.builder().without_failures());
                        delivery.attempt = attempt.ok().and_then(Result::ok).map(|built| {
                            delivery.reached = Arc::new(built.reached);
                            built.resources
                        });
                        delivery.built_first = self.built_first(&one, delivery.parent.as_deref());
                    }
                    Ok(Ok(built)) => {
                        delivery.resources = built.resources;
                        delivery.reached = Arc::new(built.reached);
                        delivery.unread = built.unread;
                        delivery.charts = built.charts;
                    }
                }
                let in_cluster = match &delivery.error {
                    Some(_) => self.applied_before(&delivery.id),
                    None => delivery.resources.as_slice(),
                };
                pending.extend(found.take(&delivery, in_cluster));
                all.push(delivery);
            }
            // Sources and values may be anywhere in the cluster, so releases come after all Kustomizations.
            let Some((here, parent, release)) = found.releases.pop_front() else {
                return Ok(());
            };
            let around = Surroundings {
                files: self.builds.files(),
                charts: self.builds.charts(),
                scopes: self.scopes,
                written: self.written,
                applied: found.applied.get(&here),
                own: &self.own,
                builder: Builder::within(self.builds, self.budget),
            };
            let release = HelmRelease::of(&release)
                .map(|release| release.delivery(&around, (&home, &here), parent));
            if let Some(delivery) = release {
                within(self.budget, limits, &delivery, all.len())?;
                pending.extend(found.take(&delivery, &delivery.resources));
                all.push(delivery);
            }
        }
    }

    /// Builds a Kustomization as its parent applied it before: it reconciles the new sources once before its parent
    /// changes it (recorded: flux-postbuild-variable-dropped). `None` if it was not applied or cannot be built.
    fn built_first(
        &self,
        one: &FluxKustomization,
        parent: Option<&str>,
    ) -> Option<Arc<Vec<Resource>>> {
        let there = self.applied_before(parent?).iter();
        let mut there = there.filter_map(FluxKustomization::of);
        let before = there.find(|before| before.key() == one.key())?;
        let before = before.rooted(&self.written.roots);
        let built = self.build(&before, &self.builder()).ok()?;
        Some(built.ok()?.resources)
    }

    fn applied_before(&self, id: &str) -> &[Resource] {
        let found = self.before.binary_search_by(|one| one.id.as_str().cmp(id));
        found.map_or(&[], |at| &self.before[at].resources)
    }

    fn builder(&self) -> Builder<'_> {
        Builder::within(self.builds, self.budget)
    }

    fn build(
        &self,
        one: &FluxKustomization,
        builder: &Builder<'_>,
    ) -> Result<Result<Built, BuildError>, Foreign> {
        let (kind, namespace, name) = one.source();
        let is_git = kind == "GitRepository" || kind.is_empty();
        let folder = one.folder();
        let source = (kind.clone(), namespace, name.clone());
        let is_own = self.own == source || self.written.own.contains(&source);
        let is_here =
            is_own || is_git && !folder.is_empty() && self.builds.files().has_folder(&folder);
        if !is_here {
            let reason = "its source is not this tree";
            let subject = format!("{kind} {name}");
            return Err(Foreign(one.origin.unread(
                What::OtherRepository,
                subject,
                reason,
            )));
        }
        let variables = one.variables(|namespace, name| {
            [namespace, ""].into_iter().find_map(|namespace| {
                let key = (namespace.to_owned(), name.to_owned());
                self.written.config.get(&key).cloned()
            })
        });
        let source = self.written.source(one);
        Ok(one.build(self.builds.files(), builder, source, &variables))
    }
}

/// A Kustomization whose source is elsewhere.
struct Foreign(UnreadInput);
