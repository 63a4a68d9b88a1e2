//! One part of the tree, before and after: its cluster, and what leaves it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashSet};

use super::cause::EditedFile;
use super::likely::LikelyTools;
use super::outlook::Outlook;
use crate::changes::{
    BothSides, ChangeKind, Destination, ObjectChange, Sides, TreePart, TreePlace, rejected_fields,
};
use crate::charts::in_crds_folder;
use crate::cluster::Analysis;
use crate::delivery::marks;
use crate::delivery::{BundleTools, Deliveries, Regime};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::Tables;
use crate::kube::{GroupKind, Namespace, ObjectKey};
use crate::kustomize::{Deliverer, SourceTool, ancestors, folder_of};
use crate::manifest::is_kustomization;

/// One part of the tree on both sides.
#[derive(Debug)]
pub struct MergePart<'a> {
    /// Which of the trees it is.
    pub at: usize,
    /// The parts from which objects may deliver into this one.
    origins: Vec<usize>,
    /// All trees.
    pub sides: BothSides<'a>,
    /// All changes, of the other parts too.
    pub changes: &'a [ObjectChange],
    /// The cluster before the merge.
    pub base: &'a TreePart,
    /// The objects that are applied afterwards; `None` if the part does not exist then.
    pub head: Option<&'a TreePart>,
    /// Facts about base.
    pub analysis: Analysis<'a>,
    /// Facts about head.
    pub outlook: Option<Outlook<'a>>,
    /// The objects of base that leave, in order: head applies nothing of their key.
    pub leaving: Vec<ObjectId>,
    /// The objects of base that head makes hooks of Helm: they leave a release, if there is one.
    pub hooks: Vec<ObjectId>,
    /// The counterparts in head of objects of base that the change touches and does not remove.
    pub(super) counterparts: HashMap<ObjectId, (ChangeKind, TreePlace)>,
    /// Who probably applies what nothing points at.
    likely: OnceLock<LikelyTools>,
    /// Who delivers the objects of head, as far as they say so themselves.
    deliveries_of_head: OnceLock<Deliveries>,
    /// The objects in files of head that some build has, and whether one of these builds is delivered.
    built: OnceLock<HashMap<WrittenIn, bool>>,
    /// The objects in files of head, applied or not.
    written: OnceLock<HashSet<WrittenIn>>,
    /// Sources that head adds to kustomizations and the tree does not show, by the folder of the kustomization.
    unseen: OnceLock<HashMap<String, String>>,
    /// Files of head that base has with another text, by path.
    pub(super) edited: OnceLock<HashMap<String, EditedFile>>,
}

/// An object of a file: the path from the root of the side, the kind, the name.
type WrittenIn = (String, GroupKind, Option<String>);

impl<'a> MergePart<'a> {
    /// The part at place `at` of the trees. `tables`: what is known of operators; `delivery`: which tools the configuration says
    /// deliver the files of base.
    pub fn of(
        at: usize,
        sides: BothSides<'a>,
        changes: &'a [ObjectChange],
        tables: Arc<Tables>,
        delivery: BundleTools,
    ) -> Self {
        let BothSides {
            base: old,
            head: new,
        } = sides;
        let (base, head) = (&old[at], new.get(at));
        let mut stays: HashMap<&ObjectKey, Vec<&Destination>> = HashMap::default();
        for (member, destination) in head.into_iter().flat_map(applied) {
            stays.entry(&member.key).or_default().push(destination);
        }
        let leaves_for_good = |id: &ObjectId| {
            let member = base.inventory.member(*id);
            let left = base.destination(member.file);
            stays
                .get(&member.key)
                .is_none_or(|there| there.iter().all(|there| left.is_left_for(there)))
        };
        let leaves = changes
            .iter()
            .filter(|change| match (change.kind, change.sides) {
                (ChangeKind::Removed | ChangeKind::Renamed, _) => true,
                (ChangeKind::Moved, Sides::Both(was, is)) => {
                    old[was.tree].is_apart_from(&new[is.tree])
                }
                _ => false,
            });
        let leaves = leaves
            .filter_map(|change| change.sides.base())
            .filter(|place| place.tree == at);
        let mut leaving: Vec<ObjectId> = leaves
            .map(|place| place.id)
            .filter(leaves_for_good)
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
        let is_hook = |member: &Member| {
            member
                .object
                .metadata()
                .annotation(marks::HELM_HOOK)
                .is_some()
        };
        let hooks = changed
            .filter(|(was, is)| is_hook(is) && !is_hook(base.inventory.member(*was)))
            .map(|(was, _)| was);
        let mut hooks: Vec<ObjectId> = hooks.collect();
        hooks.sort();
        let outlook = head.map(|head| Outlook::of(&head.inventory, Arc::clone(&tables)));
        let analysis = Analysis::of(&base.inventory)
            .knowing(tables)
            .delivered_by(delivery)
            .delivered_as(|file| base.destination(file).deliverer());
        Self {
            at,
            origins: origins(old, at),
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
            edited: OnceLock::new(),
        }
    }

