//! What Flux builds of a state: its Kustomizations in place of those that are found by folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;

use super::state::Bytes;
use crate::changes::FluxDelivery;
use crate::delivery::marks::FLUX_PRUNE;
use crate::graph::delivery::{Delivery, Settings};
use crate::graph::files::{Reader, TreeFiles};
use crate::graph::kustomize::{BuildError, Resource};
use crate::graph::scopes::ClusterScopes;
use crate::graph::{flux, unread::What};
use crate::kube::Namespace;
use crate::kustomize::{
    BeyondLimit, BuildObstacle, BuildRoot, BuildRoots, BuiltFile, Deliverer, Edits, FilePatterns,
    Pointer, SourceTool,
};
use crate::manifest::ParsedFile;
use crate::text::{Limits, Side, SourceFile};

/// What the objects of a file are called as they are applied, by where they begin.
type Keys = HashMap<u32, (Namespace, String)>;

/// What Flux delivers of a state.
#[derive(Debug, Default)]
pub(super) struct FluxDeliveries {
    all: Vec<Delivery>,
    /// The kustomizations and the files of Kustomizations that builds evaluated, but for what they say themselves.
    evaluated: BTreeSet<String>,
    scopes: ClusterScopes,
}

impl FluxDeliveries {
    /// Follows Flux through the files of a state, which comes after that of `before`.
    ///
    /// # Errors
    /// There is more than the limits allow.
    pub(super) fn of(
        files: BTreeMap<String, Option<Bytes>>,
        reader: Reader<'_>,
        limits: &Limits,
        before: &Self,
    ) -> Result<Self, BeyondLimit> {
        let tree = TreeFiles::new(files, reader);
        let scopes = ClusterScopes::of(&tree);
        let all = flux::deliveries(&tree, &scopes, limits, &before.all)?;
        let mut evaluated = BTreeSet::new();
        let built = all.iter().filter(|delivery| delivery.error.is_none());
        for delivery in built {
            let kustomizations = delivery.reached.iter();
            evaluated.extend(kustomizations.filter_map(|folder| tree.kustomization_of(folder)));
            let is_known = delivery.unread.iter().all(|one| one.what != What::Variable);
            if is_known {
                evaluated.insert(delivery.file.to_string());
            }
        }
        // What is a program is not evaluated.
        for unread in all.iter().flat_map(|delivery| &delivery.unread) {
            if matches!(unread.what, What::Transformer | What::Generator) {
                evaluated.remove(&unread.file);
            }
        }
        Ok(Self {
            all,
            evaluated,
            scopes,
        })
    }

    /// Lets those fail that need what `base` delivers and this state does not: a Kustomization for which they wait, or the ConfigMap of
    /// their variables.
    pub(super) fn miss_what_left(&mut self, base: &Self) {
        let is_needed = |one: &Delivery| {
            !one.settings.depends_on.is_empty() || !one.settings.variables_from.is_empty()
        };
        if !self.all.iter().any(is_needed) {
            return;
        }
        let [left, stays] = [base, &*self].map(Self::needed_by_others);
        let gone = |cluster: &str, key: &str| {
            let place = (cluster.to_owned(), key.to_owned());
            left.contains(&place) && !stays.contains(&place)
        };
        for one in self.all.iter_mut().filter(|one| one.error.is_none()) {
            let Settings {
                depends_on,
                variables_from,
                ..
            } = &one.settings;
            let kind = SourceTool::Flux.kind();
            let awaited = depends_on
                .iter()
                .map(|(namespace, name)| format!("{kind}/{namespace}/{name}"));
            let read = variables_from
                .iter()
                .map(|(namespace, name)| format!("ConfigMap/{namespace}/{name}"));
            let Some(missing) = awaited.chain(read).find(|key| gone(&one.cluster, key)) else {
                continue;
            };
            one.error = Some(BuildError {
                reason: format!("{} needs {missing}, which is not there any more", one.key),
                file: one.file.to_string(),
                line: one.line,
            });
        }
    }

