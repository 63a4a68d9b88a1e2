//! The objects of Flux in the files of a tree, and the entry points among them.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use super::SourceName;
use super::kustomization::{self, FluxKustomization};
use super::release::{Applied, address, is_source};
use super::scan::{SourceFiles, kustomization_of};
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{KustomizationDoc, ResId, Resource, resources_of};
use crate::graph::node::Node;
use crate::graph::reached::{Majorities, Reached, left_out};
use crate::kustomize::{ancestors, folder_of, resolve};

/// The objects in the files of a tree, applied or not.
#[derive(Default)]
pub(super) struct Written {
    kustomizations: Vec<(String, FluxKustomization)>,
    /// The patterns of ignored files of the sources that have some.
    pub(super) ignored: BTreeMap<SourceName, String>,
    /// The files of sources, by their patterns.
    sources: RefCell<BTreeMap<Option<String>, Rc<SourceFiles>>>,
    /// The roots of artifacts that contain a folder of the tree.
    pub(super) roots: BTreeMap<SourceName, String>,
    /// The commits and tags of the sources that name one.
    pub(super) fixed: BTreeMap<SourceName, String>,
    /// ConfigMaps and Secrets, with an empty namespace where none is written; `None` for several of one name.
    data: BTreeMap<SourceName, Option<Node>>,
    /// Sources of charts and values, applied or not.
    pub(super) charts: Applied,
    pub(super) releases: Vec<Resource>,
    /// The Kustomizations that the Flux Operator creates for the folders that FluxInstances sync.
    synced: Vec<FluxKustomization>,
    /// Such Kustomizations of the previous state whose FluxInstances left the tree.
    synced_before: Vec<FluxKustomization>,
    /// Sources that are assumed to be this tree: most of their Kustomizations name folders in it.
    pub(super) own: BTreeSet<SourceName>,
    /// The normalized addresses of `own`.
    pub(super) own_addresses: BTreeSet<String>,
    /// The repository from which Flux was bootstrapped, without the host: it may have several.
    bootstrapped: BTreeSet<String>,
}

impl Written {
    pub(super) fn new(files: &TreeFiles<'_>) -> Self {
        let mut written = Self::default();
        if !files.manifests().any(|path| files.mentions(path, "fluxcd")) {
            return written;
        }
        for path in files.manifests() {
            // A link is skipped: its target is a file of the tree, too.
            if files.builds_its_folder(path) || files.is_link(path) {
                continue;
            }
            for resource in objects_of(files, path) {
                written.take(path, &resource);
            }
        }
        written.find_roots(files);
        let mut named = Majorities::default();
        for (_, one) in &written.kustomizations {
            let folder = one.folder();
            if !folder.is_empty() {
                named.count(one.source(), files.has_folder(&folder));
            }
        }
        written.own = named.own();
        written.find_bootstrapped();
        let own = written.own.iter().filter_map(|own| written.charts.get(own));
        written.own_addresses = own.filter_map(address).collect();
        written
    }

    /// Finds the repository from which Flux was bootstrapped: only this one is this tree.
    fn find_bootstrapped(&mut self) {
        // The Flux Operator creates the source of a FluxInstance: no file contains it.
        if !self.synced.is_empty() {
            return;
        }
        let first = self.kustomizations.iter().filter(|(path, one)| {
            let folder = one.folder();
            let is_root = folder.is_empty() && !path.ends_with("/gotk-sync.yaml");
            one.is_bootstrap(path, &folder) && !is_root
        });
        let sources = first.filter_map(|(_, one)| self.charts.get(&one.source()));
        let sources = sources.filter(|source| source.str_at(&["kind"]) == Some("GitRepository"));
        self.bootstrapped = sources.filter_map(path_in_host).collect();
        let own = std::mem::take(&mut self.own).into_iter();
        self.own = own.filter(|source| !self.is_foreign(source)).collect();
    }

