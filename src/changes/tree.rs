//! One side of a change: its objects, and where each of them is applied.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::{BuiltObjects, DeliveryName, Destination};
use crate::graph::delivery::Settings as DeliverySettings;
use crate::inventory::{AppliedFile, Inventory, Member, ObjectId, Settings};
use crate::kube::ObjectKey;
use crate::kustomize::{Deliverer, SourceTool};
use crate::text::FileId;

/// A file of a side.
#[derive(Clone, Debug)]
pub struct PlacedFile {
    /// Its path from the root of the side, which identifies it on both sides.
    pub place: Arc<str>,
    /// The destination of its objects.
    pub destination: Destination,
    /// The file.
    pub file: AppliedFile,
    /// The build that applies its objects, if it is known.
    pub build: Option<Arc<BuiltObjects>>,
}

/// A part of a side: files that are read with the same settings.
#[derive(Debug)]
pub struct TreePart {
    /// Its objects.
    pub inventory: Inventory,
    /// The name of its cluster, if it is given: parts with different names are in different clusters.
    pub cluster: Option<Arc<str>>,
    files: Vec<FileOfPart>,
    /// The files of each destination, in order, found on first use.
    files_at: OnceLock<BTreeMap<Destination, Vec<FileId>>>,
    whole: Arc<WholeTree>,
}

/// Facts about a file of a part.
#[derive(Debug)]
struct FileOfPart {
    place: Arc<str>,
    destination: Destination,
    build: Option<Arc<BuiltObjects>>,
}

/// Facts about a whole side, shared by its parts.
#[derive(Clone, Debug, Default)]
pub struct WholeTree {
    /// The folders that contain files of any kind, directly or not.
    pub folders: BTreeSet<String>,
    /// The destinations that cannot be built, each with the reason: `apps has no kustomization`.
    pub unbuildable: BTreeMap<Destination, String>,
    /// The deliveries of the delivery graph.
    pub deliveries: BTreeMap<Deliverer, KnownDelivery>,
    /// The settings of HelmReleases whose charts were not read, by the ids of their deliveries.
    pub unread_releases: BTreeMap<String, DeliverySettings>,
    /// Argo CD deliveries that head removes, as they would be if their objects stay in the cluster.
    pub kept: BTreeMap<Deliverer, KeptDelivery>,
}

/// A delivery that head removes, as it would be if its object stays in the cluster.
#[derive(Clone, Debug)]
pub struct KeptDelivery {
    /// The delivery.
    pub known: KnownDelivery,
    /// The keys of the objects that it delivers.
    pub keys: BTreeSet<String>,
}

/// A delivery of the delivery graph: its object as the parent applies it, and its build.
#[derive(Clone, Debug)]
pub struct KnownDelivery {
    /// Its settings.
    pub settings: DeliverySettings,
    /// The key of the object that applies it; `None` if nothing in the tree does.
    pub parent: Option<String>,
    /// Why it is not certain that it exists: `clusters: the list of clusters is not in the tree`.
    pub doubt: Option<String>,
    /// Whether it depends on facts that only the cluster or a service knows.
    pub is_possible: bool,
    /// The name of the object that represents it, if the name of the deliverer is more specific.
    pub object: Option<String>,
    /// The chart that was rendered for it: `chart web 1.0.0 → 2.0.0`.
    pub chart: Option<String>,
    /// The error, if it cannot be built.
    pub error: Option<String>,
    /// Why it may fail, which only the cluster knows: a phrase that follows its name.
    pub may_fail: Option<String>,
    /// If it fails after its first build, with which it still prunes: the keys of the objects of
    /// that build.
    pub built_first: Option<BTreeSet<String>>,
    /// The Kustomizations that must be ready before it applies anything.
    pub awaits: Vec<Deliverer>,
    /// Whether it builds no object.
    pub is_empty: bool,
    /// The inputs that it depends on and that were not read.
    pub unread: BTreeSet<String>,
    /// Facts about its objects, which deliveries of one build share.
    pub objects: Arc<DeliveredObjects>,
}

/// Facts about the objects that a build makes.
#[derive(Debug, Default)]
pub struct DeliveredObjects {
    /// The keys of the objects that are delivered only under conditions that are not known to hold.
    pub possible: BTreeSet<String>,
    /// The marks of the objects after the build, by key; objects without marks are left out.
    pub marks: BTreeMap<String, DeliveredMarks>,
}

impl KnownDelivery {
    /// Returns the marks that the build puts on one of its objects, if any.
    pub fn marks_of(&self, member: &Member) -> Option<&DeliveredMarks> {
        // Most builds mark nothing, so the key need not be formatted.
        if self.objects.marks.is_empty() {
            return None;
        }
        self.objects.marks.get(&member.key.to_string())
    }
}

