//! A finished comparison, which every format renders.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::AcceptedFinding;
use crate::changes::{DeliveryName, Unread, UnreadSide};
use crate::kube::ObjectKey;
use crate::merge::DiffEffect;
use crate::report::html::StoryDocument;
use crate::report::plan::LastStep;
use crate::report::{Cascades, Report, Tool};

/// The changes from one state of a tree to another, and their effects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiffReport {
    /// The program that made the report.
    #[doc(hidden)]
    pub tool: Tool,
    /// The state before the change.
    pub base: StateName,
    /// The state after it.
    pub head: StateName,
    /// Counts.
    pub summary: DiffSummary,
    /// The changes, ordered by key.
    pub changes: Vec<ReportedChange>,
    /// The effects of the merge on the cluster, ordered by key.
    pub effects: Vec<DiffEffect>,
    /// The effects as a step of a plan: the states of all objects once the cluster has settled.
    #[doc(hidden)]
    pub plan: Option<LastStep>,
    /// The relations between the affected objects, as one graph for each cluster.
    #[doc(hidden)]
    pub cascades: Cascades,
    /// The simulated deletions of each cluster, for the HTML page.
    #[doc(hidden)]
    pub stories: Vec<StoryDocument>,
    /// The deleted delivery objects that also delete what they applied, where that was not read.
    #[doc(hidden)]
    pub unseen: BTreeSet<ObjectKey>,
    /// The inputs that the change touches and that were not evaluated, the gravest first.
    pub unread: Vec<Unread>,
    /// The builds that fail. The objects that they deliver stay unchanged in the cluster.
    pub failed: Vec<FailedBuild>,
    /// The claims that deleted StatefulSets leave behind, in one sentence without its full stop; `None` if there are none.
    pub kept_claims: Option<String>,
    /// The images that changed.
    pub images: Vec<ChangedImage>,
    /// The findings of the rules of change.
    pub findings: Report,
    /// The findings whose severity [`DiffReport::accepting`] lowered.
    pub accepted: Vec<AcceptedFinding>,
    /// Further notes.
    pub notes: Vec<String>,
}

/// An image that containers run instead of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "image")]
#[non_exhaustive]
pub struct ChangedImage {
    /// As base writes it.
    pub from: String,
    /// As head writes it.
    pub to: String,
    /// How many objects run it.
    pub objects: usize,
}

impl ChangedImage {
    /// Returns the common repository and both tags or digests; if the repositories differ, `""` and both references.
    pub(super) fn split(&self) -> (&str, &str, &str) {
        let (repository, from) = repository_and_version(&self.from);
        let (other, to) = repository_and_version(&self.to);
        if repository == other {
            (repository, from, to)
        } else {
            ("", &self.from, &self.to)
        }
    }
}

/// Splits an image reference at the `:` or `@` after its name. A `:` before a slash begins a port instead.
fn repository_and_version(image: &str) -> (&str, &str) {
    let name = image.split('@').next().unwrap_or_default();
    let last = name.rfind('/').map_or(0, |at| at + 1);
    let end = name[last..].find(':').map_or(name.len(), |at| last + at);
    let (repository, version) = image.split_at(end);
    (repository, version.trim_start_matches([':', '@']))
}

/// A build that fails, so that none of its objects is applied or deleted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "failed")]
#[non_exhaustive]
pub struct FailedBuild {
    /// The delivery that it belongs to, if that is known.
    pub delivery: Option<String>,
    /// The folder that is built, from the root of the state; `.` for the root itself.
    pub folder: String,
    /// The state that it fails in.
    #[schemars(extend("enum" = ["base", "head"]))]
    pub side: UnreadSide,
    /// The file that causes the failure.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// Why: `apps has no kustomization`.
    pub reason: String,
    /// Whether helm rejects a chart that it renders in base.
    #[serde(skip)]
    pub is_chart: bool,
}

impl FailedBuild {
    /// Returns the delivery and the folder, which identify the build in both states.
    pub(super) fn identity(&self) -> (Option<&str>, &str) {
        (self.delivery.as_deref(), &self.folder)
    }
}

/// The answer of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "verdict")]
pub enum DiffVerdict {
    /// At least one deletion is predicted.
    Deletes,
    /// No deletion is predicted, every input that changed was read, and the tool of every removed object is known.
    #[default]
    Nothing,
    /// No deletion is predicted, and an input that was not read changed, or an object whose tool is not known was
    /// removed.
    Unknown,
}