    /// Whether a source is not the repository from which Flux was bootstrapped.
    pub(super) fn is_foreign(&self, source: &SourceName) -> bool {
        if self.bootstrapped.is_empty() || source.0 != "GitRepository" {
            return false;
        }
        let path = self.charts.get(source).and_then(path_in_host);
        path.is_some_and(|path| !self.bootstrapped.contains(&path))
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
        let roots = found.into_iter().filter_map(|(source, found)| {
            let most = found
                .into_iter()
                .max_by_key(|(root, count)| (*count, Reverse(root.len())));
            let (root, _) = most.filter(|(_, count)| 2 * count > named[&source])?;
            Some((source, root.to_owned()))
        });
        self.roots = roots.collect();
        let kustomizations = self.kustomizations.iter_mut().map(|(_, one)| one);
        for one in kustomizations.chain(&mut self.synced) {
            one.set_root(&self.roots);
        }
    }

    fn take(&mut self, path: &str, resource: &Resource) {
        let id = resource.id();
        self.synced.extend(synced(&id, resource));
        if is_source(&id.group, &id.kind) {
            self.charts.add(resource);
        }
        match (id.group.as_str(), id.kind.as_str()) {
            (kustomization::GROUP, "Kustomization") => {
                let found = FluxKustomization::from_resource(resource);
                self.kustomizations
                    .extend(found.map(|found| (path.to_owned(), found)));
            }
            ("source.toolkit.fluxcd.io", kind) => {
                let name: SourceName = (kind.to_owned(), id.namespace.into(), id.name.into());
                if let Some(patterns) = resource.node.text_at(&["spec", "ignore"]) {
                    self.ignored.insert(name.clone(), patterns);
                }
                if let Some(revision) = fixed_revision(&resource.node) {
                    self.fixed.insert(name, revision);
                }
            }
            ("", kind @ ("ConfigMap" | "Secret")) => {
                let name = (kind.to_owned(), id.namespace.into(), id.name.into());
                self.data
                    .entry(name)
                    .and_modify(|only| *only = None)
                    .or_insert_with(|| Some(resource.node.clone()));
            }
            ("helm.toolkit.fluxcd.io", "HelmRelease") => self.releases.push(resource.clone()),
            _ => {}
        }
    }

    /// Returns the entry points: folders that a FluxInstance syncs, and Kustomizations that no other one builds.
    pub(super) fn entries(&self, files: &TreeFiles<'_>) -> Vec<FluxKustomization> {
        let paths = self.kustomizations.iter().map(|(path, _)| path.as_str());
        let left_out = left_out(files, paths);
        let written = self.kustomizations.iter();
        let written: Vec<_> = written
            .filter(|(path, _)| !left_out.contains(path))
            .collect();
        let synced = self.synced.iter();
        let synced = synced.filter(|one| files.has_folder(&one.folder()));
        // Their folders may have left the tree: they then cannot be built.
        let synced = synced.chain(&self.synced_before);
        let mut entries: Vec<FluxKustomization> = synced.cloned().collect();
        let mut reached = Reached::new(files);
        let all = written.iter().map(|(_, one)| one).chain(&entries);
        for (number, one) in all.enumerate() {
            let ignored = self.ignored.get(&one.source()).map(String::as_str);
            let (folder, source) = (one.folder(), self.files_of(files, ignored));
            let begin = format!("{folder}\0{}", source.patterns);
            reached.set_entries(&begin, || {
                let doc = kustomization_of(files, &source, &folder, "", false).ok();
                doc.as_ref()
                    .map(KustomizationDoc::includes)
                    .unwrap_or_default()
            });
            let components = one.spec.texts_at("components").into_iter();
            let components = components.map(|path| resolve(&folder, &path));
            reached.follow(number, components.chain([begin]).collect());
        }
        let first = written.iter().enumerate().filter(|(number, (path, one))| {
            // Every repository has a root, so a path to the root proves nothing about the source.
            let folder = one.folder();
            let is_here = !folder.is_empty() || self.own.contains(&one.source());
            one.is_bootstrap(path, &folder) || is_here && !reached.by_another(path, *number)
        });
        entries.extend(first.map(|(_, (_, one))| one.clone()));
        entries
    }

