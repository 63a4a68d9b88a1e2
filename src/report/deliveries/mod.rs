//! `list --deliveries`: the objects that a tree puts into each cluster, and the deliveries that apply them.

mod drawing;
mod human;
mod rows;

pub(in crate::report) use rows::RowKind;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::line;
use crate::kube::ObjectKey;

/// The deliveries of a tree: the contract `ownerlint.deliveries/1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryListing {
    /// The deliveries, ordered by id.
    pub deliveries: Vec<ListedDelivery>,
    /// The files with objects that no delivery reaches.
    pub unreached: Vec<UnreachedFile>,
}

/// The objects that a tool, or a person, applies together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "delivery")]
#[non_exhaustive]
pub struct ListedDelivery {
    /// The cluster and the key, or the path if there is no key, separated by `|`; followed by `|`
    /// and the folder if a part is unknown. A delivery has the same id in both states of a tree.
    pub id: String,
    /// The tool.
    #[schemars(extend("enum" = ["flux", "argocd", "helm", "kustomize", "kubectl", "unknown"]))]
    pub tool: &'static str,
    /// The cluster: the path of its entry point, then `/` and a name if it is not the tool's own cluster; `null` if
    /// unknown.
    pub cluster: Option<String>,
    /// The key of the delivery object.
    pub key: Option<String>,
    /// The folder that it builds, from the root of the tree.
    pub path: Option<String>,
    /// The id of the delivery that applies the delivery object.
    pub parent: Option<String>,
    /// How certain it is that this is applied; `unknown` if no tool is known.
    #[schemars(extend("enum" = ["certain", "possible", "unknown"]))]
    pub certainty: &'static str,
    /// The place of the delivery object.
    pub location: Option<ListedLocation>,
    /// The settings of the delivery object.
    pub settings: ListedSettings,
    /// Why it builds nothing.
    pub error: Option<String>,
    /// The objects that it applies, in the order of its build.
    pub instances: Vec<ListedInstance>,
    /// The inputs that it depends on and that were not read.
    pub unread: Vec<ListedUnread>,
}

/// Settings of a delivery; those that are not written are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "settings")]
#[non_exhaustive]
pub struct ListedSettings {
    /// Whether it deletes objects that are removed from its sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
    /// Whether it is suspended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
    /// The fate of its objects when it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
    /// The deliveries for which it waits, as `namespace/name`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Whether an Application syncs on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub automated: Option<bool>,
    /// Whether an Application also syncs when the cluster changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_heal: Option<bool>,
    /// Whether an Application deletes everything that it delivered if its sources are empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_empty: Option<bool>,
    /// `syncOptions` of an Application.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sync_options: Vec<String>,
    /// The finalizers of an Application.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// The namespace of the objects of an Application that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_namespace: Option<String>,
    /// Whether the Applications of a set leave what they delivered when they are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_resources_on_deletion: Option<bool>,
    /// The policy of a set for the Applications that it generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applications_sync: Option<String>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "location")]
#[non_exhaustive]
pub struct ListedLocation {
    /// From the root of the tree.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
}

/// An object that a delivery applies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "instance")]
#[non_exhaustive]
pub struct ListedInstance {
    /// Its key as it is applied. An unknown part stays as it is written: `ConfigMap/shop/${NAME}`.
    pub key: String,
    /// The key that the file writes; `null` for a generated object.
    pub written: Option<String>,
    /// Where it is written, from the root of the tree; for a generated object, the kustomization.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// `possible` if its key has an unknown part, or if it exists only under unknown conditions.
    #[schemars(extend("enum" = ["certain", "possible"]))]
    pub certainty: &'static str,
}

/// An input that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "unread")]
#[non_exhaustive]
pub struct ListedUnread {
    /// Its kind.
    pub what: String,
    /// Its name for display.
    pub subject: String,
    /// The file that names it, from the root of the tree.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// Why it was not read.
    pub reason: String,
}

impl ListedUnread {
    /// Describes the input and its place, and why it was not read.
    pub(in crate::report) fn line(&self) -> String {
        let Self {
            subject,
            file,
            line,
            reason,
            ..
        } = self;
        format!("not read: {subject} ({file}:{line}): {reason}")
    }
}

/// A file with objects that no delivery reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "unreached")]
#[non_exhaustive]
pub struct UnreachedFile {
    /// From the root of the tree.
    pub file: String,
    /// How many objects are in it.
    pub objects: usize,
}

/// Counts.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "summary")]
struct DeliverySummary {
    /// How many deliveries there are.
    deliveries: usize,
    /// How many objects they apply together.
    instances: usize,
    /// How many inputs were not read.
    unread: usize,
    /// How many files no delivery reaches.
    unreached: usize,
}

/// The document of `ownerlint list --deliveries --output json`. Within a major version, members are only ever added.
/// Missing strings are null, lists are never null.
#[derive(Serialize, JsonSchema)]
pub(in crate::report) struct DeliveriesDocument<'a> {
    #[schemars(extend("const" = "ownerlint.deliveries/1"))]
    schema: &'static str,
    /// The deliveries, ordered by id.
    deliveries: &'a [ListedDelivery],
    /// The files with objects that no known delivery applies.
    unreached: &'a [UnreachedFile],
    summary: DeliverySummary,
}

