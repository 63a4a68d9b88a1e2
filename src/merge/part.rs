//! One part of the tree, before and after the merge, and the objects that are removed from it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashSet};

use super::cause::EditedFile;
use super::likely::LikelyTools;
use super::outlook::Outlook;
use super::waits::{Blocked, Rejection};
use crate::changes::{
    BothSides, ChangeKind, Destination, KeptDelivery, KnownDelivery, ObjectChange, Sides, TreePart,
    TreePlace,
};
use crate::cluster::Analysis;
use crate::delivery::marks;
use crate::delivery::{BundleTools, Deliveries, Regime};
use crate::inventory::{Inventory, Member, ObjectId, ScopeSource};
use crate::knowledge::Tables;
use crate::kube::{GroupKind, Namespace, ObjectKey};
use crate::kustomize::{Deliverer, SourceTool, ancestors, folder_of};
use crate::manifest::is_kustomization;

/// One part of the tree on both sides.
#[derive(Debug)]
pub struct MergePart<'a> {
    /// Its index among the trees.
    pub at: usize,
    /// Indices of the parts whose objects may deliver into this one.
    origins: Vec<usize>,
    /// All trees.
    pub sides: BothSides<'a>,
    /// All changes, of the other parts too.
    pub changes: &'a [ObjectChange],
    /// The part before the merge.
    pub base: &'a TreePart,
    /// The part after the merge; `None` if it does not exist then.
    pub head: Option<&'a TreePart>,
    /// Facts about `base`.
    pub analysis: Analysis<'a>,
    /// Facts about `head`.
    pub outlook: Option<Outlook<'a>>,
    /// The objects of base that are removed, in order: head applies none with their key, or only where they are
    /// [left behind](Destination::loses_delivery_in).
    pub leaving: Vec<ObjectId>,
    /// The objects of base that head turns into Helm hooks: they leave their release, if there is one.
    pub hooks: Vec<ObjectId>,
    /// The counterparts in head of objects of base that the change touches and does not remove.
    pub(super) counterparts: HashMap<ObjectId, (ChangeKind, TreePlace)>,
    /// The probable tools of folders at which nothing points.
    likely: OnceLock<LikelyTools>,
    /// The tools that deliver the objects of head, by the marks on the objects alone.
    deliveries_of_head: OnceLock<Deliveries>,
    /// The objects in files of head that some build contains, and whether a deliverer applies one of these builds.
    built: OnceLock<HashMap<WrittenIn, bool>>,
    /// The objects in files of head, applied or not.
    written: OnceLock<HashSet<WrittenIn>>,
    /// Remote sources that head adds to kustomizations, by the folder of the kustomization.
    unseen: OnceLock<HashMap<String, String>>,
    /// The keys that head adds, without their namespaces, each with whether a deliverer applies one of the objects.
    pub(super) added: OnceLock<HashMap<ObjectKey, bool>>,
    /// The written keys of the objects of head that builds rename, each with the destination.
    pub(super) written_keys: OnceLock<HashSet<(Destination, ObjectKey)>>,
    /// The objects of base whose updates the API server rejects.
    pub(super) rejected: OnceLock<HashSet<ObjectId>>,
    /// The Kustomizations that deliver into other parts and fail.
    pub(super) rejected_elsewhere: Vec<Rejection>,
    /// The Kustomizations that wait in base and in head for one that fails on an object.
    pub(super) blocked: OnceLock<[Blocked; 2]>,
    /// Files of head that base has with another text, by path.
    pub(super) edited: OnceLock<HashMap<String, EditedFile>>,
}

/// An object of a file: the path from the root of the side, the kind, the name.
type WrittenIn = (String, GroupKind, Option<String>);

