//! The objects of the input that a delivery object delivers: the delivery graph, evaluated over the files of the input.
//!
//! Delivery objects name folders relative to the root of their repository. An input may have several repositories, or
//! be a folder of one, and no file says where their roots are. A root is assumed where most delivery objects find their
//! folders. A delivery object that finds its folder nowhere is assumed to deliver from another repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use foldhash::HashMap;

use super::object::DeliveryObject;
use crate::charts::Charts;
use crate::graph::argo::{Memory, Terms};
use crate::graph::delivery::Delivery;
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{Builds, Resource};
use crate::graph::{self, unreached};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope};
use crate::kustomize::{BeyondLimit, Deliverer, Limit, SourceTool, ancestors, folder_of, resolve};
use crate::manifest::ParsedFile;
use crate::ownership::tie::TieEnd;
use crate::text::{ColumnUnit, FileId, Limits};

/// The objects that delivery objects deliver.
#[derive(Debug, Default)]
pub struct Reach {
    repositories: Vec<Repository>,
    /// By delivery object: its deliveries. Several clusters may deliver one object, each with a delivery of its own.
    deliveries: Vec<Vec<Place>>,
    /// By delivery object: files that are already known to be delivered, without evaluation.
    files: Vec<BTreeSet<FileId>>,
    /// Files whose delivery object is already known.
    evaluated: BTreeSet<FileId>,
    /// The objects of the input, by file and the byte at which they begin.
    places: HashMap<(FileId, u32), ObjectId>,
    /// The numbers of the clusters to which each file is delivered.
    clusters: OnceLock<HashMap<FileId, BTreeSet<u32>>>,
    /// The first limit that the deliveries exceed.
    beyond: Option<BeyondLimit>,
}

/// A repository in the input: a tree of files with its own root.
#[derive(Debug)]
struct Repository {
    top: String,
    /// Its files, by path from its root.
    files: HashMap<String, FileId>,
    deliveries: Vec<Delivery>,
    /// By delivery: the first in the chain of deliveries that deliver it.
    roots: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    repository: usize,
    delivery: usize,
}

/// A file with its path from the root of the input.
type InputFile<'i> = (FileId, String, &'i ParsedFile);

impl Reach {
    /// Evaluates what `objects`, the delivery objects of `inventory`, deliver.
    pub fn of(inventory: &Inventory, objects: &[DeliveryObject]) -> Self {
        let mut reach = Self {
            deliveries: vec![Vec::new(); objects.len()],
            files: vec![BTreeSet::new(); objects.len()],
            ..Self::default()
        };
        if objects.is_empty() {
            return reach;
        }
        let files = files_in_order(inventory);
        let mut limits = inventory.limits;
        let tops = tops(inventory, objects);
        for top in &tops {
            match Repository::evaluated(&files, top, &limits) {
                Ok(repository) => {
                    let is_within_another =
                        ancestors(top).skip(1).any(|above| tops.contains(above));
                    if is_within_another {
                        repository.take_from(&mut limits);
                    }
                    reach.repositories.push(repository);
                }
                Err(beyond) => {
                    reach.beyond = Some(beyond.within(top, &inventory.limits));
                    break;
                }
            }
        }
        reach.places = places(inventory);
        reach.assign(inventory, objects);
        reach
    }

