//! `OwnerRefInvalidNamespace` events `[GC-8]`: which ones every order of arrival produces, and
//! which ones only some do.
//!
//! The collector sees the objects of a cluster in an arbitrary order when it starts. A child that
//! comes before its owner leaves a virtual node with its own namespace behind, and the owner's
//! arrival reports it `[GC-7]`; a child that comes after its owner is reported unless an earlier
//! reference of it already looked wrong `[GC-6]`.

use super::cluster::{Cluster, NONE, ObjectId, Ref};
use super::object::Key;

/// An event that the collector records about an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The object with the bad reference.
    pub object: Key,
    /// Always `OwnerRefInvalidNamespace`.
    pub reason: &'static str,
    /// As the collector words it.
    pub message: String,
    /// Whether every order of arrival produces it.
    pub certain: bool,
}

/// All events of a cluster, sorted, with the child they are about.
pub(super) fn events(cluster: &Cluster) -> Vec<(ObjectId, Event)> {
    let mut events = Vec::new();
    for child in cluster.ids().filter(|id| cluster.info(*id).gc_tracked) {
        let references: Vec<&Ref> = cluster.refs_of(child).map(|index| cluster.reference(index)).collect();
        for (position, reference) in references.iter().enumerate() {
            let first = references[..position].iter().all(|earlier| earlier.uid != reference.uid);
            if first && is_foreign(cluster, reference) {
                events
                    .push((child, event(cluster, reference, is_certain(cluster, &references[..position], reference))));
            }
        }
    }
    events
}

/// Whether the owner by uid is a watched object of another namespace.
fn is_foreign(cluster: &Cluster, reference: &Ref) -> bool {
    reference.by_uid != NONE
        && cluster.info(reference.by_uid).gc_tracked
        && cluster.info(reference.by_uid).namespaced
        && namespace(cluster, reference.by_uid) != namespace(cluster, reference.holder)
}

fn namespace(cluster: &Cluster, id: ObjectId) -> super::symbols::Symbol {
    cluster.nodes[id as usize].namespace
}

/// No order of arrival hides the event: none of the earlier references can look wrong when the
/// child comes after the owner, and nobody can leave the owner's exact identity behind before the
/// owner comes.
fn is_certain(cluster: &Cluster, earlier: &[&Ref], reference: &Ref) -> bool {
    !earlier.iter().any(|other| may_look_wrong(cluster, other, earlier)) && !exactly_named_at_home(cluster, reference)
}

/// Whether another dependent names the owner exactly, from the owner's own namespace: if it comes
/// first, the owner's arrival changes nothing.
fn exactly_named_at_home(cluster: &Cluster, reference: &Ref) -> bool {
    let others = cluster.dependents.of(reference.by_uid).iter().map(|index| cluster.reference(*index));
    others.into_iter().any(|other| other.exact && other.holder != reference.holder)
}

/// Whether some order of arrival makes this reference a mismatch at the child's arrival `[GC-6]`.
fn may_look_wrong(cluster: &Cluster, reference: &Ref, siblings: &[&Ref]) -> bool {
    let home = namespace(cluster, reference.holder);
    let coordinates = |other: &Ref| (other.api_version, other.kind_name, other.name);
    let differs = |other: &Ref| coordinates(other) != coordinates(reference);
    let observed_wrong = reference.by_uid != NONE
        && reference.by_uid != reference.holder
        && cluster.info(reference.by_uid).gc_tracked
        && (is_foreign(cluster, reference) || !names_watched_identity(cluster, reference));
    // Another child's virtual node, or its own from an earlier reference with the same uid.
    let virtual_wrong = cluster.refs.iter().filter(|other| other.uid == reference.uid).any(|other| {
        let elsewhere = namespace(cluster, other.holder) != home;
        other.holder != reference.holder && (elsewhere || differs(other))
    });
    let own_wrong = siblings.iter().any(|other| other.uid == reference.uid && differs(other));
    observed_wrong || virtual_wrong || own_wrong
}

/// Whether apiVersion, kind and name are those under which the owner by uid is watched.
fn names_watched_identity(cluster: &Cluster, reference: &Ref) -> bool {
    let info = cluster.info(reference.by_uid);
    let version = info.versions.first().map_or("", String::as_str);
    let watched = if info.group.is_empty() { version.to_owned() } else { format!("{}/{version}", info.group) };
    cluster.text.get(reference.api_version) == watched
        && cluster.text.get(reference.kind_name) == info.kind
        && reference.name == cluster.nodes[reference.by_uid as usize].name
}

fn event(cluster: &Cluster, reference: &Ref, certain: bool) -> Event {
    let text = |symbol| cluster.text.get(symbol);
    let home = text(namespace(cluster, reference.holder));
    let message = format!(
        "ownerRef [{}/{}, namespace: {home}, name: {}, uid: {}] does not exist in namespace \"{home}\"",
        text(reference.api_version),
        text(reference.kind_name),
        text(reference.name),
        text(reference.uid),
    );
    Event { object: cluster.key(reference.holder), reason: "OwnerRefInvalidNamespace", message, certain }
}