/// The labels and annotations that a build gives an object and that tools obey.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeliveredMarks {
    /// Flux never prunes it.
    pub is_spared_by_flux: bool,
    /// Flux deletes it and creates it again if it cannot be updated.
    pub is_forced_by_flux: bool,
    /// Flux leaves it as it is if it exists.
    pub is_skipped_by_flux: bool,
    /// `argocd.argoproj.io/sync-options`.
    pub sync_options: Vec<String>,
    /// Argo CD runs it as a hook.
    pub is_hook: bool,
    /// It is a deletion hook, or is deleted after success: it is not in the cluster between syncs.
    pub is_transient: bool,
    /// Argo CD ignores it if it is extraneous.
    pub is_ignored_as_extraneous: bool,
    /// Its template names no namespace, so it is in the namespace of its release.
    pub is_placed_by_release: bool,
}

/// The location of an object of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePlace {
    /// The index of the tree part.
    pub tree: usize,
    /// The object.
    pub id: ObjectId,
}

impl TreePart {
    /// Builds the tree of `files`, a part of the side `whole`.
    pub fn new(
        mut files: Vec<PlacedFile>,
        settings: Settings,
        cluster: Option<&str>,
        whole: Arc<WholeTree>,
    ) -> Self {
        files.sort_by(|a, b| {
            (a.file.file.source().path(), &a.destination)
                .cmp(&(b.file.file.source().path(), &b.destination))
        });
        let about = files
            .iter()
            .map(|file| FileOfPart {
                place: Arc::clone(&file.place),
                destination: file.destination.clone(),
                build: file.build.clone(),
            })
            .collect();
        let applied = files.into_iter().map(|file| AppliedFile {
            client: Some(file.destination.client()),
            ..file.file
        });
        let applied = applied.collect();
        let inventory = Inventory::applied(applied, settings);
        Self {
            inventory,
            cluster: cluster.map(Arc::from),
            files: about,
            files_at: OnceLock::new(),
            whole,
        }
    }

    /// Returns why a destination cannot be built: `apps has no kustomization`.
    pub fn unbuildable(&self, destination: &Destination) -> Option<&str> {
        self.whole.unbuildable.get(destination).map(String::as_str)
    }

    /// Whether the deliveries of a tool are known on this side: the tool then applies only files that one of them
    /// builds.
    pub fn knows(&self, tool: SourceTool) -> bool {
        let mut deliverers = self.whole.deliveries.keys();
        deliverers.any(|by| by.tool == tool)
    }

    /// Returns a delivery of the graph.
    pub fn delivery(&self, deliverer: &Deliverer) -> Option<&KnownDelivery> {
        self.whole.deliveries.get(deliverer)
    }

    /// Returns all deliveries of the tree.
    pub fn deliveries(&self) -> &BTreeMap<Deliverer, KnownDelivery> {
        &self.whole.deliveries
    }

    /// Returns the settings of a HelmRelease whose chart was not read, if the delivery graph has it.
    pub fn unread_release(&self, release: &Member) -> Option<&DeliverySettings> {
        let by = self.destination(release.file).deliverer();
        let cluster = by.map_or("", |by| &by.cluster);
        self.whole
            .unread_releases
            .get(&format!("{cluster}|{}", release.key))
    }

    /// Returns the name of the chart of a HelmRelease whose chart was not read, if the delivery graph knows it.
    pub fn chart_of_release(&self, release: &Member) -> Option<&str> {
        let settings = self.unread_release(release)?;
        settings.release.as_ref()?.chart.as_deref()
    }

    /// Returns a delivery that head removes, as it would be if its object stays in the cluster.
    pub fn kept(&self, deliverer: &Deliverer) -> Option<&KeptDelivery> {
        self.whole.kept.get(deliverer)
    }

    /// Returns the keys of the delivery objects that deliver nothing.
    pub fn idle(&self) -> impl Iterator<Item = String> {
        let all = self.whole.deliveries.iter();
        let idle = all.filter(|(_, known)| known.is_empty && known.unread.is_empty());
        idle.map(|(by, _)| self.object_of(by).key())
    }

    /// Returns the deliveries of the graph that cannot be built, each with the error.
    pub fn failing(&self) -> impl Iterator<Item = (&Deliverer, &str)> {
        let all = self.whole.deliveries.iter();
        all.filter_map(|(by, known)| Some((by, known.error.as_deref()?)))
    }