    /// Finds the entry points of the previous state `earlier` that the Flux Operator created for a FluxInstance that
    /// `files` lacks. They are in no file, and stay in the cluster until the FluxInstance is deleted: they build this
    /// state, too. `before` contains the deliveries of the previous state.
    pub(super) fn find_synced_before(
        &mut self,
        (earlier, files): (&TreeFiles<'_>, &TreeFiles<'_>),
        before: &[Delivery],
    ) {
        let written = self.kustomizations.iter().map(|(_, one)| one);
        let all = written.chain(&self.synced);
        let ids: BTreeSet<String> = all.map(FluxKustomization::entry_id).collect();
        let lost = before
            .iter()
            .filter(|one| one.parent.is_none() && !ids.contains(&one.id));
        // Each file is read once, even if it contains several of them.
        let mut in_files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for one in lost {
            in_files.entry(&one.file).or_default().insert(&one.id);
        }
        let mut found = Vec::new();
        for (file, lost) in in_files {
            let written = objects_of(earlier, file);
            let synced = written.iter().filter_map(|resource| {
                let id = resource.id();
                let mut synced = synced(&id, resource)?;
                synced.set_root(&self.roots);
                let is_lost = lost.contains(synced.entry_id().as_str());
                is_lost.then_some((id, synced))
            });
            let synced: Vec<(ResId, FluxKustomization)> = synced.collect();
            if synced.is_empty() {
                continue;
            }
            let stay: HashSet<ResId> = objects_of(files, file).iter().map(Resource::id).collect();
            let gone = synced.into_iter().filter(|(id, _)| !stay.contains(id));
            found.extend(gone.map(|(_, synced)| synced));
        }
        self.synced_before = found;
    }

    /// Returns the files of a source without those that match the patterns `ignore`.
    pub(super) fn files_of(&self, files: &TreeFiles<'_>, ignore: Option<&str>) -> Rc<SourceFiles> {
        let mut known = self.sources.borrow_mut();
        let found = known.entry(ignore.map(str::to_owned));
        let found = found.or_insert_with(|| Rc::new(SourceFiles::new(files, ignore)));
        Rc::clone(found)
    }

    /// Whether a ConfigMap or a Secret of a name is in a file.
    pub(super) fn has_data(&self, name: &SourceName) -> bool {
        self.data.contains_key(name) || self.data.contains_key(&without_namespace(name))
    }

    /// Returns the ConfigMap or the Secret of a name, if there is exactly one.
    pub(super) fn only_data(&self, name: &SourceName) -> Option<&Node> {
        match (self.data.get(name), self.data.get(&without_namespace(name))) {
            (Some(only), None) | (None, Some(only)) => only.as_ref(),
            _ => None,
        }
    }
}

/// Returns the address of a source without the host; `None` if only the cluster knows it.
fn path_in_host(source: &Node) -> Option<String> {
    let address = address(source).filter(|address| !address.contains('$'))?;
    Some(address.split_once('/')?.1.to_owned())
}

/// Returns the commit or tag that a source names. A tag of an artifact moves, one of a repository does not.
pub(super) fn fixed_revision(source: &Node) -> Option<String> {
    let is_repository = source.str_at(&["kind"]) == Some("GitRepository");
    let mut keys = ["commit", "tag"].into_iter().filter(|_| is_repository);
    keys.find_map(|key| source.text_at(&["spec", "ref", key]))
}

/// Returns the name of an object whose file does not state its namespace.
fn without_namespace((kind, _, name): &SourceName) -> SourceName {
    (kind.clone(), String::new(), name.clone())
}

/// Returns the objects in a file; none if it does not exist or cannot be read.
fn objects_of(files: &TreeFiles<'_>, path: &str) -> Vec<Resource> {
    resources_of(&files.parsed(path), path).unwrap_or_default()
}

/// Returns the Kustomization that the Flux Operator creates for a FluxInstance, or for the HelmRelease of its chart.
fn synced(id: &ResId, resource: &Resource) -> Option<FluxKustomization> {
    let sync = match (id.group.as_str(), id.kind.as_str()) {
        ("fluxcd.controlplane.io", "FluxInstance") => resource.node.at(&["spec", "sync"]),
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            resource.node.at(&["spec", "values", "instance", "sync"])
        }
        _ => None,
    }?;
    let path = sync.text_at(&["path"])?;
    let namespace = match id.namespace.as_str() {
        "" => "flux-system".to_owned(),
        namespace => namespace.to_owned(),
    };
    let name = sync.text_at(&["name"]).unwrap_or_else(|| namespace.clone());
    let mut spec = Node::empty_map();
    spec.set("path", Node::text(path));
    spec.set("prune", Node::Bool(true));
    let mut source = Node::empty_map();
    let kind = sync.text_at(&["kind"]).unwrap_or_default();
    source.set("kind", Node::text(kind));
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