    /// The Kustomizations and ConfigMaps, by cluster and key.
    fn needed_by_others(&self) -> BTreeSet<(String, String)> {
        let mut all = BTreeSet::new();
        for one in &self.all {
            all.insert((one.cluster.to_string(), one.key.clone()));
            let config = one.resources.iter().map(Resource::id);
            let config = config.filter(|id| id.group.is_empty() && id.kind == "ConfigMap");
            all.extend(config.map(|id| (one.cluster.to_string(), id.key())));
        }
        all
    }

    /// Whether builds evaluated what the file at a place says of components, patches, generators and variables.
    pub(super) fn evaluated(&self, place: &str) -> bool {
        self.evaluated.contains(place)
    }

    /// The clusters that are certainly none of the others: their entry points have one key, or somebody delivers from one into the
    /// other.
    pub(super) fn clusters(&self) -> BTreeSet<Arc<str>> {
        let mut entries: HashMap<&str, Vec<&Delivery>> = HashMap::default();
        for entry in self.all.iter().filter(|one| one.parent.is_none()) {
            entries.entry(&entry.key).or_default().push(entry);
        }
        let alike = entries.into_values().filter(|alike| alike.len() > 1);
        let remote = self.all.iter().filter(|one| {
            let parent = one.parent.as_deref().and_then(|id| self.delivery(id));
            parent.is_some_and(|parent| parent.cluster != one.cluster)
        });
        let apart = alike.flatten().chain(remote);
        apart.map(|one| Arc::clone(&one.cluster)).collect()
    }

    fn delivery(&self, id: &str) -> Option<&Delivery> {
        let found = self.all.binary_search_by(|one| one.id.as_str().cmp(id));
        found.ok().map(|at| &self.all[at])
    }

    /// What is known of each Kustomization.
    pub(super) fn known(&self) -> BTreeMap<Deliverer, FluxDelivery> {
        let known = |delivery: &Delivery| {
            let resources = delivery.resources.iter();
            let spared = resources.filter(|resource| resource.disables(FLUX_PRUNE));
            FluxDelivery {
                settings: delivery.settings.clone(),
                is_entry: delivery.parent.is_none(),
                spared: spared
                    .map(|resource| self.scopes.key(&resource.id()))
                    .collect(),
            }
        };
        let kustomizations = self.all.iter();
        kustomizations
            .filter_map(|delivery| Some((delivery.by.clone()?, known(delivery))))
            .collect()
    }

    /// Puts what the Kustomizations build in the place of what was found by folder.
    pub(super) fn replace(&self, roots: &mut BuildRoots, places: &[Arc<str>], side: Side) {
        let index: HashMap<&str, usize> = places
            .iter()
            .enumerate()
            .map(|(at, place)| (&**place, at))
            .collect();
        let known: BTreeMap<Deliverer, &Delivery> = self
            .all
            .iter()
            .filter_map(|delivery| Some((delivery.by.clone()?, delivery)))
            .collect();
        let mut named: HashMap<&str, Vec<(&Deliverer, &Delivery)>> = HashMap::default();
        for (deliverer, delivery) in &known {
            named
                .entry(&deliverer.name)
                .or_default()
                .push((deliverer, delivery));
        }
        let reached: BTreeSet<&str> = known
            .values()
            .flat_map(|delivery| &delivery.reached)
            .map(String::as_str)
            .collect();
        let mut failing = BTreeSet::new();
        roots.roots.retain_mut(|root| {
            let by = root
                .pointer
                .as_ref()
                .and_then(|pointer| pointer.by.as_deref());
            match by {
                None => !reached.contains(root.folder.as_str()),
                Some(by) if by.tool != SourceTool::Flux => true,
                Some(by) => {
                    let alike = named.get(by.name.as_str()).into_iter().flatten();
                    let alike = alike.filter(|(known, _)| {
                        known.namespace == by.namespace || by.namespace.is_empty()
                    });
                    // Other clusters may have a Kustomization of that name, for another folder.
                    let found = alike.max_by_key(|(_, delivery)| delivery.path == root.folder);
                    let Some((deliverer, delivery)) = found else {
                        // Nothing applies it.
                        return false;
                    };
                    let Some(error) = &delivery.error else {
                        return false;
                    };
                    failing.insert((*deliverer).clone());
                    root.unbuildable.get_or_insert_with(|| BuildObstacle {
                        reason: error.reason.clone(),
                        place: error.file.clone(),
                        named: None,
                    });
                    if let Some(pointer) = &mut root.pointer {
                        pointer.by = Some(Arc::new((*deliverer).clone()));
                    }
                    true
                }
            }
        });
        for (deliverer, delivery) in known {
            if failing.contains(&deliverer) {
                continue;
            }
            roots
                .roots
                .push(root_of(deliverer, delivery, &index, &self.scopes, side));
        }
        roots
            .roots
            .sort_by(|one, other| one.folder.cmp(&other.folder));
    }
}