impl DeliveryListing {
    /// Counts the inputs that were not read.
    pub fn unread(&self) -> usize {
        self.deliveries.iter().map(|one| one.unread.len()).sum()
    }

    fn summary(&self) -> DeliverySummary {
        DeliverySummary {
            deliveries: self.deliveries.len(),
            instances: self.deliveries.iter().map(|one| one.instances.len()).sum(),
            unread: self.unread(),
            unreached: self.unreached.len(),
        }
    }

    /// Keeps only the instances of `objects`, the deliveries that apply them, and their ancestors
    /// with the delivery objects that lead to them. Drops the files that no delivery reaches.
    #[must_use]
    pub fn of(mut self, objects: &BTreeSet<ObjectKey>) -> Self {
        let objects: BTreeSet<String> = objects.iter().map(ObjectKey::to_string).collect();
        self.keep(&BTreeSet::new(), |instance| objects.contains(&instance.key));
        self.unreached.clear();
        self
    }

    /// Keeps the deliveries `ids`, those that apply an object of one of `files`, and all ancestors.
    #[must_use]
    pub fn in_files(mut self, files: &BTreeSet<String>, ids: &BTreeSet<String>) -> Self {
        self.keep(ids, |instance| files.contains(&instance.file));
        self.unreached.retain(|left| files.contains(&left.file));
        self
    }

    /// Keeps the deliveries `whole`, the instances of others for which `is_wanted` holds, and all
    /// ancestors.
    fn keep(&mut self, whole: &BTreeSet<String>, is_wanted: impl Fn(&ListedInstance) -> bool) {
        let mut wanted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let by_id = self.deliveries.iter().map(|one| (one.id.as_str(), one));
        let by_id: BTreeMap<&str, &ListedDelivery> = by_id.collect();
        for one in &self.deliveries {
            let is_whole = whole.contains(&one.id);
            let found = one.instances.iter();
            let found = found.filter(|instance| is_whole || is_wanted(instance));
            let mut keys: BTreeSet<String> = found.map(|instance| instance.key.clone()).collect();
            let mut next = (is_whole || !keys.is_empty()).then_some(one);
            while let Some(delivery) = next {
                let is_new = !wanted.contains_key(&delivery.id);
                let known = wanted.entry(delivery.id.clone()).or_default();
                let count = known.len();
                known.append(&mut keys);
                if !is_new && known.len() == count {
                    break;
                }
                keys.extend(delivery.key.clone());
                let parent = delivery.parent.as_deref();
                next = parent.and_then(|parent| by_id.get(parent).copied());
            }
        }
        self.deliveries.retain_mut(|one| {
            let keys = wanted.get(&one.id);
            one.instances
                .retain(|instance| keys.is_some_and(|keys| keys.contains(&instance.key)));
            keys.is_some()
        });
    }

    /// Whether there are neither deliveries nor unreached files.
    pub fn is_empty(&self) -> bool {
        self.deliveries.is_empty() && self.unreached.is_empty()
    }

    /// Writes the listing as JSON.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_json(&self, out: impl Write) -> io::Result<()> {
        let document = DeliveriesDocument {
            schema: "ownerlint.deliveries/1",
            deliveries: &self.deliveries,
            unreached: &self.unreached,
            summary: self.summary(),
        };
        line::write(&document, out)
    }
}

/// Formats a key for people: `Application argocd/web`.
pub(crate) fn spoken(key: &str) -> String {
    let (kind, name) = key.split_once('/').unwrap_or(("", key));
    let kind = kind.split('.').next().unwrap_or_default();
    format!("{kind} {name}")
}