    /// Creates the result from known deliveries: `by` returns the delivery object of a file.
    pub fn known<'d>(
        inventory: &Inventory,
        objects: &[DeliveryObject],
        by: impl Fn(FileId) -> Option<&'d Deliverer>,
    ) -> Self {
        let mut named: HashMap<String, Vec<usize>> = HashMap::default();
        for (at, object) in objects.iter().enumerate() {
            let key = inventory.member(object.id).key.to_string();
            named.entry(key).or_default().push(at);
        }
        let mut files = vec![BTreeSet::new(); objects.len()];
        let mut evaluated = BTreeSet::new();
        for (id, _) in inventory.files() {
            let Some(by) = by(id) else {
                continue;
            };
            evaluated.insert(id);
            for at in named.get(&by.key()).into_iter().flatten() {
                files[*at].insert(id);
            }
        }
        Self {
            evaluated,
            deliveries: vec![Vec::new(); objects.len()],
            files,
            ..Self::default()
        }
    }

    /// Finds the delivery object of each delivery by their common position in the files.
    fn assign(&mut self, inventory: &Inventory, objects: &[DeliveryObject]) {
        let mut written: HashMap<(FileId, usize), Vec<usize>> = HashMap::default();
        for (at, object) in objects.iter().enumerate() {
            let member = inventory.member(object.id);
            let begins = member.object.value().span().start;
            let source = inventory.sources.file(member.file);
            let line = source.position(begins, ColumnUnit::Utf8).line;
            written.entry((member.file, line)).or_default().push(at);
        }
        for (repository, tree) in self.repositories.iter().enumerate() {
            for (delivery, one) in tree.deliveries.iter().enumerate() {
                let (Some(by), Some(file)) = (&one.by, tree.files.get(&*one.file)) else {
                    continue;
                };
                if by.tool == SourceTool::ArgoCdSet {
                    continue;
                }
                for at in written.get(&(*file, one.line)).into_iter().flatten() {
                    self.deliveries[*at].push(Place {
                        repository,
                        delivery,
                    });
                }
            }
        }
    }

    /// Returns the first limit that the deliveries exceed; those beyond it are unknown.
    pub fn beyond(&self) -> Option<&BeyondLimit> {
        self.beyond.as_ref()
    }

    /// Returns the deliveries of the delivery object at an index, each with the objects of the input that it delivers
    /// and their keys in the cluster.
    pub fn deliveries(&self, object: usize) -> impl Iterator<Item = Delivered<'_>> {
        let places = self.deliveries.get(object).into_iter().flatten();
        places.map(|place| {
            let repository = &self.repositories[place.repository];
            repository.delivered(self, place.delivery)
        })
    }

    /// Whether any cluster gets both files; `None` if no delivery of one of them is known.
    pub fn share_a_cluster(&self, one: FileId, other: FileId) -> Option<bool> {
        let (one, other) = (self.clusters_of(one)?, self.clusters_of(other)?);
        Some(!one.is_disjoint(other))
    }

    /// Returns the numbers of the clusters that get a file; `None` if no delivery of it is known.
    pub fn clusters_of(&self, file: FileId) -> Option<&BTreeSet<u32>> {
        let clusters = self.clusters.get_or_init(|| self.clusters_of_files());
        clusters.get(&file)
    }

    fn clusters_of_files(&self) -> HashMap<FileId, BTreeSet<u32>> {
        let mut numbers: HashMap<(&str, &str), u32> = HashMap::default();
        let mut clusters: HashMap<FileId, BTreeSet<u32>> = HashMap::default();
        for repository in &self.repositories {
            for (at, delivery) in repository.deliveries.iter().enumerate() {
                let next = numbers.len().try_into().unwrap_or(u32::MAX);
                let delivered = repository.delivered(self, at);
                let cluster = match delivered.named_cluster() {
                    "" => folder_of(&delivered.root.file),
                    name => name,
                };
                let number = *numbers.entry((&repository.top, cluster)).or_insert(next);
                let read = delivery.reached.iter();
                for file in read.filter_map(|path| repository.files.get(path)) {
                    clusters.entry(*file).or_default().insert(number);
                }
            }
        }
        clusters
    }

    /// Returns the files of the objects that the delivery object at an index delivers.
    pub fn files(&self, object: usize) -> BTreeSet<FileId> {
        let built = self.deliveries(object).flat_map(|delivered| {
            let read = delivered.delivery.reached.iter();
            read.filter_map(move |path| delivered.repository.files.get(path).copied())
        });
        let known = self.files.get(object).into_iter().flatten().copied();
        built.chain(known).collect()
    }

    /// Whether the delivery object of a file is already known.
    pub fn is_delivery_known(&self, file: FileId) -> bool {
        self.evaluated.contains(&file)
    }

    /// Evaluates the folder `top` as a repository: its deliveries, and its kustomizations that no other one builds.
    /// `inventory` is the input that `self` was built from.
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn applied_below(
        &self,
        top: &str,
        inventory: &Inventory,
    ) -> Result<Vec<Delivery>, BeyondLimit> {
        let limits = &inventory.limits;
        let files = files_in_order(inventory);
        let tree = tree_of(files_below(&files, top));
        let charts = Charts::unrendered();
        let builds = Builds::new(&tree, &charts).without_failures();
        let mut known = self.repositories.iter();
        let mut all = match known.find(|one| one.top == top) {
            Some(repository) => repository.deliveries.clone(),
            None => deliveries(&builds, limits)?,
        };
        let by_hand = unreached::roots(&builds, &all, limits)?;
        all.extend(by_hand);
        Ok(all)
    }
}