fn root_of(
    deliverer: Deliverer,
    delivery: &Delivery,
    index: &HashMap<&str, usize>,
    scopes: &ClusterScopes,
    side: Side,
) -> BuildRoot {
    // A file that is built several times has several copies of its objects.
    let mut files: BTreeMap<usize, Vec<Keys>> = BTreeMap::new();
    let mut copies_of: HashMap<(usize, u32), usize> = HashMap::default();
    for path in &delivery.reached {
        if let Some(at) = index.get(path.as_str()) {
            files.entry(*at).or_insert_with(|| vec![Keys::default()]);
        }
    }
    let mut generated: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    for resource in &delivery.resources {
        let file = &*resource.origin.file;
        if resource.origin.is_generated {
            generated.entry(file).or_default().push(resource);
        } else if let Some(at) = index.get(file) {
            let id = resource.id();
            let namespace = match id.namespace.as_str() {
                _ if scopes.is_cluster(&id.group, &id.kind) => Namespace::None,
                "" => Namespace::Unwritten,
                namespace => Namespace::Named(namespace.into()),
            };
            let begins = resource.origin.offset;
            let copies = files.entry(*at).or_default();
            let copy = copies_of.entry((*at, begins)).or_default();
            if copies.len() == *copy {
                copies.push(Keys::default());
            }
            copies[*copy].insert(begins, (namespace, id.name));
            *copy += 1;
        }
    }
    let folder = delivery.path.clone();
    let files = files.into_iter().flat_map(|(file, copies)| {
        copies.into_iter().map(move |keys| BuiltFile {
            file,
            edits: Arc::new(Edits::Known(keys)),
        })
    });
    let generated = generated.into_iter().map(|(file, resources)| {
        let texts = resources.iter().map(|resource| identity_of(resource));
        let text = texts.collect::<Vec<_>>().join("---\n");
        let path = format!("{file} (generated)");
        let file = ParsedFile::parse(SourceFile::new(path.as_str(), text));
        file.seen_as(path, side)
    });
    BuildRoot {
        pointer: Some(Pointer {
            by: Some(Arc::new(deliverer)),
            folder: folder.clone(),
            repository: None,
            ignore: None,
            recursive: true,
            files: FilePatterns::default(),
            edits: Arc::default(),
        }),
        files: files.collect(),
        unbuildable: delivery.error.as_ref().map(|error| BuildObstacle {
            reason: error.reason.clone(),
            place: error.file.clone(),
            named: None,
        }),
        kustomizations: delivery.reached.clone(),
        unfollowed: None,
        generated: generated.collect(),
        folder,
    }
}

/// A generated object without its content.
fn identity_of(resource: &Resource) -> String {
    let mut node = resource.node.clone();
    for field in ["data", "binaryData", "stringData"] {
        node.remove(field);
    }
    let mut text = serde_json::to_string(&node.to_json(20)).unwrap_or_default();
    text.push('\n');
    text
}
