//! `OwnerRefInvalidNamespace` events `[GC-8]`, each marked as certain if every order of arrival produces it.
//!
//! The collector sees the objects of a cluster in an arbitrary order when it starts. A dependent
//! that comes before its owner leaves a virtual owner in its own namespace; when the owner comes,
//! the mismatch is reported `[GC-7]`. A dependent that comes after its owner is reported unless one
//! of its earlier references already looked wrong `[GC-6]`.

use std::collections::BTreeMap;

use crate::cluster::Cluster;
use crate::flags::UNWATCHED;
use crate::ids::{NONE, ObjectId, RefId};
use crate::names::{ApiVersion, GroupKind, ObjectKey};
use crate::references::{Lookup, Ref};
use crate::symbols::Symbol;

/// An event that the collector records about an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The object with the bad reference.
    pub object: ObjectKey,
    /// Always `OwnerRefInvalidNamespace`.
    pub reason: &'static str,
    /// Text of the event, in the collector's words.
    pub message: String,
    /// The owner as the reference names it, in the namespace in which the collector looked for it.
    pub owner: ObjectKey,
    /// Whether every order of arrival produces it.
    pub certain: bool,
}

/// Returns all events of a cluster, each with its dependent, in the order of the owner references.
pub(super) fn events(cluster: &Cluster) -> Vec<(ObjectId, Event)> {
    // The release that stopped treating such owners as absent is the first that reports them.
    if cluster.behaviour.absence_by_uid {
        return Vec::new();
    }
    let foreign: Vec<RefId> = cluster
        .refs
        .iter_enumerated()
        .filter(|(_, reference)| is_foreign(cluster, reference))
        .map(|(id, _)| id)
        .collect();
    if foreign.is_empty() {
        return Vec::new();
    }
    let sightings = Sightings::new(cluster);
    let reported = foreign.into_iter().filter(|index| {
        let holder = cluster.refs[*index].holder;
        let uid = cluster.written[*index].uid;
        watched(cluster, holder)
            && sightings
                .earlier(*index)
                .all(|other| cluster.written[other].uid != uid)
    });
    reported
        .map(|index| {
            (
                cluster.refs[index].holder,
                event(cluster, index, sightings.is_certain(index)),
            )
        })
        .collect()
}

fn watched(cluster: &Cluster, id: ObjectId) -> bool {
    cluster.nodes[id].flags & UNWATCHED == 0
}

fn namespace(cluster: &Cluster, id: ObjectId) -> Symbol {
    cluster.nodes[id].namespace
}

/// Whether the owner by uid is a watched object of another namespace.
fn is_foreign(cluster: &Cluster, reference: &Ref) -> bool {
    let (owner, holder) = (reference.by_uid, reference.holder);
    // An owner that the lookup finds is in the holder's namespace, or cluster-scoped.
    reference.lookup != Lookup::Owner
        && owner != NONE
        && watched(cluster, owner)
        && namespace(cluster, owner) != namespace(cluster, holder)
        && cluster.kind_of(owner).namespaced
}

/// The first and the last object of a set: enough to know whether it has any object other than a given one.
#[derive(Debug, Clone, Copy)]
struct FirstAndLast(ObjectId, ObjectId);

impl FirstAndLast {
    fn add(&mut self, id: ObjectId) {
        *self = FirstAndLast(self.0.min(id), self.1.max(id));
    }

    fn holds_other_than(self, id: ObjectId) -> bool {
        self.0 != id || self.1 != id
    }
}

/// A namespace, and the coordinates of an owner that an object in it refers to.
type Sight = (Symbol, (Symbol, Symbol, Symbol));

/// Index of how the objects of a cluster name their owners.
struct Sightings<'c> {
    cluster: &'c Cluster,
    /// By uid of the owner.
    sights: BTreeMap<Symbol, BTreeMap<Sight, FirstAndLast>>,
    /// By owner: the objects that name it exactly, from its own namespace.
    exact: BTreeMap<ObjectId, FirstAndLast>,
}