    /// Who delivers the objects of head, as far as they say so themselves.
    pub(super) fn deliveries_of_head(&self) -> Option<&Deliveries> {
        let head = self.head?;
        Some(
            self.deliveries_of_head
                .get_or_init(|| Deliveries::of(&head.inventory, BundleTools::default())),
        )
    }

    /// Whether head has another release in the place of the one that a HelmRelease installs in base.
    pub(super) fn is_another_release(&self, by: &Deliverer) -> bool {
        let release = |part: &TreePart| Some(part.delivery(by)?.settings.release.clone());
        let is = self.head.and_then(release);
        is.is_some_and(|is| release(self.base) != Some(is))
    }

    /// Objects that leave a rendered release and do not leave the tree: head has them in the folder `crds` of the chart
    /// only, which is no part of a release, or they belong to another release, which is installed after the old one is
    /// uninstalled.
    pub(super) fn leaves_its_release(&self) -> Vec<&'a Member> {
        if !self.base.knows(SourceTool::FluxRelease) {
            return Vec::new();
        }
        let (Some(head), Some(of_head)) = (self.head, self.deliveries_of_head()) else {
            return Vec::new();
        };
        let released = |part: &'a TreePart, deliveries: &Deliveries| -> Vec<_> {
            let members = part.inventory.members.iter();
            let members = members.map(|member| (part.destination(member.file), member));
            let members = members.filter(|(destination, member)| {
                let by = destination.deliverer();
                let is_rendered = by.is_some_and(|by| by.tool == SourceTool::FluxRelease);
                let template = || deliveries.template(&part.inventory, member);
                is_rendered && !template().is_some_and(in_crds_folder)
            });
            members.collect()
        };
        let stays = released(head, of_head).into_iter();
        let stays: BTreeSet<_> = stays.map(|(there, member)| (there, &member.key)).collect();
        let leaves = released(self.base, self.analysis.deliveries()).into_iter();
        let leaves = leaves.filter(|(there, member)| {
            let is_out = !stays.contains(&(*there, &member.key));
            (is_out
                || there
                    .deliverer()
                    .is_some_and(|by| self.is_another_release(by)))
                && self.leaving.binary_search(&member.id).is_err()
        });
        leaves.map(|(_, member)| member).collect()
    }

    /// Whether the API server rejects the update of an object to what head says.
    pub fn rejects(&self, key: &ObjectKey) -> bool {
        let first = |part: &'a TreePart| {
            part.inventory
                .with_key(key)
                .first()
                .map(|id| part.inventory.member(*id))
        };
        let changed = first(self.base).filter(|member| self.counterparts.contains_key(&member.id));
        match (changed, self.head.and_then(first)) {
            (Some(old), Some(new)) => !rejected_fields(&old.object, &new.object).is_empty(),
            _ => false,
        }
    }

    /// Whether the sources still have an object of base: the same file of head contains it and is not left out of every build.
    pub fn is_built(&self, member: &Member) -> bool {
        self.built_in_head(member).is_some()
    }

    /// Whether something in head delivers the file of an object of base with the object in it.
    pub(super) fn is_delivered(&self, member: &Member) -> bool {
        self.built_in_head(member) == Some(true)
    }

    /// `Some(true)` if a delivered build of head has it; `Some(false)` if only builds have it that are not delivered.
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

    /// The tool that probably applies what is at a destination of base at which nothing points.
    pub(super) fn likely_tool(&self, destination: &Destination) -> Option<Regime> {
        self.likely
            .get_or_init(|| LikelyTools::of(self.base, self.sides.base))
            .get(destination)
    }

    /// The object of base that delivers an object, if the tree contains one that says so.
    pub fn deliverer_of(&self, member: &Member) -> Option<&'a Member> {
        let by = self.base.destination(member.file).deliverer()?;
        let (_, deliverer) = self.delivering(by)?;
        Some(deliverer)
    }

    /// The ApplicationSet that generates it: no file contains it.
    pub fn generated_by(&self, member: &Member) -> Option<&'a Deliverer> {
        let by = self.base.destination(member.file).deliverer();
        by.filter(|by| by.tool == SourceTool::ArgoCdSet)
    }

    /// The object of this part of base that delivers an object.
    pub fn deliverer_here(&self, member: &Member) -> Option<&'a Member> {
        self.delivering_here(self.base.destination(member.file).deliverer()?)
    }

    /// The objects of this part of base that deliver something that is known, into this part or into another one.
    pub fn deliverers_of_all(&self) -> HashSet<ObjectId> {
        let deliverers = self.sides.base.iter().flat_map(|part| {
            let destinations = part.destinations();
            destinations.filter_map(|at| Some(part.object_of(at.deliverer()?)))
        });
        let found = deliverers.filter_map(|by| Some(delivering(&self.base.inventory, &by)?.id));
        found.collect()
    }

    /// The object of this part of base that stands for what delivers.
    pub(super) fn delivering_here(&self, by: &Deliverer) -> Option<&'a Member> {
        delivering(&self.base.inventory, &self.base.object_of(by))
    }

    /// The object of base that delivers, and the part in which it is: this one, or that of the cluster that it delivers from.
    pub(super) fn delivering(&self, by: &Deliverer) -> Option<(usize, &'a Member)> {
        self.find_delivering(self.sides.base, by)
    }

    /// Returns whether head has the object of base that delivers, and applies it as before.
    pub(super) fn is_still_delivering(&self, by: &Deliverer) -> bool {
        let find = |parts: &'a [TreePart]| {
            let (at, member) = self.find_delivering(parts, by)?;
            // One without a namespace may be that of another control plane.
            let namespace = member.key.namespace.name();
            let is_it = by.namespace.is_empty() || namespace == Some(by.namespace.as_str());
            is_it.then(|| parts[at].destination(member.file))
        };
        let (was, is) = (find(self.sides.base), find(self.sides.head));
        is.is_some_and(|is| was.is_none_or(|was| !was.is_left_for(is)))
    }

    /// Returns that object in head.
    pub(super) fn delivering_in_head(&self, by: &Deliverer) -> Option<&'a Member> {
        let (_, deliverer) = self.find_delivering(self.sides.head, by)?;
        Some(deliverer)
    }

    fn find_delivering(
        &self,
        parts: &'a [TreePart],
        by: &Deliverer,
    ) -> Option<(usize, &'a Member)> {
        let find = |at: usize| Some((at, delivering(&parts.get(at)?.inventory, by)?));
        let origins = || self.origins.iter().filter(|_| !by.cluster.is_empty());
        find(self.at).or_else(|| origins().copied().find_map(find))
    }

    /// The object of head that is an object of base under another name or in another namespace.
    pub fn renamed(&self, member: &Member) -> Option<&'a Member> {
        let (kind, is) = self.counterparts.get(&member.id)?;
        (*kind == ChangeKind::Renamed).then(|| self.sides.of_head(*is))
    }

    /// A source that head adds to a kustomization above an object of base, or to a new one, and the tree does not show,
    /// a remote resource or a chart: it may contain the object.
    pub fn unseen_source(&self, member: &Member) -> Option<&str> {
        let unseen = self.unseen.get_or_init(|| {
            let [before, after] = [self.sides.base, self.sides.head].map(remote_sources);
            let added = after.into_iter().filter_map(|(folder, sources)| {
                let mut added = sources.into_iter().filter(|source| {
                    !before
                        .get(folder)
                        .is_some_and(|known| known.contains(source))
                });
                Some((folder.to_owned(), added.next()?.to_owned()))
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
            let trees = self.sides.head.iter();
            let members = trees.flat_map(|part| {
                part.inventory
                    .members
                    .iter()
                    .map(move |member| (part, member))
            });
            let own = members.filter(|(part, member)| part.is_own(member));
            own.map(|(part, member)| written_in(part, member)).collect()
        });
        written.contains(&written_in(self.base, member))
    }

    /// The applied counterpart in head of an object of base: an object that a tool delivered and that lies in a folder
    /// that nothing points at any more has none.
    pub fn still_applied(&self, member: &Member) -> Option<&'a Member> {
        let (after, head) = (self.after(&member.key)?, self.head?);
        let left = self
            .base
            .destination(member.file)
            .is_left_for(head.destination(after.file));
        (!left).then_some(after)
    }

    /// Whether head applies an object under `key` by the same object as it delivers `other` of base.
    pub fn is_applied_beside(&self, key: &ObjectKey, other: &Member) -> bool {
        let by = self.base.destination(other.file).deliverer();
        let Some((head, by)) = self.head.zip(by) else {
            return false;
        };
        let found = head
            .inventory
            .with_key(key)
            .iter()
            .map(|id| head.inventory.member(*id));
        found
            .into_iter()
            .any(|member| head.destination(member.file).deliverer() == Some(by))
    }

    /// The object that base applies under a key: what leaves, if several have it.
    pub(super) fn applied_before(&self, key: &ObjectKey) -> Option<&'a Member> {
        let inventory = &self.base.inventory;
        let found = inventory.with_key(key).iter();
        let leaving = found
            .clone()
            .find(|id| self.leaving.binary_search(id).is_ok());
        let found = leaving.or_else(|| found.clone().next())?;
        Some(inventory.member(*found))
    }

    /// The object that head applies under a key.
    pub fn after(&self, key: &ObjectKey) -> Option<&'a Member> {
        let head = self.head?;
        let found = head
            .inventory
            .with_key(key)
            .iter()
            .map(|id| head.inventory.member(*id));
        found.into_iter().find(|member| head.applies(member))
    }
}