impl<'a> MergePart<'a> {
    /// Creates the part at index `at` of the trees. `tables` contains facts about operators, `delivery` the configured
    /// tools of the files of base.
    pub fn of(
        at: usize,
        sides: BothSides<'a>,
        changes: &'a [ObjectChange],
        tables: Arc<Tables>,
        delivery: BundleTools,
    ) -> Self {
        let (base, head) = (&sides.base[at], sides.head.get(at));
        let mut stays: HashMap<&ObjectKey, Vec<&Destination>> = HashMap::default();
        if let Some(head) = head {
            let held = head.destinations().filter(|one| head.is_held_back(one));
            let held: BTreeSet<&Destination> = held.collect();
            let staying = applied(head).filter(|(member, destination)| {
                !held.contains(destination) || base.has_at(destination, &member.key)
            });
            for (member, destination) in staying {
                stays.entry(&member.key).or_default().push(destination);
            }
        }
        let leaves = changes
            .iter()
            .filter(|change| match (change.kind, change.sides) {
                (ChangeKind::Removed | ChangeKind::Renamed, _) => true,
                (ChangeKind::Moved, Sides::Both(was, is)) => sides.are_apart(was, is),
                _ => false,
            });
        let mut leaving: Vec<ObjectId> = leaves
            .filter_map(|change| change.sides.base())
            .filter(|place| place.tree == at)
            .map(|place| place.id)
            .filter(|id| {
                let member = base.inventory.member(*id);
                let left = base.destination(member.file);
                stays
                    .get(&member.key)
                    .is_none_or(|there| there.iter().all(|there| left.loses_delivery_in(there)))
            })
            .collect();
        leaving.sort();
        leaving.dedup();
        let counterparts = changes
            .iter()
            .rev()
            .filter_map(|change| match change.sides {
                Sides::Both(was, is) if was.tree == at => Some((was.id, (change.kind, is))),
                _ => None,
            });
        let counterparts: HashMap<ObjectId, (ChangeKind, TreePlace)> = counterparts.collect();
        let changed = counterparts
            .iter()
            .map(|(was, (_, is))| (*was, sides.of_head(*is)));
        let hooks = changed
            .filter(|(was, is)| is_helm_hook(is) && !is_helm_hook(base.inventory.member(*was)))
            .map(|(was, _)| was);
        let mut hooks: Vec<ObjectId> = hooks.collect();
        hooks.sort();
        let outlook = head.map(|head| Outlook::of(&head.inventory, Arc::clone(&tables)));
        let analysis = Analysis::of(&base.inventory)
            .with_tables(tables)
            .delivered_by(delivery)
            .delivered_as(|file| base.destination(file).deliverer());
        Self {
            at,
            origins: origins(sides.base, at),
            sides,
            changes,
            base,
            head,
            analysis,
            outlook,
            leaving,
            hooks,
            counterparts,
            likely: OnceLock::new(),
            deliveries_of_head: OnceLock::new(),
            built: OnceLock::new(),
            written: OnceLock::new(),
            unseen: OnceLock::new(),
            added: OnceLock::new(),
            written_keys: OnceLock::new(),
            rejected: OnceLock::new(),
            rejected_elsewhere: Vec::new(),
            blocked: OnceLock::new(),
            edited: OnceLock::new(),
        }
    }

    /// Adds the Kustomizations that deliver into other parts and fail there.
    #[must_use]
    pub fn with_rejected_elsewhere(self, rejected_elsewhere: Vec<Rejection>) -> Self {
        Self {
            rejected_elsewhere,
            ..self
        }
    }

    /// Returns the tools that deliver the objects of head, by the marks on the objects alone.
    pub(super) fn deliveries_of_head(&self) -> Option<&Deliveries> {
        let head = self.head?;
        Some(
            self.deliveries_of_head
                .get_or_init(|| Deliveries::of(&head.inventory, BundleTools::default())),
        )
    }

    /// Whether the sources still contain an object of base: the same file of head has it, and some build applies it.
    pub fn is_built(&self, member: &Member) -> bool {
        self.built_in_head(member).is_some()
    }

    /// Whether a deliverer of head applies the file of an object of base, and the file still contains the object.
    pub(super) fn is_delivered(&self, member: &Member) -> bool {
        self.built_in_head(member) == Some(true)
    }

    /// Returns `Some(true)` if a delivered build of head has the object, `Some(false)` if only other builds do.
    fn built_in_head(&self, member: &Member) -> Option<bool> {
        let built = self.built.get_or_init(|| {
            let mut built = HashMap::default();
            for part in self.sides.head {
                for (member, destination) in applied(part) {
                    let is_delivered = built.entry(written_in(part, member)).or_default();
                    *is_delivered |= destination.deliverer().is_some();
                }
            }
            built
        });
        built.get(&written_in(self.base, member)).copied()
    }

    /// Returns the tool that probably applies a destination of base at which nothing points.
    pub(super) fn likely_tool(&self, destination: &Destination) -> Option<Regime> {
        self.likely
            .get_or_init(|| LikelyTools::of(self.base, self.sides.base))
            .get(destination)
    }