    /// Returns the deliverer under the name of the object that represents it.
    pub fn object_of<'d>(&self, by: &'d Deliverer) -> Cow<'d, Deliverer> {
        match self.delivery(by).and_then(|known| known.object.clone()) {
            Some(name) => Cow::Owned(Deliverer { name, ..by.clone() }),
            None => Cow::Borrowed(by),
        }
    }

    /// Returns the marks that the build of its delivery puts on an object, if any.
    pub fn marks_of(&self, member: &Member) -> Option<&DeliveredMarks> {
        let by = self.destination(member.file).deliverer()?;
        self.delivery(by)?.marks_of(member)
    }

    /// Returns the delivery of a destination, if an object or a kustomization applies it.
    pub fn delivery_at(&self, destination: &Destination) -> Option<DeliveryName> {
        let Destination::Root { folder, by } = destination else {
            return None;
        };
        let by = by.as_deref();
        let known = by.and_then(|by| self.delivery(by));
        Some(DeliveryName {
            id: by.map_or_else(|| format!("|{folder}"), |by| by.id(folder)),
            tool: by.map_or("kustomize", |by| by.tool.as_str()),
            key: by.map(Deliverer::key),
            path: folder.to_string(),
            parent: known.and_then(|known| known.parent.clone()),
            doubt: known.and_then(|known| known.doubt.clone()),
            chart: known.and_then(|known| known.chart.clone()),
        })
    }

    /// Whether the deliverer of a destination applies nothing now: it is suspended, or its build fails.
    pub fn is_held_back(&self, destination: &Destination) -> bool {
        let known = destination.deliverer().and_then(|by| self.delivery(by));
        known.is_some_and(|known| known.error.is_some() || known.settings.suspend == Some(true))
    }

    /// Returns the cluster of a destination, as the configuration or the delivery graph names it.
    pub fn cluster_of(&self, destination: Option<&Destination>) -> Option<String> {
        let by = destination.and_then(Destination::deliverer);
        let delivered = by.map(|by| &by.cluster).filter(|name| !name.is_empty());
        let cluster = delivered.or(self.cluster.as_ref());
        cluster.map(|name| name.to_string())
    }

    /// Returns the path of a file from the root of the side.
    pub fn place(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].place
    }

    /// Whether the side has files in or below a folder.
    pub fn contains_folder(&self, folder: &str) -> bool {
        self.whole.folders.contains(folder)
    }

    /// Returns the destination of the objects of a file.
    pub fn destination(&self, file: FileId) -> &Destination {
        &self.files[file.0 as usize].destination
    }

    /// Returns the build that applies the objects of a file, if it is known.
    pub fn build_of(&self, file: FileId) -> Option<&BuiltObjects> {
        self.files[file.0 as usize].build.as_deref()
    }

    /// Returns the destinations of its files, each once.
    pub fn destinations(&self) -> impl Iterator<Item = &Destination> {
        self.files_at().keys()
    }

    fn files_at(&self) -> &BTreeMap<Destination, Vec<FileId>> {
        self.files_at.get_or_init(|| {
            let mut files_at: BTreeMap<Destination, Vec<FileId>> = BTreeMap::new();
            for (file, about) in (0u32..).map(FileId).zip(&self.files) {
                files_at
                    .entry(about.destination.clone())
                    .or_default()
                    .push(file);
            }
            files_at
        })
    }

    /// Returns the objects of a destination, in order.
    pub fn members_at(&self, destination: &Destination) -> impl Iterator<Item = &Member> {
        self.files_at()
            .get(destination)
            .into_iter()
            .flatten()
            .flat_map(|file| self.inventory.members_of(*file))
    }

    /// Whether a destination has an object of this key.
    pub fn has_at(&self, destination: &Destination, key: &ObjectKey) -> bool {
        let mut found = self.inventory.with_key(key).iter();
        found.any(|id| self.destination(self.inventory.member(*id).file) == destination)
    }

    /// Returns whether an object is applied.
    pub fn applies(&self, member: &Member) -> bool {
        self.destination(member.file).is_applied()
    }

    /// Returns whether an object is compared: it is not in [`Destination::Context`].
    pub fn is_own(&self, member: &Member) -> bool {
        *self.destination(member.file) != Destination::Context
    }
}

/// Returns the object at `place`. May panic if `place` is not a place in `trees`.
pub(super) fn member(trees: &[TreePart], place: TreePlace) -> &Member {
    trees[place.tree].inventory.member(place.id)
}

pub(super) fn file_of(trees: &[TreePart], place: TreePlace) -> &str {
    trees[place.tree].place(member(trees, place).file)
}

pub(super) fn destination_of(trees: &[TreePart], place: TreePlace) -> &Destination {
    trees[place.tree].destination(member(trees, place).file)
}

pub(super) fn key_of(trees: &[TreePart], place: TreePlace) -> &ObjectKey {
    &member(trees, place).key
}

/// Returns the objects of a side that are compared, in order.
pub(super) fn places(trees: &[TreePart]) -> impl Iterator<Item = TreePlace> {
    trees.iter().enumerate().flat_map(|(at, tree)| {
        let members = tree.inventory.members.iter();
        let members = members.filter(|member| tree.is_own(member));
        members
            .filter(|member| !member.key.name.is_empty())
            .map(move |member| TreePlace {
                tree: at,
                id: member.id,
            })
    })
}