/// The sources outside of the tree that the kustomizations of a side name, by their folders.
fn remote_sources(trees: &[TreePart]) -> HashMap<&str, BTreeSet<&str>> {
    let files = trees.iter().flat_map(|tree| {
        tree.inventory
            .sources
            .iter()
            .map(move |(id, file)| (tree.place(id), file.text()))
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

/// The words of a line of a kustomization that name something outside of the tree.
fn remote_words(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split(|c: char| c.is_whitespace() || "[]{},\"'".contains(c));
    words
        .take_while(|word| !word.starts_with('#'))
        .filter(|word| {
            word.contains("://") || word.contains("?ref=") || word.starts_with("github.com/")
        })
}

fn applied(part: &TreePart) -> impl Iterator<Item = (&Member, &Destination)> {
    let members = part
        .inventory
        .members
        .iter()
        .map(|member| (member, part.destination(member.file)));
    members.filter(|(_, destination)| destination.is_applied())
}

fn written_in(part: &TreePart, member: &Member) -> WrittenIn {
    (
        part.place(member.file).to_owned(),
        member.object.group_kind().to_owned(),
        member.object.name().map(Cow::into_owned),
    )
}

/// The parts from which objects may deliver into a part: those of clusters whose names are the beginning of its own, the nearest
/// first, and what is in no cluster.
pub fn origins(parts: &[TreePart], at: usize) -> Vec<usize> {
    let into = parts[at].cluster.as_deref().unwrap_or_default();
    let begins = |part: &TreePart| {
        let from = part.cluster.as_deref().unwrap_or_default();
        let rest = into.strip_prefix(from);
        rest.is_some_and(|rest| from.is_empty() || rest.starts_with('/'))
    };
    let mut origins: Vec<usize> = (0..parts.len())
        .filter(|other| *other != at && begins(&parts[*other]))
        .collect();
    origins.sort_by_key(|other| {
        let name = parts[*other].cluster.as_deref().unwrap_or_default();
        std::cmp::Reverse(name.len())
    });
    origins
}

/// The object that delivers, by its name and, as far as both say, its namespace.
pub fn delivering<'i>(inventory: &'i Inventory, deliverer: &Deliverer) -> Option<&'i Member> {
    let kind = deliverer.tool.kind();
    let found = inventory
        .with_name(kind.group, kind.kind, &deliverer.name)
        .iter()
        .map(|id: &ObjectId| inventory.member(*id));
    found.into_iter().find(
        |member| match (&member.key.namespace, deliverer.namespace.as_str()) {
            (_, "") | (Namespace::None | Namespace::Unwritten, _) => true,
            (Namespace::Named(name), written) => {
                name == written || member.object.namespace() == Some(written)
            }
        },
    )
}