    /// Returns the delivery object of base that delivers an object, if the tree contains it.
    pub fn deliverer_of(&self, member: &Member) -> Option<&'a Member> {
        let by = self.base.destination(member.file).deliverer()?;
        self.delivering(by).map(|(_, deliverer)| deliverer)
    }

    /// Returns the ApplicationSet that generates an object, which then is in no file.
    pub fn generated_by(&self, member: &Member) -> Option<&'a Deliverer> {
        let by = self.base.destination(member.file).deliverer();
        by.filter(|by| by.tool == SourceTool::ArgoCdSet)
    }

    /// Returns the object in this part of base that delivers an object.
    pub fn deliverer_here(&self, member: &Member) -> Option<&'a Member> {
        self.delivering_here(self.base.destination(member.file).deliverer()?)
    }

    /// Returns the objects in this part of base that deliver at least one known object, here or in another part.
    pub fn deliverers_of_all(&self) -> HashSet<ObjectId> {
        let deliverers = self.sides.base.iter().flat_map(|part| {
            let destinations = part.destinations();
            destinations.filter_map(|at| Some(part.object_of(at.deliverer()?)))
        });
        let found = deliverers.filter_map(|by| Some(delivering(&self.base.inventory, &by)?.id));
        found.collect()
    }

    /// Returns the object in this part of base that represents a deliverer.
    pub(super) fn delivering_here(&self, by: &Deliverer) -> Option<&'a Member> {
        delivering(&self.base.inventory, &self.base.object_of(by))
    }

    /// Returns the delivery object of base and the index of its part: this part, or one of `origins`.
    pub(super) fn delivering(&self, by: &Deliverer) -> Option<(usize, &'a Member)> {
        self.find_delivering(self.sides.base, by)
    }

    /// Returns whether head still has a delivery object of base, and applies it as before.
    pub(super) fn is_still_delivering(&self, by: &Deliverer) -> bool {
        let [was, is] = [self.sides.base, self.sides.head].map(|parts| {
            let (at, member) = self.find_delivering(parts, by)?;
            // An object without a namespace may belong to another control plane.
            let namespace = member.key.namespace.name();
            let is_it = by.namespace.is_empty() || namespace == Some(by.namespace.as_str());
            is_it.then(|| parts[at].destination(member.file))
        });
        is.is_some_and(|is| was.is_none_or(|was| !was.loses_delivery_in(is)))
    }

    /// Returns the delivery object in head.
    pub(super) fn delivering_in_head(&self, by: &Deliverer) -> Option<&'a Member> {
        let found = self.find_delivering(self.sides.head, by);
        found.map(|(_, deliverer)| deliverer)
    }

    pub(super) fn delivery_in_head(&self, by: &Deliverer) -> Option<&'a KnownDelivery> {
        self.head?.delivery(by)
    }

    /// Returns the delivery in head of a deliverer that left the tree, if its object stays in the cluster.
    pub(super) fn kept_in_head(&self, by: &Deliverer) -> Option<&'a KeptDelivery> {
        self.head?.kept(by)
    }

    /// Returns the Namespace that contains an object of base, and the CRD that defines its kind.
    pub(super) fn containers(&self, member: &Member) -> impl Iterator<Item = ObjectKey> + use<> {
        let namespace = member.key.namespace.name().map(ObjectKey::of_namespace);
        let definition = match member.resolution.source {
            ScopeSource::Crd(id) => Some(self.base.inventory.member(id).key.clone()),
            _ => None,
        };
        namespace.into_iter().chain(definition)
    }

    pub(super) fn find_delivering(
        &self,
        parts: &'a [TreePart],
        by: &Deliverer,
    ) -> Option<(usize, &'a Member)> {
        let origins = self.origins.iter().filter(|_| !by.cluster.is_empty());
        std::iter::once(&self.at)
            .chain(origins)
            .find_map(|&at| Some((at, delivering(&parts.get(at)?.inventory, by)?)))
    }

    /// Returns a remote resource or chart repository that head adds to a new or existing kustomization in the folder of
    /// an object of base or above. Its content is not in the tree, and may include the object.
    pub fn unseen_source(&self, member: &Member) -> Option<&str> {
        let unseen = self.unseen.get_or_init(|| {
            let [before, after] = [self.sides.base, self.sides.head].map(remote_sources);
            let added = after.into_iter().filter_map(|(folder, sources)| {
                let known = before.get(folder);
                let mut sources = sources.into_iter();
                let added =
                    sources.find(|source| known.is_none_or(|known| !known.contains(source)))?;
                Some((folder.to_owned(), added.to_owned()))
            });
            added.collect()
        });
        ancestors(folder_of(self.base.place(member.file)))
            .find_map(|folder| unseen.get(folder))
            .map(String::as_str)
    }

    /// Whether the same file of head contains an object of base.
    pub fn is_written(&self, member: &Member) -> bool {
        let written = self.written.get_or_init(|| {
            let written = self.sides.head.iter().flat_map(|part| {
                let members = part.inventory.members.iter();
                let own = members.filter(|member| part.is_own(member));
                own.map(|member| written_in(part, member))
            });
            written.collect()
        });
        written.contains(&written_in(self.base, member))
    }

    /// Returns the applied object of head with the key of an object of base, unless it is left behind: a tool delivered
    /// it, and nothing points at its folder any more.
    pub fn still_applied(&self, member: &Member) -> Option<&'a Member> {
        let (after, head) = (self.after(&member.key)?, self.head?);
        let was = self.base.destination(member.file);
        let is_left = was.loses_delivery_in(head.destination(after.file));
        (!is_left).then_some(after)
    }

    /// Whether head applies an object with `key` through the delivery object that delivers `other` in base.
    pub fn is_applied_beside(&self, key: &ObjectKey, other: &Member) -> bool {
        let by = self.base.destination(other.file).deliverer();
        let Some((head, by)) = self.head.zip(by) else {
            return false;
        };
        with_key(&head.inventory, key)
            .any(|member| head.destination(member.file).deliverer() == Some(by))
    }

    /// Returns the object with `key` that `by` applies in head, in a cluster of any name.
    pub(super) fn applied_by(&self, by: &Deliverer, key: &ObjectKey) -> Option<&'a Member> {
        let head = self.head?;
        let by = by.key();
        with_key(&head.inventory, key).find(|member| {
            let after = head.destination(member.file).deliverer();
            after.is_some_and(|after| after.key() == by)
        })
    }

    /// Returns the object that base applies with a key; if there are several, one that is removed.
    pub fn applied_before(&self, key: &ObjectKey) -> Option<&'a Member> {
        let found = || with_key(&self.base.inventory, key);
        found()
            .find(|member| self.leaving.binary_search(&member.id).is_ok())
            .or_else(|| found().next())
    }

    /// Returns the object that head applies with a key.
    pub fn after(&self, key: &ObjectKey) -> Option<&'a Member> {
        let head = self.head?;
        with_key(&head.inventory, key).find(|member| head.applies(member))
    }
}