/// The name of a compared state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateName {
    /// A commit, as the user named it.
    Ref(String),
    /// The merge base of head and another commit.
    MergeBase {
        /// The other commit, as the user named it.
        reference: String,
        /// The full name of the commit that was compared.
        commit: String,
    },
    /// A file or folder; `.` is the work tree.
    Path(String),
    /// The Git index.
    Staged,
}

impl StateName {
    /// Returns the commit that was compared; `None` for a path or the index.
    #[cfg(feature = "cli")]
    pub(crate) fn commit(&self) -> Option<&str> {
        match self {
            Self::Ref(commit) | Self::MergeBase { commit, .. } => Some(commit),
            Self::Path(_) | Self::Staged => None,
        }
    }
}

/// The answer, and how many objects changed, and in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffSummary {
    /// Whether the merge deletes anything.
    pub verdict: DiffVerdict,
    /// Objects that only head has.
    pub added: usize,
    /// Objects that only base has.
    pub removed: usize,
    /// Objects whose content differs.
    pub changed: usize,
    /// Objects that are in another file, or are applied elsewhere.
    pub moved: usize,
    /// Objects that have another name or namespace.
    pub renamed: usize,
    /// Objects that a tool deletes.
    pub deleted: usize,
    /// Objects that are deleted with others, including those that controllers generate.
    pub cascaded: usize,
    /// Objects whose deletion does not finish.
    pub stuck: usize,
    /// Objects that are removed from the tree, and stay in the cluster.
    pub orphaned: usize,
    /// Removed objects whose tool is not known.
    pub unknown: usize,
    /// Inputs that changed and were not read: the length of `unread`.
    pub unread: usize,
    /// Inputs that were not read and are the same in both states.
    pub unread_unchanged: usize,
}

impl DiffSummary {
    /// Whether the change only adds objects, or changes none.
    #[cfg(feature = "cli")]
    pub(crate) fn only_adds(&self) -> bool {
        let changed = self.removed + self.changed + self.moved + self.renamed;
        self.verdict == DiffVerdict::Nothing && changed == 0
    }
}

/// A change of one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "change")]
#[non_exhaustive]
pub struct ReportedChange {
    /// The kind of change.
    #[schemars(extend("enum" = ["added", "removed", "changed", "moved", "renamed"]))]
    pub change: &'static str,
    /// The key under which the object is applied: `Kind[.group]/namespace/name`; in head if head contains it, else in base.
    pub key: String,
    /// The key that is written in the file, if kustomizations change it.
    pub written: Option<String>,
    /// The key in base, if it differs.
    pub was: Option<String>,
    /// The set that the object is applied with: a bundle of the configuration, or the folder of a kustomization (`.`: the
    /// top of the tree).
    pub bundle: Option<String>,
    /// The cluster, as the configuration or the delivery graph names it; `null` if unknown.
    pub cluster: Option<String>,
    /// The deliverer of the object in base, or in head if only head contains it; `null` if neither a delivery object
    /// nor a kustomization delivers it.
    pub delivery: Option<DeliveryName>,
    /// Where base has it.
    pub base: Option<ChangedPlace>,
    /// Where head has it.
    pub head: Option<ChangedPlace>,
    /// Whether a reader of the change sees the file that has it in base: the change removes or edits that file.
    #[serde(skip)]
    pub is_visible: bool,
}

/// The place of the first key of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "place")]
#[non_exhaustive]
pub struct ChangedPlace {
    /// With refs, the path as seen from the current folder; else the path given on the command line, joined with the path
    /// below it.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// Counted from 1, in bytes of UTF-8.
    #[schemars(range(min = 1))]
    pub column: usize,
}

impl ChangedPlace {
    pub(super) fn file_and_line(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(from: &str, to: &str) -> String {
        let image = ChangedImage {
            from: from.to_owned(),
            to: to.to_owned(),
            objects: 1,
        };
        let (repository, from, to) = image.split();
        format!("{repository} {from} {to}")
    }

    #[test]
    fn image_change_splits_into_repository_and_versions() {
        assert_eq!(split("web:1", "web:2"), "web 1 2");
        assert_eq!(
            split("h:5000/a/web:1", "h:5000/a/web@sha256:f"),
            "h:5000/a/web 1 sha256:f"
        );
        assert_eq!(split("web", "web:2"), "web  2");
        assert_eq!(
            split("web:1@sha256:e", "web:2@sha256:f"),
            "web 1@sha256:e 2@sha256:f"
        );
        assert_eq!(split("h:5000/web:1", "i/web:1"), " h:5000/web:1 i/web:1");
        assert_eq!(split("", "ü:ü"), "  ü:ü");
    }
}
