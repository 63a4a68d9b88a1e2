//! The tree of a listing, which every format for people shows: clusters, and deliveries below those that apply them.

use std::collections::BTreeMap;

use super::{DeliveryListing, ListedDelivery, spoken};
use crate::kustomize::shown;
use crate::text::plain;

/// The maximum number of kinds that are named for a delivery.
const KINDS: usize = 4;

/// The maximum number of deliveries below one parent that are shown although they may not exist.
const SHOWN: usize = 3;

pub(in crate::report) struct Row<'l> {
    /// The number of its ancestors; 0 for a cluster.
    pub(in crate::report) depth: usize,
    pub(in crate::report) parent: Option<usize>,
    pub(in crate::report) about: RowKind<'l>,
}

#[derive(Clone, Copy)]
pub(in crate::report) enum RowKind<'l> {
    /// A cluster, by its name for people.
    Cluster(&'l str),
    Delivery(&'l ListedDelivery),
    /// Further deliveries that may not exist.
    More {
        deliveries: usize,
        /// The number of objects that they apply together.
        objects: usize,
    },
}

impl RowKind<'_> {
    /// Returns the text of a row that is not a delivery; `None` for a delivery.
    pub(in crate::report) fn label(&self) -> Option<String> {
        match self {
            Self::Cluster(name) => Some((*name).to_owned()),
            Self::Delivery(_) => None,
            Self::More {
                deliveries,
                objects,
            } => Some(format!(
                "{deliveries} more like these, with {}",
                plain::count(*objects, "object")
            )),
        }
    }
}

impl DeliveryListing {
    /// Returns the rows of the tree, each after its parent.
    pub(in crate::report) fn rows(&self) -> Vec<Row<'_>> {
        let mut children: BTreeMap<Option<&str>, Vec<&ListedDelivery>> = BTreeMap::new();
        for one in &self.deliveries {
            children.entry(one.parent.as_deref()).or_default().push(one);
        }
        let mut entries = children.remove(&None).unwrap_or_default();
        entries.sort_by_key(|entry| (entry.cluster.is_none(), &entry.cluster, &entry.id));
        let mut rows: Vec<Row<'_>> = Vec::new();
        let mut cluster: Option<(&Option<String>, usize)> = None;
        for entry in entries {
            let above = match cluster {
                Some((name, at)) if *name == entry.cluster => at,
                _ => {
                    let name = entry.cluster.as_deref().map(shown);
                    let name = name.unwrap_or("applied by a tool that is not known");
                    rows.push(Row {
                        depth: 0,
                        parent: None,
                        about: RowKind::Cluster(name),
                    });
                    rows.len() - 1
                }
            };
            cluster = Some((&entry.cluster, above));
            let mut pending = vec![(1, above, RowKind::Delivery(entry))];
            while let Some((depth, parent, about)) = pending.pop() {
                let at = rows.len();
                if let RowKind::Delivery(one) = about {
                    let mut below = children.remove(&Some(one.id.as_str())).unwrap_or_default();
                    let more = fold(&mut below, &children);
                    let below = below.into_iter().map(RowKind::Delivery).chain(more);
                    pending.extend(below.rev().map(|row| (depth + 1, at, row)));
                }
                rows.push(Row {
                    depth,
                    parent: Some(parent),
                    about,
                });
            }
        }
        rows
    }
}

impl ListedDelivery {
    /// Returns its title: the object that delivers, or the folder.
    pub(in crate::report) fn called(&self) -> String {
        match &self.key {
            Some(key) => spoken(key),
            None => shown(self.path.as_deref().unwrap_or_default()).to_owned(),
        }
    }

    /// Says why it cannot be built; `None` if it can.
    pub(in crate::report) fn failure(&self) -> Option<String> {
        let error = self.error.as_ref()?;
        Some(format!("cannot be built: {error}"))
    }

    /// Names the settings that keep it from deleting removed objects.
    pub(in crate::report) fn marks(&self) -> Vec<&'static str> {
        let marks = [
            (self.settings.suspend == Some(true)).then_some("suspended"),
            (self.settings.prune == Some(false)).then_some("does not prune"),
        ];
        marks.into_iter().flatten().collect()
    }

    /// Returns `12 objects: 5 Deployment, 4 Service, 3 of other kinds`; empty if it applies none.
    pub(in crate::report) fn contents(&self) -> String {
        if self.instances.is_empty() {
            return String::new();
        }
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for instance in &self.instances {
            let kind = instance.key.split(['/', '.']).next().unwrap_or_default();
            *kinds.entry(kind).or_default() += 1;
        }
        let mut kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
        let others: usize = kinds.iter().skip(KINDS).map(|(_, count)| count).sum();
        let named = kinds.iter().take(KINDS);
        let named = named.map(|(kind, count)| format!("{count} {kind}"));
        let others = (others > 0).then(|| format!("{others} of other kinds"));
        let named: Vec<String> = named.chain(others).collect();
        let objects = plain::count(self.instances.len(), "object");
        format!("{objects}: {}", named.join(", "))
    }
}

/// Removes all but the first [`SHOWN`] deliveries that may not exist; those that fail to build or
/// apply other deliveries stay. Returns a row that counts the removed ones.
fn fold<'l>(
    below: &mut Vec<&ListedDelivery>,
    children: &BTreeMap<Option<&str>, Vec<&ListedDelivery>>,
) -> Option<RowKind<'l>> {
    let (mut shown, mut deliveries, mut objects) = (0, 0, 0);
    below.retain(|one| {
        let is_plain = one.certainty == "possible" && one.error.is_none();
        if !is_plain || children.contains_key(&Some(one.id.as_str())) {
            return true;
        }
        shown += 1;
        if shown > SHOWN {
            deliveries += 1;
            objects += one.instances.len();
        }
        shown <= SHOWN
    });
    (deliveries > 0).then_some(RowKind::More {
        deliveries,
        objects,
    })
}