/// Returns the objects with a key, in order.
pub(super) fn with_key<'i>(
    inventory: &'i Inventory,
    key: &ObjectKey,
) -> impl Iterator<Item = &'i Member> + use<'i> {
    let found = inventory.with_key(key).iter();
    found.map(|id| inventory.member(*id))
}

/// Returns the remote sources that the kustomizations of a side name, by their folders.
fn remote_sources(trees: &[TreePart]) -> HashMap<&str, BTreeSet<&str>> {
    let files = trees.iter().flat_map(|tree| {
        let files = tree.inventory.sources.iter();
        files.map(|(id, file)| (tree.place(id), file.text()))
    });
    let mut found: HashMap<&str, BTreeSet<&str>> = HashMap::default();
    for (place, text) in files.filter(|(place, _)| is_kustomization(place)) {
        found
            .entry(folder_of(place))
            .or_default()
            .extend(text.lines().flat_map(remote_words));
    }
    found
}

/// Returns the words of a line of a kustomization that look like a remote source.
fn remote_words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| c.is_whitespace() || "[]{},\"'".contains(c));
    words
        .take_while(|word| !word.starts_with('#'))
        .filter(|word| {
            word.contains("://") || word.contains("?ref=") || word.starts_with("github.com/")
        })
}

pub(super) fn applied(part: &TreePart) -> impl Iterator<Item = (&Member, &Destination)> {
    let members = part.inventory.members.iter();
    let members = members.map(|member| (member, part.destination(member.file)));
    members.filter(|(_, destination)| destination.is_applied())
}

fn is_helm_hook(member: &Member) -> bool {
    let metadata = member.object.metadata();
    metadata.annotation(marks::HELM_HOOK).is_some()
}

fn written_in(part: &TreePart, member: &Member) -> WrittenIn {
    (
        part.place(member.file).to_owned(),
        member.object.group_kind().to_owned(),
        member.object.name().map(Cow::into_owned),
    )
}

/// Returns the indices of the parts whose objects may deliver into a part: those whose cluster is a prefix of its own
/// (`a` of `a/b`), the longest first, then those without a cluster.
pub fn origins(parts: &[TreePart], at: usize) -> Vec<usize> {
    let cluster = |part: usize| parts[part].cluster.as_deref().unwrap_or_default();
    let others = (0..parts.len()).filter(|other| *other != at);
    let origins = others.filter(|other| {
        let from = cluster(*other);
        let rest = cluster(at).strip_prefix(from);
        rest.is_some_and(|rest| from.is_empty() || rest.starts_with('/'))
    });
    let mut origins: Vec<usize> = origins.collect();
    origins.sort_by_key(|other| std::cmp::Reverse(cluster(*other).len()));
    origins
}

/// Finds a delivery object by its name and, as far as both give one, its namespace.
pub fn delivering<'i>(inventory: &'i Inventory, deliverer: &Deliverer) -> Option<&'i Member> {
    let kind = deliverer.tool.kind();
    let found = inventory.with_name(kind.group, kind.kind, &deliverer.name);
    let mut found = found.iter().map(|id| inventory.member(*id));
    let namespace = deliverer.namespace.as_str();
    found.find(|member| match &member.key.namespace {
        _ if namespace.is_empty() => true,
        Namespace::None | Namespace::Unwritten => true,
        Namespace::Named(name) => name == namespace || member.object.namespace() == Some(namespace),
    })
}