/// A delivery with its repository.
#[derive(Clone, Copy, Debug)]
pub struct Delivered<'r> {
    reach: &'r Reach,
    repository: &'r Repository,
    delivery: &'r Delivery,
    root: &'r Delivery,
}

impl<'r> Delivered<'r> {
    /// Returns an identifier of the cluster: the repository, the folder of the root delivery (different roots may have
    /// different clusters), and the name of the cluster within these.
    pub fn cluster(&self) -> [&'r str; 3] {
        let Self {
            repository, root, ..
        } = *self;
        [&repository.top, folder_of(&root.file), self.named_cluster()]
    }

    /// Returns the name of its cluster; empty if it is only the path of a Flux entry point, because
    /// a cluster may have several.
    fn named_cluster(&self) -> &'r str {
        let Self { delivery, root, .. } = *self;
        let is_flux = root.by.as_ref().is_some_and(|by| by.tool.is_flux());
        let is_own = is_flux && *delivery.cluster == *root.path;
        if is_own { "" } else { &delivery.cluster }
    }

    /// Returns the name of the delivery object, which an ApplicationSet may have generated.
    pub fn name(&self) -> Option<&'r str> {
        Some(&self.delivery.by.as_ref()?.name)
    }

    /// Returns the folder that it builds, from the folder where the input is read, if its build fails.
    pub fn failing_folder(&self) -> Option<String> {
        let delivery = self.delivery;
        delivery.error.as_ref()?;
        Some(resolve(&self.repository.top, &delivery.path))
    }

    /// Whether its existence depends on unknown facts.
    pub fn is_possible(&self) -> bool {
        self.delivery.is_possible
    }

    /// Returns the objects of the input that it delivers, with their keys in the cluster.
    pub fn objects(&self, inventory: &'r Inventory) -> impl Iterator<Item = TieEnd> + use<'r> {
        let Self {
            reach, repository, ..
        } = *self;
        let resources = self.delivery.resources.iter();
        resources.filter_map(move |resource| {
            let file = repository.files.get(&*resource.origin.file)?;
            let id = reach.places.get(&(*file, resource.origin.offset))?;
            Some(TieEnd {
                key: applied_key(inventory.member(*id), resource),
                id: Some(*id),
            })
        })
    }
}

/// Returns the key of a built object in the cluster.
fn applied_key(member: &Member, built: &Resource) -> ObjectKey {
    let id = built.id();
    let namespace = match id.namespace.as_str() {
        "" => member.key.namespace.clone(),
        _ if member.scope() == Some(Scope::Cluster) => Namespace::None,
        namespace => Namespace::Named(namespace.into()),
    };
    ObjectKey::new(GroupKind::new(&id.group, &id.kind), namespace, id.name)
}

/// Returns the files of an input, sorted by their paths from its root.
fn files_in_order(inventory: &Inventory) -> Vec<InputFile<'_>> {
    let files = inventory.files();
    let mut files: Vec<InputFile<'_>> = files
        .map(|(id, file)| (id, resolve("", file.source().path()), file))
        .collect();
    files.sort_by(|a, b| a.1.cmp(&b.1));
    files
}

/// Returns the files below a folder, with their paths relative to it.
fn files_below<'f>(
    files: &'f [InputFile<'f>],
    top: &str,
) -> impl Iterator<Item = (&'f str, FileId, &'f ParsedFile)> + Clone + use<'f> {
    let start = match top {
        "" => String::new(),
        top => format!("{top}/"),
    };
    let from = files.partition_point(|(_, path, _)| *path < start);
    files[from..]
        .iter()
        .map_while(move |(id, path, file)| Some((path.strip_prefix(&start)?, *id, *file)))
}

fn tree_of<'f>(files: impl Iterator<Item = (&'f str, FileId, &'f ParsedFile)>) -> TreeFiles<'f> {
    TreeFiles::of_parsed(files.map(|(path, _, file)| (path.to_owned(), file)))
}

fn deliveries(builds: &Builds<'_>, limits: &Limits) -> Result<Vec<Delivery>, BeyondLimit> {
    let terms = Terms {
        limits,
        clusters: None,
    };
    let nothing = (&[][..], &Memory::default());
    let (deliveries, _) = graph::deliveries(builds, terms, nothing)?;
    Ok(deliveries)
}

/// Indexes the objects of an input by file and offset.
fn places(inventory: &Inventory) -> HashMap<(FileId, u32), ObjectId> {
    let members = inventory.members.iter();
    let placed = members.map(|member| {
        let begins = member.object.value().span().start;
        ((member.file, begins), member.id)
    });
    placed.collect()
}