impl<'c> Sightings<'c> {
    fn new(cluster: &'c Cluster) -> Self {
        let mut sightings = Sightings {
            cluster,
            sights: BTreeMap::new(),
            exact: BTreeMap::new(),
        };
        for (reference, written) in cluster.refs.iter().zip(&cluster.written) {
            let holder = reference.holder;
            let sight = (namespace(cluster, holder), written.coordinates());
            let same_uid = sightings.sights.entry(written.uid).or_default();
            same_uid
                .entry(sight)
                .or_insert(FirstAndLast(holder, holder))
                .add(holder);
            if reference.exact {
                sightings
                    .exact
                    .entry(reference.by_uid)
                    .or_insert(FirstAndLast(holder, holder))
                    .add(holder);
            }
        }
        sightings
    }

    /// Returns the references before this one in the list of the same object.
    fn earlier(&self, index: RefId) -> impl Iterator<Item = RefId> {
        self.cluster
            .refs_of(self.cluster.refs[index].holder)
            .take_while(move |other| *other < index)
    }

    /// Whether no order of arrival hides the event: no earlier reference can look wrong when the
    /// dependent comes after the owner, and no other object can record the owner's exact identity
    /// before it comes.
    fn is_certain(&self, index: RefId) -> bool {
        let Ref { holder, by_uid, .. } = self.cluster.refs[index];
        let named_exactly = self
            .exact
            .get(&by_uid)
            .is_some_and(|span| span.holds_other_than(holder));
        !named_exactly
            && !self
                .earlier(index)
                .any(|other| self.may_look_wrong(other, self.earlier(index)))
    }

    /// Whether some order makes this reference a mismatch when its dependent comes `[GC-6]`.
    fn may_look_wrong(&self, index: RefId, mut siblings: impl Iterator<Item = RefId>) -> bool {
        let cluster = self.cluster;
        let (reference, written) = (cluster.refs[index], cluster.written[index]);
        let observed_wrong = reference.by_uid != NONE
            && reference.by_uid != reference.holder
            && watched(cluster, reference.by_uid)
            && (is_foreign(cluster, &reference) || !names_watched_identity(cluster, index));
        // A virtual node of another dependent, or of an earlier reference of this one with its uid.
        let mine = (namespace(cluster, reference.holder), written.coordinates());
        let mut sights = self.sights.get(&written.uid).into_iter().flatten();
        let virtual_wrong =
            sights.any(|(sight, span)| *sight != mine && span.holds_other_than(reference.holder));
        let own_wrong = siblings.any(|other| {
            let other = cluster.written[other];
            other.uid == written.uid && other.coordinates() != written.coordinates()
        });
        observed_wrong || virtual_wrong || own_wrong
    }
}

/// Whether apiVersion, kind and name are those under which the owner by uid is watched.
fn names_watched_identity(cluster: &Cluster, index: RefId) -> bool {
    let (owner, written) = (cluster.refs[index].by_uid, cluster.written[index]);
    let info = cluster.kind_of(owner);
    let version = info.versions.first().map_or("", String::as_str);
    let group = info.group.as_str();
    cluster.text.get(written.api_version) == ApiVersion { group, version }.to_string()
        && cluster.text.get(written.kind_name) == info.kind
        && written.name == cluster.nodes[owner].name
}

fn event(cluster: &Cluster, index: RefId, certain: bool) -> Event {
    let text = &cluster.text;
    let (holder, written) = (cluster.refs[index].holder, cluster.written[index]);
    let home = text.get(namespace(cluster, holder));
    let message = format!(
        "ownerRef [{}/{}, namespace: {home}, name: {}, uid: {}] does not exist in namespace \"{home}\"",
        text.get(written.api_version),
        text.get(written.kind_name),
        text.get(written.name),
        cluster.shown_uid(index),
    );
    let object = cluster.key(holder);
    let kind = GroupKind::new(
        ApiVersion::split(text.get(written.api_version)).group,
        text.get(written.kind_name),
    );
    let owner = ObjectKey::new(kind, object.namespace.clone(), text.get(written.name));
    Event {
        object,
        reason: "OwnerRefInvalidNamespace",
        message,
        owner,
        certain,
    }
}