impl Repository {
    /// Returns the delivery at an index.
    fn delivered<'r>(&'r self, reach: &'r Reach, number: usize) -> Delivered<'r> {
        Delivered {
            reach,
            repository: self,
            delivery: &self.deliveries[number],
            root: &self.deliveries[self.roots[number]],
        }
    }

    /// Evaluates the tree below a folder. Build failures are ignored: `ownerlint check` may not read all files.
    fn evaluated(files: &[InputFile<'_>], top: &str, limits: &Limits) -> Result<Self, BeyondLimit> {
        if limits.instances == 0 {
            return Err(BeyondLimit::new(Limit::Instances, limits, ""));
        }
        let inside = files_below(files, top);
        let tree = tree_of(inside.clone());
        let charts = Charts::unrendered();
        let deliveries = deliveries(&Builds::new(&tree, &charts).without_failures(), limits)?;
        Ok(Self {
            top: top.to_owned(),
            files: inside.map(|(path, id, _)| (path.to_owned(), id)).collect(),
            roots: roots(&deliveries),
            deliveries,
        })
    }

    /// Charges a repository within a repository to the limits, because it is read twice.
    fn take_from(&self, limits: &mut Limits) {
        let built: usize = self.deliveries.iter().map(|one| one.resources.len()).sum();
        let copies = built.saturating_add(self.files.len());
        limits.instances = limits.instances.saturating_sub(copies);
        limits.deliveries = limits.deliveries.saturating_sub(self.deliveries.len());
    }
}

/// Returns for each delivery the first in the chain of those that deliver it.
fn roots(deliveries: &[Delivery]) -> Vec<usize> {
    let ids = deliveries.iter().enumerate();
    let ids: HashMap<&str, usize> = ids.map(|(at, one)| (one.id.as_str(), at)).collect();
    let mut roots: Vec<Option<usize>> = vec![None; deliveries.len()];
    for start in 0..deliveries.len() {
        let mut chain = Vec::new();
        let mut at = start;
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            chain.push(at);
            // Ends a cycle: a delivery that is on the chain already counts as its own root.
            roots[at] = Some(at);
            let parent = deliveries[at].parent.as_deref();
            match parent.and_then(|parent| ids.get(parent)) {
                Some(above) => at = *above,
                None => break at,
            }
        };
        for at in chain {
            roots[at] = Some(root);
        }
    }
    (0..)
        .zip(roots)
        .map(|(at, root)| root.unwrap_or(at))
        .collect()
}

/// Returns the roots of the repositories in the input. Candidates are, for each delivery object, the ancestors of its
/// file below which a folder that it names exists. For each delivery object, the candidate that it shares with most
/// others is chosen; of several, the highest.
pub fn tops(inventory: &Inventory, objects: &[DeliveryObject]) -> BTreeSet<String> {
    let paths = inventory.sources.iter();
    let paths: BTreeSet<String> = paths.map(|(_, file)| resolve("", file.path())).collect();
    let mut candidates: Vec<Vec<String>> = Vec::new();
    for object in objects {
        let named = object.sources.iter();
        let folders: Vec<String> = named
            .filter_map(|source| source.folder.as_deref())
            .map(|folder| resolve("", folder.trim_start_matches('/')))
            // Every repository has a root, so a source that names it proves nothing.
            .filter(|folder| !folder.is_empty() && !folder.starts_with(".."))
            .collect();
        let file = inventory.member(object.id).file;
        let path = resolve("", inventory.sources.file(file).path());
        let tops = ancestors(folder_of(&path)).filter(|top| {
            let mut folders = folders.iter().map(|folder| resolve(top, folder));
            folders.any(|folder| has_folder(&paths, &folder))
        });
        candidates.push(tops.map(str::to_owned).collect());
    }
    let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
    for top in candidates.iter().flatten() {
        *votes.entry(top).or_default() += 1;
    }
    let rank = |top: &&String| (votes[top.as_str()], std::cmp::Reverse(top.len()));
    let chosen = candidates
        .iter()
        .filter_map(|tops| tops.iter().max_by_key(rank));
    chosen.cloned().collect()
}

fn has_folder(paths: &BTreeSet<String>, folder: &str) -> bool {
    let start = format!("{folder}/");
    let first = paths.range(start.clone()..).next();
    first.is_some_and(|path| path.starts_with(&start))
}
